/* SPDX-License-Identifier: MIT */
/* agent/pathway/pathway_route.h - from node to node: what node_run.c and
 * decide.c call of each other. */
#pragma once
#include "agent/pathway/pathway_priv.h"

/* The node has said its words, or had none. */
void pathway_after_node(struct pathway *pathway, bool is_silent);
/* A Webhook node's variables are extracted: the request. */
void pathway_start_webhook(struct pathway *pathway);
/* A Transfer node has said its words. */
void pathway_transfer(struct pathway *pathway);
/* node.transition to a node that exists; it runs on the next turn. label may
 * be NULL. is_global: it may return here. */
void pathway_go(struct pathway *pathway, const struct graph_node *target,
		const char *label, bool is_global);
/* The caller's turn led nowhere: node.transition with the reason, and the node
 * asks again. */
void pathway_stay(struct pathway *pathway, const char *failure,
		  enum pathway_tone tone);
/* Asks the model, or goes on where nothing is open. */
void pathway_decide(struct pathway *pathway, enum pathway_purpose purpose,
		    const char *text);
/* The caller has said more while the model thought about it. */
void pathway_decide_again(struct pathway *pathway, const char *text);
/* Takes a turn out of the pressed digits, or waits for more of them. */
void pathway_take_keys(struct pathway *pathway);

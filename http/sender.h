/* SPDX-License-Identifier: MIT */
/* http/sender.h - sends one answer after the other over a connection's link:
 * text, then a file that the pool reads in pieces. Some half a megabyte is
 * queued at a time, so a slow reader holds no more of us than that. */
#pragma once
#include "http/request_priv.h"

struct link;
struct sender;
struct work;

struct sender_events {
	/* All of the answer is queued, and little of it unsent. Also comes
	 * inside sender_send() and sender_go_on(). */
	void (*on_sent)(void *owner);
	/* The length that was promised cannot be kept: comes from the loop
	 * alone, and may close the sender. */
	void (*on_broken)(void *owner);
};

struct sender_options {
	struct link *link; /* borrowed: outlives us */
	struct work *work; /* borrowed: outlives us */
	uint64_t *bytes_out; /* borrowed; counts */
	const struct sender_events *events; /* static */
	void *owner;
};

struct sender *sender_open(const struct sender_options *options);
void sender_close(struct sender **sender); /* no callback after */
/* Takes over answer's text and fd. One at a time. */
void sender_send(struct sender *sender, const struct answer *answer);
/* The link's queue has emptied. */
void sender_go_on(struct sender *sender);
/* Changes when the peer has taken bytes. */
uint64_t sender_taken(const struct sender *sender);

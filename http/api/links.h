/* SPDX-License-Identifier: MIT */
/* http/api/links.h - what a call's settings name outside themselves: a webhook
 * and a pathway. Each returns 0, or a negative errno after it has answered the
 * request. */
#pragma once
#include "http/request.h"

/* https, or http to this machine or where the node's settings allow it. */
int links_check_webhook(struct request *request, const json_t *settings);
/* The pathway is the organisation's; to run it also has nodes, and the one to
 * start at. */
int links_check_pathway(struct request *request, const json_t *settings,
			bool will_run);

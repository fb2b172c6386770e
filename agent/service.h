/* SPDX-License-Identifier: MIT */
/* agent/service.h - what main opened and every part of the service borrows:
 * the parts outlive whoever holds this. */
#pragma once
#include <stdint.h>

struct service {
	struct loop *loop;
	struct work *work;
	const struct config *config;
	struct secret_box *box; /* seals and unseals secrets at rest */
	struct store *store;
	struct ua *ua;
	struct media *media;
	struct speech *speech;
	struct model *model;
	struct fetch *fetch; /* under the tenants' egress policy */
	struct dispatch *dispatch;
	struct webhook *webhook;
	const char *base_url; /* "https://127.0.0.1:8443", for links */
	int64_t started_ms;
};

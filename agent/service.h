/* SPDX-License-Identifier: MIT */
/* agent/service.h - the parts of the service, opened in their order and closed
 * in reverse. Everybody above core borrows this: the parts outlive whoever
 * holds it. Parts that were not opened are NULL. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct config;

struct service {
	struct loop *loop;
	struct work *work;
	const struct config *config; /* borrowed: outlives us */
	struct secret_box *box; /* seals and unseals secrets at rest */
	struct store *store;
	struct tls *sip_tls; /* certificates and trust of the ua */
	struct ua *ua;
	struct media *media;
	struct speech *speech;
	struct model *model;
	struct fetch *fetch; /* under the tenants' egress policy */
	struct dispatch *dispatch;
	struct webhook *webhook;
	struct call_traces *traces; /* SIP messages of calls */
	struct health *health; /* of the trunks */
	const char *base_url; /* "https://127.0.0.1:8443", for links */
	int64_t started_ms;
	bool is_stopping; /* calls end, none begins; reads are served */
};

/* Loop, store, HTTP client, media and engines, by the settings. On failure why
 * says what is wrong and where; service_close() and service_close_base()
 * follow whatever this returns. */
int service_open(struct service *service, const struct config *config,
		 struct buffer *why);
/* base_url is known now: completes what a crash interrupted, delivers, dials,
 * and listens for SIP. */
int service_start(struct service *service, struct buffer *why);
/* All but what the parts above agent stand on. */
void service_close(struct service *service);
/* Pool, store and loop: nothing of the process may use them any more. */
void service_close_base(struct service *service);

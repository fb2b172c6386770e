/* SPDX-License-Identifier: MIT */
/* agent/service_check.h - settings that would else be found wrong late, or in
 * words that name no setting; and section sip as tls and ua take it. */
#pragma once

struct buffer;
struct config;
struct tls_options;
struct ua_options;

/* Are SECTION.certificate and SECTION.key set? -EINVAL: why has the remedy. */
int service_check_certificate(const struct config *config, const char *section,
			      struct buffer *why);
/* sip.certificate, sip.domain, sip.public_address, the client certificate. */
int service_check_sip(const struct config *config, struct buffer *why);
/* Client certificate, names, caps and limits per source. */
void service_set_sip(struct tls_options *tls, struct ua_options *ua,
		     const struct config *config);

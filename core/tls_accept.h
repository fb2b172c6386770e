/* SPDX-License-Identifier: MIT */
/* core/tls_accept.h - what a link in its server handshake tells the listener
 * it came from. Private to core/tls. */
#pragma once
#include <stdint.h>

struct tls_accept;
struct tls_link;

uint32_t tls_accept_handshake_ms(const struct tls_accept *accept);
/* Hands it to the listener's owner: last thing. */
void tls_accept_opened(struct tls_link *x);
/* The handshake failed: the raw link sends its alert, then x is freed. */
void tls_accept_failed(struct tls_link *x, const char *why);
void tls_accept_forget(struct tls_link *x); /* the raw link is over */

/* SPDX-License-Identifier: MIT */
/* sip/login.h - the challenges one request has met and what answers them. The
 * peer's server and a proxy before it may both ask (RFC 3261, 22.3): each gets
 * one try per nonce, and one more when only its nonce was too old. */
#pragma once
#include "sip/digest.h"

enum { LOGIN_ASKERS = 2 };

/* Zeroed memory is an empty one. */
struct login {
	struct {
		struct digest_challenge challenge;
		unsigned tries;
	} by[LOGIN_ASKERS];
};

/* Takes the challenge of a 401 or 407: true when it may be answered, by a
 * request with login_write()'s lines. */
bool login_take(struct login *login, const struct sip_message *response);
/* Replaces out by header lines for all challenges so far. */
void login_write(struct login *login, struct buffer *out,
		 const struct digest_request *request);
void login_reset(struct login *login);

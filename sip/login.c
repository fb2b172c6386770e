/* SPDX-License-Identifier: MIT */
#include "sip/login.h"
#include "sip/header.h"

bool login_take(struct login *login, const struct sip_message *response)
{
	struct digest_challenge challenge = { 0 };
	struct digest_challenge *last;
	unsigned *tries;

	if (digest_challenge_parse(&challenge, response))
		return false;
	last = &login->by[challenge.is_proxy].challenge;
	tries = &login->by[challenge.is_proxy].tries;
	if (*tries > 1 ||
	    (*tries == 1 &&
	     (!challenge.is_stale || !strcmp(last->nonce, challenge.nonce)))) {
		digest_challenge_reset(&challenge);
		return false;
	}
	digest_challenge_reset(last);
	*last = challenge;
	++*tries;
	return true;
}

static void write_one(struct buffer *out, struct digest_challenge *challenge,
		      const struct digest_request *request)
{
	enum sip_header_id id = digest_header(challenge);
	struct buffer value;

	buffer_init(&value, SIP_HEADER_MAX_BYTES);
	if (digest_authorize(&value, challenge, request) == 0)
		sip_header_write(out, slice_of(sip_header_name(id)),
				 buffer_slice(&value));
	buffer_reset(&value);
}

void login_write(struct login *login, struct buffer *out,
		 const struct digest_request *request)
{
	buffer_clear(out);
	for (int i = 0; i < LOGIN_ASKERS; i++)
		if (login->by[i].tries)
			write_one(out, &login->by[i].challenge, request);
}

void login_reset(struct login *login)
{
	for (int i = 0; i < LOGIN_ASKERS; i++) {
		digest_challenge_reset(&login->by[i].challenge);
		login->by[i].tries = 0;
	}
}

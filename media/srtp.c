/* SPDX-License-Identifier: MIT */
#include "media/srtp.h"
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <srtp2/srtp.h>
#include <srtp2/auth.h>
#include <srtp2/cipher.h>
#include "core/mem.h"
#include "media/bytes.h"
#include "media/srtp_primitives.h"

struct srtp_context {
	srtp_t session; /* owned */
	unsigned n_sources;
	uint32_t sources[SRTP_SOURCES_MAX]; /* authenticated SSRCs */
};

enum {
	RTP_BYTES_MIN = 12,
	RTCP_BYTES_MIN = 8,
	RTCP_TRAILER_BYTES = 14,
	WINDOW_PACKETS = 128, /* 2.5 s; shifted with every packet */
};

/* The library is one per process and cannot be started twice: this is the one
 * thing here that is not the caller's. */
int srtp_library_open(void)
{
	static bool is_open;

	if (is_open)
		return 0;
	if (srtp_init() != srtp_err_status_ok ||
	    srtp_replace_cipher_type(srtp_primitives_cipher(),
				     SRTP_AES_ICM_128) != srtp_err_status_ok ||
	    srtp_replace_auth_type(srtp_primitives_auth(), SRTP_HMAC_SHA1) !=
		    srtp_err_status_ok)
		return -EIO;
	is_open = true;
	return 0;
}

void srtp_context_open(struct srtp_context **out,
		       const uint8_t key[SRTP_KEY_BYTES],
		       enum srtp_direction direction)
{
	struct srtp_context *context = mem_new(sizeof(*context));
	uint8_t copy[SRTP_KEY_BYTES];
	srtp_policy_t policy = { .window_size = WINDOW_PACKETS, .key = copy };
	srtp_err_status_t status;

	memcpy(copy, key, sizeof(copy));
	srtp_crypto_policy_set_rtp_default(&policy.rtp);
	srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
	policy.ssrc.type =
		direction == SRTP_SEND ? ssrc_any_outbound : ssrc_any_inbound;
	status = srtp_create(&context->session, &policy);
	assert(status == srtp_err_status_ok);
	explicit_bzero(copy, sizeof(copy));
	*out = context;
}

void srtp_context_close(struct srtp_context **context)
{
	if (!*context)
		return;
	srtp_dealloc((*context)->session);
	mem_free(*context);
	*context = NULL;
}

static bool is_known(const struct srtp_context *context, uint32_t ssrc)
{
	for (unsigned i = 0; i < context->n_sources; i++)
		if (context->sources[i] == ssrc)
			return true;
	return false;
}

static int to_errno(srtp_err_status_t status)
{
	if (status == srtp_err_status_ok)
		return 0;
	return status == srtp_err_status_replay_fail ||
			       status == srtp_err_status_replay_old ||
			       status == srtp_err_status_pkt_idx_old
		       ? -EALREADY
		       : -EBADMSG;
}

typedef srtp_err_status_t crypt_fn(srtp_t session, void *packet, int *len);

/* libsrtp2 keeps a replay list per SSRC for good: a peer that makes up new ones
 * without end is cut off, and forgetting old ones would let replays in. */
static int unseal(struct srtp_context *context, crypt_fn *fn, uint32_t ssrc,
		  void *packet, size_t *len)
{
	bool known = is_known(context, ssrc);
	int n = (int)*len;
	int err;

	if (!known && context->n_sources == SRTP_SOURCES_MAX)
		return -EBADMSG;
	err = to_errno(fn(context->session, packet, &n));
	if (err)
		return err;
	if (!known)
		context->sources[context->n_sources++] = ssrc;
	*len = (size_t)n;
	return 0;
}

static int seal(struct srtp_context *context, crypt_fn *fn, void *packet,
		size_t *len)
{
	int n = (int)*len;

	if (fn(context->session, packet, &n) != srtp_err_status_ok)
		return -EIO;
	*len = (size_t)n;
	return 0;
}

int srtp_seal(struct srtp_context *context, void *packet, size_t *len)
{
	return seal(context, srtp_protect, packet, len);
}

int srtp_seal_rtcp(struct srtp_context *context, void *packet, size_t *len)
{
	return seal(context, srtp_protect_rtcp, packet, len);
}

int srtp_unseal(struct srtp_context *context, void *packet, size_t *len)
{
	const uint8_t *at = packet;

	if (*len < RTP_BYTES_MIN + SRTP_TAG_BYTES || at[0] >> 6 != 2)
		return -EBADMSG;
	return unseal(context, srtp_unprotect, bytes_get32(at + 8), packet,
		      len);
}

int srtp_unseal_rtcp(struct srtp_context *context, void *packet, size_t *len)
{
	const uint8_t *at = packet;

	if (*len < RTCP_BYTES_MIN + RTCP_TRAILER_BYTES || at[0] >> 6 != 2)
		return -EBADMSG;
	return unseal(context, srtp_unprotect_rtcp, bytes_get32(at + 4), packet,
		      len);
}

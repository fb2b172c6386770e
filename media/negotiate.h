/* SPDX-License-Identifier: MIT */
/* media/negotiate.h - offer and answer (RFC 3264) for one audio stream, secure
 * or not at all: RTP/SAVP or SAVPF with a key we can use (RFC 4568). Nothing
 * here has state: what both sides said goes in, what was agreed comes out. */
#pragma once
#include "media/media.h"
#include "media/sdes.h"
#include "media/sdp.h"

enum {
	NEGOTIATE_NO_PT = 255,
	NEGOTIATE_DTMF_PT = 101, /* in our own offers */
	NEGOTIATE_TAG = 1, /* of our own crypto line */
};

/* Our side, the same in an offer and an answer. */
struct negotiate_local {
	struct addr rtp; /* announced, with port */
	uint64_t id, version; /* of o= */
	const enum media_codec *codecs; /* borrowed, in order of preference */
	size_t n_codecs;
	char key[SDES_PARAMS_SIZE]; /* as written by sdes_write() */
};

struct negotiated {
	enum media_codec codec; /* what we send */
	uint8_t pts[MEDIA_CODECS]; /* what may come, or NEGOTIATE_NO_PT */
	uint8_t dtmf_pt; /* or NEGOTIATE_NO_PT */
	uint8_t packet_ms; /* we send 10, 20, 40 or 60 */
	bool may_send, may_receive; /* hold: not may_send */
	struct addr rtp, rtcp; /* theirs */
	uint8_t key[SRTP_KEY_BYTES]; /* theirs */
};

/* The descriptions these two write borrow from local and from offer. */
void negotiate_offer(struct sdp *out, const struct negotiate_local *local);
/* -ENOTSUP: no secure audio that we can do; then *answer is not to be used. */
int negotiate_answer(struct negotiated *out, struct sdp *answer,
		     const struct sdp *offer,
		     const struct negotiate_local *local);
/* What their answer makes of our offer. -ENOTSUP as above. */
int negotiate_accept(struct negotiated *out, const struct sdp *answer,
		     const struct sdp *offer);
/* Index of the m-line in use in a description of ours: the one with a port. */
size_t negotiate_line(const struct sdp *ours);

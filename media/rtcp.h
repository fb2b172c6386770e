/* SPDX-License-Identifier: MIT */
/* media/rtcp.h - compound RTCP (RFC 3550, 6): a sender or receiver report, SDES
 * with a random CNAME, BYE; and a call's quality from what they say. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/slice.h"

enum { RTCP_BYTES_MAX = 128, RTCP_CNAME_SIZE = 17 };

struct rtcp_block {
	uint32_t ssrc; /* whose packets it is about */
	uint8_t fraction; /* lost, of 256 */
	int32_t lost; /* 24 bits, signed */
	uint32_t highest; /* extended sequence number */
	uint32_t jitter; /* in units of the RTP clock */
	uint32_t lsr, dlsr; /* in 1/65536 s; 0: no SR yet */
};

struct rtcp_report {
	uint32_t ssrc; /* who reports */
	bool is_sender; /* SR, with the four below */
	uint64_t ntp; /* 32.32 fixed point, since 1900 */
	uint32_t timestamp;
	uint32_t packets, bytes; /* sent */
	bool has_block;
	struct rtcp_block block;
	bool is_bye;
};

/* Returns the length; cname is RTCP_CNAME_SIZE - 1 characters. */
size_t rtcp_write(uint8_t out[RTCP_BYTES_MAX], const struct rtcp_report *report,
		  const char *cname);
/* Takes the block about our_ssrc, if there is one. -EBADMSG: not a compound
 * packet, or its lengths do not add up. */
int rtcp_parse(struct rtcp_report *out, struct slice packet, uint32_t our_ssrc);

uint64_t rtcp_ntp(int64_t wall_us); /* Unix time to NTP */
/* Round trip by what came back of our SR; < 0: nothing did. */
double rtcp_rtt_ms(const struct rtcp_block *block, uint64_t ntp_now);
/* Mean opinion score of G.711 with concealment by the E-model (ITU-T G.107
 * with the values of G.113 appendix I): loss as a share, one-way delay. */
double rtcp_mos(double loss, double delay_ms);

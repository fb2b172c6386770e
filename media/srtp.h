/* SPDX-License-Identifier: MIT */
/* media/srtp.h - SRTP and SRTCP under AES_CM_128_HMAC_SHA1_80 (RFC 3711,
 * RFC 4568 6.2) by libsrtp2, whose replay and roll-over logic we trust, on
 * mbedTLS's AES and SHA-1, which cost a quarter of its own back end and do not
 * grow with the number of calls. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct srtp_context;

enum {
	SRTP_KEY_BYTES = 30, /* master key and salt */
	SRTP_TAG_BYTES = 10,
	SRTP_SPACE_BYTES = 160, /* room that sealing may need at the end */
	SRTP_SOURCES_MAX = 32, /* SSRCs one key receives from */
};

enum srtp_direction { SRTP_SEND, SRTP_RECEIVE };

/* Starts libsrtp2 and puts mbedTLS behind it; may be called again. -EIO: its
 * self test failed. */
int srtp_library_open(void);

void srtp_context_open(struct srtp_context **out,
		       const uint8_t key[SRTP_KEY_BYTES],
		       enum srtp_direction direction);
void srtp_context_close(struct srtp_context **context);

/* In place on 4-byte aligned memory; *len grows. SRTP_SPACE_BYTES must be free
 * behind the packet. -EIO: a sequence number was used twice. */
int srtp_seal(struct srtp_context *context, void *packet, size_t *len);
int srtp_seal_rtcp(struct srtp_context *context, void *packet, size_t *len);
/* In place; *len shrinks. -EBADMSG: forged, cut or not SRTP; -EALREADY:
 * replayed or too old. Then neither the packet nor any state has changed. */
int srtp_unseal(struct srtp_context *context, void *packet, size_t *len);
int srtp_unseal_rtcp(struct srtp_context *context, void *packet, size_t *len);

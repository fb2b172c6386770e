/* SPDX-License-Identifier: MIT */
/* media/sdes.h - keys in SDP (RFC 4568): which a=crypto line is good enough,
 * and ours. */
#pragma once
#include "media/sdp.h"
#include "media/srtp.h"

enum { SDES_PARAMS_SIZE = 48 }; /* "inline:", 40 characters, NUL */

/* The one suite we speak. */
struct slice sdes_suite(void);
/* 0 when the line is AES_CM_128_HMAC_SHA1_80 with one key of 30 bytes, no MKI,
 * and no session parameter that weakens it; else -ENOTSUP. */
int sdes_parse(uint8_t key[SRTP_KEY_BYTES], const struct sdp_crypto *crypto);
/* "inline:..." */
void sdes_write(char out[SDES_PARAMS_SIZE], const uint8_t key[SRTP_KEY_BYTES]);

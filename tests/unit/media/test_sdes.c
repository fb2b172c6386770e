/* SPDX-License-Identifier: MIT */
/* Which a=crypto lines are good enough (RFC 4568): one suite, one key of 30
 * bytes, no MKI, nothing that weakens it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "media/sdes.h"

#define SUITE "AES_CM_128_HMAC_SHA1_80"
#define KEY   "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"

static void test_lines(void **state)
{
	static const struct {
		const char *suite, *params, *session;
		int err;
	} rows[] = {
		{ SUITE, "inline:" KEY, "", 0 },
		{ "aes_cm_128_hmac_sha1_80", "INLINE:" KEY, "", 0 },
		{ SUITE, "inline:" KEY "|2^20", "", 0 },
		{ SUITE, "inline:" KEY "|2^48", "", 0 },
		{ SUITE, "inline:" KEY "|1048576", "", 0 },
		{ SUITE, "inline:" KEY, "WSH=64", 0 },
		{ SUITE, "inline:" KEY, "KDR=0 WSH=128 -x", 0 },
		{ SUITE, "inline:" KEY "|2^49", "", -ENOTSUP },
		{ SUITE, "inline:" KEY "|0", "", -ENOTSUP },
		{ SUITE, "inline:" KEY "|", "", -ENOTSUP },
		{ SUITE, "inline:" KEY "|2^", "", -ENOTSUP },
		{ SUITE, "inline:" KEY "|1:4", "", -ENOTSUP },
		{ SUITE, "inline:" KEY "|2^20|1:4", "", -ENOTSUP },
		{ SUITE, "inline:" KEY ";inline:" KEY, "", -ENOTSUP },
		{ SUITE, "inline:" KEY, "UNENCRYPTED_SRTP", -ENOTSUP },
		{ SUITE, "inline:" KEY, "UNENCRYPTED_SRTCP", -ENOTSUP },
		{ SUITE, "inline:" KEY, "UNAUTHENTICATED_SRTP", -ENOTSUP },
		{ SUITE, "inline:" KEY, "WSH=64 UNAUTHENTICATED_SRTP",
		  -ENOTSUP },
		{ SUITE, "inline:" KEY, "KDR=3", -ENOTSUP },
		{ SUITE, "inline:" KEY, "FEC_ORDER=FEC_SRTP", -ENOTSUP },
		{ SUITE, "inline:" KEY, "whatever", -ENOTSUP },
		{ SUITE, "inline:", "", -ENOTSUP },
		{ SUITE, "", "", -ENOTSUP },
		{ SUITE, KEY, "", -ENOTSUP },
		{ SUITE, "inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9", "",
		  -ENOTSUP },
		{ SUITE, "inline:" KEY "AAAA", "", -ENOTSUP },
		{ SUITE, "inline:!VNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz", "",
		  -ENOTSUP },
		{ SUITE, "inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubG==", "",
		  -ENOTSUP },
		{ "AES_CM_128_HMAC_SHA1_32", "inline:" KEY, "", -ENOTSUP },
		{ "AES_256_CM_HMAC_SHA1_80", "inline:" KEY, "", -ENOTSUP },
		{ "NULL_HMAC_SHA1_80", "inline:" KEY, "", -ENOTSUP },
	};
	uint8_t key[SRTP_KEY_BYTES];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sdp_crypto crypto = {
			.suite = slice_of(rows[i].suite),
			.params = slice_of(rows[i].params),
			.session = slice_of(rows[i].session),
		};

		memset(key, 0x55, sizeof(key));
		assert_int_equal(sdes_parse(key, &crypto), rows[i].err);
		if (rows[i].err)
			assert_int_equal(key[0], 0x55);
		else
			assert_memory_equal(
				key, "YS___semctl () {\t220;}\n}\nunles", 30);
	}
}

static void test_ours_reads_back(void **state)
{
	char text[SDES_PARAMS_SIZE];
	uint8_t in[SRTP_KEY_BYTES], out[SRTP_KEY_BYTES];
	struct sdp_crypto crypto = { .suite = sdes_suite() };

	for (unsigned i = 0; i < SRTP_KEY_BYTES; i++)
		in[i] = (uint8_t)(i * 37);
	sdes_write(text, in);
	crypto.params = slice_of(text);
	assert_int_equal(sdes_parse(out, &crypto), 0);
	assert_memory_equal(in, out, sizeof(in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_ours_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

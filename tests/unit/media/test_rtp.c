/* SPDX-License-Identifier: MIT */
/* RTP headers (RFC 3550, 5.1): CSRCs, extension and padding are stepped over,
 * and no length inside may point outside. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "media/rtp.h"

#define FIXED "\x80\x80\x12\x34\x00\x01\x02\x03\xaa\xbb\xcc\xdd"
#define REST  "\x80\x12\x34\x00\x01\x02\x03\xaa\xbb\xcc\xdd"

static const struct {
	const char *bytes;
	size_t len;
	int err;
	const char *payload;
} rows[] = {
#define ROW(bytes, err, payload)                                               \
	{                                                                      \
		bytes, sizeof(bytes) - 1, err, payload                         \
	}
	ROW(FIXED, 0, ""),
	ROW(FIXED "abc", 0, "abc"),
	ROW("\x82" REST "CSRCCSRCabc", 0, "abc"),
	ROW("\x82" REST "CSRCCSR", -EBADMSG, NULL),
	ROW("\x90" REST "\xbe\xde\x00\x01wordabc", 0, "abc"),
	ROW("\x90" REST "\xbe\xde\x00\x00"
	    "abc",
	    0, "abc"),
	ROW("\x90" REST "\xbe\xde\x00\x02word", -EBADMSG, NULL),
	ROW("\x90" REST "\xbe\xde\xff\xffword", -EBADMSG, NULL),
	ROW("\x90" REST "\xbe\xde", -EBADMSG, NULL),
	ROW("\xa0" REST "abc\x00\x02", 0, "abc"),
	ROW("\xa0" REST "\x01", 0, ""),
	ROW("\xa0" REST "abc\x05", -EBADMSG, NULL),
	ROW("\xa0" REST "abc\x00", -EBADMSG, NULL),
	ROW("\xa0" REST, -EBADMSG, NULL),
	ROW("\xb1" REST "CSRC\x00\x00\x00\x01wordabc\x00\x00\x03", 0, "abc"),
	ROW("\x40" REST "abc", -EBADMSG, NULL),
	ROW("\x80", -EBADMSG, NULL),
	ROW("", -EBADMSG, NULL),
};

static void test_parse(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* An exact copy, so that reading past the end is seen. */
		char *copy = malloc(rows[i].len + !rows[i].len);
		struct rtp_header header;
		struct slice payload;
		int err;

		memcpy(copy, rows[i].bytes, rows[i].len);
		err = rtp_parse(&header, &payload,
				slice_make(copy, rows[i].len));
		assert_int_equal(err, rows[i].err);
		if (!err) {
			assert_int_equal(payload.len, strlen(rows[i].payload));
			assert_memory_equal(payload.ptr, rows[i].payload,
					    payload.len);
			assert_int_equal(header.seq, 0x1234);
			assert_int_equal(header.timestamp, 0x00010203);
			assert_int_equal(header.ssrc, 0xaabbccdd);
			assert_true(header.marker);
		}
		free(copy);
	}
}

static void test_every_cut(void **state)
{
	static const char whole[] =
		"\xb1" REST "CSRC\x00\x00\x00\x01wordabc\x00\x00\x03";

	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		char *copy = malloc(len + !len);
		struct rtp_header header;
		struct slice payload;

		memcpy(copy, whole, len);
		if (rtp_parse(&header, &payload, slice_make(copy, len)) == 0)
			assert_true(payload.ptr + payload.len <= copy + len);
		free(copy);
	}
}

static void test_write_reads_back(void **state)
{
	const struct rtp_header in = { .pt = 101,
				       .marker = true,
				       .seq = 0xfffe,
				       .timestamp = 0xfffffff0,
				       .ssrc = 0x80000001 };
	uint8_t bytes[RTP_HEADER_BYTES];
	struct rtp_header out;
	struct slice payload;

	rtp_write(bytes, &in);
	assert_int_equal(
		rtp_parse(&out, &payload, slice_make(bytes, sizeof(bytes))), 0);
	assert_int_equal(out.pt, in.pt);
	assert_true(out.marker);
	assert_int_equal(out.seq, in.seq);
	assert_int_equal(out.timestamp, in.timestamp);
	assert_int_equal(out.ssrc, in.ssrc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_write_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

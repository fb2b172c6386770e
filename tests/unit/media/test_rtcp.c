/* SPDX-License-Identifier: MIT */
/* Compound RTCP (RFC 3550, 6) is written and read back, lengths are checked
 * (CVE-2022-21722), round trip and MOS follow from it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "media/rtcp.h"

static const struct rtcp_report sample = {
	.ssrc = 0x11223344,
	.is_sender = true,
	.ntp = 0x0123456789abcdefull,
	.timestamp = 0xfedcba98,
	.packets = 1000,
	.bytes = 160000,
	.has_block = true,
	.block = { .ssrc = 0x55667788,
		   .fraction = 25,
		   .lost = -3,
		   .highest = 0x00012345,
		   .jitter = 77,
		   .lsr = 0x456789ab,
		   .dlsr = 65536 },
	.is_bye = true,
};

static void test_reads_back(void **state)
{
	uint8_t bytes[RTCP_BYTES_MAX];
	struct rtcp_report out;
	size_t len = rtcp_write(bytes, &sample, "abcdefghijklmnop");

	assert_int_equal(len, 52 + 28 + 8);
	assert_int_equal(rtcp_parse(&out, slice_make(bytes, len), 0x55667788),
			 0);
	assert_int_equal(out.ssrc, sample.ssrc);
	assert_true(out.is_sender && out.has_block && out.is_bye);
	assert_int_equal(out.ntp, sample.ntp);
	assert_int_equal(out.timestamp, sample.timestamp);
	assert_int_equal(out.packets, 1000);
	assert_int_equal(out.bytes, 160000);
	assert_memory_equal(&out.block, &sample.block, sizeof(out.block));
	assert_int_equal(rtcp_parse(&out, slice_make(bytes, len), 1), 0);
	assert_false(out.has_block); /* it is about somebody else */
}

static void test_receiver_report_alone(void **state)
{
	struct rtcp_report in = { .ssrc = 5 }, out;
	uint8_t bytes[RTCP_BYTES_MAX];
	size_t len = rtcp_write(bytes, &in, "abcdefghijklmnop");

	assert_int_equal(rtcp_parse(&out, slice_make(bytes, len), 1), 0);
	assert_false(out.is_sender || out.has_block || out.is_bye);
	assert_int_equal(out.ssrc, 5);
}

/* Every cut, and every value of each byte: no read past the end, and a cut is
 * never taken for a whole. */
static void test_broken(void **state)
{
	uint8_t bytes[RTCP_BYTES_MAX];
	struct rtcp_report out;
	size_t len = rtcp_write(bytes, &sample, "abcdefghijklmnop");

	for (size_t n = 0; n < len; n++) {
		uint8_t *copy = malloc(n + !n);
		int err;

		memcpy(copy, bytes, n);
		err = rtcp_parse(&out, slice_make(copy, n), 0x55667788);
		assert_int_equal(err, n == 52 || n == 80 ? 0 : -EBADMSG);
		free(copy);
	}
	for (size_t at = 0; at < len; at++) {
		for (unsigned value = 0; value < 256; value++) {
			uint8_t *copy = malloc(len);

			memcpy(copy, bytes, len);
			copy[at] = (uint8_t)value;
			rtcp_parse(&out, slice_make(copy, len), 0x55667788);
			free(copy);
		}
	}
}

static void test_round_trip(void **state)
{
	struct rtcp_block block = { .lsr = 0 };
	uint64_t sent = rtcp_ntp(1767225600000000);
	uint64_t back = rtcp_ntp(1767225600000000 + 250000);

	assert_true(rtcp_rtt_ms(&block, back) < 0);
	block.lsr = (uint32_t)(sent >> 16);
	block.dlsr = 65536 / 10; /* 100 ms */
	assert_true(rtcp_rtt_ms(&block, back) > 149.9);
	assert_true(rtcp_rtt_ms(&block, back) < 150.1);
	block.dlsr = 65536; /* more than passed: their clock */
	assert_true(rtcp_rtt_ms(&block, back) == 0);
	assert_int_equal(sent >> 32, 1767225600u + 2208988800u);
}

static void test_mos(void **state)
{
	static const struct {
		double loss, delay_ms, least, most;
	} rows[] = {
		{ 0, 0, 4.40, 4.42 },	 { 0, 60, 4.35, 4.40 },
		{ 0.01, 60, 4.2, 4.35 }, { 0.05, 60, 3.7, 4.0 },
		{ 0.2, 60, 2, 2.7 },	 { 0, 400, 2.9, 3.2 },
		{ 1, 1000, 1, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double mos = rtcp_mos(rows[i].loss, rows[i].delay_ms);

		assert_true(mos >= rows[i].least && mos <= rows[i].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_back),
		cmocka_unit_test(test_receiver_report_alone),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_mos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "media/rtcp.h"
#include <assert.h>
#include <errno.h>
#include <string.h>
#include "media/bytes.h"

enum { SR = 200, RR = 201, SDES = 202, BYE = 203 };
enum { HEADER_BYTES = 8, SENDER_BYTES = 20, BLOCK_BYTES = 24 };

static const uint64_t ntp_epoch_s = 2208988800u; /* 1900 to 1970 */

static void write_header(uint8_t *at, unsigned count, unsigned type, size_t len)
{
	at[0] = (uint8_t)(0x80 | count);
	at[1] = (uint8_t)type;
	bytes_put16(at + 2, (uint32_t)(len / 4 - 1));
}

static size_t write_report(uint8_t *out, const struct rtcp_report *report)
{
	const struct rtcp_block *block = &report->block;
	uint8_t *at = out + HEADER_BYTES;

	bytes_put32(out + 4, report->ssrc);
	if (report->is_sender) {
		bytes_put32(at, (uint32_t)(report->ntp >> 32));
		bytes_put32(at + 4, (uint32_t)report->ntp);
		bytes_put32(at + 8, report->timestamp);
		bytes_put32(at + 12, report->packets);
		bytes_put32(at + 16, report->bytes);
		at += SENDER_BYTES;
	}
	if (report->has_block) {
		bytes_put32(at, block->ssrc);
		bytes_put32(at + 4, (uint32_t)block->lost & 0xffffff);
		at[4] = block->fraction;
		bytes_put32(at + 8, block->highest);
		bytes_put32(at + 12, block->jitter);
		bytes_put32(at + 16, block->lsr);
		bytes_put32(at + 20, block->dlsr);
		at += BLOCK_BYTES;
	}
	write_header(out, report->has_block, report->is_sender ? SR : RR,
		     (size_t)(at - out));
	return (size_t)(at - out);
}

static size_t write_sdes(uint8_t *out, uint32_t ssrc, const char *cname)
{
	enum { CNAME = 1, NAME = RTCP_CNAME_SIZE - 1 };
	size_t len = HEADER_BYTES + 2 + NAME + 1;

	assert(strlen(cname) == NAME);
	len = (len + 3) & ~(size_t)3;
	memset(out, 0, len); /* the list ends with zeros up to 32 bits */
	write_header(out, 1, SDES, len);
	bytes_put32(out + 4, ssrc);
	out[8] = CNAME;
	out[9] = NAME;
	memcpy(out + 10, cname, NAME);
	return len;
}

size_t rtcp_write(uint8_t out[RTCP_BYTES_MAX], const struct rtcp_report *report,
		  const char *cname)
{
	size_t len = write_report(out, report);

	len += write_sdes(out + len, report->ssrc, cname);
	if (report->is_bye) {
		write_header(out + len, 1, BYE, HEADER_BYTES);
		bytes_put32(out + len + 4, report->ssrc);
		len += HEADER_BYTES;
	}
	return len;
}

static void read_block(struct rtcp_report *out, const uint8_t *at)
{
	/* 24 bits with sign. */
	int32_t lost = (int32_t)(bytes_get32(at + 4) << 8) / 256;

	out->has_block = true;
	out->block = (struct rtcp_block){ .ssrc = bytes_get32(at),
					  .fraction = at[4],
					  .lost = lost,
					  .highest = bytes_get32(at + 8),
					  .jitter = bytes_get32(at + 12),
					  .lsr = bytes_get32(at + 16),
					  .dlsr = bytes_get32(at + 20) };
}

static int read_report(struct rtcp_report *out, const uint8_t *at, size_t len,
		       uint32_t our_ssrc)
{
	unsigned count = at[0] & 0x1f;
	bool is_sender = at[1] == SR;
	size_t offset = HEADER_BYTES + (is_sender ? SENDER_BYTES : 0);

	if (len < offset + (size_t)count * BLOCK_BYTES)
		return -EBADMSG;
	out->ssrc = bytes_get32(at + 4);
	if (is_sender) {
		out->is_sender = true;
		out->ntp = (uint64_t)bytes_get32(at + 8) << 32 |
			   bytes_get32(at + 12);
		out->timestamp = bytes_get32(at + 16);
		out->packets = bytes_get32(at + 20);
		out->bytes = bytes_get32(at + 24);
	}
	for (unsigned i = 0; i < count; i++, offset += BLOCK_BYTES)
		if (bytes_get32(at + offset) == our_ssrc)
			read_block(out, at + offset);
	return 0;
}

static int read_packet(struct rtcp_report *out, const uint8_t *at, size_t len,
		       uint32_t our_ssrc)
{
	if ((at[1] == SR || at[1] == RR) && len < HEADER_BYTES)
		return -EBADMSG;
	if (at[1] == SR || at[1] == RR)
		return read_report(out, at, len, our_ssrc);
	if (at[1] == BYE)
		out->is_bye = true;
	return 0;
}

int rtcp_parse(struct rtcp_report *out, struct slice packet, uint32_t our_ssrc)
{
	const uint8_t *at = (const uint8_t *)packet.ptr;
	size_t left = packet.len;
	struct rtcp_report report = { .is_sender = false };

	if (left < HEADER_BYTES || (at[1] != SR && at[1] != RR))
		return -EBADMSG;
	while (left) {
		size_t len;

		if (left < 4 || at[0] >> 6 != 2)
			return -EBADMSG;
		len = 4u * (bytes_get16(at + 2) + 1u);
		if (len > left || read_packet(&report, at, len, our_ssrc))
			return -EBADMSG;
		at += len;
		left -= len;
	}
	*out = report;
	return 0;
}

uint64_t rtcp_ntp(int64_t wall_us)
{
	uint64_t us = (uint64_t)wall_us;

	return (us / 1000000 + ntp_epoch_s) << 32 |
	       ((us % 1000000) << 32) / 1000000;
}

double rtcp_rtt_ms(const struct rtcp_block *block, uint64_t ntp_now)
{
	int32_t rtt;

	if (!block->lsr)
		return -1;
	rtt = (int32_t)((uint32_t)(ntp_now >> 16) - block->lsr - block->dlsr);
	return rtt < 0 ? 0 : rtt * 1000.0 / 65536;
}

double rtcp_mos(double loss, double delay_ms)
{
	double delay_factor = 0.024 * delay_ms;
	double percent = loss * 100;
	double r;

	if (delay_ms > 177.3)
		delay_factor += 0.11 * (delay_ms - 177.3);
	r = 93.2 - delay_factor - 95 * percent / (percent + 25.1);
	if (r <= 0)
		return 1;
	if (r > 100)
		return 4.5;
	return 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
}

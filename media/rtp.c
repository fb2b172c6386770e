/* SPDX-License-Identifier: MIT */
#include "media/rtp.h"
#include <errno.h>
#include "media/bytes.h"

/* Where the payload starts, or SIZE_MAX when that is past the end. */
static size_t payload_offset(const uint8_t *at, size_t len)
{
	size_t offset = RTP_HEADER_BYTES + 4u * (at[0] & 0x0f);

	if (offset > len)
		return SIZE_MAX;
	if (!(at[0] & 0x10))
		return offset;
	if (len - offset < 4)
		return SIZE_MAX;
	offset += 4 + 4u * bytes_get16(at + offset + 2);
	return offset > len ? SIZE_MAX : offset;
}

int rtp_parse(struct rtp_header *out, struct slice *payload,
	      struct slice packet)
{
	const uint8_t *at = (const uint8_t *)packet.ptr;
	size_t offset;
	size_t padding = 0;

	if (packet.len < RTP_HEADER_BYTES || at[0] >> 6 != 2)
		return -EBADMSG;
	offset = payload_offset(at, packet.len);
	if (offset == SIZE_MAX)
		return -EBADMSG;
	if (at[0] & 0x20) {
		padding = at[packet.len - 1];
		if (padding == 0 || padding > packet.len - offset)
			return -EBADMSG;
	}
	*payload = slice_make(at + offset, packet.len - offset - padding);
	*out = (struct rtp_header){ .pt = at[1] & 0x7f,
				    .marker = at[1] >> 7,
				    .seq = bytes_get16(at + 2),
				    .timestamp = bytes_get32(at + 4),
				    .ssrc = bytes_get32(at + 8) };
	return 0;
}

void rtp_write(uint8_t out[RTP_HEADER_BYTES], const struct rtp_header *header)
{
	out[0] = 0x80;
	out[1] = (uint8_t)((header->marker ? 0x80 : 0) | (header->pt & 0x7f));
	bytes_put16(out + 2, header->seq);
	bytes_put32(out + 4, header->timestamp);
	bytes_put32(out + 8, header->ssrc);
}

/* SPDX-License-Identifier: MIT */
/* SDP from the network: read, answered, taken as an answer; what we write must
 * be readable again. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "media/negotiate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum media_codec codecs[] = { MEDIA_PCMU, MEDIA_PCMA };

static void check_ours(const struct sdp *ours)
{
	static struct sdp again;
	struct buffer out;
	int err;

	buffer_init(&out, 2 * SDP_BYTES_MAX);
	sdp_write(&out, ours);
	err = sdp_parse(&again, buffer_slice(&out));
	assert(!err);
	assert(again.n_media == ours->n_media);
	assert(negotiate_line(&again) == negotiate_line(ours));
	buffer_reset(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sdp theirs, ours;
	struct negotiate_local local = { .codecs = codecs, .n_codecs = 2 };
	struct negotiated agreed;
	struct buffer offer;
	char *copy = malloc(size + !size);

	memcpy(copy, data, size);
	addr_parse(&local.rtp, SLICE("192.0.2.1"), 20000);
	sdes_write(local.key, (const uint8_t *)"0123456789abcdefghijklmnopqrs");
	if (sdp_parse(&theirs, slice_make(copy, size)) == 0) {
		if (negotiate_answer(&agreed, &ours, &theirs, &local) == 0)
			check_ours(&ours);
		buffer_init(&offer, SDP_BYTES_MAX);
		negotiate_offer(&ours, &local);
		sdp_write(&offer, &ours);
		assert(sdp_parse(&ours, buffer_slice(&offer)) == 0);
		negotiate_accept(&agreed, &theirs, &ours);
		buffer_reset(&offer);
	}
	free(copy);
	return 0;
}

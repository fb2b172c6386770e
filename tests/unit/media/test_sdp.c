/* SPDX-License-Identifier: MIT */
/* Session descriptions are read within bounds and written back the same (RFC
 * 8866): real ones by device, broken ones, and every cut of one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/mem.h"
#include "media/sdp.h"

#define HEAD "v=0\r\no=- 5 7 IN IP4 192.0.2.1\r\ns=-\r\n"
#define BODY HEAD "c=IN IP4 192.0.2.1\r\nt=0 0\r\n"

static struct sdp sdp;

static int parse(const char *text)
{
	/* An exact copy, so that reading past the end is seen. */
	size_t len = strlen(text);
	char *copy = malloc(len + !len);
	int err;

	memcpy(copy, text, len);
	err = sdp_parse(&sdp, slice_make(copy, len));
	free(copy);
	return err;
}

static void test_accepts_and_refuses(void **state)
{
	static const struct {
		const char *text;
		int err;
		size_t n_media;
	} rows[] = {
		{ BODY "m=audio 4000 RTP/SAVP 0\r\n", 0, 1 },
		{ "v=0\no=- 5 7 IN IP4 h\ns=-\nm=audio 4000 RTP/SAVP 0\n", 0,
		  1 }, /* bare LF, no t=, a name in o= */
		{ HEAD "m=audio 4000/2 RTP/SAVP 0 8\r\nm=image 5 udptl t38\r\n",
		  0, 2 },
		{ BODY, 0, 0 },
		{ HEAD "x=?\r\nz=2882844526 -1h\r\nm=audio 1 RTP/SAVP 0", 0,
		  1 },
		{ "", -EINVAL, 0 },
		{ "v=1\r\n", -EINVAL, 0 },
		{ "v=0\r\n", -EINVAL, 0 },
		{ "v=0\r\no=-\r\n", -EINVAL, 0 },
		{ "v=0\r\no=- x 7 IN IP4 h\r\n", -EINVAL, 0 },
		{ BODY "o=- 5 7 IN IP4 h\r\n", -EINVAL, 0 },
		{ BODY "m=\r\n", -EINVAL, 0 },
		{ BODY "m=audio\r\n", -EINVAL, 0 },
		{ BODY "m=audio 70000 RTP/SAVP 0\r\n", -EINVAL, 0 },
		{ BODY "m=audio -1 RTP/SAVP 0\r\n", -EINVAL, 0 },
		{ BODY "m=audio 4000 RTP/SAVP\r\n", -EINVAL, 0 },
		{ BODY "garbage\r\n", -EINVAL, 0 },
		{ BODY "a\r\n", -EINVAL, 0 },
		{ "INVITE sip:x SIP/2.0\r\n", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(rows[i].text), rows[i].err);
		if (!rows[i].err)
			assert_int_equal(sdp.n_media, rows[i].n_media);
	}
}

static void test_attributes(void **state)
{
	static const char text[] =
		BODY "a=recvonly\r\n"
		     "m=audio 4000 RTP/SAVPF 0 96 101 8\r\n"
		     "c=IN IP6 2001:db8::9\r\n"
		     "a=rtpmap:96 opus/48000/2\r\n"
		     "a=fmtp:96 useinbandfec=1; stereo=0\r\n"
		     "a=rtpmap:101 telephone-event/8000\r\n"
		     "a=rtpmap:77 ghost/8000\r\n"
		     "a=ptime:20\r\na=maxptime:60\r\n"
		     "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:abc|2^31 "
		     "WSH=64\r\n"
		     "a=crypto:x broken\r\na=crypto:2 AEAD inline:def\r\n"
		     "a=rtcp:4444 IN IP4 192.0.2.7\r\n"
		     "m=audio 4002 RTP/AVP 8\r\na=SendOnly\r\na=rtcp:5555\r\n";
	const struct sdp_media *media = &sdp.media[0];
	char ip[ADDR_TEXT_SIZE];

	assert_int_equal(sdp_parse(&sdp, SLICE(text)), 0);
	assert_int_equal(sdp.id, 5);
	assert_int_equal(sdp.version, 7);
	assert_int_equal(sdp.n_media, 2);
	assert_int_equal(media->direction, SDP_RECVONLY);
	assert_string_equal(addr_text(&media->addr, ip), "[2001:db8::9]:4000");
	assert_string_equal(addr_text(&media->rtcp, ip), "192.0.2.7:4444");
	assert_int_equal(media->n_formats, 4);
	assert_int_equal(media->formats[1].rate_hz, 48000);
	assert_true(slice_eq(media->formats[1].fmtp,
			     SLICE("useinbandfec=1; stereo=0")));
	assert_int_equal(media->ptime_ms, 20);
	assert_int_equal(media->maxptime_ms, 60);
	assert_int_equal(media->n_crypto, 2);
	assert_int_equal(media->crypto[0].tag, 1);
	assert_true(
		slice_eq(media->crypto[0].params, SLICE("inline:abc|2^31")));
	assert_true(slice_eq(media->crypto[0].session, SLICE("WSH=64")));
	assert_int_equal(sdp.media[1].direction, SDP_SENDONLY);
	assert_string_equal(addr_text(&sdp.media[1].rtcp, ip),
			    "192.0.2.1:5555");
}

static void test_addresses(void **state)
{
	static const struct {
		const char *line;
		bool has_addr;
	} rows[] = {
		{ "c=IN IP4 192.0.2.9\r\n", true },
		{ "c=IN IP4 224.2.1.1/127\r\n", true },
		{ "c=IN IP4 host.example\r\n", false },
		{ "c=IN IP6 192.0.2.9\r\n", false },
		{ "c=ATM NSAP 47\r\n", false },
		{ "c=\r\n", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[256] = BODY "m=audio 4000 RTP/SAVP 0\r\n";

		strcat(text, rows[i].line);
		assert_int_equal(parse(text), 0);
		assert_int_equal(sdp.media[0].has_addr, rows[i].has_addr);
	}
}

static void test_bounds(void **state)
{
	struct buffer text;

	buffer_init(&text, 1 << 20);
	buffer_add_str(&text, BODY "m=audio 4000 RTP/SAVP");
	for (unsigned i = 0; i < 200; i++)
		buffer_printf(&text, " %u", i);
	buffer_add_str(&text, "\r\n");
	for (unsigned i = 0; i < 200; i++)
		buffer_printf(&text, "a=crypto:%u S inline:k\r\n", i);
	assert_int_equal(parse(text.ptr), 0);
	assert_int_equal(sdp.media[0].n_formats, SDP_FORMATS_MAX);
	assert_int_equal(sdp.media[0].n_crypto, SDP_CRYPTO_MAX);
	for (unsigned i = 1; i < SDP_MEDIA_MAX; i++)
		buffer_add_str(&text, "m=audio 0 X Y\r\n");
	assert_int_equal(parse(text.ptr), 0);
	buffer_add_str(&text, "m=audio 0 X Y\r\n");
	assert_int_equal(parse(text.ptr), -EINVAL);
	buffer_clear(&text);
	buffer_add_str(&text, BODY);
	while (text.len <= SDP_BYTES_MAX)
		buffer_add_str(&text, "a=x\r\n");
	assert_int_equal(parse(text.ptr), -EINVAL);
	buffer_reset(&text);
	assert_int_equal(sdp_parse(&sdp, SLICE(BODY "i=a\0b\r\n")), -EINVAL);
}

static void test_written_as_read(void **state)
{
	static const char text[] =
		"v=0\r\no=- 5 7 IN IP4 192.0.2.1\r\ns=-\r\n"
		"c=IN IP4 192.0.2.1\r\nt=0 0\r\n"
		"m=video 0 RTP/SAVP 97 98\r\n"
		"m=audio 4000 RTP/SAVP 0 101\r\n"
		"a=rtpmap:0 PCMU/8000\r\n"
		"a=rtpmap:101 telephone-event/8000\r\n"
		"a=fmtp:101 0-15\r\n"
		"a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:abc KDR=0\r\n"
		"a=rtcp:4007 IN IP4 192.0.2.1\r\n"
		"a=ptime:20\r\na=maxptime:40\r\na=inactive\r\n";
	struct buffer out;

	assert_int_equal(sdp_parse(&sdp, SLICE(text)), 0);
	addr_parse(&sdp.origin, SLICE("192.0.2.1"), 0);
	buffer_init(&out, 4096);
	sdp_write(&out, &sdp);
	assert_string_equal(buffer_str(&out), text);
	buffer_reset(&out);
}

static void test_every_cut(void **state)
{
	static const char text[] = BODY
		"m=audio 4000 RTP/SAVP 0 101\r\na=rtpmap:0 PCMU/8000\r\n"
		"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:abc|2^31|1:1\r\n"
		"a=rtcp:4444 IN IP4 192.0.2.7\r\na=fmtp:101 0-15\r\n";

	for (size_t len = 0; len < sizeof(text); len++) {
		char *copy = malloc(len + !len);

		memcpy(copy, text, len);
		sdp_parse(&sdp, slice_make(copy, len));
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_and_refuses),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_written_as_read),
		cmocka_unit_test(test_every_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

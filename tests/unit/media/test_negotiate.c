/* SPDX-License-Identifier: MIT */
/* Offer and answer (RFC 3264, RFC 4568): secure audio or nothing, the first
 * line and key that will do, the offerer's payload types, hold. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "media/negotiate.h"

#define HEAD   "v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\n"
#define SUITE  "AES_CM_128_HMAC_SHA1_80"
#define KEY    " inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"
#define LINE   "m=audio 5000 RTP/SAVP 0 8 101\r\n"
#define CRYPTO "a=crypto:1 " SUITE KEY "\r\n"
#define EVENT  "a=rtpmap:101 telephone-event/8000\r\n"

static const enum media_codec both[] = { MEDIA_PCMU, MEDIA_PCMA };

static struct negotiate_local local_side(void)
{
	struct negotiate_local local = { .id = 3,
					 .version = 4,
					 .codecs = both,
					 .n_codecs = 2,
					 .key = "inline:OURKEY" };

	addr_parse(&local.rtp, SLICE("198.51.100.1"), 20000);
	return local;
}

/* Answers text; what is written goes into out. */
static int answer(struct negotiated *agreed, struct buffer *out,
		  const char *text)
{
	struct negotiate_local local = local_side();
	struct sdp offer, ours;
	int err;

	assert_int_equal(sdp_parse(&offer, slice_of(text)), 0);
	err = negotiate_answer(agreed, &ours, &offer, &local);
	buffer_init(out, 8192);
	if (!err)
		sdp_write(out, &ours);
	return err;
}

static void test_answers(void **state)
{
	static const struct {
		const char *offer;
		const char *expected; /* in our answer; NULL: refused */
	} rows[] = {
		{ HEAD LINE CRYPTO EVENT, "m=audio 20000 RTP/SAVP 0 101\r\n" },
		{ HEAD LINE CRYPTO, "m=audio 20000 RTP/SAVP 0\r\n" },
		{ HEAD "m=audio 5000 RTP/SAVPF 8 0\r\n" CRYPTO,
		  "m=audio 20000 RTP/SAVPF 8\r\n" },
		{ HEAD "m=audio 5000 RTP/SAVP 97\r\na=rtpmap:97 "
		       "pcmu/8000/1\r\n" CRYPTO,
		  "a=rtpmap:97 PCMU/8000\r\n" },
		{ HEAD LINE "a=crypto:1 AES_256_CM_HMAC_SHA1_80" KEY
			    "\r\na=crypto:2 AES_CM_128_HMAC_SHA1_32" KEY
			    "\r\na=crypto:9 " SUITE KEY "\r\n",
		  "a=crypto:9 " SUITE " inline:OURKEY\r\n" },
		{ HEAD LINE "a=crypto:4 " SUITE KEY
			    "|2^20|1:4\r\na=crypto:5 " SUITE KEY
			    "|2^31\r\na=crypto:6 " SUITE KEY "\r\n",
		  "a=crypto:5 " },
		{ HEAD "m=audio 4000 RTP/AVP 0\r\nm=video 4002 RTP/SAVP 96\r\n"
		       "m=audio 4004 RTP/SAVP 0\r\n" CRYPTO
		       "m=audio 4006 RTP/SAVP 0\r\n" CRYPTO,
		  "m=audio 0 RTP/AVP 0\r\nm=video 0 RTP/SAVP 96\r\n"
		  "m=audio 20000 RTP/SAVP 0\r\n" },
		{ HEAD LINE CRYPTO "m=image 4000 udptl t38\r\n",
		  "m=image 0 udptl t38\r\n" },
		{ HEAD LINE CRYPTO "a=sendonly\r\n", "a=recvonly\r\n" },
		{ HEAD LINE CRYPTO "a=recvonly\r\n", "a=sendonly\r\n" },
		{ HEAD LINE CRYPTO "a=inactive\r\n", "a=inactive\r\n" },
		{ HEAD "a=sendonly\r\n" LINE CRYPTO, "a=recvonly\r\n" },
		{ HEAD LINE "c=IN IP4 0.0.0.0\r\n" CRYPTO, "a=recvonly\r\n" },
		{ HEAD LINE CRYPTO "a=ptime:40\r\n", "a=ptime:40\r\n" },
		{ HEAD LINE CRYPTO "a=ptime:30\r\n", "a=ptime:20\r\n" },
		{ HEAD LINE CRYPTO "a=ptime:60\r\na=maxptime:40\r\n",
		  "a=ptime:40\r\n" },
		{ HEAD LINE CRYPTO "a=maxptime:10\r\n", "a=ptime:10\r\n" },
		{ HEAD LINE CRYPTO "a=ptime:200\r\n", "a=ptime:60\r\n" },
		{ HEAD LINE CRYPTO "a=rtcp-mux\r\n", "RTP/SAVP 0" },
		{ HEAD "m=audio 5000 RTP/AVP 0\r\n" CRYPTO, NULL },
		{ HEAD "m=audio 5000 RTP/AVPF 0\r\n" CRYPTO, NULL },
		{ HEAD "m=audio 5000 UDP/TLS/RTP/SAVPF 0\r\n" CRYPTO, NULL },
		{ HEAD LINE, NULL },
		{ HEAD LINE "a=crypto:1 " SUITE KEY " UNENCRYPTED_SRTP\r\n",
		  NULL },
		{ HEAD "m=audio 0 RTP/SAVP 0\r\n" CRYPTO, NULL },
		{ HEAD "m=audio 5000 RTP/SAVP 3 9 96\r\n" CRYPTO, NULL },
		{ HEAD "m=video 5000 RTP/SAVP 0\r\n" CRYPTO, NULL },
		{ HEAD LINE "c=IN IP4 host.example\r\n" CRYPTO, NULL },
		{ HEAD LINE "c=IN IP4 224.0.0.1\r\n" CRYPTO, NULL },
		{ HEAD LINE "c=IN IP4 255.255.255.255\r\n" CRYPTO, NULL },
		{ HEAD LINE CRYPTO "a=rtcp:5001 IN IP4 239.1.1.1\r\n", NULL },
		{ HEAD LINE "c=IN IP6 2001:db8::1\r\n" CRYPTO, NULL },
		{ HEAD, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct negotiated agreed;
		struct buffer out;
		int err = answer(&agreed, &out, rows[i].offer);

		assert_int_equal(err, rows[i].expected ? 0 : -ENOTSUP);
		if (rows[i].expected)
			assert_non_null(strstr(out.ptr, rows[i].expected));
		assert_null(strstr(buffer_str(&out), "rtcp-mux"));
		buffer_reset(&out);
	}
}

static void test_what_was_agreed(void **state)
{
	struct negotiated agreed;
	struct buffer out;
	char text[ADDR_TEXT_SIZE];

	assert_int_equal(answer(&agreed, &out, HEAD LINE CRYPTO EVENT), 0);
	buffer_reset(&out);
	assert_int_equal(agreed.codec, MEDIA_PCMU);
	assert_int_equal(agreed.pts[MEDIA_PCMU], 0);
	assert_int_equal(agreed.pts[MEDIA_PCMA], NEGOTIATE_NO_PT);
	assert_int_equal(agreed.dtmf_pt, 101);
	assert_int_equal(agreed.packet_ms, 20);
	assert_true(agreed.may_send && agreed.may_receive);
	assert_string_equal(addr_text(&agreed.rtp, text), "192.0.2.9:5000");
	assert_string_equal(addr_text(&agreed.rtcp, text), "192.0.2.9:5001");
	assert_memory_equal(agreed.key, "YS___semctl", 11);
	assert_int_equal(answer(&agreed, &out,
				HEAD LINE CRYPTO
				"a=rtcp:7001 IN IP4 192.0.2.8\r\n"),
			 0);
	buffer_reset(&out);
	assert_string_equal(addr_text(&agreed.rtcp, text), "192.0.2.8:7001");
}

static void test_answers_to_our_offer(void **state)
{
	static const struct {
		const char *answer;
		int err;
		enum media_codec codec;
	} rows[] = {
		{ HEAD LINE CRYPTO, 0, MEDIA_PCMU },
		{ HEAD "m=audio 5000 RTP/SAVP 8\r\n" CRYPTO, 0, MEDIA_PCMA },
		{ HEAD "m=audio 5000 RTP/AVP 0\r\n" CRYPTO, -ENOTSUP, 0 },
		{ HEAD "m=audio 5000 RTP/AVP 0\r\n", -ENOTSUP, 0 },
		{ HEAD LINE, -ENOTSUP, 0 },
		{ HEAD LINE "a=crypto:2 " SUITE KEY "\r\n", -ENOTSUP, 0 },
		{ HEAD "m=audio 0 RTP/SAVP 0\r\n" CRYPTO, -ENOTSUP, 0 },
		{ HEAD "m=audio 5000 RTP/SAVP 18\r\n" CRYPTO, -ENOTSUP, 0 },
		{ HEAD LINE CRYPTO LINE CRYPTO, -ENOTSUP, 0 },
		{ HEAD, -ENOTSUP, 0 },
	};
	struct negotiate_local local = local_side();
	struct sdp offer, read, theirs;
	struct buffer text;

	buffer_init(&text, 8192);
	negotiate_offer(&offer, &local);
	sdp_write(&text, &offer);
	assert_non_null(strstr(text.ptr, "m=audio 20000 RTP/SAVP 0 8 101\r\n"));
	assert_non_null(strstr(text.ptr, "a=fmtp:101 0-15\r\n"));
	assert_int_equal(sdp_parse(&read, buffer_slice(&text)), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct negotiated agreed;

		assert_int_equal(sdp_parse(&theirs, slice_of(rows[i].answer)),
				 0);
		assert_int_equal(negotiate_accept(&agreed, &theirs, &read),
				 rows[i].err);
		if (rows[i].err)
			continue;
		assert_int_equal(agreed.codec, rows[i].codec);
		assert_int_equal(agreed.pts[MEDIA_PCMA], 8);
	}
	buffer_reset(&text);
}

/* Real descriptions by device: what we make of each. */
static void test_corpus(void **state)
{
	static const struct {
		const char *file;
		const char *expected; /* in our answer; NULL: refused */
	} rows[] = {
		{ "asterisk_chan_sip_hold.sdp", "a=recvonly" },
		{ "asterisk_pjsip_sdes.sdp",
		  "m=audio 20000 RTP/SAVP 0 101\r\n" },
		{ "baresip_srtp_mand.sdp", "a=crypto:2 " },
		{ "carrier_sbc_ptime.sdp", "a=ptime:20" },
		{ "cisco_cube.sdp", "a=crypto:2 " },
		{ "cisco_phone_8845.sdp", "m=video 0 RTP/SAVP 126\r\n" },
		{ "fax_and_text_beside.sdp", "a=crypto:77 " },
		{ "freeswitch_offer.sdp", "m=audio 20000 RTP/SAVP 0 101\r\n" },
		{ "ipv6_linphone.sdp", NULL }, /* we are on IPv4 */
		{ "kamailio_rtpproxy.sdp", "m=audio 20000 RTP/SAVP 8 96\r\n" },
		{ "old_hold_null_address.sdp", "a=recvonly" },
		{ "plain_avp_with_crypto.sdp", NULL },
		{ "polycom_vvx.sdp", "a=crypto:2 " },
		{ "rtpengine_savpf.sdp", "m=audio 20000 RTP/SAVPF 0 126\r\n" },
		{ "yealink_both_profiles.sdp", "m=audio 0 RTP/AVP 0 8\r\n" },
	};
	const char *end = strstr(__FILE__, "unit/media/");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[512], text[4096];
		struct negotiated agreed;
		struct buffer out;
		FILE *file;
		size_t n;

		snprintf(path, sizeof(path), "%.*sfuzz/corpus/sdp/%s",
			 (int)(end - __FILE__), __FILE__, rows[i].file);
		file = fopen(path, "rb");
		assert_non_null(file);
		n = fread(text, 1, sizeof(text) - 1, file);
		text[n] = 0;
		fclose(file);
		assert_int_equal(answer(&agreed, &out, text),
				 rows[i].expected ? 0 : -ENOTSUP);
		if (rows[i].expected)
			assert_non_null(strstr(out.ptr, rows[i].expected));
		buffer_reset(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_what_was_agreed),
		cmocka_unit_test(test_answers_to_our_offer),
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* sip/body: which body of a message is SDP (RFC 3261, 7.4; RFC 2046, 5.1), and
 * whether the peer takes SDP for an answer (RFC 3261, 20.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "fixture_text.h"
#include "sip/body.h"

static struct sip_message *message_with(const char *headers, const char *body)
{
	struct fixture_text exact;
	struct sip_message *message;
	struct buffer text;

	buffer_init(&text, 65536);
	buffer_printf(&text,
		      "INVITE sip:b@b.test SIP/2.0\r\n"
		      "Via: SIP/2.0/TLS a.test;branch=z9hG4bKa\r\n"
		      "From: <sip:a@a.test>;tag=f\r\nTo: <sip:b@b.test>\r\n"
		      "Call-ID: c\r\nCSeq: 1 INVITE\r\n%s"
		      "Content-Length: %zu\r\n\r\n%s",
		      headers, strlen(body), body);
	assert_int_equal(sip_message_parse(
				 &message,
				 fixture_text_open(&exact, buffer_slice(&text)),
				 NULL),
			 0);
	fixture_text_close(&exact);
	buffer_reset(&text);
	return message;
}

#define MIXED "Content-Type: multipart/mixed;boundary=b\r\n"
#define PART  "Content-Type: application/sdp\r\n\r\n"
#define ISUP  "Content-Type: application/isup;version=itu\r\n\r\n"

static void test_where_sdp_is(void **state)
{
	static const struct {
		const char *headers, *body;
		int status;
		const char *sdp;
	} rows[] = {
		{ "", "", 0, "" },
		{ "c: application/sdp\r\n", "v=0\r\n", 0, "v=0\r\n" },
		{ "c: Application/SDP ;x=y\r\n", "v=0\r\n", 0, "v=0\r\n" },
		{ "c: text/plain\r\n", "", 0, "" },
		{ "c: text/plain\r\n", "x", 415, "" },
		{ "c: text/plain\r\n"
		  "Content-Disposition: render; Handling=optional\r\n",
		  "x", 0, "" },
		{ "c: text/plain\r\n"
		  "Content-Disposition: render;handling=required\r\n",
		  "x", 415, "" },
		{ "", "v=0\r\n", 415, "" },
		{ "c: application/sdp\r\ne: identity\r\n", "v=0", 0, "v=0" },
		{ "c: application/sdp\r\ne: gzip\r\n", "v=0", 415, "" },
		{ MIXED, "--b\r\n" PART "v=0\r\n--b--\r\n", 0, "v=0" },
		{ MIXED, "preamble\r\n--b\r\n" PART "v=0\r\n--b--", 0, "v=0" },
		{ MIXED,
		  "--b\r\n" ISUP "\x01\x02\r\n--b\r\n" PART "v=0\r\n\r\n--b--",
		  0, "v=0\r\n" },
		{ "c: multipart/alternative; boundary=\"a b\"\r\n",
		  "--a b\r\n" PART "v=0\r\n--a b--", 0, "v=0" },
		/* A delimiter starts a line: this is text of the part. */
		{ MIXED, "--b\r\n" PART "s=--b--\r\nx\r\n--b--", 0,
		  "s=--b--\r\nx" },
		{ MIXED, "x--b\r\n" PART "v=0\r\n--b--", 415, "" },
		{ MIXED, "--b\r\n\r\nv=0\r\n--b--", 415, "" },
		{ MIXED, "--b\r\n" ISUP "x\r\n--b--", 415, "" },
		{ MIXED, "--b\r\n" PART "v=0\r\n", 415, "" },
		{ MIXED, "v=0", 415, "" },
		{ "c: multipart/mixed\r\n", "--\r\n" PART "v=0\r\n----", 415,
		  "" },
		{ "c: multipart/signed;boundary=b\r\n",
		  "--b\r\n" PART "v=0\r\n--b--", 415, "" },
	};
	struct slice sdp;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *message =
			message_with(rows[i].headers, rows[i].body);
		int status = body_sdp(message, &sdp);

		if (status != rows[i].status)
			fail_msg("%d: %s%s", status, rows[i].headers,
				 rows[i].body);
		assert_slice(sdp, rows[i].sdp);
		sip_message_unref(&message);
	}
}

static void test_what_is_taken_for_an_answer(void **state)
{
	static const struct {
		const char *headers;
		bool may_answer;
	} rows[] = {
		{ "", true },
		{ "Accept: application/sdp\r\n", true },
		{ "Accept: text/plain, Application/Sdp;level=1;q=0.5\r\n",
		  true },
		{ "Accept: text/plain\r\nAccept: application/*\r\n", true },
		{ "Accept: */*\r\n", true },
		{ "Accept:\r\n", false },
		{ "Accept: text/nobodyKnowsThis\r\n", false },
		{ "Accept: application/sdpx, application/isup\r\n", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *message = message_with(rows[i].headers, "");

		if (body_may_answer(message) != rows[i].may_answer)
			fail_msg("%s", rows[i].headers);
		sip_message_unref(&message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_sdp_is),
		cmocka_unit_test(test_what_is_taken_for_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* A refusal in the peer's words: reason phrase and Reason headers (RFC 3326). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "sip/message.h"
#include "sip/reason.h"

static struct sip_message *response_with(const char *phrase, const char *lines)
{
	struct sip_message *response = NULL;
	struct buffer text;
	const char *why = "";

	buffer_init(&text, 8000);
	buffer_printf(&text,
		      "SIP/2.0 603 %s\r\n"
		      "Via: SIP/2.0/TLS a.test;branch=z9hG4bK1\r\n"
		      "From: <sip:2@a.test>;tag=1\r\n"
		      "To: <sip:1@a.test>;tag=2\r\n"
		      "Call-ID: 1\r\nCSeq: 1 INVITE\r\n%s"
		      "Content-Length: 0\r\n\r\n",
		      phrase, lines);
	if (sip_message_parse(&response, buffer_slice(&text), &why))
		fail_msg("%s", why);
	buffer_reset(&text);
	return response;
}

static void adds_what_the_header_knows(void **state)
{
	static const struct {
		const char *phrase, *lines, *text;
	} rows[] = {
		{ "Decline", "", "Decline" },
		{ "", "", "" },
		{ "Decline",
		  "Reason: Q.850;cause=21;text=\"Call rejected\"\r\n",
		  "Decline (Call rejected)" },
		{ "Decline",
		  "Reason: SIP ; cause=603 ; text=\"a \\\"b\\\"\"\r\n",
		  "Decline (a \"b\")" },
		{ "Decline", "Reason: SIP;cause=603;text=\"decline\"\r\n",
		  "Decline" },
		{ "Decline", "Reason: SIP;cause=603\r\n", "Decline" },
		{ "Decline", "Reason: q.850;cause=21\r\n",
		  "Decline (Q.850 cause 21)" },
		{ "Decline",
		  "Reason: SIP;cause=603;text=\"Decline\", "
		  "Q.850;cause=21;text=\"one, two\"\r\n",
		  "Decline (one, two)" },
		{ "Decline",
		  "Reason: SIP;cause=603\r\nReason: Q.850;cause=34\r\n",
		  "Decline (Q.850 cause 34)" },
		{ "Decline", "Reason: \r\n", "Decline" },
		{ "Decline", "Reason: Q.850\r\n", "Decline" },
		{ "Decline", "Reason: Q.850;\r\n", "Decline" },
		{ "Decline", "Reason: ;;text=x\r\n", "Decline" },
		{ "Decline", "Reason: Q.850;text=\"\"\r\n", "Decline" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *response =
			response_with(rows[i].phrase, rows[i].lines);
		struct buffer out;

		buffer_init(&out, 1000);
		reason_write(&out, response);
		assert_string_equal(buffer_str(&out), rows[i].text);
		buffer_reset(&out);
		sip_message_unref(&response);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_what_the_header_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

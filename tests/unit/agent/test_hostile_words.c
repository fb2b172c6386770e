/* SPDX-License-Identifier: MIT */
/* A trunk's words go into a call's record and from there to terminals: what
 * those obey (C0, DEL, C1) does not (decisions, "Calls": error_message). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "agent/call/leg_end.h"
#include "core/buffer.h"
#include "core/slice.h"
#include "sip/session.h"
#include "sip/uri.h"

static const char *words(const char *reason)
{
	static char room[LEG_MESSAGE_SIZE];
	struct session_end from = { .cause = SESSION_REJECTED,
				    .code = 603,
				    .reason = reason };
	struct leg_end end;

	leg_end_explain(&end, room, &from, false);
	return end.message;
}

static void test_of_a_refusal(void **state)
{
	assert_string_equal(words("\x1b]0;x\x07\x7f"),
			    "The call was declined: 603 ?]0;x??.");
	assert_string_equal(words("a\xc2\x9b"
				  "2Jb"),
			    "The call was declined: 603 a??2Jb.");
	assert_string_equal(words("Z\xc3\xbcrich \xc2\xa7"),
			    "The call was declined: 603 Z\xc3\xbcrich "
			    "\xc2\xa7.");
	assert_string_equal(words("\xff\x1b"),
			    "The call was declined: 603 ??.");
}

/* The caller's "number" that is none: escapes that hide controls stay. */
static void expect_number(const char *text, const char *number)
{
	struct sip_uri uri;
	struct buffer out;

	buffer_init(&out, 100);
	assert_int_equal(sip_uri_parse(&uri, slice_of(text)), 0);
	sip_uri_number(&out, &uri);
	assert_string_equal(buffer_str(&out), number);
	buffer_reset(&out);
}

static void test_of_a_caller(void **state)
{
	expect_number("sip:a%1b[2J@a.test", "a%1b[2J");
	expect_number("sip:a%C2%9b2J@a.test", "a%C2%9b2J");
	expect_number("sip:a%C2%A7%c3%bc@a.test", "a\xc2\xa7\xc3\xbc");
	expect_number("sip:a%C2@a.test", "a%C2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_a_refusal),
		cmocka_unit_test(test_of_a_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

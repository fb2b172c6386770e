/* SPDX-License-Identifier: MIT */
/* Every end of a leg has a call status and a message (decisions, "Calls":
 * status, error_message; design, "INVITE out"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "agent/call/leg_end.h"
#include "core/slice.h"
#include "sip/header.h"
#include "sip/session.h"

static char room[LEG_MESSAGE_SIZE];

static struct leg_end explain(int code, const char *reason)
{
	struct session_end from = { .cause = SESSION_REJECTED,
				    .code = code,
				    .reason = reason,
				    .by_remote = true };
	struct leg_end end;

	leg_end_explain(&end, room, &from, false);
	return end;
}

static bool is_status(const char *status)
{
	static const char *const known[] = { "failed", "busy", "no-answer",
					     "canceled" };

	for (size_t i = 0; i < 4; i++) {
		if (!strcmp(known[i], status))
			return true;
	}
	return false;
}

/* In full sentences, without the number of what has its own words. */
static void explains_every_final_status(void **state)
{
	unsigned own_words = 0;

	for (int code = 300; code < 700; code++) {
		struct leg_end end = explain(code, sip_reason(code));
		size_t len = strlen(end.message);
		char number[8];

		snprintf(number, sizeof(number), "%d", code);
		if (!is_status(end.status) || len < 20 ||
		    end.message[len - 1] != '.' || end.code != code ||
		    end.was_up || !end.by_remote)
			fail_msg("%d: %s: %s", code, end.status, end.message);
		own_words += !strstr(end.message, number);
		if (strcmp(sip_reason(code), "Unknown") != 0 && code >= 400 &&
		    code != 412 && code != 417 && code != 423 && code != 429 &&
		    code != 489 && code != 493 && code != 494 &&
		    strstr(end.message, number))
			fail_msg("%d has no words: %s", code, end.message);
	}
	assert_in_range(own_words, 40, 60);
}

static void uses_the_words_of_the_api(void **state)
{
	static const struct {
		int code;
		const char *status, *message;
	} rows[] = {
		{ 404, "failed", "The number you dialed is not found." },
		{ 604, "failed", "The number you dialed is not found." },
		{ 480, "no-answer",
		  "The number you dialed is temporarily unavailable." },
		{ 486, "busy",
		  "The number you dialed is busy. Please try again later." },
		{ 600, "busy",
		  "The number you dialed is busy. Please try again later." },
		{ 408, "no-answer",
		  "The number you dialed did not answer in time." },
		{ 487, "canceled",
		  "The call was canceled before it was answered." },
		{ 503, "failed", "The trunk is out of service at the moment." },
		{ 603, "failed", "The call was declined." },
		{ 607, "failed", "The call was rejected as unwanted." },
		{ 608, "failed",
		  "The call was rejected by the callee's network." },
		{ 302, "failed",
		  "The trunk redirects the call, which leads away from it: "
		  "302 Moved Temporarily." },
		{ 499, "failed", "The trunk answered 499 Unknown." },
		{ 699, "failed", "The trunk answered 699 Unknown." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct leg_end end =
			explain(rows[i].code, sip_reason(rows[i].code));

		assert_string_equal(end.status, rows[i].status);
		assert_string_equal(end.message, rows[i].message);
	}
}

/* What clients compare stays as it is; elsewhere the trunk may say why. */
static void adds_the_trunks_own_words(void **state)
{
	static const struct {
		int code;
		const char *reason, *message;
	} rows[] = {
		{ 486, "Line 1 busy",
		  "The number you dialed is busy. Please try again later." },
		{ 404, "Unallocated", "The number you dialed is not found." },
		{ 403, "Forbidden", "The trunk has refused the call." },
		{ 403, "forbidden", "The trunk has refused the call." },
		{ 403, NULL, "The trunk has refused the call." },
		{ 403, "", "The trunk has refused the call." },
		{ 403, "Caller ID not allowed",
		  "The trunk has refused the call: 403 Caller ID not "
		  "allowed." },
		{ 503, "No circuit",
		  "The trunk is out of service at the moment: 503 No "
		  "circuit." },
		{ 603, "Network Blocked",
		  "The call was declined: 603 Network Blocked." },
		{ 403, "caf\xe9", "The trunk has refused the call: 403 caf?." },
		{ 499, "caf\xc3\xa9", "The trunk answered 499 caf\xc3\xa9." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(
			explain(rows[i].code, rows[i].reason).message,
			rows[i].message);
}

static void keeps_long_words_whole(void **state)
{
	char reason[600];
	struct leg_end end;

	for (size_t shift = 0; shift < 4; shift++) {
		memset(reason, 'a', sizeof(reason));
		for (size_t i = shift; i + 1 < sizeof(reason); i += 2)
			memcpy(reason + i, "\xc3\xa9", 2);
		reason[sizeof(reason) - 1] = 0;
		end = explain(403, reason);
		assert_true(slice_is_utf8(slice_of(end.message)));
		assert_int_equal(strlen(end.message), LEG_MESSAGE_SIZE - 1);
	}
}

static void tells_every_other_cause(void **state)
{
	static const struct {
		enum session_cause cause;
		bool was_up;
		const char *status, *message;
	} rows[] = {
		{ SESSION_HANGUP, true, "completed", NULL },
		{ SESSION_HANGUP, false, "canceled",
		  "The call was canceled before it was answered." },
		{ SESSION_CANCELED, false, "canceled",
		  "The call was canceled before it was answered." },
		{ SESSION_NO_ANSWER, false, "no-answer",
		  "The number you dialed did not answer in time." },
		{ SESSION_UNREACHABLE, false, "failed",
		  "The trunk cannot be reached: why." },
		{ SESSION_UNTRUSTED, false, "failed",
		  "The trunk's certificate is not trusted: why." },
		{ SESSION_LOST, true, "failed",
		  "The connection to the trunk was lost: why." },
		{ SESSION_TIMED_OUT, false, "failed",
		  "The trunk did not answer in time: why." },
		{ SESSION_PROTOCOL, false, "failed",
		  "The trunk's answer made no call: why." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct session_end from = { .cause = rows[i].cause,
					    .reason = "why" };
		struct leg_end end;

		leg_end_explain(&end, room, &from, rows[i].was_up);
		assert_string_equal(end.status, rows[i].status);
		if (rows[i].message)
			assert_string_equal(end.message, rows[i].message);
		else
			assert_null(end.message);
		assert_int_equal(end.was_up, rows[i].was_up);
		assert_int_equal(end.code, 0);
		assert_false(end.by_remote);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explains_every_final_status),
		cmocka_unit_test(uses_the_words_of_the_api),
		cmocka_unit_test(adds_the_trunks_own_words),
		cmocka_unit_test(keeps_long_words_whole),
		cmocka_unit_test(tells_every_other_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

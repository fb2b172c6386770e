/* SPDX-License-Identifier: MIT */
/* Nothing that people, variables or peers put into a message of ours can add a
 * line to it: each public function that takes text, with CR, LF, NUL where a
 * length allows it, controls and overlong UTF-8 (RFC 3261, 7.3 and 25.1; RFC
 * 3629, 10). What is refused sends nothing. */
#include "fixture_ua.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "sip/header.h"

static const char *const evil[] = {
	"a\r\nX-Evil: 1",
	"a\nX-Evil: 1",
	"a\rX-Evil: 1",
	"\r\n\r\nBYE sip:x",
	"a\r\n X-Evil: 1",
	"a\x01",
	"a\x7f",
	"a\x1b[2J",
	"a\xc0\x8d\xc0\x8aX",
	"a\xe0\x80\x8aX",
	"a\xf0\x80\x80\x8dX",
	"a\xc0\x80",
	"a\xff",
	"a\xed\xa0\x80",
};
enum { N_EVIL = sizeof(evil) / sizeof(evil[0]) };

/* Not one header more than in a message without evil. */
static void assert_clean(const struct sip_message *message)
{
	for (size_t i = 0; i < message->n_headers; i++) {
		assert_false(slice_eq_nocase(message->headers[i].name,
					     SLICE("X-Evil")));
		assert_true(sip_text_is_line(message->headers[i].value));
	}
}

static void refuse(struct world *w, const struct session_call *call)
{
	assert_int_equal(side_call(w, RAW_PORT, call), -EINVAL);
	assert_null(w->near.session);
	world_run(w, 50);
	raw_expect_none(&w->raw);
}

static void test_fields_of_a_call(void **state)
{
	struct world *w = *state;

	raw_listen(w, w->tls);
	for (size_t i = 0; i < N_EVIL; i++) {
		refuse(w, &(struct session_call){ .from_display = evil[i] });
		refuse(w, &(struct session_call){ .referred_by = evil[i] });
		refuse(w, &(struct session_call){ .replaces = evil[i] });
	}
	assert_int_equal(w->raw.accepts, 0);
}

/* Numbers are escaped, so that anything may stand in them. */
static void test_numbers_of_a_call(void **state)
{
	struct world *w = *state;

	raw_listen(w, w->tls);
	for (size_t i = 0; i < N_EVIL; i++) {
		const struct session_call call = { .to_number = evil[i],
						   .from_number = evil[i] };

		assert_int_equal(side_call(w, RAW_PORT, &call), 0);
		world_run(w, 50);
		assert_clean(raw_expect(&w->raw, "INVITE"));
		session_close(&w->near.session);
		world_run(w, 33000);
		buffer_clear(&w->raw.got);
		buffer_clear(&w->near.log);
	}
}

static void test_host_of_a_trunk(void **state)
{
	struct world *w = *state;

	raw_listen(w, w->tls);
	for (size_t i = 0; i < N_EVIL; i++) {
		struct session_trunk trunk = { .port = RAW_PORT };

		snprintf(trunk.host, sizeof(trunk.host), "%s", evil[i]);
		if (side_call(w, RAW_PORT,
			      &(struct session_call){ .trunk = &trunk }) == 0) {
			world_run(w, 33000);
			session_close(&w->near.session);
			buffer_clear(&w->near.log);
		}
		assert_null(ua_probe(w->near.ua, &trunk, NULL, NULL));
		raw_expect_none(&w->raw);
	}
	assert_int_equal(w->raw.accepts, 0);
}

static void test_headers_of_a_call(void **state)
{
	static const char *const names[] = { "X\r\nX-Evil", "X: 1\r\nX-Evil",
					     "X Y",	    "",
					     "X\xc0\x8a",   "Replaces",
					     "Refer-To",    "Require",
					     "Event",	    "i" };
	struct world *w = *state;

	raw_listen(w, w->tls);
	for (size_t i = 0; i < N_EVIL; i++) {
		struct session_header header = { SLICE("X-A"),
						 slice_of(evil[i]) };

		refuse(w, &(struct session_call){ .headers = &header,
						  .n_headers = 1 });
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct session_header header = { slice_of(names[i]),
						 SLICE("1") };

		refuse(w, &(struct session_call){ .headers = &header,
						  .n_headers = 1 });
	}
	refuse(w, &(struct session_call){
			  .headers = &(struct session_header){ SLICE("X-A"),
							       { "a\0b", 3 } },
			  .n_headers = 1 });
	refuse(w, &(struct session_call){
			  .headers = &(struct session_header){ { "X\0A", 3 },
							       SLICE("1") },
			  .n_headers = 1 });
	assert_int_equal(w->raw.accepts, 0);
}

/* The call ends all the same, without the words. */
static void test_reason_of_a_hangup(void **state)
{
	struct world *w = *state;
	const struct sip_message *bye;

	for (size_t i = 0; i < N_EVIL; i++) {
		raw_take_call(w);
		session_hangup(w->near.session, evil[i]);
		world_run(w, 20);
		bye = raw_expect(&w->raw, "BYE");
		assert_clean(bye);
		assert_null(message_value(bye, "Reason").ptr);
		raw_reply(&w->raw, bye, 200, "", "");
		session_close(&w->near.session);
		world_run(w, 50);
		buffer_clear(&w->near.log);
	}
}

static void test_reason_of_a_cancel(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;
	const struct sip_message *cancel;

	raw_listen(w, w->tls);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	invite = sip_message_ref(raw_expect(&w->raw, "INVITE"));
	raw_reply(&w->raw, invite, 180, "", "");
	session_hangup(w->near.session, evil[0]);
	world_run(w, 20);
	cancel = raw_expect(&w->raw, "CANCEL");
	assert_clean(cancel);
	assert_null(message_value(cancel, "Reason").ptr);
	raw_reply(&w->raw, invite, 487, "", "");
	sip_message_unref(&invite);
	buffer_clear(&w->near.log);
}

static void test_targets_of_a_refer(void **state)
{
	struct world *w = *state;
	char text[200];

	raw_take_call(w);
	for (size_t i = 0; i < N_EVIL; i++) {
		snprintf(text, sizeof(text), "sip:%s@b.test", evil[i]);
		assert_int_equal(session_refer(w->near.session, text, NULL),
				 -EINVAL);
		snprintf(text, sizeof(text), "sip:a@b.test;x=%s", evil[i]);
		assert_int_equal(session_refer(w->near.session, text, NULL),
				 -EINVAL);
		snprintf(text, sizeof(text), "a;to-tag=1;from-tag=2;x=\"%s\"",
			 evil[i]);
		assert_int_equal(
			session_refer(w->near.session, "sip:a@b.test", text),
			-EINVAL);
	}
	world_run(w, 20);
	raw_expect_none(&w->raw);
}

/* Credentials and what a challenge says go into one quoted line. */
static void test_credentials(void **state)
{
	struct world *w = *state;

	raw_listen(w, w->tls);
	for (size_t i = 0; i < N_EVIL; i++) {
		struct session_trunk trunk = { .host = "trunk.test",
					       .port = RAW_PORT,
					       .username = evil[i],
					       .password = evil[i] };
		struct sip_message *invite;

		assert_int_equal(
			side_call(w, RAW_PORT,
				  &(struct session_call){ .trunk = &trunk }),
			0);
		world_run(w, 50);
		invite = sip_message_ref(raw_expect(&w->raw, "INVITE"));
		raw_reply(&w->raw, invite, 401,
			  "WWW-Authenticate: Digest realm=\"r\", "
			  "nonce=\"n\"\r\n",
			  "");
		sip_message_unref(&invite);
		raw_expect(&w->raw, "ACK");
		while (raw_take(&w->raw))
			for (size_t k = 0; k < w->raw.message->n_headers; k++)
				assert_false(slice_eq_nocase(
					w->raw.message->headers[k].name,
					SLICE("X-Evil")));
		session_close(&w->near.session);
		world_run(w, 33000);
		buffer_clear(&w->raw.got);
		buffer_clear(&w->near.log);
	}
}

/* What a peer hides in escapes or folds comes out as one line or not at
 * all. */
static void test_what_peers_hide(void **state)
{
	static const struct {
		const char *headers, *answer;
	} rows[] = {
		{ "Refer-To: <sip:a%0D%0AX-Evil:%201@b.test>\r\n", "202" },
		{ "Refer-To: <sip:a@b.test?Replaces=a%0D%0AX-Evil:1%3Bto-tag"
		  "=1%3Bfrom-tag=2>\r\n",
		  "400" },
		{ "Refer-To: <sip:a@b.test?Replaces=a%3Bto-tag=1%3Bfrom-tag=2"
		  "%3Bx=%22%C0%8D%22>\r\n",
		  "400" },
		{ "Refer-To: <sip:a@b.test>\r\n"
		  "Referred-By: <sip:a%0D%0AX-Evil:%201@b.test>\r\n",
		  "202" },
	};
	struct world *w = *state;

	raw_make_call(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_request(&w->raw, "REFER", rows[i].headers, "");
		assert_clean(raw_expect(&w->raw, rows[i].answer));
		assert_null(strpbrk(buffer_str(&w->near.log), "\r\n"));
		buffer_clear(&w->near.log);
		if (strcmp(rows[i].answer, "202") != 0)
			continue;
		assert_clean(raw_expect(&w->raw, "NOTIFY"));
		raw_reply(&w->raw, w->raw.message, 200, "", "");
		session_refer_notify(w->near.session, 603);
		world_run(w, 20);
		raw_reply(&w->raw, raw_expect(&w->raw, "NOTIFY"), 200, "", "");
	}
}

static void test_lines_of_text(void **state)
{
	static const struct slice yes[] = { { "", 0 },
					    { "a\tb", 3 },
					    { "\xc3\xbc \xe2\x82\xac", 6 },
					    { "\xf0\x9f\x93\x9e", 4 } };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(sip_text_is_line(yes[i]));
	for (size_t i = 0; i < N_EVIL; i++)
		assert_false(sip_text_is_line(slice_of(evil[i])));
	assert_false(sip_text_is_line(slice_make("a\0b", 3)));
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_fields_of_a_call),
		with_world(test_numbers_of_a_call),
		with_world(test_host_of_a_trunk),
		with_world(test_headers_of_a_call),
		with_world(test_reason_of_a_hangup),
		with_world(test_reason_of_a_cancel),
		with_world(test_targets_of_a_refer),
		with_world(test_credentials),
		with_world(test_what_peers_hide),
		cmocka_unit_test(test_lines_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

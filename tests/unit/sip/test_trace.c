/* SPDX-License-Identifier: MIT */
/* sip/trace: a tap sees every message of its Call-ID in order, both ways, from
 * the INVITE to the answer to BYE, and then the end; nothing of other calls,
 * also of one that borrows its Call-ID. */
#include "fixture_ua.h"
#include <stdio.h>
#include <string.h>
#include "sip/redact.h"
#include "sip/trace.h"

struct ear {
	struct ua_tap tap;
	struct buffer log;
	struct slice wanted; /* must be in some text; empty: nothing */
	bool has_heard;
};

static struct ear ears[2];

/* ">INVITE <180 >ACK over" */
static void on_trace(void *owner, bool is_out, const struct addr *peer,
		     struct slice text)
{
	struct ear *ear = owner;
	struct sip_glance glance;

	if (!text.len) {
		buffer_add_str(&ear->log, "over");
		return;
	}
	sip_glance(&glance, text);
	assert_true(addr_port(peer) != 0);
	if (glance.status)
		buffer_printf(&ear->log, "%c%d ", is_out ? '>' : '<',
			      glance.status);
	else
		buffer_printf(&ear->log, "%c%.*s ", is_out ? '>' : '<',
			      (int)glance.method.len, glance.method.ptr);
	if (ear->wanted.len &&
	    memmem(text.ptr, text.len, ear->wanted.ptr, ear->wanted.len))
		ear->has_heard = true;
}

static void listen_in(size_t i, struct ua *ua, const char *call_id)
{
	ua_trace_start(ua, &ears[i].tap, call_id, on_trace, &ears[i]);
}

static void expect_heard(size_t i, const char *wanted)
{
	assert_string_equal(buffer_str(&ears[i].log), wanted);
	buffer_clear(&ears[i].log);
}

static void listen_to_invite(struct side *side, struct session *session)
{
	size_t i = ears[0].tap.ua ? 1 : 0;

	listen_in(i, side->ua, session_call_id(session));
}

static int setup(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		ears[i] = (struct ear){ 0 };
		buffer_init(&ears[i].log, 65536);
	}
	return world_setup(state);
}

static int teardown(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		ua_trace_stop(&ears[i].tap);
		ua_trace_stop(&ears[i].tap); /* does nothing */
		buffer_reset(&ears[i].log);
	}
	return world_teardown(state);
}

static void call_far(struct world *w, size_t ear)
{
	assert_int_equal(side_call(w, FAR_PORT, &(struct session_call){ 0 }),
			 0);
	listen_in(ear, w->near.ua, session_call_id(w->near.session));
}

static void hears_an_outgoing_call(void **state)
{
	struct world *w = *state;

	w->far.answer = "answer";
	call_far(w, 0);
	expect_heard(0, "");
	world_run(w, 100);
	expect_heard(0, ">INVITE <100 <200 >ACK ");
	session_hangup(w->near.session, NULL);
	session_close(&w->near.session);
	world_run(w, 100);
	expect_heard(0, ">BYE <200 ");
	world_run(w, 32 * 1000); /* until then a fork could answer too */
	expect_heard(0, "over");
}

static void hears_an_incoming_call_from_its_start(void **state)
{
	struct world *w = *state;

	w->near.on_invited = listen_to_invite;
	ears[0].wanted = SLICE("Contact: <sip:raw@127.0.0.1:5065");
	raw_make_call(w);
	expect_heard(0, "<INVITE >100 >200 <ACK ");
	assert_true(ears[0].has_heard);
	raw_request(&w->raw, "BYE", "", "");
	session_close(&w->near.session);
	world_run(w, 100);
	expect_heard(0, "<BYE >200 over");
}

static void hears_a_refusal_and_a_cancel(void **state)
{
	struct world *w = *state;

	w->near.on_invited = listen_to_invite;
	w->near.invite_status = 486;
	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
	raw_learn(&w->raw, raw_expect(&w->raw, "486"));
	world_run(w, 100);
	expect_heard(0, "<INVITE >100 >486 over");
	ua_trace_stop(&ears[0].tap);
	call_far(w, 0);
	world_run(w, 50);
	session_hangup(w->near.session, NULL);
	session_close(&w->near.session);
	world_run(w, 100);
	expect_heard(0, ">INVITE <100 >CANCEL <200 <487 >ACK over");
}

/* Text as it came: with what was folded joined. */
static void hears_folded_lines_joined(void **state)
{
	struct world *w = *state;

	w->near.on_invited = listen_to_invite;
	w->near.invite_status = 486;
	ears[0].wanted = SLICE("Subject: a b c      \r\nContent-Type: ");
	raw_dial(w);
	raw_request(&w->raw, "INVITE", "Subject: a \r\n\t b\r\n c\r\n",
		    "offer");
	assert_true(ears[0].has_heard);
}

static void hears_nothing_of_others(void **state)
{
	struct world *w = *state;

	listen_in(0, w->near.ua, "somebody-else@127.0.0.1");
	raw_make_call(w);
	raw_request(&w->raw, "BYE", "", "");
	expect_heard(0, "");
	ua_trace_stop(&ears[0].tap);
	raw_request(&w->raw, "OPTIONS", "", "");
	expect_heard(0, "");
}

static void hears_nothing_once_stopped(void **state)
{
	struct world *w = *state;

	call_far(w, 0);
	world_run(w, 50);
	expect_heard(0, ">INVITE <100 ");
	ua_trace_stop(&ears[0].tap);
	session_close(&w->near.session);
	world_run(w, 1000);
	expect_heard(0, "");
}

/* Our INVITE comes back to us over a proxy: one Call-ID, two calls. */
static void tells_two_calls_of_one_call_id_apart(void **state)
{
	struct world *w = *state;
	struct raw *raw = &w->raw;

	raw_listen(w, w->tls);
	assert_int_equal(side_call(w, RAW_PORT, &(struct session_call){ 0 }),
			 0);
	listen_in(0, w->near.ua, session_call_id(w->near.session));
	world_run(w, 50);
	raw_learn(raw, raw_expect(raw, "INVITE"));
	expect_heard(0, ">INVITE ");
	w->near.on_invited = listen_to_invite;
	w->near.invite_status = 486;
	snprintf(raw->local, sizeof(raw->local), "%s", raw->remote);
	snprintf(raw->remote, sizeof(raw->remote), "<sip:+15550100@near.test>");
	raw_request(raw, "INVITE", "", "offer");
	raw_expect(raw, "100");
	raw_expect(raw, "486");
	expect_heard(1, "<INVITE >100 >486 over");
	expect_heard(0, "over"); /* one of two */
	session_close(&w->near.session);
	world_run(w, 100 * 1000);
	expect_heard(0, "over");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hears_an_outgoing_call),
		TEST(hears_an_incoming_call_from_its_start),
		TEST(hears_a_refusal_and_a_cancel),
		TEST(hears_folded_lines_joined),
		TEST(hears_nothing_of_others),
		TEST(hears_nothing_once_stopped),
		TEST(tells_two_calls_of_one_call_id_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

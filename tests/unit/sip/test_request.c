/* SPDX-License-Identifier: MIT */
/* sip/request, rows "locating" and "digest" of the signalling requirements: the
 * trunk's next address on 503, on no answer and on a lost or refused connection
 * (RFC 3263, 4.3), with a new branch and else the same request; Retry-After
 * (RFC 3261, 21.5.4); one answer to a challenge per nonce, one more when stale,
 * and only to the trunk itself; calls that a reload of certificates finds. */
#include <stdio.h>
#include "core/loop.h"
#include "core/sim.h"
#include "core/tls.h"
#include "fixture_text.h"
#include "fixture_ua.h"

static const struct session_trunk multi = { .host = "multi.test" };
static const struct session_trunk multi_login = { .host = "multi.test",
						  .username = "u",
						  .password = "p" };
static const char contact[] = "Contact: <sip:raw@127.0.0.1:5065>\r\n";

/* The second server of multi.test; the first is the world's raw. */
static struct raw second;

static int setup(void **state)
{
	struct world *w;

	world_setup(state);
	w = *state;
	second = (struct raw){ .world = w };
	buffer_init(&second.got, 1 << 20);
	return 0;
}

static void close_second(void)
{
	link_close(&second.link);
	listener_close(&second.listener);
	buffer_reset(&second.got);
	sip_message_unref(&second.message);
}

static int teardown(void **state)
{
	struct world *w = *state;

	session_close(&w->near.session);
	world_run(w, 70 * 1000);
	close_second();
	return world_teardown(state);
}

static void call_multi(struct world *w, const struct session_trunk *trunk)
{
	assert_int_equal(
		side_call(w, 0, &(struct session_call){ .trunk = trunk }), 0);
	world_run(w, 50);
}

static void listen_both(struct world *w)
{
	raw_listen(w, w->tls);
	raw_listen_at(&second, w->tls, "127.0.0.1", SECOND_PORT);
}

static void refuse(struct world *w, struct raw *raw, int status,
		   const char *headers)
{
	raw_reply(raw, raw_expect(raw, "INVITE"), status, headers, "");
	world_run(w, 50);
	raw_expect(raw, "ACK");
}

static void answer_call(struct world *w, struct raw *raw)
{
	struct sip_message *invite = raw_expect(raw, "INVITE");

	raw_learn(raw, invite);
	raw_reply(raw, invite, 200, contact, "answer");
	world_run(w, 50);
	raw_expect(raw, "ACK");
	expect_log(&w->near, "answer [answer];");
}

static void hang_up(struct world *w, struct raw *raw)
{
	session_close(&w->near.session);
	world_run(w, 50);
	raw_reply(raw, raw_expect(raw, "BYE"), 200, "", "");
	world_run(w, 50);
	buffer_clear(&w->near.log);
}

static void copy(char out[256], struct slice text)
{
	snprintf(out, 256, "%.*s", (int)text.len, text.ptr);
}

static void test_next_address_on_503(void **state)
{
	struct world *w = *state;
	char call_id[256], branch[256], from[256];
	struct sip_message *invite;
	unsigned cseq;

	listen_both(w);
	call_multi(w, &multi);
	invite = raw_expect(&w->raw, "INVITE");
	copy(call_id, invite->common.call_id);
	copy(branch, invite->common.via.branch);
	copy(from, message_value(invite, "From"));
	cseq = invite->common.cseq;
	raw_reply(&w->raw, invite, 100, "", "");
	raw_reply(&w->raw, invite, 503, "", "");
	world_run(w, 50);
	raw_expect(&w->raw, "ACK");
	raw_expect_none(&w->raw);
	invite = raw_expect(&second, "INVITE");
	assert_slice(invite->common.call_id, call_id);
	assert_slice(message_value(invite, "From"), from);
	assert_int_equal(invite->common.cseq, cseq);
	assert_false(slice_eq(invite->common.via.branch, slice_of(branch)));
	assert_slice(invite->body, "offer");
	raw_learn(&second, invite);
	raw_reply(&second, invite, 200, contact, "answer");
	world_run(w, 50);
	raw_expect(&second, "ACK");
	expect_log(&w->near, "answer [answer];");
	hang_up(w, &second);
}

static void test_all_answer_503(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi);
	refuse(w, &w->raw, 503, "");
	refuse(w, &second, 503, "");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 503 remote;");
}

/* Other refusals are the call's own. */
static void test_other_refusals_stay(void **state)
{
	static const int rows[] = { 404, 480, 486, 500, 504, 603 };
	struct world *w = *state;
	char wanted[64];

	listen_both(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		call_multi(w, &multi);
		refuse(w, &w->raw, rows[i], "Retry-After: 60\r\n");
		snprintf(wanted, sizeof(wanted), "end rejected %d remote;",
			 rows[i]);
		expect_log(&w->near, wanted);
		session_close(&w->near.session);
	}
	raw_expect_none(&second);
	assert_int_equal(second.accepts, 0);
}

/* Somebody has been reached: the caller hears of it and no second phone
 * rings. */
static void test_503_after_ringing(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;

	listen_both(w);
	call_multi(w, &multi);
	invite = raw_expect(&w->raw, "INVITE");
	raw_reply(&w->raw, invite, 180, contact, "");
	raw_reply(&w->raw, invite, 503, "", "");
	world_run(w, 50);
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "progress 180 [];end rejected 503 remote;");
	assert_int_equal(second.accepts, 0);
}

static void test_retry_after(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi);
	refuse(w, &w->raw, 503, "Retry-After: 90 (I am busy);duration=1\r\n");
	answer_call(w, &second);
	hang_up(w, &second);
	world_run(w, 80 * 1000); /* past what a second choice is good for */
	call_multi(w, &multi);
	raw_expect_none(&w->raw);
	answer_call(w, &second);
	assert_int_equal(second.accepts, 1); /* the link was still there */
	hang_up(w, &second);
	world_run(w, 70 * 1000);
	call_multi(w, &multi);
	raw_expect_none(&second);
	answer_call(w, &w->raw);
	hang_up(w, &w->raw);
}

/* What one call was refused says little about the next one, when there is
 * nowhere else to go. */
static void test_retry_after_of_the_only_address(void **state)
{
	struct world *w = *state;
	struct session_trunk only = { .host = "trunk.test", .port = RAW_PORT };

	listen_both(w);
	call_multi(w, &only);
	refuse(w, &w->raw, 503, "Retry-After: 600\r\n");
	expect_log(&w->near, "end rejected 503 remote;");
	session_close(&w->near.session);
	call_multi(w, &only);
	answer_call(w, &w->raw);
	assert_int_equal(w->raw.accepts, 1);
	hang_up(w, &w->raw);
}

static void test_nobody_at_the_first_address(void **state)
{
	struct world *w = *state;

	raw_listen_at(&second, w->tls, "127.0.0.1", SECOND_PORT);
	call_multi(w, &multi);
	answer_call(w, &second);
	hang_up(w, &second);
}

static enum sim_verdict drop_first(void *arg, const struct sim_packet *packet)
{
	return packet->is_connect && addr_port(&packet->to) == RAW_PORT
		       ? SIM_DROP
		       : SIM_PASS;
}

/* 4 s for a connection; the call after it does not wait again. */
static void test_no_answer_to_the_connect(void **state)
{
	struct world *w = *state;

	listen_both(w);
	sim_set_filter(w->loop, drop_first, w);
	call_multi(w, &multi);
	world_run(w, 3900);
	raw_expect_none(&second);
	world_run(w, 100);
	answer_call(w, &second);
	hang_up(w, &second);
	raw_cut(&second);
	world_run(w, 50);
	call_multi(w, &multi);
	answer_call(w, &second);
	hang_up(w, &second);
	sim_set_filter(w->loop, NULL, NULL);
}

/* An address as the trunk's host: in brackets wherever a port may follow. */
static void test_ipv6_trunk(void **state)
{
	const struct session_trunk trunk = { .host = "::1",
					     .port = SECOND_PORT };
	struct world *w = *state;
	const struct sip_message *invite;

	raw_listen_at(&second, w->tls, "::1", SECOND_PORT);
	call_multi(w, &trunk);
	invite = raw_expect(&second, "INVITE");
	assert_slice(invite->start.target, "sip:+15550100@[::1]:5067");
	assert_slice(invite->common.via.host, "::1");
	assert_slice(message_value(invite, "Contact"),
		     "<sip:+15550199@[::1]:5061;transport=tls>");
	raw_learn(&second, (struct sip_message *)invite);
	raw_reply(&second, invite, 200,
		  "Contact: <sip:raw@[::1]:5067;transport=tls>\r\n", "answer");
	world_run(w, 50);
	raw_expect(&second, "ACK");
	hang_up(w, &second);
}

/* It accepts the connection and says nothing at all for 32 s. */
static void test_silent_server(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi);
	raw_expect(&w->raw, "INVITE");
	world_run(w, 31 * 1000);
	raw_expect_none(&second);
	world_run(w, 1000);
	answer_call(w, &second);
	hang_up(w, &second);
}

static void test_lost_before_any_answer(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi);
	raw_expect(&w->raw, "INVITE");
	raw_cut(&w->raw);
	world_run(w, 50);
	answer_call(w, &second);
	hang_up(w, &second);
}

static void test_lost_after_an_answer(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 100, "", "");
	world_run(w, 50);
	raw_cut(&w->raw);
	world_run(w, 50);
	expect_log(&w->near, "end lost 0;");
	assert_int_equal(second.accepts, 0);
}

/* Given up while the next address is being reached. */
static void test_closed_while_moving(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi);
	sim_set_delay_us(w->loop, 5 * 1000);
	/* After the 20 ms that this runs, the next handshake is under way. */
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 503, "", "");
	assert_int_equal(sim_tcp_links(w->loop), 4);
	session_close(&w->near.session);
	world_run(w, 500);
	raw_expect(&w->raw, "ACK");
	assert_int_equal(second.accepts, 0);
	assert_int_equal(sim_tcp_links(w->loop), 2);
}

/* Given up before: the 503 ends it. */
static void test_canceled_before_the_503(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;

	listen_both(w);
	call_multi(w, &multi);
	invite = raw_expect(&w->raw, "INVITE");
	session_hangup(w->near.session, NULL);
	raw_reply(&w->raw, invite, 503, "", "");
	world_run(w, 50);
	raw_expect(&w->raw, "ACK");
	assert_int_equal(second.accepts, 0);
	expect_log(&w->near, "end canceled 503;");
}

/* ---- digest ---- */

static void challenge(struct world *w, struct raw *raw, const char *params)
{
	char header[256];

	snprintf(header, sizeof(header),
		 "WWW-Authenticate: Digest realm=\"r\", qop=\"auth\", %s\r\n",
		 params);
	raw_reply(raw, raw_expect(raw, "INVITE"), 401, header, "");
	world_run(w, 50);
	raw_expect(raw, "ACK");
}

/* Each server has nonces of its own. */
static void test_next_address_challenges_anew(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;
	struct slice value;

	listen_both(w);
	call_multi(w, &multi_login);
	challenge(w, &w->raw, "nonce=\"a\"");
	invite = raw_expect(&w->raw, "INVITE");
	assert_int_equal(invite->common.cseq, 2);
	raw_reply(&w->raw, invite, 503, "", "");
	world_run(w, 50);
	challenge(w, &second, "nonce=\"b\"");
	invite = raw_expect(&second, "INVITE");
	value = message_value(invite, "Authorization");
	assert_non_null(memmem(value.ptr, value.len, "nonce=\"b\"", 9));
	raw_learn(&second, invite);
	raw_reply(&second, invite, 200, contact, "answer");
	world_run(w, 50);
	raw_expect(&second, "ACK");
	hang_up(w, &second);
}

/* One try per nonce: "stale" with the old one is no new one. */
static void test_one_try_per_nonce(void **state)
{
	static const struct {
		const char *then[3]; /* after the first challenge */
		unsigned invites; /* that came in all */
	} rows[] = {
		{ { "nonce=\"b\", stale=true", "nonce=\"c\", stale=true" }, 3 },
		{ { "nonce=\"b\"" }, 2 },
		{ { "nonce=\"a\", stale=true" }, 2 },
	};
	struct world *w = *state;

	listen_both(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned n = 1;

		call_multi(w, &multi_login);
		challenge(w, &w->raw, "nonce=\"a\"");
		for (; rows[i].then[n - 1]; n++)
			challenge(w, &w->raw, rows[i].then[n - 1]);
		assert_int_equal(n, rows[i].invites);
		raw_expect_none(&w->raw);
		expect_log(&w->near, "end rejected 401 remote;");
		session_close(&w->near.session);
	}
}

static void test_auth_int_alone_is_not_answered(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi_login);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 401,
		  "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", "
		  "qop=\"auth-int\"\r\n",
		  "");
	world_run(w, 50);
	raw_expect(&w->raw, "ACK");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 401 remote;");
}

/* A stranger who knows the dialog's names draws its BYE to a connection of his
 * own: no credentials for him. */
static void test_no_credentials_for_a_stranger(void **state)
{
	struct world *w = *state;
	struct raw stranger = { .world = w };
	struct sip_message *invite;

	listen_both(w);
	call_multi(w, &multi_login);
	challenge(w, &w->raw, "nonce=\"a\"");
	invite = raw_expect(&w->raw, "INVITE");
	raw_learn(&w->raw, invite);
	raw_reply(&w->raw, invite, 200, contact, "answer");
	world_run(w, 50);
	raw_expect(&w->raw, "ACK");
	/* From here on raw speaks over a link it opened, without a
	 * certificate. */
	stranger.link = w->raw.link;
	w->raw.link = NULL;
	raw_dial(w);
	raw_request(&w->raw, "OPTIONS", "", "");
	world_run(w, 50);
	raw_expect(&w->raw, "200");
	session_hangup(w->near.session, NULL);
	world_run(w, 50);
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 401,
		  "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n", "");
	world_run(w, 50);
	raw_expect_none(&w->raw);
	link_close(&stranger.link);
}

/* ---- others ---- */

struct probed {
	unsigned outcomes;
	int status;
};

static void on_probed(void *owner, int status, uint32_t ms, const char *why)
{
	struct probed *probed = owner;

	probed->outcomes++;
	probed->status = status;
}

static void test_probe_goes_on_too(void **state)
{
	struct world *w = *state;
	struct probed probed = { 0 };

	listen_both(w);
	ua_probe(w->near.ua, &multi, on_probed, &probed);
	world_run(w, 50);
	raw_reply(&w->raw, raw_expect(&w->raw, "OPTIONS"), 503, "", "");
	world_run(w, 50);
	raw_reply(&second, raw_expect(&second, "OPTIONS"), 200, "", "");
	world_run(w, 50);
	assert_int_equal(probed.outcomes, 1);
	assert_int_equal(probed.status, 200);
}

/* Inside a dialog there is one peer. */
static void test_503_inside_a_dialog(void **state)
{
	struct world *w = *state;

	listen_both(w);
	call_multi(w, &multi);
	answer_call(w, &w->raw);
	session_hangup(w->near.session, NULL);
	world_run(w, 50);
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 503, "", "");
	world_run(w, 50);
	assert_int_equal(second.accepts, 0);
	expect_log(&w->near, "end hangup 0;");
}

/* SIGHUP: the call goes on over its link, the next one takes a new link. */
static void test_reload_keeps_the_call(void **state)
{
	struct world *w = *state;
	struct buffer why;

	listen_both(w);
	call_multi(w, &multi);
	answer_call(w, &w->raw);
	buffer_init(&why, 256);
	assert_int_equal(tls_reload(w->tls, &why), 0);
	buffer_reset(&why);
	world_run(w, 600 * 1000); /* no idle link: a call needs it */
	assert_int_equal(w->raw.accepts, 1);
	assert_int_equal(w->raw.closes, 0);
	hang_up(w, &w->raw);
	call_multi(w, &multi);
	assert_int_equal(w->raw.accepts, 2);
	answer_call(w, &w->raw);
	hang_up(w, &w->raw);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_next_address_on_503),
		T(test_all_answer_503),
		T(test_other_refusals_stay),
		T(test_503_after_ringing),
		T(test_retry_after),
		T(test_retry_after_of_the_only_address),
		T(test_nobody_at_the_first_address),
		T(test_no_answer_to_the_connect),
		T(test_ipv6_trunk),
		T(test_silent_server),
		T(test_lost_before_any_answer),
		T(test_lost_after_an_answer),
		T(test_closed_while_moving),
		T(test_canceled_before_the_503),
		T(test_next_address_challenges_anew),
		T(test_one_try_per_nonce),
		T(test_auth_int_alone_is_not_answered),
		T(test_no_credentials_for_a_stranger),
		T(test_probe_goes_on_too),
		T(test_503_inside_a_dialog),
		T(test_reload_keeps_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* sip/server_transaction: RFC 3261, 17.2 on a reliable transport and RFC 6026:
 * answers as written, 2xx sent again until ACK, Timers H and L, CANCEL, merged
 * requests, a lost link, answers too long or too late (RFC 3311, 5.2). Row:
 * transactions. */
#include "fixture_wire.h"
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "core/loop.h"
#include "sip/server_transaction.h"

static void on_cancel(void *owner, struct sip_message *cancel)
{
	buffer_add_str(&((struct wire *)owner)->log, "cancel;");
}

static void on_lost(void *owner)
{
	buffer_add_str(&((struct wire *)owner)->log, "lost;");
}

static void on_no_ack(void *owner)
{
	buffer_add_str(&((struct wire *)owner)->log, "no ack;");
}

static const struct server_transaction_events events = { on_cancel, on_lost,
							 on_no_ack };

static struct sip_message *request_as(const char *method, const char *branch)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "%s sip:b@b.test SIP/2.0\r\n"
		 "Via: SIP/2.0/TLS a.test:5061;rport;branch=%s\r\n"
		 "Via: SIP/2.0/UDP phone.test;branch=z9hG4bKphone\r\n"
		 "Max-Forwards: 69\r\nRecord-Route: <sip:p1.test;lr>\r\n"
		 "From: <sip:a@a.test>;tag=f\r\nTo: <sip:b@b.test>\r\n"
		 "Call-ID: c1\r\nCSeq: 7 %s\r\nContent-Length: 0\r\n\r\n",
		 method, branch, method);
	return wire_parse(text);
}

static struct server_transaction *open_with(struct wire *wire,
					    const char *method)
{
	struct sip_message *request = request_as(method, "z9hG4bKone");
	struct server_transaction *transaction = server_transaction_open(
		&wire->layer, wire_link(wire, 0), request, "ours");

	server_transaction_lend(transaction, &events, wire);
	sip_message_unref(&request);
	return transaction;
}

/* Brings one more request: -1 no transaction, else what it said of it. */
static int bring(struct wire *wire, const char *method, const char *branch)
{
	struct sip_message *request = request_as(method, branch);
	struct server_transaction *transaction =
		server_transaction_find(&wire->layer, request);
	int is_taken = -1;

	if (transaction)
		is_taken = server_transaction_on_request(transaction, request);
	sip_message_unref(&request);
	return is_taken;
}

static void bring_cancel(struct wire *wire, int link)
{
	struct sip_message *cancel = request_as("CANCEL", "z9hG4bKone");
	struct server_transaction *transaction =
		server_transaction_find(&wire->layer, cancel);

	assert_non_null(transaction);
	server_transaction_on_cancel(transaction, wire_link(wire, link),
				     cancel);
	sip_message_unref(&cancel);
}

static void respond(struct server_transaction *transaction, int status)
{
	server_transaction_respond(transaction, status, SLICE(""), SLICE(""));
}

static void test_answers_as_written(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "INVITE");

	respond(transaction, 100);
	wire_expect(wire, "SIP/2.0 100 Trying\r\n"
			  "Via: SIP/2.0/TLS a.test:5061;rport=4321;"
			  "branch=z9hG4bKone;received=192.0.2.7\r\n"
			  "Via: SIP/2.0/UDP phone.test;branch=z9hG4bKphone\r\n"
			  "From: <sip:a@a.test>;tag=f\r\nTo: <sip:b@b.test>\r\n"
			  "Call-ID: c1\r\nCSeq: 7 INVITE\r\n"
			  "Content-Length: 0\r\n\r\n");
	server_transaction_respond(transaction, 200, SLICE("X-Y: 1\r\n"),
				   SLICE("sdp"));
	wire_expect(wire, "SIP/2.0 200 OK\r\n"
			  "Via: SIP/2.0/TLS a.test:5061;rport=4321;"
			  "branch=z9hG4bKone;received=192.0.2.7\r\n"
			  "Via: SIP/2.0/UDP phone.test;branch=z9hG4bKphone\r\n"
			  "Record-Route: <sip:p1.test;lr>\r\n"
			  "From: <sip:a@a.test>;tag=f\r\n"
			  "To: <sip:b@b.test>;tag=ours\r\nCall-ID: c1\r\n"
			  "CSeq: 7 INVITE\r\nX-Y: 1\r\n"
			  "Content-Type: application/sdp\r\n"
			  "Content-Length: 3\r\n\r\nsdp");
	server_transaction_release(&transaction);
}

static void test_success_repeats_until_acked(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "INVITE");

	respond(transaction, 200);
	wire_expect(wire, "SIP/2.0 200");
	loop_advance_ms(wire->loop, 499);
	wire_expect(wire, "");
	loop_advance_ms(wire->loop, 1);
	wire_expect(wire, "SIP/2.0 200");
	assert_int_equal(bring(wire, "INVITE", "z9hG4bKone"), 1);
	wire_expect(wire, ""); /* absorbed: on TCP nobody lost an answer */
	assert_int_equal(bring(wire, "ACK", "z9hG4bKone"), 0); /* dialog's */
	server_transaction_acked(transaction);
	server_transaction_release(&transaction);
	loop_advance_ms(wire->loop, 31000);
	wire_expect(wire, "");
	assert_int_equal(bring(wire, "INVITE", "z9hG4bKone"), 1);
	loop_advance_ms(wire->loop, 1000); /* Timer L */
	assert_int_equal(bring(wire, "INVITE", "z9hG4bKone"), -1);
	wire_expect_log(wire, "");
}

static void test_success_never_acked(void **state)
{
	struct wire *wire = *state;

	respond(open_with(wire, "INVITE"), 200);
	loop_advance_ms(wire->loop, 31999);
	wire_expect_log(wire, "");
	loop_advance_ms(wire->loop, 1);
	wire_expect_log(wire, "no ack;");
	loop_advance_ms(wire->loop, 60000);
	wire_expect_log(wire, "");
}

static void test_failure_waits_for_its_ack(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "INVITE");

	respond(transaction, 486);
	server_transaction_release(&transaction);
	assert_int_equal(bring(wire, "ACK", "z9hG4bKone"), 1);
	loop_advance_ms(wire->loop, 0);
	assert_int_equal(wire->layer.server.n, 0);
	transaction = open_with(wire, "INVITE");
	respond(transaction, 486);
	server_transaction_release(&transaction);
	loop_advance_ms(wire->loop, 31999);
	assert_int_equal(wire->layer.server.n, 1);
	loop_advance_ms(wire->loop, 1); /* Timer H */
	assert_int_equal(wire->layer.server.n, 0);
}

static void test_other_requests_end_with_the_answer(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "UPDATE");

	assert_int_equal(bring(wire, "UPDATE", "z9hG4bKone"), 1);
	respond(transaction, 200);
	wire_expect(wire, "SIP/2.0 200");
	server_transaction_release(&transaction);
	loop_advance_ms(wire->loop, 0);
	assert_int_equal(wire->layer.server.n, 0);
}

static void test_cancel_before_and_after(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *transaction;

	open_with(wire, "INVITE");
	bring_cancel(wire, 1); /* over another link: not its way */
	wire_expect(wire, "SIP/2.0 481");
	wire_expect_log(wire, "");
	bring_cancel(wire, 0);
	assert_non_null(strstr(buffer_str(&wire->sent), "CSeq: 7 CANCEL"));
	assert_non_null(strstr(buffer_str(&wire->sent), "SIP/2.0 487"));
	wire_expect(wire, "SIP/2.0 200");
	wire_expect_log(wire, "cancel;");
	assert_int_equal(bring(wire, "ACK", "z9hG4bKone"), 1);
	loop_advance_ms(wire->loop, 0);
	transaction = open_with(wire, "INVITE");
	respond(transaction, 200);
	buffer_clear(&wire->sent);
	bring_cancel(wire, 0);
	wire_expect(wire, "SIP/2.0 200");
	wire_expect_log(wire, "");
	server_transaction_acked(transaction);
	server_transaction_release(&transaction);
}

static void test_lost_link(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "INVITE");

	transactions_on_link_closed(&wire->layer, wire_link(wire, 0));
	wire_expect_log(wire, "");
	respond(transaction, 200); /* its user does not know yet */
	wire_expect(wire, "");
	loop_advance_ms(wire->loop, 0);
	wire_expect_log(wire, "lost;");

	transaction = open_with(wire, "INVITE");
	respond(transaction, 200);
	transactions_on_link_closed(&wire->layer, wire_link(wire, 0));
	buffer_clear(&wire->sent);
	loop_advance_ms(wire->loop, 32000);
	wire_expect(wire, ""); /* dropped, never over another link */
	wire_expect_log(wire, "no ack;");
}

static void test_merged(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "INVITE");
	struct sip_message *again = request_as("INVITE", "z9hG4bKtwo");
	struct sip_message *other = request_as("OPTIONS", "z9hG4bKthree");

	assert_null(server_transaction_find(&wire->layer, again));
	assert_true(server_transaction_is_merged(&wire->layer, again));
	assert_false(server_transaction_is_merged(&wire->layer, other));
	respond(transaction, 404);
	server_transaction_release(&transaction);
	sip_message_unref(&again);
	sip_message_unref(&other);
}

static void test_answer_too_large(void **state)
{
	static char body[2 * SIP_MESSAGE_MAX_BYTES];
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "INVITE");

	memset(body, 'x', sizeof(body));
	server_transaction_respond(transaction, 200, SLICE(""),
				   slice_make(body, sizeof(body)));
	wire_expect(wire, "SIP/2.0 500");
	wire_expect_log(wire, "");
	assert_true(bring(wire, "ACK", "z9hG4bKone")); /* of the 500 */
	respond(transaction, 200); /* nothing: it is over */
	wire_expect(wire, "");
	loop_advance_ms(wire->loop, 0);
	wire_expect_log(wire, "lost;");
}

static void test_provisional_too_large(void **state)
{
	static char headers[2 * SIP_MESSAGE_MAX_BYTES];
	struct wire *wire = *state;
	struct server_transaction *transaction = open_with(wire, "INVITE");

	memset(headers, 'x', sizeof(headers));
	server_transaction_respond(transaction, 180,
				   slice_make(headers, sizeof(headers)),
				   SLICE(""));
	wire_expect(wire, "");
	respond(transaction, 486); /* nothing has changed */
	wire_expect(wire, "SIP/2.0 486");
	server_transaction_release(&transaction);
}

static void test_no_answer_in_time(void **state)
{
	struct wire *wire = *state;
	struct server_transaction *invite = open_with(wire, "INVITE");

	loop_advance_ms(wire->loop, 60000); /* a human may take his time */
	wire_expect(wire, "");
	respond(invite, 486);
	server_transaction_release(&invite);
	wire_expect(wire, "SIP/2.0 486");
	open_with(wire, "UPDATE");
	loop_advance_ms(wire->loop, 19999);
	wire_expect(wire, "");
	loop_advance_ms(wire->loop, 1);
	wire_expect(wire, "SIP/2.0 504");
	wire_expect_log(wire, "lost;");
}

/* RFC 4475, 3.2.1: the cookie alone is no branch, so that two such requests are
 * told apart as in RFC 2543; a lone cookie never meets a whole one. */
static void test_cookie_alone(void **state)
{
	struct wire *wire = *state;
	struct sip_message *first = request_as("INVITE", "z9hG4bK");
	struct server_transaction *transaction = server_transaction_open(
		&wire->layer, wire_link(wire, 0), first, "ours");
	struct sip_message *other =
		wire_parse("INVITE sip:b@b.test SIP/2.0\r\n"
			   "Via: SIP/2.0/TLS a.test:5061;branch=z9hG4bK\r\n"
			   "From: <sip:a@a.test>;tag=f\r\n"
			   "To: <sip:b@b.test>\r\nCall-ID: c2\r\n"
			   "CSeq: 7 INVITE\r\nContent-Length: 0\r\n\r\n");

	assert_int_equal(bring(wire, "INVITE", "z9hG4bK"), 1);
	assert_null(server_transaction_find(&wire->layer, other));
	respond(transaction, 486);
	server_transaction_release(&transaction);
	wire_expect(wire, "SIP/2.0 486");
	sip_message_unref(&first);
	sip_message_unref(&other);
}

#define with_wire(test)                                                        \
	cmocka_unit_test_setup_teardown(test, wire_setup, wire_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_wire(test_answers_as_written),
		with_wire(test_success_repeats_until_acked),
		with_wire(test_success_never_acked),
		with_wire(test_failure_waits_for_its_ack),
		with_wire(test_other_requests_end_with_the_answer),
		with_wire(test_cancel_before_and_after),
		with_wire(test_lost_link),
		with_wire(test_merged),
		with_wire(test_answer_too_large),
		with_wire(test_provisional_too_large),
		with_wire(test_no_answer_in_time),
		with_wire(test_cookie_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* sip/client_transaction: RFC 3261, 17.1 on a reliable transport and RFC 6026:
 * Timers B, F, M; ACK of a failure; CANCEL; a lost link; a failed send. Row:
 * transactions. */
#include "fixture_wire.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "core/loop.h"
#include "core/mem.h"
#include "sip/client_transaction.h"

struct owner {
	struct wire *wire;
	struct client_transaction *transaction;
	bool closes;
};

static void on_response(void *arg, struct sip_message *response)
{
	struct owner *owner = arg;

	buffer_printf(&owner->wire->log, "%d;", response->start.status);
	if (owner->closes)
		client_transaction_close(&owner->transaction);
}

static void on_over(void *arg, int err)
{
	struct owner *owner = arg;

	buffer_printf(&owner->wire->log, "over %d;", err);
	if (owner->closes)
		client_transaction_close(&owner->transaction);
}

static const struct client_transaction_events events = { on_response, on_over };

static const char tail[] =
	"Via: SIP/2.0/TLS a.test:5061;branch=z9hG4bKone;rport;alias\r\n"
	"Max-Forwards: 70\r\nRoute: <sip:p1.test;lr>\r\n"
	"Route: <sip:p2.test;lr>\r\nFrom: <sip:a@a.test>;tag=f\r\n"
	"To: <sip:b@b.test>\r\nCall-ID: c1\r\nCSeq: 7 ";

static void open_with(struct owner *owner, const char *method)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "%s sip:b@b.test SIP/2.0\r\n%s%s\r\nContent-Length: 0\r\n\r\n",
		 method, tail, method);
	owner->transaction = client_transaction_open(
		&owner->wire->layer, wire_link(owner->wire, 0), slice_of(text),
		&events, owner);
	assert_non_null(owner->transaction);
}

/* A response from link n: true when a transaction took it. */
static bool respond_as(struct wire *wire, int n, int status, const char *method)
{
	struct client_transaction *transaction;
	struct sip_message *message;
	char text[1000];

	snprintf(text, sizeof(text),
		 "SIP/2.0 %d X\r\n"
		 "Via: SIP/2.0/TLS a.test:5061;branch=z9hG4bKone;rport=1\r\n"
		 "From: <sip:a@a.test>;tag=f\r\nTo: <sip:b@b.test>;tag=t\r\n"
		 "Call-ID: c1\r\nCSeq: 7 %s\r\nContent-Length: 0\r\n\r\n",
		 status, method);
	message = wire_parse(text);
	transaction = client_transaction_find(&wire->layer, wire_link(wire, n),
					      message);
	if (transaction)
		client_transaction_on_response(transaction, message);
	sip_message_unref(&message);
	return transaction != NULL;
}

static void test_invite_failure_is_acked(void **state)
{
	struct owner owner = { .wire = *state };

	open_with(&owner, "INVITE");
	wire_expect(owner.wire, "INVITE sip:b@b.test SIP/2.0\r\n");
	assert_true(respond_as(owner.wire, 0, 180, "INVITE"));
	wire_expect(owner.wire, "");
	owner.closes = true;
	assert_true(respond_as(owner.wire, 0, 486, "INVITE"));
	wire_expect(owner.wire,
		    "ACK sip:b@b.test SIP/2.0\r\n"
		    "Via: SIP/2.0/TLS a.test:5061;branch=z9hG4bKone;rport;"
		    "alias\r\nMax-Forwards: 70\r\nRoute: <sip:p1.test;lr>\r\n"
		    "Route: <sip:p2.test;lr>\r\n"
		    "From: <sip:a@a.test>;tag=f\r\n"
		    "To: <sip:b@b.test>;tag=t\r\nCall-ID: c1\r\n"
		    "CSeq: 7 ACK\r\nContent-Length: 0\r\n\r\n");
	wire_expect_log(owner.wire, "180;486;");
	assert_false(respond_as(owner.wire, 0, 486, "INVITE"));
}

static void test_invite_accepted_takes_further_2xx(void **state)
{
	struct owner owner = { .wire = *state };

	open_with(&owner, "INVITE");
	wire_expect(owner.wire, "INVITE");
	respond_as(owner.wire, 0, 200, "INVITE");
	loop_advance_ms(owner.wire->loop, 31999);
	respond_as(owner.wire, 0, 200, "INVITE");
	respond_as(owner.wire, 0, 486, "INVITE"); /* too late for that */
	respond_as(owner.wire, 0, 180, "INVITE");
	wire_expect_log(owner.wire, "200;200;");
	wire_expect(owner.wire, ""); /* its user sends these ACKs */
	owner.closes = true;
	loop_advance_ms(owner.wire->loop, 1);
	wire_expect_log(owner.wire, "over 0;");
}

static void test_timeouts(void **state)
{
	static const struct {
		const char *method;
		bool is_provisional; /* was there one? */
		const char *at_32_s;
	} rows[] = {
		{ "INVITE", false, "over -110;" },
		{ "INVITE", true, "" }, /* its user knows when to give up */
		{ "BYE", false, "over -110;" },
		{ "BYE", true, "over -110;" },
	};
	struct wire *wire = *state;

	assert_int_equal(ETIMEDOUT, 110);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct owner owner = { .wire = wire };

		open_with(&owner, rows[i].method);
		if (rows[i].is_provisional)
			respond_as(wire, 0, 180, rows[i].method);
		buffer_clear(&wire->log);
		loop_advance_ms(wire->loop, 31999);
		wire_expect_log(wire, "");
		loop_advance_ms(wire->loop, 1);
		wire_expect_log(wire, rows[i].at_32_s);
		client_transaction_close(&owner.transaction);
	}
}

static void test_other_requests_end_with_the_answer(void **state)
{
	struct owner owner = { .wire = *state };

	open_with(&owner, "BYE");
	respond_as(owner.wire, 0, 100, "BYE");
	respond_as(owner.wire, 0, 200, "BYE");
	respond_as(owner.wire, 0, 200, "BYE"); /* again: nobody cares */
	wire_expect_log(owner.wire, "100;200;");
	wire_expect(owner.wire, "BYE");
	loop_advance_ms(owner.wire->loop, 40000);
	wire_expect_log(owner.wire, "");
	client_transaction_close(&owner.transaction);
}

static void test_only_its_own_link_and_method(void **state)
{
	struct owner owner = { .wire = *state };

	open_with(&owner, "INVITE");
	assert_false(respond_as(owner.wire, 1, 200, "INVITE"));
	assert_false(respond_as(owner.wire, 0, 200, "CANCEL"));
	assert_true(respond_as(owner.wire, 0, 183, "INVITE"));
	client_transaction_close(&owner.transaction);
	assert_false(respond_as(owner.wire, 0, 200, "INVITE"));
}

static void test_cancel(void **state)
{
	struct owner owner = { .wire = *state };
	struct client_transaction *cancel;

	open_with(&owner, "INVITE");
	assert_false(client_transaction_is_proceeding(owner.transaction));
	respond_as(owner.wire, 0, 180, "INVITE");
	assert_true(client_transaction_is_proceeding(owner.transaction));
	wire_expect(owner.wire, "INVITE");
	cancel = client_transaction_cancel(
		owner.transaction, SLICE("Reason: x\r\n"), &events, &owner);
	wire_expect(owner.wire,
		    "CANCEL sip:b@b.test SIP/2.0\r\n"
		    "Via: SIP/2.0/TLS a.test:5061;branch=z9hG4bKone;rport;"
		    "alias\r\nMax-Forwards: 70\r\nRoute: <sip:p1.test;lr>\r\n"
		    "Route: <sip:p2.test;lr>\r\n"
		    "From: <sip:a@a.test>;tag=f\r\nTo: <sip:b@b.test>\r\n"
		    "Call-ID: c1\r\nCSeq: 7 CANCEL\r\nReason: x\r\n");
	assert_true(respond_as(owner.wire, 0, 200, "CANCEL"));
	assert_true(respond_as(owner.wire, 0, 487, "INVITE"));
	wire_expect(owner.wire, "ACK");
	wire_expect_log(owner.wire, "180;200;487;");
	client_transaction_close(&cancel);
	client_transaction_close(&owner.transaction);
}

static void test_lost_link(void **state)
{
	struct wire *wire = *state;
	struct owner invite = { .wire = wire, .closes = true };

	open_with(&invite, "INVITE");
	transactions_on_link_closed(&wire->layer, wire_link(wire, 1));
	transactions_on_link_closed(&wire->layer, wire_link(wire, 0));
	wire_expect_log(wire, ""); /* never inside */
	loop_advance_ms(wire->loop, 0);
	wire_expect_log(wire, "over -104;");
	assert_int_equal(ECONNRESET, 104);
	assert_null(invite.transaction);

	open_with(&invite, "INVITE");
	invite.closes = false;
	respond_as(wire, 0, 200, "INVITE");
	transactions_on_link_closed(&wire->layer, wire_link(wire, 0));
	loop_advance_ms(wire->loop, 31000);
	wire_expect_log(wire, "200;"); /* accepted: the session lives on */
	client_transaction_close(&invite.transaction);
}

static void test_send_fails(void **state)
{
	struct owner owner = { .wire = *state, .closes = true };

	owner.wire->send_error = -EPIPE;
	open_with(&owner, "BYE");
	wire_expect_log(owner.wire, "");
	loop_advance_ms(owner.wire->loop, 0);
	wire_expect_log(owner.wire, "over -32;");
	assert_int_equal(EPIPE, 32);
}

static void test_refuses_what_is_no_message(void **state)
{
	struct wire *wire = *state;
	struct buffer text;

	buffer_init(&text, 1 << 20);
	buffer_printf(&text, "BYE sip:b@b.test SIP/2.0\r\n%sBYE\r\n", tail);
	for (int i = 0; i < SIP_HEADERS_MAX; i++)
		buffer_add_str(&text, "X-Y: 1\r\n");
	buffer_add_str(&text, "Content-Length: 0\r\n\r\n");
	assert_null(client_transaction_open(&wire->layer, wire_link(wire, 0),
					    buffer_slice(&text), &events,
					    wire));
	wire_expect(wire, "");
	buffer_reset(&text);
}

#define with_wire(test)                                                        \
	cmocka_unit_test_setup_teardown(test, wire_setup, wire_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_wire(test_invite_failure_is_acked),
		with_wire(test_invite_accepted_takes_further_2xx),
		with_wire(test_timeouts),
		with_wire(test_other_requests_end_with_the_answer),
		with_wire(test_only_its_own_link_and_method),
		with_wire(test_cancel),
		with_wire(test_lost_link),
		with_wire(test_send_fails),
		with_wire(test_refuses_what_is_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

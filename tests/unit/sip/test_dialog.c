/* SPDX-License-Identifier: MIT */
/* sip/dialog, sip/offer, sip/body, sip/table: RFC 3261, 12: route sets both
 * ways, strict routes, target refresh, CSeq order, next hop; whose turn it is
 * to offer; SDP inside multipart. Row: dialogs. */
#include "fixture_wire.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "core/loop.h"
#include "sip/body.h"
#include "sip/dialog.h"
#include "sip/offer.h"

static const struct sip_target trunk = { .host = "trunk.test", .port = 5065 };

static struct dialog *open_out(void)
{
	const struct dialog_out out = { .trunk = &trunk,
					.target = "sip:1@trunk.test",
					.domain = "near.test",
					.user = "+1555",
					.display = "Ann \"A\"" };

	return dialog_open_out(&out);
}

static struct sip_message *response_with(const char *headers)
{
	char text[1500];

	snprintf(text, sizeof(text),
		 "SIP/2.0 200 OK\r\nVia: SIP/2.0/TLS a;branch=z9hG4bK1\r\n"
		 "From: <sip:+1555@near.test>;tag=f\r\n"
		 "To: <sip:1@trunk.test>;tag=t\r\nCall-ID: c\r\n"
		 "CSeq: 1 INVITE\r\n%sContent-Length: 0\r\n\r\n",
		 headers);
	return wire_parse(text);
}

static struct sip_message *request_with(const char *method, unsigned cseq,
					const char *headers, const char *body)
{
	char text[3000];

	snprintf(text, sizeof(text),
		 "%s sip:2@near.test SIP/2.0\r\n"
		 "Via: SIP/2.0/TLS a;branch=z9hG4bK1\r\nMax-Forwards: 70\r\n"
		 "From: \"Bob\" <sip:b@b.test>;tag=f\r\n"
		 "To: <sip:2@near.test>\r\nCall-ID: c\r\nCSeq: %u %s\r\n%s"
		 "Content-Length: %zu\r\n\r\n%s",
		 method, cseq, method, headers, strlen(body), body);
	return wire_parse(text);
}

static const char *write_bye(const struct dialog *dialog, struct buffer *text)
{
	const struct dialog_request request = { .method = SIP_BYE,
						.cseq = 9,
						.branch = "z9hG4bKx",
						.sent_by = "10.0.0.1:5061" };

	buffer_init(text, 65536);
	dialog_write(dialog, text, &request);
	assert_int_equal(buffer_error(text), 0);
	return buffer_str(text);
}

static void test_first_invite(void **state)
{
	struct dialog *dialog = open_out();
	const struct dialog_request request = { .method = SIP_INVITE,
						.cseq = 1,
						.branch = "z9hG4bKx",
						.sent_by = "10.0.0.1:5061",
						.user_agent = "ua",
						.headers = SLICE("X-Y: 1\r\n"),
						.body = SLICE("sdp") };
	char expected[1000];
	struct buffer text;

	buffer_init(&text, 65536);
	dialog_write(dialog, &text, &request);
	snprintf(
		expected, sizeof(expected),
		"INVITE sip:1@trunk.test SIP/2.0\r\n"
		"Via: SIP/2.0/TLS 10.0.0.1:5061;branch=z9hG4bKx;rport;alias\r\n"
		"Max-Forwards: 70\r\n"
		"From: \"Ann \\\"A\\\"\" <sip:+1555@near.test>;tag=%s\r\n"
		"To: <sip:1@trunk.test>\r\nCall-ID: %s\r\n"
		"CSeq: 1 INVITE\r\n"
		"Contact: <sip:+1555@10.0.0.1:5061;transport=tls>\r\n"
		"Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, UPDATE, REFER, "
		"NOTIFY\r\n"
		"Supported: timer, replaces, norefersub, nosub\r\n"
		"User-Agent: ua\r\nX-Y: 1\r\n"
		"Content-Type: application/sdp\r\nContent-Length: 3\r\n\r\n"
		"sdp",
		dialog->id.local_tag, dialog->id.call_id);
	assert_string_equal(buffer_str(&text), expected);
	buffer_reset(&text);
	dialog_close(&dialog, NULL);
}

static void test_as_client_routes_are_reversed(void **state)
{
	struct dialog *base = open_out(), *dialog;
	struct sip_message *response = response_with(
		"Record-Route: <sip:p2.test;lr>\r\n"
		"Record-Route: <sip:p1.test;lr>\r\n"
		"Contact: \"B\" <sip:b@10.9.9.9:7>;expires=1\r\n");
	struct sip_target hop;
	struct buffer text;
	const char *bye;

	dialog = dialog_open_fork(base, response, NULL);
	bye = write_bye(dialog, &text);
	assert_non_null(strstr(bye, "BYE sip:b@10.9.9.9:7 SIP/2.0\r\n"));
	assert_non_null(strstr(bye, "Route: <sip:p1.test;lr>\r\n"
				    "Route: <sip:p2.test;lr>\r\n"));
	assert_non_null(strstr(bye, "To: <sip:1@trunk.test>;tag=t\r\n"));
	assert_null(strstr(bye, "Contact"));
	assert_int_equal(dialog_hop(dialog, &hop), 0);
	assert_string_equal(hop.host, "trunk.test"); /* the verified name */
	buffer_reset(&text);
	sip_message_unref(&response);
	dialog_close(&base, NULL);
	dialog_close(&dialog, NULL);
}

static void test_as_server(void **state)
{
	static const struct {
		const char *headers, *request_line, *routes, *host;
		unsigned port;
	} rows[] = {
		{ "Contact: <sip:b@h.test:7>\r\n", "BYE sip:b@h.test:7 SIP", "",
		  "h.test", 7 },
		{ "Contact: <sip:b@h.test>\r\n"
		  "Record-Route: <sip:p1.test;lr>, <sip:p2.test:9;lr>\r\n",
		  "BYE sip:b@h.test SIP",
		  "Route: <sip:p1.test;lr>\r\nRoute: <sip:p2.test:9;lr>\r\n",
		  "p1.test", 0 },
		{ "Contact: <sip:b@h.test>\r\n"
		  "Record-Route: <sip:strict.test>, <sip:p2.test;lr>\r\n",
		  "BYE sip:strict.test SIP",
		  "Route: <sip:p2.test;lr>\r\nRoute: <sip:b@h.test>\r\n",
		  "strict.test", 0 },
		{ "", "BYE sip:b@b.test SIP", "", "b.test", 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *invite =
			request_with("INVITE", 3, rows[i].headers, "");
		struct dialog *dialog = dialog_open_in(invite, NULL, "ours");
		struct sip_target hop;
		struct buffer text;
		const char *bye = write_bye(dialog, &text);

		assert_int_equal(strncmp(bye, rows[i].request_line,
					 strlen(rows[i].request_line)),
				 0);
		assert_non_null(strstr(bye, rows[i].routes));
		assert_non_null(strstr(bye,
				       "From: <sip:2@near.test>;tag=ours\r\n"
				       "To: \"Bob\" <sip:b@b.test>;tag=f\r\n"));
		assert_int_equal(dialog_hop(dialog, &hop), 0);
		assert_string_equal(hop.host, rows[i].host);
		assert_int_equal(hop.port, rows[i].port);
		buffer_reset(&text);
		sip_message_unref(&invite);
		dialog_close(&dialog, NULL);
	}
}

static void test_cseq_order(void **state)
{
	static const struct {
		const char *method;
		unsigned cseq;
		int status;
	} rows[] = {
		{ "UPDATE", 3, 500 }, { "UPDATE", 5, 0 }, { "BYE", 4, 500 },
		{ "ACK", 3, 0 },      { "BYE", 5, 500 },  { "BYE", 6, 0 },
	};
	struct sip_message *invite = request_with("INVITE", 3, "", "");
	struct dialog *dialog = dialog_open_in(invite, NULL, "ours");

	sip_message_unref(&invite);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *request =
			request_with(rows[i].method, rows[i].cseq, "", "");

		assert_int_equal(dialog_on_request(dialog, NULL, request),
				 rows[i].status);
		sip_message_unref(&request);
	}
	dialog_close(&dialog, NULL);
}

static void test_target_refresh(void **state)
{
	static const struct {
		const char *contact, *target;
	} rows[] = {
		{ "Contact: <sip:new@h.test>\r\n", "sip:new@h.test" },
		{ "", "sip:new@h.test" },
		{ "Contact: <tel:+1>\r\n", "sip:new@h.test" },
		{ "Contact: sip:bare@h.test;x=y\r\n", "sip:bare@h.test" },
	};
	struct sip_message *invite =
		request_with("INVITE", 3, "Contact: <sip:old@h.test>\r\n", "");
	struct dialog *dialog = dialog_open_in(invite, NULL, "ours");

	sip_message_unref(&invite);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *request =
			request_with("UPDATE", 4, rows[i].contact, "");

		dialog_refresh(dialog, request);
		assert_string_equal(dialog->target, rows[i].target);
		sip_message_unref(&request);
	}
	dialog_close(&dialog, NULL);
}

static void ignore_request(void *user, struct dialog *dialog,
			   struct sip_message *request)
{
}

static void test_found_by_tags(void **state)
{
	struct sip_message *invite = request_with("INVITE", 3, "", "");
	struct dialog *dialog = dialog_open_in(invite, NULL, "ours");
	static const char bye[] = "BYE sip:2@near.test SIP/2.0\r\n"
				  "Via: SIP/2.0/TLS a;branch=z9hG4bK2\r\n"
				  "Max-Forwards: 70\r\n"
				  "From: <sip:b@b.test>;tag=%s\r\n"
				  "To: <sip:2@near.test>;tag=%s\r\n"
				  "Call-ID: c\r\nCSeq: 4 BYE\r\n"
				  "Content-Length: 0\r\n\r\n";
	static const struct {
		const char *from, *to;
		bool is_found;
	} rows[] = {
		{ "f", "ours", true },
		{ "g", "ours", false },
		{ "f", "theirs", false },
		{ "ours", "f", false },
	};
	struct table table;

	table_init(&table);
	dialog_list(dialog, &table, ignore_request, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *request;
		char text[600];

		snprintf(text, sizeof(text), bye, rows[i].from, rows[i].to);
		request = wire_parse(text);
		assert_ptr_equal(dialog_find(&table, request),
				 rows[i].is_found ? dialog : NULL);
		sip_message_unref(&request);
	}
	dialog_close(&dialog, &table);
	table_reset(&table);
	sip_message_unref(&invite);
}

static void test_bad_names_are_refused(void **state)
{
	static const struct {
		const char *target, *domain, *user;
	} rows[] = {
		{ "sip:1@t\r\nX: 1", "near.test", "u" },
		{ "sip:1@t x", "near.test", "u" },
		{ "sip:1@t", "near.test>", "u" },
		{ "sip:1@t", "near.test", "u\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct dialog_out out = { .trunk = &trunk,
						.target = rows[i].target,
						.domain = rows[i].domain,
						.user = rows[i].user };

		assert_null(dialog_open_out(&out));
	}
}

static void test_offer_refusals(void **state)
{
	static const struct {
		enum offer_state state;
		enum sip_method method;
		bool has_sdp;
		int status;
	} rows[] = {
		{ OFFER_STABLE, SIP_INVITE, true, 0 },
		{ OFFER_STABLE, SIP_INVITE, false, 0 },
		{ OFFER_LOCAL, SIP_INVITE, true, 491 },
		{ OFFER_LOCAL, SIP_UPDATE, true, 491 },
		{ OFFER_LOCAL, SIP_UPDATE, false, 0 },
		{ OFFER_REMOTE, SIP_INVITE, true, 500 },
		{ OFFER_REMOTE, SIP_UPDATE, true, 500 },
		{ OFFER_WANTED, SIP_INVITE, false, 500 },
		{ OFFER_ACK, SIP_INVITE, true, 491 },
		{ OFFER_LOCAL_2XX, SIP_UPDATE, true, 491 },
		{ OFFER_LOCAL_2XX, SIP_UPDATE, false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(offer_refusal(rows[i].state, rows[i].method,
					       rows[i].has_sdp),
				 rows[i].status);
}

static void test_bodies(void **state)
{
	static const struct {
		const char *headers, *body;
		int status;
		const char *sdp;
	} rows[] = {
		{ "", "", 0, "" },
		{ "Content-Type: application/sdp\r\n", "v=0", 0, "v=0" },
		{ "c: Application/SDP ; x=y\r\n", "v=0", 0, "v=0" },
		{ "Content-Type: text/plain\r\n", "v=0", 415, "" },
		{ "", "v=0", 415, "" },
		{ "Content-Type: application/sdp\r\n"
		  "Content-Encoding: gzip\r\n",
		  "v=0", 415, "" },
		{ "Content-Type: multipart/mixed;boundary=\"b 1\"\r\n",
		  "--b 1\r\nContent-Type: text/plain\r\n\r\nhi\r\n"
		  "--b 1\r\nX: y\r\ncontent-type: application/sdp;a=b\r\n\r\n"
		  "v=0\r\n\r\n--b 1--\r\n",
		  0, "v=0\r\n" },
		{ "Content-Type: multipart/mixed;boundary=b\r\n",
		  "--b\r\nContent-Type: text/plain\r\n\r\nhi\r\n--b--", 415,
		  "" },
		{ "Content-Type: multipart/mixed\r\n", "--b", 415, "" },
		{ "Content-Type: multipart/mixed;boundary=b\r\n", "--b", 415,
		  "" },
		{ "Content-Type: multipart/mixed;boundary=b\r\n",
		  "--b\r\nContent-Type: application/sdp\r\n--b--", 415, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *message = request_with(
			"INVITE", 1, rows[i].headers, rows[i].body);
		struct slice sdp;

		assert_int_equal(body_sdp(message, &sdp), rows[i].status);
		assert_slice(sdp, rows[i].sdp);
		sip_message_unref(&message);
	}
}

static void count(void *item, void *arg)
{
	assert_int_equal(*(const int *)item, 1);
	++*(int *)arg;
}

static void test_table_grows_and_empties(void **state)
{
	enum { MANY = 1000 };
	static struct table_entry entries[MANY];
	static int items[MANY];
	struct table table;
	char key[16];
	int n = 0;

	table_init(&table);
	for (int i = 0; i < MANY; i++) {
		items[i] = 1;
		snprintf(key, sizeof(key), "key %d", i);
		table_add(&table, &entries[i], slice_of(key), &items[i]);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "key %d", i);
		assert_ptr_equal(table_find(&table, slice_of(key)), &items[i]);
	}
	assert_null(table_find(&table, SLICE("key 1000")));
	table_each(&table, count, &n);
	assert_int_equal(n, MANY);
	for (int i = 0; i < MANY; i++)
		table_remove(&table, &entries[i]);
	table_remove(&table, &entries[0]); /* not listed: nothing */
	assert_null(table_find(&table, SLICE("key 1")));
	table_reset(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_invite),
		cmocka_unit_test(test_as_client_routes_are_reversed),
		cmocka_unit_test(test_as_server),
		cmocka_unit_test(test_cseq_order),
		cmocka_unit_test(test_target_refresh),
		cmocka_unit_test(test_found_by_tags),
		cmocka_unit_test(test_bad_names_are_refused),
		cmocka_unit_test(test_offer_refusals),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_table_grows_and_empties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

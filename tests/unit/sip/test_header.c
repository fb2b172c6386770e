/* SPDX-License-Identifier: MIT */
/* sip/header: addresses and Via values (RFC 3261, 20 and 25; RFC 4475), the
 * writer through which nothing can inject a line, quoting, mappable names. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "fixture_text.h"
#include "sip/header.h"

static void test_addresses(void **state)
{
	static const struct {
		const char *text, *display, *uri, *params, *tag;
	} rows[] = {
		{ "Alice <sip:alice@atlanta.com>;tag=1928301774", "Alice",
		  "sip:alice@atlanta.com", ";tag=1928301774", "1928301774" },
		{ "\"J Rosenberg \\\\\\\"\"       <sip:jdrosen@example.com> ; "
		  "tag = 98asjd8",
		  "J Rosenberg \\\\\\\"", "sip:jdrosen@example.com",
		  "; tag = 98asjd8", "98asjd8" },
		{ "sip:a@b.c;tag=x", "", "sip:a@b.c", ";tag=x", "x" },
		{ "caller<sip:caller@example.com>;tag=323", "caller",
		  "sip:caller@example.com", ";tag=323", "323" },
		{ "<sip:a@b.c;lr?x=y>;a=\"q;tag=no\";tag=z", "",
		  "sip:a@b.c;lr?x=y", ";a=\"q;tag=no\";tag=z", "z" },
		{ "\"<sip:x@y>\" <tel:+1234567>", "<sip:x@y>", "tel:+1234567",
		  "", "" },
		{ "Dr. J\xc3\xbcrg (Home) <sip:a@b.c>",
		  "Dr. J\xc3\xbcrg (Home)", "sip:a@b.c", "", "" },
		{ "\"\" <sip:a@b.c>", "", "sip:a@b.c", "", "" },
	};
	struct fixture_text text;
	struct sip_address address;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice value =
			fixture_text_open(&text, slice_of(rows[i].text));

		assert_int_equal(sip_address_parse(&address, value), 0);
		assert_slice(address.display, rows[i].display);
		assert_slice(address.uri_text, rows[i].uri);
		assert_slice(address.params, rows[i].params);
		assert_slice(address.tag, rows[i].tag);
		fixture_text_close(&text);
	}
}

static void test_addresses_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"<",
		"<>",
		"\"",
		"\"a",
		"<sip:a@b.c",
		"sip:a@b.c>",
		"\"a <sip:a@b.c>",
		"a\" <sip:a@b.c>",
		"a, b <sip:a@b.c>",
		"< sip:a@b.c >",
		"<sip:a@b.c> x",
		"<sip:a@b.c>;",
		"<sip:a@b.c>;;a",
		"<sip:a@b.c>, <sip:d@e.f>",
		"sip:a@b.c?x=y",
		"<http:>",
		"<://x/>",
		"<1:x>",
		"\"a\" \"b\" <sip:a@b.c>",
		"\"a\\\" <sip:a@b.c>",
		"<sip:a@b.c>;tag=\"x",
	};
	struct fixture_text text;
	struct sip_address address;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (sip_address_parse(
			    &address,
			    fixture_text_open(&text, slice_of(rows[i]))) !=
		    -EINVAL)
			fail_msg("accepted: %s", rows[i]);
		fixture_text_close(&text);
	}
}

/* Other schemes stand in From and To as they may; no part of them is read. */
static void test_foreign_addresses(void **state)
{
	struct sip_address address;

	assert_int_equal(
		sip_address_parse(&address, SLICE("<http://x/?a=b>;tag=1")), 0);
	assert_int_equal(address.uri.scheme, SIP_SCHEME_OTHER);
	assert_slice(address.uri_text, "http://x/?a=b");
	assert_slice(address.tag, "1");
	assert_int_equal(address.uri.host.len, 0);
}

static void test_vias(void **state)
{
	static const struct {
		const char *text, *transport, *host;
		unsigned port;
		const char *branch;
	} rows[] = {
		{ "SIP/2.0/TLS pc33.atlanta.com:5061;branch=z9hG4bK776;rport",
		  "TLS", "pc33.atlanta.com", 5061, "z9hG4bK776" },
		{ "SIP  / 2.0  / TCP     spindle.example.com   ; branch  =   "
		  "z9hG4bK9ikj8",
		  "TCP", "spindle.example.com", 0, "z9hG4bK9ikj8" },
		{ "sip/2.0/tls 192.0.2.1 : 5062", "tls", "192.0.2.1", 5062,
		  "" },
		{ "SIP/2.0/TLS [2001:db8::9:1]:5061;received=2001:db8::9:255;b"
		  "ranch=z9hG4bKas3",
		  "TLS", "2001:db8::9:1", 5061, "z9hG4bKas3" },
		{ "SIP/2.0/UNKNOWN t5.example.com;branch=z9hG4bK2d4790;x",
		  "UNKNOWN", "t5.example.com", 0, "z9hG4bK2d4790" },
	};
	struct fixture_text text;
	struct sip_via via;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
			sip_via_parse(&via,
				      fixture_text_open(
					      &text, slice_of(rows[i].text))),
			0);
		assert_slice(via.transport, rows[i].transport);
		assert_slice(via.host, rows[i].host);
		assert_int_equal(via.port, rows[i].port);
		assert_slice(via.branch, rows[i].branch);
		fixture_text_close(&text);
	}
}

static void test_vias_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"SIP",
		"SIP/2.0",
		"SIP/2.0/TLS",
		"SIP/2.0/TLS ",
		"SIP/2.0/ h",
		"SIP/3.0/TLS h",
		"HTTP/2.0/TLS h",
		"SIP/2.0/TLS h:",
		"SIP/2.0/TLS h:99999",
		"SIP/2.0/UDP 192.0.2.15;;",
		"SIP/2.0/TLS h,",
		"SIP/2.0/TLS h h",
	};
	struct sip_via via;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (sip_via_parse(&via, slice_of(rows[i])) != -EINVAL)
			fail_msg("accepted: %s", rows[i]);
}

static void test_params(void **state)
{
	struct slice params = SLICE(";a=1; B = \"x;y\\\"\" ;flag;c=[::1];d=");
	struct slice value;

	assert_true(sip_param(params, "A", &value));
	assert_slice(value, "1");
	assert_true(sip_param(params, "b", &value));
	assert_slice(value, "x;y\\\"");
	assert_true(sip_param(params, "flag", &value));
	assert_slice(value, "");
	assert_true(sip_param(params, "c", &value));
	assert_slice(value, "[::1]");
	assert_true(sip_param(params, "d", &value));
	assert_false(sip_param(params, "y", &value));
	assert_false(sip_param(SLICE(""), "a", &value));
}

static void test_write(void **state)
{
	struct buffer out;

	buffer_init(&out, 256);
	sip_header_write(&out, SLICE("X-A"), SLICE("b \xc3\xbc"));
	sip_header_printf(&out, "Max-Forwards", "%d", 70);
	assert_string_equal(buffer_str(&out),
			    "X-A: b \xc3\xbc\r\nMax-Forwards: 70\r\n");
	assert_int_equal(buffer_error(&out), 0);
	buffer_reset(&out);
}

static void test_nothing_injects_a_line(void **state)
{
	static const struct {
		struct slice name, value;
	} rows[] = {
		{ { "X", 1 }, { "a\r\nVia: x", 9 } },
		{ { "X", 1 }, { "a\n", 2 } },
		{ { "X", 1 }, { "\r", 1 } },
		{ { "X", 1 }, { "a\0b", 3 } },
		{ { "X\r\nY", 4 }, { "a", 1 } },
		{ { "X:", 2 }, { "a", 1 } },
		{ { "X Y", 3 }, { "a", 1 } },
		{ { "", 0 }, { "a", 1 } },
		{ { "\xc3\xbc", 2 }, { "a", 1 } },
	};
	struct buffer out;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_init(&out, 256);
		sip_header_write(&out, rows[i].name, rows[i].value);
		assert_int_equal(buffer_error(&out), -EINVAL);
		assert_int_equal(out.len, 0);
		buffer_reset(&out);
	}
	buffer_init(&out, 256);
	sip_header_printf(&out, "X", "a%cb", '\0');
	assert_int_equal(buffer_error(&out), -EINVAL);
	buffer_reset(&out);
}

static void test_quote(void **state)
{
	struct buffer out, back;

	buffer_init(&out, 256);
	buffer_init(&back, 256);
	sip_quote(&out, SLICE("a \"b\" \\c"));
	assert_string_equal(buffer_str(&out), "\"a \\\"b\\\" \\\\c\"");
	sip_unquote(&back, slice_make(out.ptr + 1, out.len - 2));
	assert_string_equal(buffer_str(&back), "a \"b\" \\c");
	buffer_reset(&out);
	buffer_reset(&back);
}

static void test_mappable(void **state)
{
	static const char *const no[] = {
		"Via",
		"v",
		"from",
		"f",
		"To",
		"t",
		"Call-ID",
		"i",
		"CSEQ",
		"Contact",
		"m",
		"Route",
		"Record-Route",
		"max-forwards",
		"Content-Type",
		"c",
		"l",
		"e",
		"content-foo",
		"Authorization",
		"Proxy-Authorization",
		"proxy-x",
		"Require",
		"Replaces",
		"Refer-To",
		"r",
		"Referred-By",
		"b",
		"Event",
		"o",
		"Subscription-State",
		"Session-Expires",
		"x",
		"",
		"X Y",
		"X:",
		"X\r\n",
	};
	static const char *const yes[] = {
		"X-Call",
		"User-to-User",
		"P-Asserted-Identity",
		"Subject",
		"s",
		"Proxy",
		"Content",
		"X-Via",
	};

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (sip_header_is_mappable(slice_of(no[i])))
			fail_msg("%s", no[i]);
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!sip_header_is_mappable(slice_of(yes[i])))
			fail_msg("%s", yes[i]);
}

static void test_names_and_reasons(void **state)
{
	assert_string_equal(sip_header_name(SIP_H_CALL_ID), "Call-ID");
	for (int id = SIP_H_OTHER + 1; id < SIP_H_COUNT; id++)
		assert_non_null(sip_header_name((enum sip_header_id)id));
	assert_string_equal(sip_reason(486), "Busy Here");
	assert_string_equal(sip_reason(299), "Unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_addresses_refused),
		cmocka_unit_test(test_foreign_addresses),
		cmocka_unit_test(test_vias),
		cmocka_unit_test(test_vias_refused),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_nothing_injects_a_line),
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_mappable),
		cmocka_unit_test(test_names_and_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

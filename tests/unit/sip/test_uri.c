/* SPDX-License-Identifier: MIT */
/* sip/uri: RFC 3261, 19.1 (grammar, equality), RFC 3966 (tel), RFC 4475's and
 * RFC 5118's URIs, numbers with and without '+'. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "fixture_text.h"
#include "sip/uri.h"

static int parse(struct sip_uri *uri, struct fixture_text *text,
		 const char *from)
{
	return sip_uri_parse(uri, fixture_text_open(text, slice_of(from)));
}

static void test_parts(void **state)
{
	static const struct {
		const char *text, *user, *password, *host;
		unsigned port;
		const char *params, *headers;
	} rows[] = {
		{ "sip:alice@atlanta.com", "alice", "", "atlanta.com", 0, "",
		  "" },
		{ "SIPS:alice:secret@Atlanta.com:5061;transport=tcp?a=b&c=d",
		  "alice", "secret", "Atlanta.com", 5061, ";transport=tcp",
		  "a=b&c=d" },
		{ "sip:atlanta.com", "", "", "atlanta.com", 0, "", "" },
		{ "sip:192.0.2.1:5060", "", "", "192.0.2.1", 5060, "", "" },
		{ "sip:a@[2001:db8::1]:5070;lr", "a", "", "2001:db8::1", 5070,
		  ";lr", "" },
		{ "tel:+1-201-555-0123;ext=5", "+1-201-555-0123", "", "", 0,
		  ";ext=5", "" },
		{ "sip:user;par=u%40example.net@example.com",
		  "user;par=u%40example.net", "", "example.com", 0, "", "" },
		{ "sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+ha"
		  "s=1,weird!*pas$wo~d_too.(doesn't-it)@example.com",
		  "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*",
		  "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)", "example.com",
		  0, "", "" },
		{ "sip:*67@a_b.example.", "*67", "", "a_b.example.", 0, "",
		  "" },
	};
	struct fixture_text text;
	struct sip_uri uri;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&uri, &text, rows[i].text), 0);
		assert_slice(uri.user, rows[i].user);
		assert_slice(uri.password, rows[i].password);
		assert_slice(uri.host, rows[i].host);
		assert_int_equal(uri.port, rows[i].port);
		assert_slice(uri.params, rows[i].params);
		assert_slice(uri.headers, rows[i].headers);
		fixture_text_close(&text);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"sip",
		"sip:",
		"sip:@example.com",
		"sip:a@",
		"sip:a@b@c",
		"http://example.com",
		"sip:a b@example.com",
		"<sip:a@example.com>",
		"sip:a@example.com ",
		"sip:a@example.com:",
		"sip:a@example.com:0",
		"sip:a@example.com:65536",
		"sip:a@example.com:5060x",
		"sip:a@-example.com",
		"sip:a@example..com",
		"sip:a@1.2.3",
		"sip:a@256.1.1.1",
		"sip:a@[::1",
		"sip:a@[1.2.3.4]",
		"sip:a@[::g]",
		"sip:a@::1",
		"sip:a@example.com;",
		"sip:a@example.com;;lr",
		"sip:a@example.com;=x",
		"sip:%4@b",
		"sip:%zz@b",
		"sip:a%@b",
		"sip:\x80@b",
		"sip:a\"@b",
		"tel:",
		"tel:+",
		"tel:abcx",
		"tel:1;",
		"sip:a@b\\c",
	};
	struct fixture_text text;
	struct sip_uri uri;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (parse(&uri, &text, rows[i]) != -EINVAL)
			fail_msg("accepted: %s", rows[i]);
		fixture_text_close(&text);
	}
	assert_int_equal(sip_uri_parse(&uri, slice_make("sip:a\0b@c", 9)),
			 -EINVAL);
}

static void test_write_gives_it_back(void **state)
{
	static const char *const rows[] = {
		"sip:alice@atlanta.com",
		"sips:alice:secret@atlanta.com:5061;transport=tls;lr?a=b",
		"sip:[2001:db8::1]:5061",
		"tel:+12015550123;phone-context=x",
	};
	struct fixture_text text;
	struct sip_uri uri;
	struct buffer out;

	buffer_init(&out, 256);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_clear(&out);
		assert_int_equal(parse(&uri, &text, rows[i]), 0);
		sip_uri_write(&out, &uri);
		assert_string_equal(buffer_str(&out), rows[i]);
		fixture_text_close(&text);
	}
	buffer_reset(&out);
}

static void test_params(void **state)
{
	struct sip_uri uri;
	struct slice value;

	assert_int_equal(
		sip_uri_parse(&uri, SLICE("sip:a@b.c;Transport=TLS;lr;x=")), 0);
	assert_true(sip_uri_param(&uri, "transport", &value));
	assert_slice(value, "TLS");
	assert_true(sip_uri_param(&uri, "lr", &value));
	assert_slice(value, "");
	assert_true(sip_uri_param(&uri, "x", &value));
	assert_false(sip_uri_param(&uri, "trans", &value));
	assert_null(value.ptr);
}

static void test_headers_behind_a_uri(void **state)
{
	struct sip_uri uri;
	struct slice value;

	assert_int_equal(
		sip_uri_parse(&uri, SLICE("sip:a@b.c;x?Subject=a%20b&replaces="
					  "1%3Bx=y&Replaces=2&flag")),
		0);
	assert_true(sip_uri_header(&uri, "Replaces", 0, &value));
	assert_slice(value, "1%3Bx=y");
	assert_true(sip_uri_header(&uri, "Replaces", 1, &value));
	assert_slice(value, "2");
	assert_false(sip_uri_header(&uri, "Replaces", 2, &value));
	assert_null(value.ptr);
	assert_true(sip_uri_header(&uri, "flag", 0, &value));
	assert_slice(value, "");
	assert_false(sip_uri_header(&uri, "Subj", 0, &value));
	assert_int_equal(sip_uri_parse(&uri, SLICE("sip:a@b.c")), 0);
	assert_false(sip_uri_header(&uri, "Replaces", 0, &value));
}

static void test_number(void **state)
{
	static const struct {
		const char *text, *number;
	} rows[] = {
		{ "sip:+14155550100@b.c", "+14155550100" },
		{ "sip:14155550100@b.c", "+14155550100" },
		{ "sip:%2B1415-555-0100@b.c", "+14155550100" },
		{ "sip:+14155550100;phone-context=x@b.c", "+14155550100" },
		{ "tel:+1(415)555.0100", "+14155550100" },
		{ "sip:1001@b.c", "1001" },
		{ "sip:0014155550100@b.c", "0014155550100" },
		{ "sip:+1234567890123456@b.c", "+1234567890123456" },
		{ "sip:alice@b.c", "alice" },
		{ "sip:al%20ice@b.c", "al ice" },
		{ "sip:14155550100%00x@b.c", "14155550100%00x" },
		{ "sip:%ff@b.c", "%ff" },
		{ "sip:+@b.c", "+" },
		{ "sip:b.c", "" },
	};
	struct sip_uri uri;
	struct buffer out;

	buffer_init(&out, 256);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_clear(&out);
		assert_int_equal(sip_uri_parse(&uri, slice_of(rows[i].text)),
				 0);
		sip_uri_number(&out, &uri);
		assert_string_equal(buffer_str(&out), rows[i].number);
	}
	buffer_reset(&out);
}

static void test_escape(void **state)
{
	struct buffer out;

	buffer_init(&out, 256);
	sip_escape_user(&out, SLICE("+1 415@x;y=\"\xc3\xbc\"#\r\n"));
	assert_string_equal(buffer_str(&out),
			    "+1%20415%40x%3By%3D%22%C3%BC%22%23%0D%0A");
	buffer_reset(&out);
}

static void test_unescape(void **state)
{
	static const struct {
		const char *text;
		struct slice bytes;
	} rows[] = {
		{ "", { "", 0 } },
		{ "abc", { "abc", 3 } },
		{ "a%3Bb%3d+", { "a;b=+", 5 } },
		{ "%0d%0A%00", { "\r\n\0", 3 } },
		{ "%", { "%", 1 } },
		{ "%4", { "%4", 2 } },
		{ "%zz%41", { "%zzA", 4 } },
	};
	struct buffer out;

	buffer_init(&out, 64);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_clear(&out);
		sip_unescape(&out, slice_of(rows[i].text));
		assert_true(slice_eq(buffer_slice(&out), rows[i].bytes));
	}
	buffer_reset(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_write_gives_it_back),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_headers_behind_a_uri),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_unescape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

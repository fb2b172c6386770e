/* SPDX-License-Identifier: MIT */
/* sip/message, message_frame, uri, header: every message of RFC 4475 and RFC
 * 5118 with the verdict that tests/torture/README.md lists for it, and what is
 * read out of those that are valid. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "fixture_text.h"
#include "sip/body.h"
#include "sip/header.h"
#include "sip/lex.h"
#include "sip/message.h"

enum { FILE_MAX = 16384, ROWS = 61, CELLS = 7 };

/* The columns of the listing. */
enum { NAME, RFC, EXPECTS, WE, PARSE, ANSWER, LINK };

static void path_of(char out[512], const char *name, const char *end)
{
	const char *here = strstr(__FILE__, "unit/sip/");

	assert_non_null(here);
	snprintf(out, 512, "%.*storture/%s%s", (int)(here - __FILE__), __FILE__,
		 name, end);
}

/* The whole of a file, in memory of exactly its size. */
static struct slice load(struct fixture_text *text, const char *name,
			 const char *end)
{
	static char bytes[FILE_MAX];
	char path[512];
	FILE *file;
	size_t n;

	path_of(path, name, end);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s is not there", path);
	n = fread(bytes, 1, sizeof(bytes), file);
	assert_true(n < sizeof(bytes));
	fclose(file);
	return fixture_text_open(text, slice_make(bytes, n));
}

/* ---- the listing ---- */

struct row {
	char cells[CELLS][400];
};

/* "| a | b |": false when line is no row of a message. */
static bool read_row(struct row *row, struct slice line)
{
	if (!slice_has_prefix(line, SLICE("| ")) ||
	    slice_has_prefix(line, SLICE("| file ")))
		return false;
	slice_cut(&line, '|');
	for (int i = 0; i < CELLS; i++) {
		struct slice cell = slice_trim(slice_cut(&line, '|'));

		assert_true(cell.len > 0 && cell.len < sizeof(row->cells[0]));
		snprintf(row->cells[i], sizeof(row->cells[0]), "%.*s",
			 (int)cell.len, cell.ptr);
	}
	return true;
}

typedef void row_fn(const struct row *row, struct slice text);

static size_t each_row(row_fn *fn)
{
	struct fixture_text listing, message;
	struct slice rest = load(&listing, "README.md", "");
	struct row row;
	size_t n = 0;

	while (rest.len) {
		if (!read_row(&row, slice_cut(&rest, '\n')))
			continue;
		fn(&row, load(&message, row.cells[NAME], ".dat"));
		fixture_text_close(&message);
		n++;
	}
	fixture_text_close(&listing);
	return n;
}

/* What the column "parse" says of text. */
static void verdict(char out[32], struct slice text)
{
	struct sip_message *message = NULL;
	ssize_t len = sip_message_frame(text);
	const char *why = NULL;
	int status;

	if (len <= 0) {
		snprintf(out, 32, len ? "frame %d" : "frame more", (int)-len);
		return;
	}
	status = sip_message_parse(&message, slice_make(text.ptr, (size_t)len),
				   &why);
	assert_true(!status == !why);
	snprintf(out, 32, !status ? "ok" : message ? "%d" : "drop %d", -status);
	sip_message_unref(&message);
}

static void check_verdict(const struct row *row, struct slice text)
{
	char seen[32];

	verdict(seen, text);
	if (strcmp(seen, row->cells[PARSE]))
		fail_msg("%s: %s, listed as %s", row->cells[NAME], seen,
			 row->cells[PARSE]);
}

static void test_verdicts(void **state)
{
	assert_int_equal(each_row(check_verdict), ROWS);
}

static void test_every_file_is_listed(void **state)
{
	char path[512];
	DIR *folder;
	const struct dirent *entry;
	size_t n = 0;

	path_of(path, "", "");
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		n += strstr(entry->d_name, ".dat") != NULL;
	closedir(folder);
	assert_int_equal(n, ROWS);
}

/* What is not whole yet is waited for, never more and never less. */
static void check_prefixes(const struct row *row, struct slice text)
{
	struct fixture_text part;
	ssize_t len = sip_message_frame(text);
	size_t head = 0;

	while (head + 4 <= text.len && memcmp(text.ptr + head, "\r\n\r\n", 4))
		head++;
	for (size_t i = 0; i < text.len; i++) {
		ssize_t seen = sip_message_frame(
			fixture_text_open(&part, slice_make(text.ptr, i)));
		ssize_t expected =
			i < head + 4 || (len > 0 && i < (size_t)len) ? 0 : len;

		fixture_text_close(&part);
		if (seen != expected)
			fail_msg("%s at %zu: %zd", row->cells[NAME], i, seen);
	}
}

static void test_prefixes(void **state)
{
	each_row(check_prefixes);
}

/* ---- what is read ---- */

#define FIELD(text, member)                                                    \
	{                                                                      \
		text, offsetof(struct sip_message, member)                     \
	}

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	FIELD("method", start.method_text),
	FIELD("target", start.target),
	FIELD("reason", start.reason),
	FIELD("uri.user", start.uri.user),
	FIELD("uri.password", start.uri.password),
	FIELD("uri.host", start.uri.host),
	FIELD("uri.params", start.uri.params),
	FIELD("uri.headers", start.uri.headers),
	FIELD("from.display", common.from.display),
	FIELD("from.user", common.from.uri.user),
	FIELD("from.uri", common.from.uri_text),
	FIELD("from.params", common.from.params),
	FIELD("from.tag", common.from.tag),
	FIELD("to.display", common.to.display),
	FIELD("to.user", common.to.uri.user),
	FIELD("to.uri", common.to.uri_text),
	FIELD("to.tag", common.to.tag),
	FIELD("via.transport", common.via.transport),
	FIELD("via.host", common.via.host),
	FIELD("via.branch", common.via.branch),
	FIELD("call-id", common.call_id),
};

static struct slice field(const struct sip_message *message, const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(fields[i].name, name))
			return *(const struct slice *)((const char *)message +
						       fields[i].offset);
	return sip_message_value(message, slice_of(name));
}

static struct sip_message *parsed(const char *name)
{
	struct fixture_text text;
	struct slice whole = load(&text, name, ".dat");
	ssize_t len = sip_message_frame(whole);
	struct sip_message *message;

	assert_true(len > 0);
	assert_int_equal(sip_message_parse(&message,
					   slice_make(whole.ptr, (size_t)len),
					   NULL),
			 0);
	fixture_text_close(&text);
	return message;
}

static void test_texts(void **state)
{
	static const struct {
		const char *file, *field, *expected;
	} rows[] = {
		{ "wsinv", "uri.params", ";unknownparam" },
		{ "wsinv", "to.uri", "sip:vivekg@chair-dnrc.example.com" },
		{ "wsinv", "to.tag", "1918181833n" },
		{ "wsinv", "from.display", "J Rosenberg \\\\\\\"" },
		{ "wsinv", "from.tag", "98asjd8" },
		{ "wsinv", "via.transport", "UDP" },
		{ "wsinv", "via.host", "192.0.2.2" },
		{ "wsinv", "via.branch", "390skdjuw" },
		{ "wsinv", "Subject", "" },
		{ "wsinv", "newfangledheader",
		  "newfangled value continued newfangled value" },
		{ "wsinv", "UnknownHeaderWithUnusualValue", ";;,,;;,;" },
		{ "wsinv", "Route",
		  "<sip:services.example.com;lr;unknownwith=value;"
		  "unknown-no-value>" },
		{ "wsinv", "Contact",
		  "\"Quoted string \\\"\\\"\" <sip:jdrosen@example.com> ; "
		  "newparam = newvalue ; secondparam ; q = 0.33" },
		{ "intmeth", "method",
		  "!interesting-Method0123456789_*+`.%indeed'~" },
		{ "intmeth", "uri.user",
		  "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*" },
		{ "intmeth", "uri.password",
		  "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)" },
		{ "intmeth", "via.branch", "z9hG4bK-.!%66*_+`'~" },
		{ "intmeth", "to.display", "BEL:\\\x07 NUL:\\? DEL:\\\x7f" },
		{ "intmeth", "from.display", "token1~` token2'+_ token3*%!.-" },
		{ "intmeth", "from.tag", "_token~1'+`*%!-." },
		{ "intmeth", "call-id",
		  "intmeth.word%ZK-!.*_+'@word`~)(><:\\/\"][?}{" },
		{ "intmeth", "extensionHeader-!.%*+_`'~",
		  "\xef\xbb\xbf\xe5\xa4\xa7\xe5\x81\x9c\xe9\x9b\xbb" },
		{ "esc01", "uri.user", "sips%3Auser%40example.com" },
		{ "esc01", "to.user", "%75se%72" },
		{ "esc01", "from.user", "I%20have%20spaces" },
		{ "esc01", "Contact",
		  "<sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34"
		  "%31>" },
		{ "escnull", "to.user", "null-%00-null" },
		{ "esc02", "method", "RE%47IST%45R" },
		{ "esc02", "to.display", "%Z%45" },
		{ "esc02", "C%6Fntact", "<sip:alias2@host2.example.com>" },
		{ "lwsdisp", "from.display", "caller" },
		{ "dblreq", "to.uri", "sip:j.user@example.com" },
		{ "semiuri", "uri.user", "user;par=u%40example.net" },
		{ "semiuri", "uri.host", "example.com" },
		{ "transports", "call-id",
		  "transports.kijh4akdnaqjkwendsasfdj" },
		{ "mpart01", "Content-Type",
		  "multipart/mixed;boundary=7a9cbec02ceef655" },
		{ "noreason", "reason", "" },
		{ "escruri", "uri.headers", "Route=%3Csip:example.com%3E" },
		{ "baddate", "Date", "Fri, 01 Jan 2010 16:00:00 EST" },
		{ "unksm2", "to.uri", "isbn:2983792873" },
		{ "unksm2", "to.user", "" },
		{ "unksm2", "from.uri", "http://www.example.com" },
		{ "unksm2", "from.tag", "3234233" },
		{ "unksm2", "Contact", "<name:John_Smith>" },
		{ "badbranch", "via.branch", "z9hG4bK" },
		{ "bext01", "Require",
		  "nothingSupportsThis, nothingSupportsThisEither" },
		{ "regaut01", "Authorization",
		  "NoOneKnowsThisScheme opaque-data=here" },
		{ "ipv6-good", "uri.host", "2001:db8::10" },
		{ "ipv6-good", "via.host", "2001:db8::9:1" },
		{ "port-ambiguous", "uri.host", "2001:db8::10:5070" },
		{ "port-unambiguous", "uri.host", "2001:db8::10" },
		{ "via-received-param-with-delim", "via.branch",
		  "z9hG4bKas3-111" },
		{ "via-received-param-no-delim", "via.branch", "z9hG4bKas3" },
		{ "mult-ip-in-header", "via.host", "2001:db8::9:1" },
		{ "ipv4-mapped-ipv6", "via.host", "::ffff:192.0.2.10" },
		{ "ipv6-bug-abnf-3-colons", "uri.host",
		  "2001:db8:::192.0.2.1" },
		{ "ipv6-correct-abnf-2-colons", "uri.host",
		  "2001:db8::192.0.2.1" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sip_message *message = parsed(rows[i].file);

		assert_slice(field(message, rows[i].field), rows[i].expected);
		sip_message_unref(&message);
	}
}

static unsigned count(const struct sip_message *message, enum sip_header_id id)
{
	unsigned n = 0;

	while (sip_message_header(message, id, n))
		n++;
	return n;
}

static void test_numbers(void **state)
{
	static const struct {
		const char *file;
		uint32_t cseq, max_forwards;
		int status;
		unsigned vias, contacts;
		size_t body;
	} rows[] = {
		{ "wsinv", 9, 68, 0, 3, 1, 150 },
		{ "intmeth", 139122385, 255, 0, 1, 0, 0 },
		{ "escnull", 14398234, 70, 0, 1, 2, 0 },
		{ "esc02", 29344, 70, 0, 1, 2, 0 },
		{ "longreq", 3882340, 70, 0, 34, 1, 150 },
		{ "dblreq", 8, 8, 0, 1, 1, 0 },
		{ "transports", 60, 70, 0, 5, 0, 0 },
		{ "mpart01", 1, 70, 0, 1, 1, 553 },
		{ "unreason", 35, 70, 200, 1, 1, 154 },
		{ "noreason", 35, 70, 100, 1, 1, 0 },
		{ "bcast", 35, 70, 200, 2, 1, 154 },
		{ "zeromf", 39234321, 0, 0, 1, 0, 0 },
		{ "invut", 235448, 70, 0, 1, 1, 40 },
		{ "mult-ip-in-header", 89187, 70, 0, 3, 0, 0 },
		{ "ipv6-in-sdp", 8612, 70, 0, 1, 1, 251 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sip_message *m = parsed(rows[i].file);

		assert_int_equal(m->common.cseq, rows[i].cseq);
		assert_int_equal(m->common.max_forwards, rows[i].max_forwards);
		assert_int_equal(m->start.status, rows[i].status);
		assert_int_equal(count(m, SIP_H_VIA), rows[i].vias);
		assert_int_equal(count(m, SIP_H_CONTACT), rows[i].contacts);
		assert_int_equal(m->body.len, rows[i].body);
		sip_message_unref(&m);
	}
}

/* RFC 4475, 3.1.1.3 and 3.1.1.4: escapes are undone once; none cuts short. */
static void test_escapes(void **state)
{
	struct sip_message *m = parsed("esc01");
	const struct sip_header *contact =
		sip_message_header(m, SIP_H_CONTACT, 0);
	struct sip_address address;
	struct buffer out;
	struct slice value;

	buffer_init(&out, 256);
	sip_uri_number(&out, &m->start.uri);
	assert_slice(buffer_slice(&out), "sips:user@example.com");
	assert_int_equal(sip_address_parse(&address, contact->value), 0);
	assert_true(sip_uri_param(&address.uri, "n%61me", &value));
	buffer_clear(&out);
	sip_unescape(&out, value);
	assert_slice(buffer_slice(&out), "value%41");
	sip_message_unref(&m);
	m = parsed("escnull");
	buffer_clear(&out);
	sip_uri_number(&out, &m->common.to.uri);
	assert_slice(buffer_slice(&out), "null-%00-null");
	sip_message_unref(&m);
	buffer_reset(&out);
}

/* 3.3.12 and 3.3.13: whose parameter it is. */
static void test_contact_parameters(void **state)
{
	static const struct {
		const char *file, *of_uri, *of_header, *headers;
	} rows[] = {
		{ "cparam01", "", ";unknownparam", "" },
		{ "cparam02", ";unknownparam", "", "" },
		{ "regescrt", "", "", "Route=%3Csip:sip.example.com%3E" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sip_message *m = parsed(rows[i].file);
		struct sip_address address;

		assert_int_equal(
			sip_address_parse(
				&address,
				sip_message_value(m, SLICE("Contact"))),
			0);
		assert_slice(address.uri.params, rows[i].of_uri);
		assert_slice(address.params, rows[i].of_header);
		assert_slice(address.uri.headers, rows[i].headers);
		sip_message_unref(&m);
	}
}

/* 3.3.4: nothing of such a URI is taken for a number. */
static void test_foreign_schemes(void **state)
{
	struct sip_message *m = parsed("unksm2");
	struct buffer out;

	buffer_init(&out, 256);
	assert_int_equal(m->common.to.uri.scheme, SIP_SCHEME_OTHER);
	assert_int_equal(m->common.from.uri.scheme, SIP_SCHEME_OTHER);
	sip_uri_number(&out, &m->common.to.uri);
	assert_int_equal(out.len, 0);
	assert_int_equal(m->common.to.uri.host.len, 0);
	sip_message_unref(&m);
	buffer_reset(&out);
}

/* 3.3.6 and 3.3.15: what an INVITE carries, and what it takes. */
static void test_bodies(void **state)
{
	struct sip_message *m = parsed("invut");
	struct slice sdp;

	assert_int_equal(body_sdp(m, &sdp), 415);
	assert_true(body_may_answer(m));
	sip_message_unref(&m);
	m = parsed("sdp01");
	assert_int_equal(body_sdp(m, &sdp), 0);
	assert_int_equal(sdp.len, 150);
	assert_false(body_may_answer(m));
	sip_message_unref(&m);
	m = parsed("semiuri");
	assert_true(body_may_answer(m));
	sip_message_unref(&m);
	m = parsed("mpart01"); /* parts, but none of SDP */
	assert_int_equal(body_sdp(m, &sdp), 415);
	assert_non_null(memchr(m->body.ptr, 0, m->body.len));
	sip_message_unref(&m);
}

/* 3.1.1.8: on a stream what follows is the next message, and what its
 * Content-Length leaves behind is none. */
static void test_two_in_one(void **state)
{
	struct fixture_text text;
	struct slice rest = load(&text, "dblreq", ".dat");
	ssize_t len = sip_message_frame(rest);
	struct sip_message *message;

	rest = lex_skip(rest, (size_t)len);
	assert_true(slice_has_prefix(rest, SLICE("\r\n"))); /* the link's */
	rest = lex_skip(rest, 2);
	len = sip_message_frame(rest);
	assert_true(len > 0);
	assert_int_equal(sip_message_parse(&message,
					   slice_make(rest.ptr, (size_t)len),
					   NULL),
			 0);
	assert_int_equal(message->start.method, SIP_INVITE);
	assert_slice(message->common.via.branch, "z9hG4bKkdjuw380234");
	assert_int_equal(message->body.len, 150);
	rest = lex_skip(rest, (size_t)len);
	assert_slice(rest, "C\r\n\r\n");
	assert_int_equal(sip_message_frame(rest), -400);
	sip_message_unref(&message);
	fixture_text_close(&text);
}

/* 3.4.1: once it says where it ends it is read, without branch and From tag. */
static void test_rfc2543_with_a_length(void **state)
{
	static const char start[] = "INVITE sip:UserB@example.com SIP/2.0\r\n";
	struct fixture_text text;
	struct slice whole = load(&text, "inv2543", ".dat");
	struct sip_message *m;
	struct slice sdp;
	struct buffer out;
	const char *body = memmem(whole.ptr, whole.len, "\r\n\r\n", 4);

	assert_true(slice_has_prefix(whole, SLICE(start)));
	buffer_init(&out, 4096);
	buffer_printf(&out, "%sl: %zu\r\n", start,
		      (size_t)(whole.ptr + whole.len - body) - 4);
	buffer_add(&out, lex_skip(whole, sizeof(start) - 1));
	assert_int_equal(sip_message_frame(buffer_slice(&out)), out.len);
	assert_int_equal(sip_message_parse(&m, buffer_slice(&out), NULL), 0);
	assert_slice(field(m, "from.tag"), "");
	assert_slice(field(m, "via.branch"), "");
	assert_slice(field(m, "from.user"), "+13035551111");
	assert_slice(field(m, "to.uri"), "sip:+16505552222@ss1.example.net");
	assert_int_equal(m->common.max_forwards, 70);
	assert_int_equal(body_sdp(m, &sdp), 0);
	assert_true(sdp.len > 0);
	sip_message_unref(&m);
	buffer_reset(&out);
	fixture_text_close(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_every_file_is_listed),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_contact_parameters),
		cmocka_unit_test(test_foreign_schemes),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_two_in_one),
		cmocka_unit_test(test_rfc2543_with_a_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* sip/message: RFC 3261, 7 (start lines, folding, compact forms, lists), 8.1.1
 * and 18.3 (framing); RFC 4475's valid and invalid messages with the status
 * each deserves; limits of size and number; sharing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "fixture_text.h"
#include "sip/message.h"

/* Parts of a request that is right, so that each row changes one thing. */
#define VIA    "Via: SIP/2.0/TLS pc33.atlanta.com:5061;branch=z9hG4bK776asdhds\r\n"
#define FROM   "From: Alice <sip:alice@atlanta.com>;tag=1928301774\r\n"
#define TO     "To: Bob <sip:bob@biloxi.com>\r\n"
#define CALLID "Call-ID: a84b4c76e66710@pc33.atlanta.com\r\n"
#define CSEQ   "CSeq: 314159 INVITE\r\n"
#define LENGTH "Content-Length: 0\r\n"
#define REST   VIA FROM TO CALLID CSEQ LENGTH
#define LINE   "INVITE sip:bob@biloxi.com SIP/2.0\r\n"

/* RFC 4475, 3.1.1.1. */
static const char wsinv[] =
	"INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0\r\n"
	"TO :\r\n"
	" sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n\r\n"
	"from   : \"J Rosenberg \\\\\\\"\"       <sip:jdrosen@example.com>\r\n"
	"  ;\r\n"
	"  tag = 98asjd8\r\n"
	"MaX-fOrWaRdS: 0068\r\n"
	"Call-ID: wsinv.ndaksdj@192.0.2.1\r\n"
	"Content-Length   : 150\r\n"
	"cseq: 0009\r\n"
	"  INVITE\r\n"
	"Via  : SIP  /   2.0\r\n"
	" /UDP\r\n"
	"    192.0.2.2;branch=390skdjuw\r\n"
	"s :\r\n"
	"NewFangledHeader:   newfangled value\r\n"
	" continued newfangled value\r\n"
	"UnknownHeaderWithUnusualValue: ;;,,;;,;\r\n"
	"Content-Type: application/sdp\r\n"
	"Route:\r\n"
	" <sip:services.example.com;lr;unknownwith=value;unknown-no-value>\r\n"
	"v:  SIP  / 2.0  / TCP     spindle.example.com   ;\r\n"
	"  branch  =   z9hG4bK9ikj8  ,\r\n"
	" SIP  /    2.0   / UDP  192.168.255.111   ; branch=\r\n"
	" z9hG4bK30239\r\n"
	"m:\"Quoted string \\\"\\\"\" <sip:jdrosen@example.com> ; newparam "
	"=\r\n"
	"      newvalue ;\r\n"
	"  secondparam ; q = 0.33\r\n"
	"\r\n"
	"v=0\r\n"
	"o=mhandley 29739 7272939 IN IP4 192.0.2.3\r\n"
	"s=-\r\n"
	"c=IN IP4 192.0.2.4\r\n"
	"t=0 0\r\n"
	"m=audio 49217 RTP/AVP 0 12\r\n"
	"m=video 3227 RTP/AVP 31\r\n"
	"a=rtpmap:31 LPC\r\n";

static int parse(struct sip_message **out, struct slice from, const char **why)
{
	struct fixture_text text;
	int status =
		sip_message_parse(out, fixture_text_open(&text, from), why);

	fixture_text_close(&text); /* the message owns what it needs */
	return status;
}

static struct sip_message *parsed(const char *text)
{
	struct sip_message *message;
	const char *why = "";

	if (parse(&message, slice_of(text), &why))
		fail_msg("bad %s in %s", why, text);
	return message;
}

static struct slice value_of(const struct sip_message *message,
			     enum sip_header_id id, unsigned n)
{
	const struct sip_header *header = sip_message_header(message, id, n);

	return header ? header->value : SLICE("(none)");
}

/* RFC 3261, 24.2 F1, on TLS. */
static void test_request(void **state)
{
	struct sip_message *m =
		parsed(LINE VIA "Max-Forwards: 69\r\n" TO FROM CALLID CSEQ
				"Contact: <sip:alice@pc33.atlanta.com>\r\n"
				"Content-Type: application/sdp\r\n"
				"Content-Length: 5\r\n\r\nv=0\r\n");

	assert_true(m->start.is_request);
	assert_int_equal(m->start.method, SIP_INVITE);
	assert_slice(m->start.method_text, "INVITE");
	assert_slice(m->start.target, "sip:bob@biloxi.com");
	assert_slice(m->start.uri.user, "bob");
	assert_slice(m->common.from.display, "Alice");
	assert_slice(m->common.from.tag, "1928301774");
	assert_slice(m->common.to.uri.host, "biloxi.com");
	assert_null(m->common.to.tag.ptr);
	assert_slice(m->common.via.host, "pc33.atlanta.com");
	assert_slice(m->common.via.branch, "z9hG4bK776asdhds");
	assert_slice(m->common.call_id, "a84b4c76e66710@pc33.atlanta.com");
	assert_int_equal(m->common.cseq, 314159);
	assert_int_equal(m->common.max_forwards, 69);
	assert_slice(m->body, "v=0\r\n");
	assert_int_equal(m->n_headers, 9);
	assert_slice(sip_message_value(m, SLICE("m")),
		     "<sip:alice@pc33.atlanta.com>");
	sip_message_unref(&m);
	assert_null(m);
}

static void test_response(void **state)
{
	struct sip_message *m =
		parsed("SIP/2.0 180 Ringing now\r\n" REST "\r\n");

	assert_false(m->start.is_request);
	assert_int_equal(m->start.status, 180);
	assert_slice(m->start.reason, "Ringing now");
	assert_int_equal(m->start.method, SIP_INVITE);
	assert_int_equal(m->common.max_forwards, 70);
	sip_message_unref(&m);
	m = parsed("SIP/2.0 200 \r\n" REST "\r\n");
	assert_slice(m->start.reason, "");
	sip_message_unref(&m);
	m = parsed("SIP/2.0 200 = 2**3 * 5**2 \xd0\xbd\xd0\xbe\r\n" REST
		   "\r\n");
	assert_slice(m->start.reason, "= 2**3 * 5**2 \xd0\xbd\xd0\xbe");
	sip_message_unref(&m);
}

static void test_wsinv(void **state)
{
	struct sip_message *m = parsed(wsinv);

	assert_slice(m->common.to.tag, "1918181833n");
	assert_slice(m->common.from.display, "J Rosenberg \\\\\\\"");
	assert_slice(m->common.from.tag, "98asjd8");
	assert_int_equal(m->common.max_forwards, 68);
	assert_int_equal(m->common.cseq, 9);
	assert_slice(m->common.via.transport, "UDP");
	assert_slice(m->common.via.host, "192.0.2.2");
	assert_slice(m->common.via.branch, "390skdjuw");
	assert_slice(value_of(m, SIP_H_VIA, 1),
		     "SIP  / 2.0  / TCP     spindle.example.com   ; branch  =  "
		     " z9hG4bK9ikj8");
	assert_slice(value_of(m, SIP_H_VIA, 2),
		     "SIP  /    2.0   / UDP  192.168.255.111   ; branch= "
		     "z9hG4bK30239");
	assert_null(sip_message_header(m, SIP_H_VIA, 3));
	assert_slice(sip_message_value(m, SLICE("newfangledheader")),
		     "newfangled value continued newfangled value");
	assert_slice(sip_message_value(m, SLICE("s")), "");
	assert_slice(
		sip_message_value(m, SLICE("unknownheaderwithunusualvalue")),
		";;,,;;,;");
	assert_int_equal(m->body.len, 150);
	sip_message_unref(&m);
}

static void test_lists(void **state)
{
	struct sip_message *m = parsed(
		LINE REST
		"Route: <sip:a@b.c;x=1,2;lr>, \"q,\\\",\" "
		"<sip:d@e.f>;y=\",\"\r\n"
		"Route: <sip:g@h.i>\r\n"
		"P-Asserted-Identity: \"a, b\" <sip:a@b.c>, <tel:+1234567>\r\n"
		"Supported: timer, 100rel\r\n"
		"k: replaces\r\n"
		"Require:\r\n"
		"Reason: SIP;text=\"a, b\", Q.850;cause=16\r\n\r\n");

	assert_slice(value_of(m, SIP_H_ROUTE, 0), "<sip:a@b.c;x=1,2;lr>");
	assert_slice(value_of(m, SIP_H_ROUTE, 1),
		     "\"q,\\\",\" <sip:d@e.f>;y=\",\"");
	assert_slice(value_of(m, SIP_H_ROUTE, 2), "<sip:g@h.i>");
	assert_slice(value_of(m, SIP_H_P_ASSERTED_IDENTITY, 1),
		     "<tel:+1234567>");
	assert_slice(value_of(m, SIP_H_REASON, 0),
		     "SIP;text=\"a, b\", Q.850;cause=16");
	assert_true(sip_message_has_token(m, SIP_H_SUPPORTED, SLICE("100rel")));
	assert_true(
		sip_message_has_token(m, SIP_H_SUPPORTED, SLICE("Replaces")));
	assert_false(sip_message_has_token(m, SIP_H_SUPPORTED, SLICE("time")));
	assert_false(sip_message_has_token(m, SIP_H_REQUIRE, SLICE("timer")));
	assert_slice(value_of(m, SIP_H_REQUIRE, 0), "");
	assert_null(sip_message_value(m, SLICE("Subject")).ptr);
	sip_message_unref(&m);
}

static void test_accepted(void **state)
{
	static const char *const rows[] = {
		LINE REST "Supported:\r\n\r\n",
		LINE REST "Contact: *\r\n\r\n",
		LINE REST "X: caf\xe9\r\n\r\n",
		LINE REST LENGTH "\r\n",
		LINE REST "Expires: 10000000000\r\n\r\n",
		LINE REST "Date: Fri, 01 Jan 2010 16:00:00 EST\r\n\r\n",
		"INVITE tel:+12015550123 SIP/2.0\r\n" REST "\r\n",
		"INVITE sips:b@c.d sip/2.0\r\n" REST "\r\n",
		LINE VIA
		"From: <tel:+1234567>;tag=1\r\nTo: tel:+12\r\n" CALLID CSEQ
			LENGTH "\r\n",
		/* RFC 4475, 3.1.1.2: a method of strange characters. */
		"!interesting-Method0123456789_*+`.%indeed'~ sip:a@b.c "
		"SIP/2.0\r\n" VIA FROM TO CALLID
		"CSeq: 139122385 !interesting-Method0123456789_*+`.%indeed'~"
		"\r\n" LENGTH "\r\n",
		LINE VIA "From: <http://www.example.com>;tag=1\r\n"
			 "To: isbn:2983792873\r\n" CALLID CSEQ LENGTH "\r\n",
		/* Escaped headers in a Request-URI (3.1.2.11): ignored. */
		"INVITE sip:b@c.d?Route=%3Csip:e.f%3E SIP/2.0\r\n" REST "\r\n",
	};
	struct sip_message *message;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		message = parsed(rows[i]);
		sip_message_unref(&message);
	}
}

/* Each as RFC 4475, 3.1.2 and 3.3 wants it, and what no framing may bear. */
static const struct {
	const char *text;
	int status;
	bool is_answerable;
} refused[] = {
	{ "", -400, false },
	{ "\r\n\r\n", -400, false },
	{ "INVITE\r\n\r\n", -400, false },
	{ LINE "\r\n", -400, false },
	{ LINE REST, -400, false }, /* no empty line */
	{ "\r\n" LINE REST "\r\n", -400, false },
	{ "INVITE sip:b@c.d SIP/7.0\r\n" REST "\r\n", -505, true },
	{ "SIP/7.0 200 OK\r\n" REST "\r\n", -505, false },
	{ "INVITE nobody:b@c.d SIP/2.0\r\n" REST "\r\n", -416, true },
	{ "INVITE soap.beep://192.0.2.103:3002 SIP/2.0\r\n" REST "\r\n", -416,
	  true },
	{ "INVITE <sip:b@c.d> SIP/2.0\r\n" REST "\r\n", -400, true },
	{ "INVITE sip:b@c.d; lr SIP/2.0\r\n" REST "\r\n", -400, true },
	{ "INVITE  sip:b@c.d  SIP/2.0\r\n" REST "\r\n", -400, true },
	{ "INVITE sip:b@c.d SIP/2.0  \r\n" REST "\r\n", -400, true },
	{ "INVITE b SIP/2.0\r\n" REST "\r\n", -400, true },
	{ "INVITE sip:b@c.d SIP/2.0\r\n x\r\n" REST "\r\n", -400, true },
	{ "C\r\nINVITE sip:b@c.d SIP/2.0\r\n" REST "\r\n", -400, true },
	{ "(\r\n" REST "\r\n", -400, false },
	{ "SIP/2.0 4294967301 better not break\r\n" REST "\r\n", -400, false },
	{ "SIP/2.0 099 x\r\n" REST "\r\n", -400, false },
	{ "SIP/2.0 700 x\r\n" REST "\r\n", -400, false },
	/* What is missing. */
	{ LINE FROM TO CALLID CSEQ LENGTH "\r\n", -400, false },
	{ LINE VIA TO CALLID CSEQ LENGTH "\r\n", -400, true },
	{ LINE VIA FROM CALLID CSEQ LENGTH "\r\n", -400, true },
	{ LINE VIA FROM TO CSEQ LENGTH "\r\n", -400, true },
	{ LINE VIA FROM TO CALLID LENGTH "\r\n", -400, true },
	{ LINE VIA FROM TO CALLID CSEQ "\r\n", -400, true },
	/* What comes twice. */
	{ LINE REST CALLID "\r\n", -400, true },
	{ LINE REST FROM "\r\n", -400, true },
	{ LINE REST "t: <sip:x@y.z>\r\n\r\n", -400, true },
	{ LINE REST "CSeq: 1 INVITE\r\n\r\n", -400, true },
	{ LINE REST "l: 5\r\n\r\n12345", -400, true },
	{ LINE REST "Max-Forwards: 1\r\nMax-Forwards: 2\r\n\r\n", -400, true },
	{ LINE REST "c: a/b\r\nContent-Type: a/c\r\n\r\n", -400, true },
	/* What is wrong. */
	{ LINE VIA FROM TO CALLID "CSeq: 1 BYE\r\n" LENGTH "\r\n", -400, true },
	{ LINE VIA FROM TO CALLID "CSeq: 1 invite\r\n" LENGTH "\r\n", -400,
	  true },
	{ LINE VIA FROM TO CALLID "CSeq: 36893488147419103232 INVITE\r\n" LENGTH
				  "\r\n",
	  -400, true },
	{ LINE VIA FROM TO CALLID "CSeq: 2147483648 INVITE\r\n" LENGTH "\r\n",
	  -400, true },
	{ LINE VIA FROM TO CALLID "CSeq: INVITE\r\n" LENGTH "\r\n", -400,
	  true },
	{ LINE REST "Max-Forwards: 300\r\n\r\n", -400, true },
	{ LINE REST "Max-Forwards: -1\r\n\r\n", -400, true },
	{ LINE VIA FROM TO CALLID CSEQ "Content-Length: -999\r\n\r\n", -400,
	  true },
	{ LINE VIA FROM TO CALLID CSEQ "Content-Length: 9999\r\n\r\nv=0\r\n",
	  -400, true },
	{ LINE REST "\r\nx", -400, true },
	{ LINE VIA "From: \"Mr. J <sip:a@b.c>;tag=1\r\n" TO CALLID CSEQ LENGTH
		   "\r\n",
	  -400, true },
	{ LINE VIA "From: Bell, A <sip:a@b.c>;tag=1\r\n" TO CALLID CSEQ LENGTH
		   "\r\n",
	  -400, true },
	{ LINE VIA
	  "From: <sip:a@b.c>\r\nTo: 1sbn:2983792873\r\n" CALLID CSEQ LENGTH
	  "\r\n",
	  -400, true },
	{ LINE VIA "From: <sip:a@b.c>\r\nTo: isbn:\r\n" CALLID CSEQ LENGTH
		   "\r\n",
	  -400, true },
	{ "FROB sip:b@c.d SIP/2.0\r\n" VIA FROM TO CALLID CSEQ LENGTH "\r\n",
	  -501, true },
	{ "INVITE :b SIP/2.0\r\n" REST "\r\n", -400, true },
	{ LINE VIA FROM TO "Call-ID: a b\r\n" CSEQ LENGTH "\r\n", -400, true },
	{ LINE
	  "Via: SIP/2.0/UDP 192.0.2.15;;,;,,\r\n" FROM TO CALLID CSEQ LENGTH
	  "\r\n",
	  -400, true },
	{ LINE "Via: \"\r\n" FROM TO CALLID CSEQ LENGTH "\r\n", -400, false },
	{ LINE "Via: ,\r\n" REST "\r\n", -400, true },
	{ LINE REST "Contact: sip:user@example.com?Route=%3Csip:a%3E\r\n\r\n",
	  -400, true },
	{ LINE REST "Contact: \"x <sip:a@b.c>\r\n\r\n", -400, true },
	{ LINE REST "Route: <sip:a@b.c\r\n\r\n", -400, true },
	{ LINE REST "No colon\r\n\r\n", -400, true },
	{ LINE REST ": x\r\n\r\n", -400, true },
	{ LINE REST "X y: z\r\n\r\n", -400, true },
	{ LINE REST "X: a\rb\r\n\r\n", -400, true },
	{ LINE REST "X: a\nVia: b\r\n\r\n", -400, true },
	{ LINE REST "X: a\n b\r\n\r\n", -400, true },
};

static void test_refused(void **state)
{
	struct sip_message *message;
	const char *why;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int status = parse(&message, slice_of(refused[i].text), &why);

		if (status != refused[i].status ||
		    !message == refused[i].is_answerable)
			fail_msg("%d, %s: %s", status,
				 message ? "answerable" : "not answerable",
				 refused[i].text);
		assert_non_null(why);
		sip_message_unref(&message);
	}
}

/* Outside a quoted-pair; in one it is replaced. */
static void test_nul(void **state)
{
	static const struct slice rows[] = {
		SLICE("X: a\0b"),	   SLICE("X: \"\0\""),
		SLICE("X: \\\0"),	   SLICE("X: \"\\\\\0\""),
		SLICE("X: \"\\\0\" \\\0"), SLICE("X\0: a"),
	};
	struct sip_message *message;
	struct buffer text;
	const char *why;

	buffer_init(&text, 4096);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buffer_clear(&text);
		buffer_add_str(&text, LINE REST);
		buffer_add(&text, rows[i]);
		buffer_add_str(&text, "\r\n\r\n");
		assert_int_equal(parse(&message, buffer_slice(&text), &why),
				 -400);
		assert_string_equal(why, "header line");
		sip_message_unref(&message);
	}
	buffer_reset(&text);
	assert_int_equal(parse(&message,
			       SLICE(LINE REST "X: \"a\\\0b\\\\\"\r\n\r\n"),
			       &why),
			 0);
	assert_slice(sip_message_value(message, SLICE("X")), "\"a\\?b\\\\\"");
	sip_message_unref(&message);
}

/* What an answer repeats is there even when it is wrong. */
static void test_answerable_keeps_text(void **state)
{
	struct sip_message *m;
	const char *why;

	assert_int_equal(
		parse(&m,
		      SLICE(LINE VIA
			    "f: Bell, A <sip:a@b.c>\r\n" TO CALLID CSEQ LENGTH
			    "\r\n"),
		      &why),
		-400);
	assert_string_equal(why, "From");
	assert_slice(value_of(m, SIP_H_FROM, 0), "Bell, A <sip:a@b.c>");
	assert_slice(value_of(m, SIP_H_CSEQ, 0), "314159 INVITE");
	sip_message_unref(&m);
}

static void fill(struct buffer *out, const char *name, size_t n)
{
	buffer_add_str(out, name);
	while (n--)
		buffer_add_char(out, 'a');
	buffer_add_str(out, "\r\n");
}

static int status_of(struct buffer *text)
{
	struct sip_message *message;
	const char *why;
	int status;

	buffer_add_str(text, "\r\n");
	assert_int_equal(buffer_error(text), 0);
	status = parse(&message, buffer_slice(text), &why);
	sip_message_unref(&message);
	buffer_reset(text);
	return status;
}

static void test_limits(void **state)
{
	struct buffer text;
	size_t i;

	buffer_init(&text, 1 << 20);
	buffer_add_str(&text, LINE REST);
	fill(&text, "X: ", SIP_HEADER_MAX_BYTES - 3);
	assert_int_equal(status_of(&text), 0);
	buffer_add_str(&text, LINE REST);
	fill(&text, "X: ", SIP_HEADER_MAX_BYTES - 2);
	assert_int_equal(status_of(&text), -513);
	for (int more = 0; more < 2; more++) {
		buffer_add_str(&text, LINE REST); /* six headers */
		for (i = 0; i < SIP_HEADERS_MAX - 6 + (size_t)more; i++)
			fill(&text, "X: ", 1);
		assert_int_equal(status_of(&text), more ? -400 : 0);
	}
	buffer_add_str(&text, LINE REST "Route: <sip:a@b.c>");
	for (i = 0; i < SIP_HEADERS_MAX; i++)
		buffer_add_str(&text, ",<sip:a@b.c>");
	buffer_add_str(&text, "\r\n");
	assert_int_equal(status_of(&text), -400);
	buffer_add_str(&text, LINE VIA FROM TO CALLID CSEQ);
	buffer_printf(&text, "Content-Length: %d\r\n\r\n",
		      SIP_MESSAGE_MAX_BYTES);
	for (i = 0; i < SIP_MESSAGE_MAX_BYTES - 2; i++)
		buffer_add_char(&text, 'x');
	assert_int_equal(status_of(&text), -413);
}

static void test_frame_at_every_byte(void **state)
{
	struct fixture_text text;
	struct slice whole = SLICE(wsinv);
	struct buffer two;
	size_t i;

	for (i = 0; i < whole.len; i++) {
		struct slice part =
			fixture_text_open(&text, slice_make(whole.ptr, i));

		assert_int_equal(sip_message_frame(part), 0);
		fixture_text_close(&text);
	}
	buffer_init(&two, 1 << 20);
	buffer_add(&two, whole);
	assert_int_equal(sip_message_frame(buffer_slice(&two)), whole.len);
	buffer_add(&two, whole);
	assert_int_equal(sip_message_frame(buffer_slice(&two)), whole.len);
	buffer_reset(&two);
}

static void test_frame_refused(void **state)
{
	static const struct {
		const char *text;
		ssize_t result;
	} rows[] = {
		{ "A\r\n\r\n", -400 },
		{ "A\r\nContent-Length:\r\n\r\n", -400 },
		{ "A\r\nContent-Length: -1\r\n\r\n", -400 },
		{ "A\r\nContent-Length: 1 1\r\n\r\n", -400 },
		{ "A\r\nContent-Length: 0x1\r\n\r\n", -400 },
		{ "A\r\nContent-Length: 1, 1\r\n\r\n", -400 },
		{ "A\r\nl: 1\r\nContent-Length: 2\r\n\r\n", -400 },
		{ "A\r\nContent-Length: 65537\r\n\r\n", -413 },
		{ "A\r\nContent-Length: 65536\r\n\r\n", -413 },
		{ "A\r\nContent-Length: 18446744073709551617\r\n\r\n", -413 },
		{ "A\r\nl: 1\r\nContent-Length: 01\r\n\r\nx", 32 },
		{ "A\r\nL\t:\r\n 1\r\n\r\nxy", 15 },
		{ "A\r\nX: y\nl: 3\r\nl: 1\r\n\r\nz", 23 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (sip_message_frame(slice_of(rows[i].text)) != rows[i].result)
			fail_msg("%s: %zd", rows[i].text,
				 sip_message_frame(slice_of(rows[i].text)));
}

static void test_frame_is_bounded(void **state)
{
	struct buffer text;
	size_t i;

	buffer_init(&text, 1 << 20);
	for (i = 0; i < 16384; i++)
		buffer_add_char(&text, 'x');
	assert_int_equal(sip_message_frame(buffer_slice(&text)), 0);
	buffer_add_char(&text, 'x');
	assert_int_equal(sip_message_frame(buffer_slice(&text)), -513);
	buffer_add_str(&text, "\r\nContent-Length: 0\r\n\r\n");
	assert_int_equal(sip_message_frame(buffer_slice(&text)), -513);
	buffer_reset(&text);
}

/* Whatever bytes change, nothing is read that is not there. */
static void test_garbage(void **state)
{
	struct buffer text;
	struct sip_message *message;
	const char *why;
	size_t i;

	buffer_init(&text, 1 << 20);
	buffer_add(&text, SLICE(wsinv));
	for (i = 0; i < text.len; i++) {
		static const char bytes[] = "\0\r\n\"<>;,:%\\ \xff";
		char was = text.ptr[i];

		for (size_t j = 0; j < sizeof(bytes) - 1; j++) {
			text.ptr[i] = bytes[j];
			parse(&message, buffer_slice(&text), &why);
			sip_message_unref(&message);
		}
		text.ptr[i] = was;
		parse(&message, slice_make(text.ptr, i), &why);
		sip_message_unref(&message);
	}
	buffer_reset(&text);
}

static void test_shared(void **state)
{
	struct sip_message *first = parsed(LINE REST "\r\n");
	struct sip_message *second = sip_message_ref(first);

	sip_message_unref(&first);
	assert_slice(second->common.call_id, "a84b4c76e66710@pc33.atlanta.com");
	sip_message_unref(&second);
	sip_message_unref(&second); /* NULL is fine */
}

static void test_methods(void **state)
{
	for (int m = SIP_INVITE; m < SIP_UNKNOWN; m++)
		assert_int_equal(sip_method_parse(slice_of(
					 sip_method_name((enum sip_method)m))),
				 m);
	assert_int_equal(sip_method_parse(SLICE("invite")), SIP_UNKNOWN);
	assert_int_equal(sip_method_parse(SLICE("")), SIP_UNKNOWN);
	assert_int_equal(sip_method_parse(SLICE("INVITEX")), SIP_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_response),
		cmocka_unit_test(test_wsinv),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_answerable_keeps_text),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_frame_at_every_byte),
		cmocka_unit_test(test_frame_refused),
		cmocka_unit_test(test_frame_is_bounded),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_methods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* sip/redact: credentials, media keys and foreign bodies leave a message before
 * it is kept; what terminals obey too; limits of the body; the glance of a
 * ladder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "sip/redact.h"

static void expect(struct slice from, const char *wanted)
{
	struct fixture_text text;
	struct buffer out;

	buffer_init(&out, 65536);
	sip_redact(&out, fixture_text_open(&text, from));
	assert_int_equal(buffer_error(&out), 0);
	assert_string_equal(buffer_str(&out), wanted);
	buffer_reset(&out);
	fixture_text_close(&text);
}

static void takes_credentials_out(void **state)
{
	static const struct {
		const char *line, *wanted;
	} rows[] = {
		{ "Authorization: Digest username=\"a\", response=\"b\"",
		  "Authorization: Digest ...removed" },
		{ "authorization:Digest username=\"a\"",
		  "authorization: Digest ...removed" },
		{ "Proxy-Authorization : digest x",
		  "Proxy-Authorization: Digest ...removed" },
		{ "Authorization: Basic YTpi",
		  "Authorization: Basic ...removed" },
		{ "Authorization: Secret", "Authorization: ...removed" },
		{ "Authorization: se cret", "Authorization: ...removed" },
		{ "Authorization:", "Authorization: ...removed" },
		{ "Authorization: Digest a=1,\r\n response=\"b\"\r\n\tc=\"d\"",
		  "Authorization: Digest ...removed" },
		{ "X: 1\r\n Authorization: Digest b",
		  "X: 1\r\nAuthorization: Digest ...removed" },
		{ "X: 1\nAuthorization: Digest b",
		  "X: 1\r\nAuthorization: Digest ...removed" },
		{ "X: 1\rAuthorization: Digest b",
		  "X: 1\r\nAuthorization: Digest ...removed" },
		{ "WWW-Authenticate: Digest nonce=\"n\"",
		  "WWW-Authenticate: Digest nonce=\"n\"" },
		{ "User-to-User: 00ff;encoding=hex",
		  "User-to-User: 00ff;encoding=hex" },
		{ "X-Account: 17", "X-Account: 17" },
		{ "Contact: <sip:a:pw@h:5061>, <sips:b:pw2@h>",
		  "Contact: <sip:a:...removed@h:5061>, "
		  "<sips:b:...removed@h>" },
		{ "From: \"sip: a\" <sip:h:5061>;tag=x@y",
		  "From: \"sip: a\" <sip:h:5061>;tag=x@y" },
		{ "Via: SIP/2.0/TLS h:1;branch=z",
		  "Via: SIP/2.0/TLS h:1;branch=z" },
		{ "Contact: sip:", "Contact: sip:" },
		{ "Contact: sip:a:@", "Contact: sip:a:...removed@" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char from[512], wanted[512];

		snprintf(from, sizeof(from),
			 "BYE sip:u:pw@h SIP/2.0\r\n%s\r\nCSeq: 1 BYE\r\n\r\n",
			 rows[i].line);
		snprintf(wanted, sizeof(wanted),
			 "BYE sip:u:...removed@h SIP/2.0\r\n%s\r\n"
			 "CSeq: 1 BYE\r\n\r\n",
			 rows[i].wanted);
		expect(slice_of(from), wanted);
	}
}

#define SDP(type) "SIP/2.0 200 OK\r\nContent-Type: " type "\r\n\r\n"

static void takes_keys_out(void **state)
{
	static const struct {
		const char *line, *wanted;
	} rows[] = {
		{ "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:KEY|2^20 KDR=0",
		  "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:...removed" },
		{ "a=CRYPTO:2 F8_128_HMAC_SHA1_80 INLINE:KEY;inline:KEY",
		  "a=crypto:2 F8_128_HMAC_SHA1_80 inline:...removed" },
		{ "a=crypto:1  inline:KEY", "a=crypto:...removed" },
		{ "a=crypto:1 inline:KEY", "a=crypto:...removed" },
		{ "a=crypto:1 AES KEY", "a=crypto:1 AES inline:...removed" },
		{ "a=crypto:KEY", "a=crypto:...removed" },
		{ "a=crypto:1 KEYKEYKEYKEYKEYKEYKEYKEYKEYKEYKEY",
		  "a=crypto:...removed" },
		{ " a=crypto:1 X inline: KEY",
		  " a=crypto:1 X inline:...removed" },
		{ "a=key-mgmt:mikey KEY", "a=key-mgmt:...removed" },
		{ "a=ice-pwd:KEY", "a=ice-pwd:...removed" },
		{ "k=clear:KEY", "k=...removed" },
		{ "s=talk=k", "s=talk=k" },
		{ "a=sendrecv", "a=sendrecv" },
		{ " ", " " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char from[512], wanted[512];

		snprintf(from, sizeof(from),
			 SDP("application/sdp") "v=0\n%s\r\nt=0 0",
			 rows[i].line);
		snprintf(wanted, sizeof(wanted),
			 SDP("application/sdp") "v=0\r\n%s\r\nt=0 0\r\n",
			 rows[i].wanted);
		expect(slice_of(from), wanted);
		assert_null(strstr(wanted, "KEY"));
	}
}

static void keeps_of_other_bodies_their_length(void **state)
{
	expect(SLICE(SDP("application/isup;version=x") "\x01\x00\xff"),
	       SDP("application/isup;version=x") "[application/isup, 3 bytes, "
						 "not kept]\r\n");
	expect(SLICE(SDP("application/dtmf-relay") "Signal=5\r\n"),
	       SDP("application/dtmf-relay") "[application/dtmf-relay, 10 "
					     "bytes, not kept]\r\n");
	expect(SLICE("A\r\n\r\nbody"),
	       "A\r\n\r\n[body, 4 bytes, not kept]\r\n");
	expect(SLICE(SDP(
		       "message/sipfrag;version=2.0") "SIP/2.0 401 "
						      "No\nProxy-Authorization:"
						      " Digest x"),
	       SDP("message/sipfrag;version=2.0") "SIP/2.0 401 No\r\n"
						  "Proxy-Authorization: "
						  "Digest ...removed\r\n");
}

static void looks_into_parts(void **state)
{
	expect(SLICE(SDP(
		       "multipart/mixed;boundary=\"b\"") "preamble "
							 "inline:KEY\r\n--b\r\n"
							 "Content-Type: "
							 "application/"
							 "SDP\r\n\r\n"
							 "v=0\r\na=crypto:1 A "
							 "inline:KEY\r\n--b\r\n"
							 "Content-Type: "
							 "application/"
							 "isup\r\n\r\nxy\r\n"
							 "--b\r\n\r\nz\r\n--b--"
							 "\r\n"),
	       SDP("multipart/mixed;boundary=\"b\"") "--b\r\nContent-Type: "
						     "application/SDP\r\n\r\n"
						     "v=0\r\na=crypto:1 A "
						     "inline:...removed\r\n"
						     "--b\r\nContent-Type: "
						     "application/isup\r\n\r\n"
						     "[application/isup, 4 "
						     "bytes, not kept]\r\n"
						     "--b\r\n\r\n[body, 3 "
						     "bytes, not "
						     "kept]\r\n--b--\r\n");
	expect(SLICE(SDP("multipart/mixed") "x"),
	       SDP("multipart/mixed") "[multipart/mixed, 1 bytes, not "
				      "kept]\r\n");
	expect(SLICE(SDP("multipart/mixed;boundary=b") "x"),
	       SDP("multipart/mixed;boundary=b") "--b--\r\n");
	expect(SLICE(SDP("multipart/a;boundary=b") "--b\r\n--b--"),
	       SDP("multipart/a;boundary=b") "--b\r\n\r\n--b--\r\n");
}

/* A body full of parts of parts ends somewhere. */
static void does_not_go_deep(void **state)
{
	struct buffer from, out;

	buffer_init(&from, 65536);
	buffer_add_str(&from, SDP("multipart/a;boundary=b"));
	for (unsigned i = 0; i < 100; i++)
		buffer_add_str(&from, "--b\r\nContent-Type: multipart/a;"
				      "boundary=b\r\n\r\n");
	buffer_init(&out, 65536);
	sip_redact(&out, buffer_slice(&from));
	assert_int_equal(buffer_error(&out), 0);
	buffer_reset(&out);
	buffer_reset(&from);
}

static void is_text_that_can_be_shown(void **state)
{
	expect(SLICE("A: \x1b[2J\x07 \xc3\xa4 \xff \xe2\x82 \xc2\x9b"
		     "1m\x7f\t|\r\n\r\n"),
	       "A: ?[2J? \xc3\xa4 ? ?? ?1m?\t|\r\n\r\n");
	expect(SLICE("A: \0b\r\n\r\n"), "A: ?b\r\n\r\n");
	expect(SLICE(SDP("application/sdp") "s=\x1bx \0"),
	       SDP("application/sdp") "s=?x ?\r\n");
	expect(SLICE(""), "\r\n");
	expect(SLICE("\r\n\r\n"), "\r\n");
	expect(SLICE("half a line"), "half a line\r\n\r\n");
}

static void cuts_a_long_body(void **state)
{
	struct buffer text, out;

	buffer_init(&text, 65536);
	buffer_init(&out, 65536);
	buffer_add_str(&text, SDP("application/sdp"));
	for (unsigned i = 0; i < 9999; i++)
		buffer_add_char(&text, 'x');
	sip_redact(&out, buffer_slice(&text));
	assert_int_equal(out.len, strlen(SDP("application/sdp")) +
					  REDACT_BODY_MAX_BYTES + 2 +
					  strlen("[1807 more bytes, not "
						 "kept]\r\n"));
	assert_non_null(
		strstr(out.ptr, "x\r\n[1807 more bytes, not kept]\r\n"));
	buffer_reset(&text);
	buffer_reset(&out);
}

static void gives_a_glance(void **state)
{
	struct sip_glance glance;

	sip_glance(&glance, SLICE("INVITE sip:a SIP/2.0\r\ni: x@y\r\n"
				  "CSeq:  1 INVITE \r\n\r\nCall-ID: z\r\n"));
	assert_slice(glance.start_line, "INVITE sip:a SIP/2.0");
	assert_slice(glance.method, "INVITE");
	assert_slice(glance.call_id, "x@y");
	assert_slice(glance.cseq, "1 INVITE");
	assert_int_equal(glance.status, 0);
	sip_glance(&glance,
		   SLICE("SIP/2.0 486 Busy Here\r\nCSeq: 2 BYE\r\n\r\n"));
	assert_slice(glance.method, "BYE");
	assert_slice(glance.call_id, "");
	assert_int_equal(glance.status, 486);
	sip_glance(&glance, SLICE(""));
	assert_slice(glance.method, "");
	sip_glance(&glance, SLICE("SIP/2.0 abc\r\nCSeq: 7\r\n\r\n"));
	assert_slice(glance.method, "");
	assert_int_equal(glance.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_credentials_out),
		cmocka_unit_test(takes_keys_out),
		cmocka_unit_test(keeps_of_other_bodies_their_length),
		cmocka_unit_test(looks_into_parts),
		cmocka_unit_test(does_not_go_deep),
		cmocka_unit_test(is_text_that_can_be_shown),
		cmocka_unit_test(cuts_a_long_body),
		cmocka_unit_test(gives_a_glance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

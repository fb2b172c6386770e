/* SPDX-License-Identifier: MIT */
/* sip/digest, row "digest" of the signalling requirements: RFC 2617, 3.5, RFC
 * 7616, 3.9.1 and 3.9.2 (with its erratum 4897) and RFC 3665's form without
 * qop; MD5, SHA-256 and SHA-512-256, plain and -sess; the strongest of several
 * challenges (RFC 8760); auth-int alone is not answered; nc, opaque, stale,
 * escapes, long values. How often one is answered: test_request.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/mem.h"
#include "sip/digest.h"

#define REALM  "http-auth@example.org"
#define NONCE  "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
#define CNONCE "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

/* A response with these lines in it. */
static int challenge(struct digest_challenge *out, int status,
		     const char *lines)
{
	struct sip_message *message = NULL;
	struct buffer text;
	int err;

	buffer_init(&text, 1 << 16);
	buffer_printf(&text,
		      "SIP/2.0 %d No\r\nVia: SIP/2.0/TLS h;branch=z9hG4bK1\r\n"
		      "From: <sip:a@b.c>;tag=1\r\nTo: <sip:a@b.c>;tag=2\r\n"
		      "Call-ID: 1\r\nCSeq: 1 INVITE\r\n%s"
		      "Content-Length: 0\r\n\r\n",
		      status, lines);
	assert_int_equal(sip_message_parse(&message, buffer_slice(&text), NULL),
			 0);
	err = digest_challenge_parse(out, message);
	sip_message_unref(&message);
	buffer_reset(&text);
	return err;
}

static void set_cnonce(struct digest_challenge *c, const char *cnonce)
{
	snprintf(c->cnonce, sizeof(c->cnonce), "%s", cnonce);
}

/* RFC 7616, 3.9.1, and the same values through the other forms. */
static void test_vectors(void **state)
{
	static const struct {
		const char *params, *response;
	} rows[] = {
		{ "algorithm=MD5, qop=\"auth, auth-int\"",
		  "8ca523f5e9506fed4657c9700eebdbec" },
		{ "qop=\"auth\"", "8ca523f5e9506fed4657c9700eebdbec" },
		{ "algorithm=SHA-256, qop=\"auth-int,auth\"",
		  "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856c"
		  "b6c1" },
		{ "algorithm=\"md5-SESS\", qop=auth",
		  "e783283f46242139c486a698fec7211d" },
		{ "algorithm=SHA-256-sess, qop=auth",
		  "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3"
		  "efd7" },
		{ "algorithm=SHA-512-256, qop=\"auth\"",
		  "430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d9"
		  "60d0" },
		{ "algorithm=sha-512-256-SESS, qop=auth",
		  "3f2a34f923c38b0fb26dce2fdfc2ce326c23cecf86fbb1444f3e51fbbc2c"
		  "b92e" },
		{ "algorithm=MD5", "7b2cc3b30e75b4777ea31027084363fd" },
		{ "algorithm=MD5-sess", "37a7f42db2090a3fcac4e26e747d4fc8" },
		{ "algorithm=SHA-256-sess",
		  "30bc0742357e535c85094121d22cf826b794be0667e19537beb7b28f2251"
		  "c274" },
	};
	const struct digest_request request = { "Mufasa", "Circle of Life",
						"GET",
						SLICE("/dir/index.html") };
	struct digest_challenge c = { 0 };
	char lines[512], wanted[128];
	struct buffer out;

	buffer_init(&out, 4096);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(lines, sizeof(lines),
			 "WWW-Authenticate: Digest realm=\"" REALM
			 "\", nonce=\"" NONCE "\", %s\r\n",
			 rows[i].params);
		assert_int_equal(challenge(&c, 401, lines), 0);
		set_cnonce(&c, CNONCE);
		buffer_clear(&out);
		assert_int_equal(digest_authorize(&out, &c, &request), 0);
		snprintf(wanted, sizeof(wanted), "response=\"%s\"",
			 rows[i].response);
		if (!strstr(buffer_str(&out), wanted))
			fail_msg("%s: %s", rows[i].params, buffer_str(&out));
	}
	buffer_reset(&out);
	digest_challenge_reset(&c);
}

/* RFC 7616, 3.9.2; the response is that of erratum 4897, because the RFC's own
 * was made with a draft of the hash. The user name stays unhashed: we do not
 * take up userhash. */
static void test_sha_512_256_vector(void **state)
{
	const struct digest_request request = { "J\303\244s\303\270n Doe",
						"Secret, or not?", "GET",
						SLICE("/doe.json") };
	struct digest_challenge c = { 0 };
	struct buffer out;

	assert_int_equal(
		challenge(
			&c, 401,
			"WWW-Authenticate: Digest\r\n"
			" realm=\"api@example.org\",\r\n"
			" qop=\"auth\",\r\n"
			" algorithm=SHA-512-256,\r\n"
			" nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK"
			"\",\r\n"
			" opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"
			"\",\r\n"
			" charset=UTF-8,\r\n"
			" userhash=true\r\n"),
		0);
	set_cnonce(&c, "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v");
	buffer_init(&out, 4096);
	assert_int_equal(digest_authorize(&out, &c, &request), 0);
	assert_non_null(strstr(buffer_str(&out),
			       "response=\"3798d4131c277846293534c3edc11bd8a5e4"
			       "cdcbff78b05db9d95eeb1cec68a5\", "
			       "algorithm=SHA-512-256, qop=auth, "
			       "nc=00000001, "));
	buffer_reset(&out);
	digest_challenge_reset(&c);
}

static void test_header_value(void **state)
{
	const struct digest_request request = { "Mufasa", "Circle Of Life",
						"GET",
						SLICE("/dir/index.html") };
	struct digest_challenge c = { 0 };
	struct buffer out;

	assert_int_equal(
		challenge(&c, 407,
			  "Proxy-Authenticate: Digest\r\n"
			  "  realm=\"testrealm@host.com\",\r\n"
			  " qop=\"auth,auth-int\",\r\n"
			  " nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\",\r\n"
			  " opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"\r\n"),
		0);
	assert_true(c.is_proxy);
	assert_int_equal(digest_header(&c), SIP_H_PROXY_AUTHORIZATION);
	assert_int_equal(strlen(c.cnonce), 24);
	set_cnonce(&c, "0a4f113b");
	buffer_init(&out, 4096);
	assert_int_equal(digest_authorize(&out, &c, &request), 0);
	assert_string_equal(
		buffer_str(&out),
		"Digest username=\"Mufasa\", realm=\"testrealm@host.com\", "
		"nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", "
		"uri=\"/dir/index.html\", "
		"response=\"6629fae49393a05397450978507c4ef1\", qop=auth, "
		"nc=00000001, cnonce=\"0a4f113b\", "
		"opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"");
	buffer_reset(&out);
	digest_challenge_reset(&c);
}

/* RFC 3665, 3.3: no qop, no algorithm, an empty opaque. */
static void test_without_qop(void **state)
{
	const struct digest_request request = { "bob", "zanzibar", "INVITE",
						SLICE("sip:bob@biloxi.com") };
	struct digest_challenge c = { 0 };
	struct buffer out;

	assert_int_equal(
		challenge(&c, 401,
			  "WWW-Authenticate: Digest realm=\"biloxi.com\", "
			  "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", "
			  "opaque=\"\", stale=FALSE\r\n"),
		0);
	assert_false(c.is_stale);
	assert_int_equal(digest_header(&c), SIP_H_AUTHORIZATION);
	buffer_init(&out, 4096);
	assert_int_equal(digest_authorize(&out, &c, &request), 0);
	assert_string_equal(
		buffer_str(&out),
		"Digest username=\"bob\", realm=\"biloxi.com\", "
		"nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", "
		"uri=\"sip:bob@biloxi.com\", "
		"response=\"bf57e4e0d0bffc0fbaedce64d59add5e\", opaque=\"\"");
	buffer_reset(&out);
	digest_challenge_reset(&c);
}

static void test_nc_counts(void **state)
{
	const struct digest_request request = { "Mufasa", "Circle of Life",
						"GET",
						SLICE("/dir/index.html") };
	struct digest_challenge c = { 0 };
	struct buffer out;

	assert_int_equal(challenge(&c, 401,
				   "WWW-Authenticate: Digest realm=\"" REALM
				   "\",nonce=\"" NONCE
				   "\",qop=\"auth\",stale=true\r\n"),
			 0);
	assert_true(c.is_stale);
	set_cnonce(&c, CNONCE);
	buffer_init(&out, 4096);
	digest_authorize(&out, &c, &request);
	buffer_clear(&out);
	digest_authorize(&out, &c, &request);
	assert_non_null(strstr(buffer_str(&out), "nc=00000002"));
	assert_non_null(strstr(buffer_str(&out),
			       "\"4b5d595ecf2db9df612ea5b45cd97101\""));
	buffer_reset(&out);
	digest_challenge_reset(&c);
}

static void test_strongest(void **state)
{
#define D(rest) "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"" rest "\r\n"
	static const struct {
		const char *lines;
		int err;
		enum digest_algorithm algorithm;
	} rows[] = {
		{ D(""), 0, DIGEST_MD5 },
		{ D("") D(",algorithm=SHA-256"), 0, DIGEST_SHA_256 },
		{ D(",algorithm=SHA-256") D(",algorithm=MD5"), 0,
		  DIGEST_SHA_256 },
		{ D(",algorithm=MD5") D(",algorithm=SHA-512-256")
			  D(",algorithm=SHA-256"),
		  0, DIGEST_SHA_512_256 },
		{ "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", "
		  "algorithm=MD5, Digest realm=\"r\", nonce=\"n\", "
		  "algorithm=SHA-256-sess\r\n",
		  0, DIGEST_SHA_256_SESS },
		{ D(",algorithm=SHA-512-256,qop=\"auth-int\"")
			  D(",algorithm=MD5"),
		  0, DIGEST_MD5 },
		{ D(",algorithm=SHA-512"), -ENOTSUP, 0 },
		{ D(",qop=\"auth-int\""), -ENOTSUP, 0 },
		{ "WWW-Authenticate: Basic realm=\"r\"\r\n", -ENOTSUP, 0 },
		{ "WWW-Authenticate: Basic realm=\"a, b=c\", Digest "
		  "realm=\"r\", nonce=\"n\", algorithm=MD5-sess, Foo\r\n",
		  0, DIGEST_MD5_SESS },
		{ "WWW-Authenticate: Digest realm=\"r\"\r\n", -ENOTSUP, 0 },
		{ "WWW-Authenticate: Digest realm=\"r, nonce=\"n\"\r\n",
		  -ENOTSUP, 0 },
		{ "WWW-Authenticate:\r\n", -ENOTSUP, 0 },
		{ "", -ENOENT, 0 },
		{ "Proxy-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n",
		  -ENOENT, 0 },
	};
	struct digest_challenge c = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err = challenge(&c, 401, rows[i].lines);

		if (err != rows[i].err)
			fail_msg("%d: %s", err, rows[i].lines);
		assert_int_equal(c.algorithm, rows[i].algorithm);
		assert_int_equal(!c.nonce, err != 0);
	}
	digest_challenge_reset(&c);
}

static void test_escapes(void **state)
{
	const struct digest_request request = { "a\"b\\c", "p", "INVITE",
						SLICE("sip:x") };
	struct digest_challenge c = { 0 };
	struct buffer out;

	assert_int_equal(challenge(&c, 401,
				   "WWW-Authenticate: Digest realm=\"r\\\"x\", "
				   "nonce=\"n\", qop=auth\r\n"),
			 0);
	assert_string_equal(c.realm, "r\"x");
	set_cnonce(&c, CNONCE);
	buffer_init(&out, 4096);
	digest_authorize(&out, &c, &request);
	assert_non_null(strstr(buffer_str(&out), "username=\"a\\\"b\\\\c\""));
	assert_non_null(strstr(buffer_str(&out), "realm=\"r\\\"x\""));
	assert_non_null(strstr(buffer_str(&out),
			       "\"4969953176acca5bad13a61deaf396d0\""));
	buffer_reset(&out);
	digest_challenge_reset(&c);
}

/* No length is assumed (CVE-2022-24754). */
static void test_long_values(void **state)
{
	const struct digest_request request = { "u", "p", "INVITE",
						SLICE("sip:x") };
	struct digest_challenge c = { 0 };
	struct buffer lines, out;

	buffer_init(&lines, 1 << 16);
	buffer_init(&out, 1 << 16);
	buffer_add_str(&lines, "WWW-Authenticate: Digest realm=\"r\",nonce=\"");
	for (int i = 0; i < 8000; i++)
		buffer_add_char(&lines, 'n');
	buffer_add_str(&lines, "\",qop=auth\r\n");
	assert_int_equal(challenge(&c, 401, buffer_str(&lines)), 0);
	assert_int_equal(strlen(c.nonce), 8000);
	assert_int_equal(digest_authorize(&out, &c, &request), 0);
	assert_true(out.len > 8000);
	buffer_reset(&out);
	buffer_init(&out, 100);
	assert_int_equal(digest_authorize(&out, &c, &request), -EMSGSIZE);
	buffer_reset(&lines);
	buffer_reset(&out);
	digest_challenge_reset(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_sha_512_256_vector),
		cmocka_unit_test(test_header_value),
		cmocka_unit_test(test_without_qop),
		cmocka_unit_test(test_nc_counts),
		cmocka_unit_test(test_strongest),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_long_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

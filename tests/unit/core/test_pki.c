/* SPDX-License-Identifier: MIT */
/* core/pki: what a CA and a leaf are made of, who may read the files, and
 * which names are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "core/pki.h"
#include "core/tls_compat.h"
#include "core/tls_verify.h"
#include "fixture_pki.h"

static const int64_t wall_ms = 1767312000000; /* 2026-01-02 00:00:00 */

static int setup(void **state)
{
	static struct fixture_pki pki;

	fixture_pki_open(&pki, wall_ms);
	*state = &pki;
	return 0;
}

static int teardown(void **state)
{
	fixture_pki_close(*state);
	return 0;
}

static void parse(mbedtls_x509_crt *crt, const char *file)
{
	mbedtls_x509_crt_init(crt);
	assert_int_equal(mbedtls_x509_crt_parse_file(crt, file), 0);
}

static mode_t mode_of(const char *file)
{
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	return st.st_mode & 07777;
}

static void test_ca(void **state)
{
	struct fixture_pki *pki = *state;
	mbedtls_x509_crt crt;
	char subject[64];

	parse(&crt, pki->ca);
	mbedtls_x509_dn_gets(subject, sizeof(subject), &crt.subject);
	assert_string_equal(subject, "CN=Test CA");
	assert_int_equal(crt.ca_istrue, 1);
	assert_int_equal(crt.max_pathlen, 1); /* the library adds one */
	assert_int_equal(crt.valid_from.year, 2026);
	assert_int_equal(crt.valid_to.year, 2036);
	assert_int_equal(mbedtls_pk_get_bitlen(&crt.pk), 256);
	assert_int_equal(mode_of(pki->ca_key), 0600);
	assert_int_equal(mode_of(pki->ca), 0644);
	mbedtls_x509_crt_free(&crt);
}

static void test_leaf(void **state)
{
	static const char *const names[] = {
		"sip:voice.example", "*.voice.example", "10.1.2.3",
		"fd00::9",	     "*.top",		NULL
	};
	static const struct tls_verify sip = { .is_sip = true };
	static const struct tls_verify exact = { .is_sip = true,
						 .no_wildcards = true };
	static const struct tls_verify web = { 0 };
	struct fixture_pki *pki = *state;
	mbedtls_x509_crt crt, ca;
	uint32_t flags;

	fixture_pki_leaf(pki, "leaf", names, wall_ms, 0);
	assert_int_equal(mode_of(fixture_pki_path(pki, "leaf.key")), 0600);
	parse(&crt, fixture_pki_path(pki, "leaf.pem"));
	parse(&ca, pki->ca);
	assert_int_equal(crt.ca_istrue, 0);
	assert_int_equal(crt.valid_to.year, 2028);
	assert_int_equal(crt.serial.len, 16);
	assert_int_equal(mbedtls_x509_crt_check_extended_key_usage(
				 &crt, MBEDTLS_OID_SERVER_AUTH,
				 MBEDTLS_OID_SIZE(MBEDTLS_OID_SERVER_AUTH)),
			 0);
	assert_int_equal(mbedtls_x509_crt_check_extended_key_usage(
				 &crt, MBEDTLS_OID_CLIENT_AUTH,
				 MBEDTLS_OID_SIZE(MBEDTLS_OID_CLIENT_AUTH)),
			 0);
	mbedtls_x509_crt_verify(&crt, &ca, NULL, NULL, &flags, NULL, NULL);
	assert_int_equal(flags & MBEDTLS_X509_BADCERT_NOT_TRUSTED, 0);
	assert_true(tls_verify_has_name(&sip, &crt, SLICE("voice.example")));
	assert_false(tls_verify_has_name(&web, &crt, SLICE("voice.example")));
	assert_true(tls_verify_has_name(&web, &crt, SLICE("a.voice.example")));
	assert_true(tls_verify_has_name(&sip, &crt, SLICE("a.voice.example")));
	assert_false(
		tls_verify_has_name(&exact, &crt, SLICE("a.voice.example")));
	assert_true(tls_verify_has_name(&exact, &crt, SLICE("voice.example")));
	assert_false(tls_verify_has_name(&web, &crt, SLICE("a.top")));
	assert_true(tls_verify_has_name(&web, &crt, SLICE("10.1.2.3")));
	assert_true(tls_verify_has_name(&web, &crt, SLICE("fd00::9")));
	assert_false(tls_verify_has_name(&web, &crt, SLICE("10.1.2.4")));
	mbedtls_x509_crt_free(&crt);
	mbedtls_x509_crt_free(&ca);
}

static void test_serials_differ_and_files_are_replaced(void **state)
{
	static const char *const names[] = { "a.example", NULL };
	struct fixture_pki *pki = *state;
	mbedtls_x509_crt one, two;

	fixture_pki_leaf(pki, "leaf", names, wall_ms, 1);
	parse(&one, fixture_pki_path(pki, "leaf.pem"));
	fixture_pki_leaf(pki, "leaf", names, wall_ms, 1);
	parse(&two, fixture_pki_path(pki, "leaf.pem"));
	assert_memory_not_equal(one.serial.p, two.serial.p, 16);
	mbedtls_x509_crt_free(&one);
	mbedtls_x509_crt_free(&two);
}

static void test_refuses_bad_names(void **state)
{
	static const char *const bad[] = {
		"",   "a b",  "a,O=b",	 "a/b",	 "*.*.a",
		".a", "sip:", "sip:a@b", "a\nb", "sips:a",
	};
	struct fixture_pki *pki = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct pki_leaf leaf = { .ca = { pki->ca, pki->ca_key },
					 .names = &bad[i],
					 .n_names = 1,
					 .wall_ms = wall_ms };
		struct buffer why;

		buffer_init(&why, 512);
		leaf.files.certificate = fixture_pki_path(pki, "bad.pem");
		leaf.files.key = leaf.files.certificate;
		if (pki_make_leaf(&leaf, &why) != -EINVAL)
			fail_msg("'%s' passed", bad[i]);
		assert_non_null(strstr(buffer_str(&why), "no name or address"));
		buffer_reset(&why);
	}
}

static void test_tells_which_file(void **state)
{
	static const char *const names[] = { "a.example" };
	struct fixture_pki *pki = *state, other;
	struct pki_leaf leaf = { .names = names, .n_names = 1 };
	struct buffer why;

	fixture_pki_open(&other, wall_ms);
	buffer_init(&why, 512);
	leaf.ca = (struct pki_files){ pki->ca, other.ca_key };
	leaf.files = (struct pki_files){ "/nowhere/a.pem", "/nowhere/a.key" };
	assert_int_equal(pki_make_leaf(&leaf, &why), -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "ca.key is not the key of "));
	buffer_clear(&why);
	leaf.ca.key = pki->ca_key;
	assert_int_equal(pki_make_leaf(&leaf, &why), -ENOENT);
	assert_string_equal(buffer_str(&why),
			    "/nowhere/a.key.new: No such file or directory");
	buffer_reset(&why);
	fixture_pki_close(&other);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_ca),
		CASE(test_leaf),
		CASE(test_serials_differ_and_files_are_replaced),
		CASE(test_refuses_bad_names),
		CASE(test_tells_which_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

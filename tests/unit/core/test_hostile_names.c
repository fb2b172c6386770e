/* SPDX-License-Identifier: MIT */
/* What certificates may try with their names (RFC 5922, 7; RFC 6125, 6.4): NUL
 * inside, a name where an address belongs and the other way round, wildcards
 * in odd places, a CN beside other names. Row: TLS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "core/slice.h"
#include "core/tls_compat.h"
#include "core/tls_verify.h"

enum { TAG_MAIL = 0x81, TAG_DNS = 0x82, TAG_URI = 0x86, TAG_IP = 0x87 };

static mbedtls_x509_buf buf_of(int tag, struct slice text)
{
	return (mbedtls_x509_buf){ .tag = tag,
				   .len = text.len,
				   .p = (unsigned char *)text.ptr };
}

/* tag 0: a CN and no other names. */
static bool is_for(int tag, struct slice text, const char *name)
{
	static const char oid[] = MBEDTLS_OID_AT_CN;
	struct tls_verify verify = { .is_sip = true };
	mbedtls_x509_crt crt;

	memset(&crt, 0, sizeof(crt));
	crt.subject.oid =
		buf_of(MBEDTLS_ASN1_OID, slice_make(oid, sizeof(oid) - 1));
	crt.subject.val = buf_of(MBEDTLS_ASN1_UTF8_STRING,
				 tag ? slice_of("good.example") : text);
	if (tag)
		crt.subject_alt_names.buf = buf_of(tag, text);
	return tls_verify_has_name(&verify, &crt, slice_of(name));
}

static void test_names(void **state)
{
	static const struct {
		int tag;
		struct slice text;
		const char *name;
		bool fits;
	} rows[] = {
		{ TAG_DNS, SLICE("good.example"), "good.example", true },
		{ TAG_DNS, SLICE("GOOD.example"), "good.EXAMPLE", true },
		{ TAG_DNS, SLICE("good.example"), "good.example.", true },
		{ TAG_DNS, SLICE("good.example\0.evil.example"), "good.example",
		  false },
		{ TAG_DNS, SLICE("good.example\0"), "good.example", false },
		{ TAG_DNS, SLICE(""), "good.example", false },
		{ TAG_DNS, SLICE("evil.example"), "good.example", false },
		{ TAG_DNS, SLICE("*.example"), "good.example", false },
		{ TAG_DNS, SLICE("*.good.example"), "a.good.example", true },
		{ TAG_DNS, SLICE("*.good.example"), "a.b.good.example", false },
		{ TAG_DNS, SLICE("*.good.example"), "good.example", false },
		{ TAG_DNS, SLICE("*.good.example"), ".good.example", false },
		{ TAG_DNS, SLICE("g*.good.example"), "go.good.example", false },
		{ TAG_DNS, SLICE("*.*.example"), "a.b.example", false },
		{ TAG_DNS, SLICE("*"), "localhost", false },
		{ TAG_DNS, SLICE("*."), "localhost", false },
		{ TAG_DNS, SLICE("192.0.2.1"), "192.0.2.1", false },
		{ TAG_DNS, SLICE("*.0.2.1"), "192.0.2.1", false },
		{ TAG_IP, SLICE("\xc0\x00\x02\x01"), "192.0.2.1", true },
		{ TAG_IP, SLICE("\xc0\x00\x02"), "192.0.2.1", false },
		{ TAG_IP, SLICE("good"), "good", false },
		{ TAG_MAIL, SLICE("good.example"), "good.example", false },
		{ TAG_URI, SLICE("sip:good.example"), "good.example", true },
		{ TAG_URI, SLICE("SIP:Good.example"), "good.example", true },
		{ TAG_URI, SLICE("sip:u@good.example"), "good.example", false },
		{ TAG_URI, SLICE("sips:good.example"), "good.example", false },
		{ TAG_URI, SLICE("https:good.example"), "good.example", false },
		{ TAG_URI, SLICE("sip:*.example"), "good.example", false },
		{ TAG_URI, SLICE("sip:good.example;x"), "good.example", false },
		{ TAG_URI, SLICE("sip:good.example\0"), "good.example", false },
		{ TAG_URI, SLICE("sip:"), "good.example", false },
		{ TAG_URI, SLICE("si"), "good.example", false },
		{ 0, SLICE("good.example"), "good.example", true },
		{ 0, SLICE("good.example\0"), "good.example", false },
		{ 0, SLICE("192.0.2.1"), "192.0.2.1", false },
		{ 0, SLICE(""), "good.example", false },
		{ 0, SLICE("good.example"), "", false },
		{ 0, SLICE("good.example"), ".", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_for(rows[i].tag, rows[i].text, rows[i].name) !=
		    rows[i].fits)
			fail_msg("row %zu: %s", i, rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

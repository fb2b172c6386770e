/* SPDX-License-Identifier: MIT */
/* agent/service_check: settings that are refused at start, each with the key's
 * name and what to do; and what section sip makes of caps and limits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "agent/service_check.h"
#include "core/config.h"
#include "core/tls.h"
#include "sip/ua.h"

/* A working section sip, changed by one more setting. */
static struct config *open_config(const char *change)
{
	char *env[] = { (char *)"PARLEY_SIP_CERTIFICATE=a.pem",
			(char *)"PARLEY_SIP_KEY=a.key",
			(char *)"PARLEY_SIP_DOMAIN=voice.example",
			(char *)change, NULL };
	struct config *config = NULL;
	struct buffer why;

	buffer_init(&why, 512);
	if (config_open(&config, NULL, env, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
	return config;
}

static void test_sip(void **state)
{
	static const struct {
		const char *change, *why; /* NULL: nothing wrong */
	} rows[] = {
		{ "PARLEY_SIP_PUBLIC_ADDRESS=", NULL },
		{ "PARLEY_SIP_PUBLIC_ADDRESS=sip.example", NULL },
		{ "PARLEY_SIP_PUBLIC_ADDRESS=192.0.2.1", NULL },
		{ "PARLEY_SIP_PUBLIC_ADDRESS=2001:db8::1", NULL },
		{ "PARLEY_SIP_PUBLIC_ADDRESS=a\r\nVia: x",
		  "sip.public_address: \"a??Via:?x\" is no host name" },
		{ "PARLEY_SIP_PUBLIC_ADDRESS=a b",
		  "sip.public_address: \"a?b\" is no host name" },
		{ "PARLEY_SIP_PUBLIC_ADDRESS=sip.example:5061",
		  "sip.public_address: \"sip.example:5061\" is no host name" },
		{ "PARLEY_SIP_PUBLIC_ADDRESS=a;x=<y>",
		  "sip.public_address: \"a;x=<y>\" is no host name" },
		{ "PARLEY_SIP_DOMAIN=a\nb", "sip.domain: \"a?b\" is no host" },
		{ "PARLEY_SIP_DOMAIN=", "sip.domain: \"\" is no host name" },
		{ "PARLEY_SIP_DOMAIN=a@b", "sip.domain: \"a@b\" is no host" },
		{ "PARLEY_SIP_CERTIFICATE=",
		  "sip.certificate is not set: sip.certificate names" },
		{ "PARLEY_SIP_KEY=", "sip.key is not set: " },
		{ "PARLEY_SIP_CLIENT_CERTIFICATE=c.pem",
		  "sip.client_certificate is set and sip.client_key is not" },
		{ "PARLEY_SIP_CLIENT_KEY=c.key",
		  "sip.client_key is set and sip.client_certificate is not" },
	};
	struct config *config;
	struct buffer why;

	buffer_init(&why, 1024);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err;

		config = open_config(rows[i].change);
		err = service_check_sip(config, &why);
		assert_int_equal(err, rows[i].why ? -EINVAL : 0);
		if (!strstr(buffer_str(&why), rows[i].why ? rows[i].why : ""))
			fail_msg("%s", buffer_str(&why));
		assert_null(strpbrk(buffer_str(&why), "\r\n"));
		buffer_clear(&why);
		config_close(&config);
	}
	buffer_reset(&why);
}

static void test_http_certificate(void **state)
{
	struct config *config = open_config(NULL);
	struct buffer why;

	buffer_init(&why, 1024);
	assert_int_equal(service_check_certificate(config, "http", &why),
			 -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "http.certificate is not "
						 "set: "));
	assert_non_null(strstr(buffer_str(&why), "`parley init`"));
	assert_int_equal(service_check_certificate(config, "sip", &why), 0);
	buffer_reset(&why);
	config_close(&config);
}

static void test_limits(void **state)
{
	struct config *config = open_config("PARLEY_SIP_INVITES_PER_S=7");
	struct tls_options tls = { 0 };
	struct ua_options ua = { 0 };

	service_set_sip(&tls, &ua, config);
	assert_null(tls.client_certificate_file);
	assert_null(tls.client_key_file);
	assert_false(tls.no_sip_wildcards);
	assert_int_equal(ua.transport.listen.max_links, 1024);
	assert_int_equal(ua.transport.listen.max_per_address, 128);
	assert_int_equal(ua.calls.per_s, 7);
	assert_int_equal(ua.calls.burst, 100);
	config_close(&config);
	config = open_config("PARLEY_SIP_ALLOW_WILDCARD=off");
	service_set_sip(&tls, &ua, config);
	assert_true(tls.no_sip_wildcards);
	assert_false(ua.transport.no_private_trunks);
	config_close(&config);
	config = open_config("PARLEY_SIP_ALLOW_PRIVATE_TRUNKS=off");
	service_set_sip(&tls, &ua, config);
	assert_true(ua.transport.no_private_trunks);
	config_close(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sip),
		cmocka_unit_test(test_http_certificate),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* core/config: the file, the environment over it, types and ranges, messages
 * that name file, line, key and the nearest known one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/mem.h"

struct fixture {
	char folder[64];
	char file[128];
	struct config *config;
	struct buffer why;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));

	snprintf(f->folder, sizeof(f->folder), "/tmp/test_config.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->file, sizeof(f->file), "%s/parley.conf", f->folder);
	buffer_init(&f->why, 4096);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	config_close(&f->config);
	buffer_reset(&f->why);
	unlink(f->file);
	rmdir(f->folder);
	mem_free(f);
	return 0;
}

static int read_text(struct fixture *f, struct slice text, char *const *env)
{
	FILE *file = fopen(f->file, "w");

	assert_non_null(file);
	fwrite(text.ptr, 1, text.len, file);
	fclose(file);
	config_close(&f->config);
	buffer_clear(&f->why);
	return config_open(&f->config, f->file, env, &f->why);
}

static void test_presets(void **state)
{
	struct fixture *f = *state;
	const struct config_key *keys;
	size_t n, i;

	assert_int_equal(config_open(&f->config, NULL, NULL, &f->why), 0);
	assert_int_equal(config_number(f->config, "http.port"), 8443);
	assert_true(config_bool(f->config, "http.tls"));
	assert_string_equal(config_text(f->config, "sip.domain"), "");
	assert_string_equal(config_text(f->config, "log.level"), "info");
	keys = config_keys(&n);
	for (i = 0; i < n; i++) { /* each preset is a value of its type */
		assert_non_null(config_text(f->config, keys[i].name));
		assert_non_null(keys[i].doc);
		if (keys[i].type == CONFIG_NUMBER)
			config_number(f->config, keys[i].name);
		if (keys[i].type == CONFIG_BOOL)
			config_bool(f->config, keys[i].name);
	}
}

static void test_file(void **state)
{
	struct fixture *f = *state;
	char long_text[700];
	struct buffer text;

	memset(long_text, 'x', sizeof(long_text));
	buffer_init(&text, 10000);
	buffer_add_str(&text, "# comment\n; comment\n\n  [http]  \r\n"
			      "port=1\n  port = 9000 \r\n"
			      "tls = off\npublic_url = http://a;b#c=d\n"
			      "[sip]\ndomain = ");
	buffer_add(&text, slice_make(long_text, sizeof(long_text)));
	buffer_add_str(&text, "\n[http]\nport = 0\n[log]\nlevel = debug");
	assert_int_equal(read_text(f, buffer_slice(&text), NULL), 0);
	assert_int_equal(config_number(f->config, "http.port"), 0);
	assert_false(config_bool(f->config, "http.tls"));
	assert_string_equal(config_text(f->config, "http.public_url"),
			    "http://a;b#c=d");
	assert_int_equal(strlen(config_text(f->config, "sip.domain")), 700);
	assert_string_equal(config_text(f->config, "log.level"), "debug");
	buffer_reset(&text);
}

static void test_environment(void **state)
{
	struct fixture *f = *state;
	char *env[] = { "PATH=/bin",
			"PARLEY_HTTP_PORT=7000",
			"PARLEY_SIP_CA_FILE=ca.pem",
			"PARLEYX=1",
			"PARLEY_CONFIG=/etc/parley.conf", /* the command's */
			"PARLEY_KEY=org_x",
			"PARLEY_HTTP_TLS=No",
			NULL };

	assert_int_equal(read_text(f, SLICE("[http]\nport = 1\n"), env), 0);
	assert_int_equal(config_number(f->config, "http.port"), 7000);
	assert_string_equal(config_text(f->config, "sip.ca_file"), "ca.pem");
	assert_false(config_bool(f->config, "http.tls"));
}

static void test_paths(void **state)
{
	struct fixture *f = *state;
	char want[128];

	assert_int_equal(read_text(f,
				   SLICE("[http]\nkey = tls/key.pem\n"
					 "certificate = /etc/cert.pem\n"
					 "public_url = not/a/path\n"),
				   NULL),
			 0);
	snprintf(want, sizeof(want), "%s/tls/key.pem", f->folder);
	assert_string_equal(config_text(f->config, "http.key"), want);
	assert_string_equal(config_text(f->config, "http.certificate"),
			    "/etc/cert.pem");
	assert_string_equal(config_text(f->config, "http.public_url"),
			    "not/a/path");
	assert_string_equal(config_text(f->config, "sip.key"), "");
	snprintf(want, sizeof(want), "%s/data", f->folder);
	assert_string_equal(config_text(f->config, "store.path"), want);
}

static void test_problems(void **state)
{
	static const struct {
		struct slice text;
		const char *parts[3]; /* of the message */
	} table[] = {
		{ SLICE("[http]\nprot = 1\n"),
		  { ":2: ", "http.prot", "http.port" } },
		{ SLICE("[htp]\nport = 1\n"),
		  { ":2: ", "htp.port", "http.port" } },
		{ SLICE("\n\n[http]\nport = 65536\n"),
		  { ":4: ", "http.port = 65536", "0 to 65535" } },
		{ SLICE("[http]\nport = -1"), { ":2: ", "-1", "65535" } },
		{ SLICE("[http]\nport = 80 80"), { "80 80", "number", "" } },
		{ SLICE("[http]\nport ="), { ":2: ", "number", "" } },
		{ SLICE("[http]\ntls = maybe"), { "maybe", "on or off", "" } },
		{ SLICE("[log]\nlevel = loud"),
		  { "loud", "debug|info|warn|error|off", "" } },
		{ SLICE("[log]\nlevel = "), { ":2: ", "one of", "" } },
		{ SLICE("port = 1"), { ":1: ", "before the first", "" } },
		{ SLICE("[http\nport = 1"), { ":1: ", "[section]", "" } },
		{ SLICE("[]\n"), { ":1: ", "[section]", "" } },
		{ SLICE("[http]\nport"), { ":2: ", "key = value", "" } },
		{ SLICE("[http]\n= 5"), { ":2: ", "key = value", "" } },
		{ SLICE("[http]\npo\0rt = 5"), { ":2: ", "NUL", "" } },
		{ SLICE("[media]\nport_min = 1024"), { "16384", "32768", "" } },
		{ SLICE("[media]\nport_min = 20001\nport_max = 20000"),
		  { "media.port_min", "below", "media.port_max" } },
	};
	struct fixture *f = *state;
	size_t i, k;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(read_text(f, table[i].text, NULL), -EINVAL);
		assert_null(f->config);
		for (k = 0; k < 3 && table[i].parts[k]; k++)
			assert_non_null(
				strstr(buffer_str(&f->why), table[i].parts[k]));
	}
}

static void test_environment_problems(void **state)
{
	static const struct {
		char *variable;
		const char *part;
	} table[] = {
		{ "PARLEY_HTTP_PROT=1", "http.port" },
		{ "PARLEY_HTTP_PORT=x", "0 to 65535" },
		{ "PARLEY_=1", "unknown" },
		{ "PARLEY_PORT=1", "unknown" },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char *env[] = { table[i].variable, NULL };

		buffer_clear(&f->why);
		assert_int_equal(config_open(&f->config, NULL, env, &f->why),
				 -EINVAL);
		assert_non_null(strstr(buffer_str(&f->why), table[i].part));
		assert_non_null(strstr(buffer_str(&f->why), "environment"));
	}
}

static void test_no_file(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(config_open(&f->config, f->file, NULL, &f->why),
			 -ENOENT);
	assert_non_null(strstr(buffer_str(&f->why), f->file));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_presets),	CASE(test_file),
		CASE(test_environment), CASE(test_paths),
		CASE(test_problems),	CASE(test_environment_problems),
		CASE(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

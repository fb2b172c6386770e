/* SPDX-License-Identifier: MIT */
/* core/log: one line each, fields that no text can forge, JSON that parses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/json.h"
#include "core/log.h"
#include "core/time.h"

struct fixture {
	int fds[2];
	char line[8192];
};

static struct fixture fixture;

static int setup(void **state)
{
	*state = &fixture;
	return pipe(fixture.fds);
}

static int teardown(void **state)
{
	log_setup(&(struct log_options){ .level = LOG_INFO, .fd = 2 });
	close(fixture.fds[0]);
	return close(fixture.fds[1]);
}

static void use(struct fixture *f, enum log_level level, bool json)
{
	log_setup(&(struct log_options){
		.level = level, .json = json, .fd = f->fds[1] });
}

/* What was written, without its time and its newline. */
static const char *take(struct fixture *f)
{
	ssize_t n = read(f->fds[0], f->line, sizeof(f->line) - 1);
	int64_t ms;

	assert_true(n > 30);
	f->line[n] = '\0';
	assert_int_equal(f->line[n - 1], '\n');
	assert_ptr_equal(strchr(f->line, '\n'), f->line + n - 1);
	f->line[n - 1] = '\0';
	if (f->line[0] == '{')
		return f->line;
	assert_memory_equal(f->line, "time=", 5);
	assert_int_equal(time_parse(&ms, slice_make(f->line + 5, 24)), 0);
	return f->line + 30;
}

static void test_text(void **state)
{
	struct fixture *f = *state;

	use(f, LOG_INFO, false);
	log_info("call", "9f", "answered by %s", "+15550100");
	assert_string_equal(take(f), "level=info call_id=9f "
				     "msg=\"answered by +15550100\"");
	log_error("store", NULL, "disk is full");
	assert_string_equal(take(f), "level=error subject=store "
				     "msg=\"disk is full\"");
	log_warn("call", "a b\"\nlevel=x", "say \"%s\"\n\x01\\", "hi");
	assert_string_equal(take(f), "level=warn call_id=\"a b\\\"\\nlevel=x\" "
				     "msg=\"say \\\"hi\\\"\\n\\u0001\\\\\"");
	log_info("call", "", "x");
	assert_string_equal(take(f), "level=info call_id= msg=\"x\"");
}

static void test_json(void **state)
{
	struct fixture *f = *state;
	json_t *line;

	use(f, LOG_INFO, true);
	log_info("call", "9f", "a\xff\"\n\t%c", 7);
	line = json_parse(slice_of(take(f)), NULL);
	assert_non_null(line);
	assert_string_equal(json_str(line, "call_id"), "9f");
	assert_string_equal(json_str(line, "level"), "info");
	assert_non_null(json_str(line, "msg"));
	json_decref(line);
}

static int count(int *n)
{
	return ++*n;
}

static void test_levels(void **state)
{
	struct fixture *f = *state;
	int n = 0;

	use(f, LOG_WARN, false);
	log_debug("x", NULL, "%d", count(&n));
	assert_int_equal(n, 0); /* not even computed */
	log_info("x", NULL, "no");
	log_warn("x", NULL, "yes");
	assert_string_equal(take(f), "level=warn subject=x msg=\"yes\"");
	use(f, LOG_OFF, false);
	log_error("x", NULL, "no");
	use(f, LOG_DEBUG, false);
	log_debug("x", NULL, "%d", count(&n));
	assert_string_equal(take(f), "level=debug subject=x msg=\"1\"");
	assert_int_equal(log_level_parse("warn"), LOG_WARN);
	assert_int_equal(log_level_parse("loud"), -1);
}

static void test_long(void **state)
{
	struct fixture *f = *state;
	char text[6000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	use(f, LOG_INFO, true);
	log_info("x", NULL, "%s", text);
	assert_true(strlen(take(f)) < 3000);
	assert_int_equal(f->line[strlen(f->line) - 1], '}');
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_text),
		CASE(test_json),
		CASE(test_levels),
		CASE(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* sip/locate and sip/dns, row "locating" of the signalling requirements:
 * literals, localhost and given hosts without DNS; NAPTR SIPS+D2T and no other
 * service, SRV in the order of RFC 2782, then A and AAAA (RFC 3263), against a
 * name server of our own on loopback; a silent one; cancelling. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/timer.h"
#include "core/udp.h"
#include "sip/dns.h"
#include "sip/locate.h"

struct world {
	struct loop *loop;
	struct locate *locate;
	struct udp *server; /* real loop */
	struct timer *guard; /* real loop: a test that hangs */
	unsigned queries, outcomes;
	bool is_silent;
	int err;
	char text[512]; /* addresses, each followed by a space */
};

static void on_located(void *owner, const struct locate_result *result)
{
	struct world *w = owner;
	char one[ADDR_TEXT_SIZE];
	size_t used = 0;

	w->outcomes++;
	w->err = result->err;
	w->text[0] = '\0';
	for (size_t i = 0; i < result->n_addresses; i++)
		used += (size_t)snprintf(w->text + used, sizeof(w->text) - used,
					 "%s ",
					 addr_text(&result->addresses[i], one));
	assert_int_equal(!result->why[0], !result->err);
	if (!loop_is_sim(w->loop))
		loop_stop(w->loop);
}

/* On a simulated loop */

static const struct locate_host hosts[] = {
	{ "sip.example", "192.0.2.7", 0 },
	{ "six.example", "2001:db8::1", 5099 },
	{ "two.example", "192.0.2.8", 0 },
	{ "Two.example", "2001:db8::8", 5098 },
};

static int setup_sim(void **state)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	static struct world w;
	struct locate_options options = { .hosts = hosts, .n_hosts = 4 };

	log_setup(&quiet);
	w = (struct world){ 0 };
	loop_open_sim(&w.loop, 1767312000000);
	options.loop = w.loop;
	assert_int_equal(locate_open(&w.locate, &options), 0);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	locate_close(&w->locate);
	udp_close(&w->server);
	timer_close(&w->guard);
	loop_close(&w->loop);
	return 0;
}

static void test_without_dns(void **state)
{
	static const struct {
		const char *host;
		uint16_t port;
		int err;
		const char *text;
	} rows[] = {
		{ "192.0.2.1", 0, 0, "192.0.2.1:5061 " },
		{ "192.0.2.1", 5070, 0, "192.0.2.1:5070 " },
		{ "2001:db8::9", 0, 0, "[2001:db8::9]:5061 " },
		{ "[2001:db8::9]", 7, 0, "[2001:db8::9]:7 " },
		{ "LocalHost", 5080, 0, "127.0.0.1:5080 " },
		{ "SIP.example", 0, 0, "192.0.2.7:5061 " },
		{ "six.example", 0, 0, "[2001:db8::1]:5099 " },
		{ "six.example", 6000, 0, "[2001:db8::1]:6000 " },
		{ "two.example", 0, 0, "192.0.2.8:5061 [2001:db8::8]:5098 " },
		{ "two.example", 9, 0, "192.0.2.8:9 [2001:db8::8]:9 " },
		{ "other.example", 0, -ENOENT, "" },
		{ "", 0, -EINVAL, "" },
		{ "a b", 0, -EINVAL, "" },
		{ "256.1.1.1", 0, -EINVAL, "" },
		{ "-x.example", 0, -EINVAL, "" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		locate_start(w->locate, rows[i].host, rows[i].port, on_located,
			     w);
		assert_int_equal(w->outcomes, i); /* never inside the call */
		loop_advance_ms(w->loop, 0);
		assert_int_equal(w->outcomes, i + 1);
		assert_int_equal(w->err, rows[i].err);
		assert_string_equal(w->text, rows[i].text);
	}
}

static void test_long_name(void **state)
{
	struct world *w = *state;
	char name[400];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	locate_start(w->locate, name, 0, on_located, w);
	loop_advance_ms(w->loop, 0);
	assert_int_equal(w->err, -EINVAL);
}

static void test_cancel(void **state)
{
	struct world *w = *state;
	struct locate_query *query =
		locate_start(w->locate, "192.0.2.1", 0, on_located, w);

	locate_cancel(&query);
	assert_null(query);
	locate_cancel(&query);
	loop_advance_ms(w->loop, 10000);
	assert_int_equal(w->outcomes, 0);
}

/* RFC 2782 */

static uint32_t drawn;

static uint32_t fixed(uint32_t below)
{
	return drawn < below ? drawn : below - 1;
}

static void test_srv_order(void **state)
{
	static const struct {
		uint32_t drawn;
		const char *order;
	} rows[] = {
		/* Within priority 1: c (weight 0), a 10, b 30. */
		{ 0, "cabed" },	 { 1, "abcde" },  { 10, "abcde" },
		{ 11, "bacde" }, { 40, "bacde" },
	};
	struct dns_srv records[5];
	char order[6] = "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const struct dns_srv all[5] = {
			{ "d", 1, 2, 5 }, { "a", 1, 1, 10 }, { "b", 1, 1, 30 },
			{ "c", 1, 1, 0 }, { "e", 1, 2, 0 },
		};

		memcpy(records, all, sizeof(all));
		drawn = rows[i].drawn;
		dns_srv_order(records, 5, fixed);
		for (size_t j = 0; j < 5; j++)
			order[j] = records[j].host[0];
		assert_string_equal(order, rows[i].order);
	}
	dns_srv_order(records, 0, fixed);
}

/* Against a name server of our own */

enum { TYPE_A = 1, TYPE_AAAA = 28, TYPE_SRV = 33, TYPE_NAPTR = 35 };

/* Data in DNS form; SRV: priority, weight, port, target. */
#define SRV(priority, port_high, port_low, target)                             \
	"\0" priority "\0\0" port_high port_low target
/* Order, preference, flags and service with their lengths, no regexp. */
#define NAPTR(order, preference, flags, service, replacement)                  \
	"\0" order "\0" preference flags service "\0" replacement
#define NAME_ALPHA "\005alpha\004test\0"
#define NAME_BETA  "\004beta\004test\0"
#define NAME_ONE   "\003one\004test\0"
#define NAME_TWO   "\003two\004test\0"
#define ROW(name, type, data)                                                  \
	{                                                                      \
		name, type, data, sizeof(data) - 1                             \
	}

static const struct {
	const char *name;
	int type;
	const char *data;
	size_t len;
} zone[] = {
	ROW("_sips._tcp.carrier.test", TYPE_SRV,
	    SRV("\002", "\x13", "\xc6", NAME_TWO)),
	ROW("_sips._tcp.carrier.test", TYPE_SRV,
	    SRV("\001", "\x13", "\xc5", NAME_ONE)),
	ROW("_sips._tcp.none.test", TYPE_SRV,
	    SRV("\001", "\x13", "\xc5", "\0")),
	/* UDP and plain TCP come first there, and are not for us; of the two
	 * for TLS beta is preferred. */
	ROW("naptr.test", TYPE_NAPTR,
	    NAPTR("\001", "\001", "\001s", "\007SIP+D2U", NAME_ALPHA)),
	ROW("naptr.test", TYPE_NAPTR,
	    NAPTR("\002", "\001", "\001s", "\007SIP+D2T", NAME_ALPHA)),
	ROW("naptr.test", TYPE_NAPTR,
	    NAPTR("\003", "\002", "\001S", "\010SIPS+D2T", NAME_ALPHA)),
	ROW("naptr.test", TYPE_NAPTR,
	    NAPTR("\003", "\001", "\001s", "\010sips+d2t", NAME_BETA)),
	ROW("naptr.test", TYPE_NAPTR,
	    NAPTR("\004", "\001", "\001s", "\010SIPS+D2T", NAME_ALPHA)),
	ROW("alpha.test", TYPE_SRV, SRV("\001", "\x13", "\xc5", NAME_ONE)),
	ROW("beta.test", TYPE_SRV, SRV("\001", "\x13", "\xc7", NAME_TWO)),
	/* Nothing for TLS in its NAPTR: what SRV says counts. */
	ROW("plainer.test", TYPE_NAPTR,
	    NAPTR("\001", "\001", "\001s", "\007SIP+D2T", NAME_ALPHA)),
	ROW("plainer.test", TYPE_NAPTR,
	    NAPTR("\001", "\001", "\001a", "\010SIPS+D2T", NAME_ALPHA)),
	ROW("_sips._tcp.plainer.test", TYPE_SRV,
	    SRV("\001", "\x13", "\xc8", NAME_TWO)),
	/* No SRV where NAPTR points: the domain's own addresses. */
	ROW("dangling.test", TYPE_NAPTR,
	    NAPTR("\001", "\001", "\001s", "\010SIPS+D2T", NAME_ONE)),
	ROW("dangling.test", TYPE_A, "\x7f\0\0\004"),
	ROW("one.test", TYPE_A, "\x7f\0\0\001"),
	ROW("one.test", TYPE_AAAA, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\001"),
	ROW("two.test", TYPE_A, "\x7f\0\0\002"),
	ROW("plain.test", TYPE_A, "\x7f\0\0\003"),
};

/* "\003one\004test\0" at text's start as "one.test"; its length in there. */
static size_t read_name(char out[256], const unsigned char *text, size_t len)
{
	size_t i = 0, n = 0;

	while (i < len && text[i]) {
		size_t label = text[i++];

		assert_true(i + label < len && n + label + 1 < 256);
		memcpy(out + n, text + i, label);
		n += label;
		i += label;
		out[n++] = '.';
	}
	out[n ? n - 1 : 0] = '\0';
	return i + 1;
}

static void answer(struct world *w, const unsigned char *query, size_t len,
		   const struct addr *to)
{
	char name[256], counts[8] = { 0, 1 };
	size_t question = read_name(name, query + 12, len - 12) + 4;
	int type = query[12 + question - 3];
	struct buffer out, records;

	buffer_init(&out, 4096);
	buffer_init(&records, 4096);
	for (size_t i = 0; i < sizeof(zone) / sizeof(zone[0]); i++) {
		if (strcasecmp(zone[i].name, name) != 0 || zone[i].type != type)
			continue;
		counts[3]++;
		buffer_add(&records, slice_make("\xc0\x0c\0", 3));
		buffer_add_char(&records, (char)type);
		buffer_add(&records, slice_make("\0\001\0\0\0\x3c\0", 7));
		buffer_add_char(&records, (char)zone[i].len);
		buffer_add(&records, slice_make(zone[i].data, zone[i].len));
	}
	buffer_add(&out, slice_make(query, 2));
	buffer_add_char(&out, (char)0x85);
	buffer_add_char(&out, counts[3] ? 0 : 3); /* 3: no such name */
	buffer_add(&out, slice_make(counts, 8));
	buffer_add(&out, slice_make(query + 12, question));
	buffer_add(&out, buffer_slice(&records));
	assert_int_equal(udp_send(w->server, buffer_slice(&out), to), 0);
	buffer_reset(&out);
	buffer_reset(&records);
}

static void on_query(void *owner)
{
	struct world *w = owner;
	unsigned char query[512];
	struct addr from;
	ssize_t len;

	while ((len = udp_recv(w->server, query, sizeof(query), &from)) > 12) {
		w->queries++;
		if (w->is_silent)
			continue;
		answer(w, query, (size_t)len, &from);
	}
}

static void on_guard(void *arg)
{
	struct world *w = arg;

	w->err = -EDEADLK;
	loop_stop(w->loop);
}

static int setup_real(void **state)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	static struct world w;
	struct locate_options options = { 0 };
	char servers[ADDR_TEXT_SIZE];
	struct addr local;

	log_setup(&quiet);
	w = (struct world){ 0 };
	assert_int_equal(loop_open(&w.loop), 0);
	addr_parse(&local, SLICE("127.0.0.1"), 0);
	assert_int_equal(udp_open(&w.server, w.loop, &local), 0);
	udp_watch(w.server, on_query, &w);
	udp_local(w.server, &local);
	options.loop = w.loop;
	options.dns_servers = addr_text(&local, servers);
	assert_int_equal(locate_open(&w.locate, &options), 0);
	w.guard = timer_new(w.loop);
	timer_start(w.guard, 20000, on_guard, &w);
	*state = &w;
	return 0;
}

static void test_dns(void **state)
{
	static const struct {
		const char *host;
		uint16_t port;
		int err;
		const char *text;
	} rows[] = {
		{ "plain.test", 5070, 0, "127.0.0.3:5070 " },
		{ "plain.test", 0, 0, "127.0.0.3:5061 " },
		{ "two.test", 0, 0, "127.0.0.2:5061 " },
		{ "naptr.test", 0, 0, "127.0.0.2:5063 " },
		{ "naptr.test", 5061, -ENOENT, "" }, /* a port: no NAPTR */
		{ "plainer.test", 0, 0, "127.0.0.2:5064 " },
		{ "dangling.test", 0, 0, "127.0.0.4:5061 " },
		{ "none.test", 0, -ENOENT, "" },
		{ "missing.test", 0, -ENOENT, "" },
		{ "missing.test", 5061, -ENOENT, "" },
		{ "localhost", 5080, 0, "127.0.0.1:5080 [::1]:5080 " },
		{ "192.0.2.1", 0, 0, "192.0.2.1:5061 " },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		locate_start(w->locate, rows[i].host, rows[i].port, on_located,
			     w);
		assert_int_equal(w->outcomes, i);
		loop_run(w->loop);
		assert_int_equal(w->outcomes, i + 1);
		assert_int_equal(w->err, rows[i].err);
		assert_string_equal(w->text, rows[i].text);
	}
}

/* one.test first (priority 1), both its addresses; then two.test. */
static void test_srv_targets(void **state)
{
	struct world *w = *state;
	const char *last = "127.0.0.2:5062 ";

	locate_start(w->locate, "carrier.test", 0, on_located, w);
	loop_run(w->loop);
	assert_int_equal(w->err, 0);
	assert_non_null(strstr(w->text, "127.0.0.1:5061 "));
	assert_non_null(strstr(w->text, "[::1]:5061 "));
	assert_string_equal(w->text + strlen(w->text) - strlen(last), last);
	assert_int_equal(w->queries, 6); /* NAPTR, SRV, two A, two AAAA */
}

/* One that takes questions and never answers: 4 s are the limit for all. */
static void test_silent_server(void **state)
{
	struct world *w = *state;
	uint64_t start_us = loop_now_us(w->loop), us;

	w->is_silent = true;
	locate_start(w->locate, "carrier.test", 0, on_located, w);
	loop_run(w->loop);
	us = loop_now_us(w->loop) - start_us;
	assert_int_equal(w->err, -ETIMEDOUT);
	assert_true(us < 4500 * 1000);
}

static void test_cancel_under_way(void **state)
{
	struct world *w = *state;
	struct locate_query *query =
		locate_start(w->locate, "carrier.test", 0, on_located, w);

	locate_start(w->locate, "plain.test", 1, on_located, w);
	locate_cancel(&query);
	loop_run(w->loop);
	assert_int_equal(w->outcomes, 1);
	assert_string_equal(w->text, "127.0.0.3:1 ");
}

#define SIM(name)  cmocka_unit_test_setup_teardown(name, setup_sim, teardown)
#define REAL(name) cmocka_unit_test_setup_teardown(name, setup_real, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIM(test_without_dns),	  SIM(test_long_name),
		SIM(test_cancel),	  cmocka_unit_test(test_srv_order),
		REAL(test_dns),		  REAL(test_srv_targets),
		REAL(test_silent_server), REAL(test_cancel_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

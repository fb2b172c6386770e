/* SPDX-License-Identifier: MIT */
/* sip/source_limit, row "connections" of the signalling requirements: a bucket
 * per source, IPv6 by /64, in a bounded table; and what a caller above it
 * hears: 503 with Retry-After, before anything was made of his INVITE. */
#include <stdio.h>
#include "core/loop.h"
#include "fixture_text.h"
#include "fixture_ua.h"
#include "sip/source_limit.h"

enum { US_PER_S = 1000000 };

static uint32_t take(struct source_limit *limit, const char *ip,
		     uint64_t now_us)
{
	struct addr addr;

	assert_int_equal(addr_parse(&addr, slice_of(ip), 5061), 0);
	return source_limit_take(limit, &addr, now_us);
}

static void test_bucket(void **state)
{
	const struct source_limit_options options = { .per_s = 2, .burst = 5 };
	struct source_limit *limit = source_limit_open(&options);
	uint64_t now = 77;
	unsigned i;

	for (i = 0; i < 5; i++)
		assert_int_equal(take(limit, "192.0.2.1", now), 0);
	assert_int_equal(take(limit, "192.0.2.1", now), 1);
	assert_int_equal(take(limit, "192.0.2.2", now), 0);
	now += US_PER_S / 2 - 1;
	assert_int_equal(take(limit, "192.0.2.1", now), 1);
	now += 1;
	assert_int_equal(take(limit, "192.0.2.1", now), 0);
	assert_int_equal(take(limit, "192.0.2.1", now), 1);
	/* No more than burst, however long it was quiet. */
	now += 3600ull * US_PER_S;
	for (i = 0; i < 5; i++)
		assert_int_equal(take(limit, "192.0.2.1", now), 0);
	assert_int_equal(take(limit, "192.0.2.1", now), 1);
	source_limit_close(&limit);
	source_limit_close(&limit);
}

static void test_no_limit(void **state)
{
	const struct source_limit_options options = { 0 };
	struct source_limit *limit = source_limit_open(&options);

	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(take(limit, "192.0.2.1", 1), 0);
	source_limit_close(&limit);
}

/* Whoever has one IPv6 address has 2^64 of them. */
static void test_ipv6_by_network(void **state)
{
	const struct source_limit_options options = { .per_s = 1, .burst = 2 };
	struct source_limit *limit = source_limit_open(&options);

	assert_int_equal(take(limit, "2001:db8::1", 1), 0);
	assert_int_equal(take(limit, "2001:db8::ffff:2", 1), 0);
	assert_int_equal(take(limit, "2001:db8::3", 1), 1);
	assert_int_equal(take(limit, "2001:db8:0:1::1", 1), 0);
	source_limit_close(&limit);
}

static void test_table_is_bounded(void **state)
{
	const struct source_limit_options options = { .per_s = 1,
						      .burst = 1,
						      .max_sources = 3 };
	struct source_limit *limit = source_limit_open(&options);
	char ip[20];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(ip, sizeof(ip), "192.0.2.%u", i);
		assert_int_equal(take(limit, ip, 1), 0);
	}
	assert_int_equal(take(limit, "192.0.2.0", 1), 1); /* the youngest */
	assert_int_equal(take(limit, "192.0.2.9", 1), 0); /* 1 made room */
	assert_int_equal(take(limit, "192.0.2.0", 1), 1);
	assert_int_equal(take(limit, "192.0.2.2", 1), 1);
	assert_int_equal(take(limit, "192.0.2.1", 1), 0);
	source_limit_close(&limit);
}

/* ---- on the wire ---- */

static int refuse_all(void *owner, struct session *session,
		      const struct ua_invite *invite)
{
	unsigned *asked = owner;

	++*asked;
	return 486;
}

static void invite(struct world *w, unsigned n)
{
	struct buffer text;

	buffer_init(&text, 4096);
	buffer_printf(&text,
		      "INVITE sip:+15550100@near.test SIP/2.0\r\n"
		      "Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK%u\r\n"
		      "From: <sip:+15550177@127.0.0.1>;tag=%u\r\n"
		      "To: <sip:+15550100@near.test>\r\nCall-ID: %u\r\n"
		      "CSeq: 1 INVITE\r\nMax-Forwards: 70\r\n"
		      "Contact: <sip:raw@127.0.0.1>\r\n"
		      "Content-Length: 0\r\n\r\n",
		      n, n, n);
	raw_write(&w->raw, buffer_slice(&text));
	buffer_reset(&text);
}

static void test_on_the_wire(void **state)
{
	static const struct ua_events events = { .on_invite = refuse_all };
	struct world *w = *state;
	struct ua_options options = {
		.transport = { .loop = w->loop, .tls = w->tls },
		.domain = "near.test",
		.calls = { .per_s = 1, .burst = 2 },
	};
	struct sip_message *answer;
	struct ua_stats stats;
	unsigned asked = 0;

	ua_close(&w->near.ua);
	addr_parse(&options.transport.listen.bind, SLICE("127.0.0.1"),
		   NEAR_PORT);
	assert_int_equal(ua_open(&w->near.ua, &options, &events, &asked), 0);
	raw_dial(w);
	for (unsigned i = 0; i < 2; i++) {
		invite(w, i);
		raw_expect(&w->raw, "100");
		raw_expect(&w->raw, "486");
	}
	invite(w, 2);
	answer = raw_expect(&w->raw, "503");
	assert_slice(message_value(answer, "Retry-After"), "1");
	assert_int_equal(asked, 2);
	ua_stats(w->near.ua, &stats);
	assert_int_equal(stats.invites_in, 2);
	world_run(w, 1000);
	invite(w, 3);
	raw_expect(&w->raw, "100");
	assert_int_equal(asked, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bucket),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_ipv6_by_network),
		cmocka_unit_test(test_table_is_bounded),
		cmocka_unit_test_setup_teardown(test_on_the_wire, world_setup,
						world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Anybody may call with a Contact or Record-Route of his making and go away:
 * our BYE then connects to where these say, but never from the internet into
 * a network that the caller is not in; and no trunk is a cloud's metadata
 * service. Row: connections; decisions, "One egress policy". */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "core/mem.h"
#include "fixture_node.h"
#include "sip/dialog.h"

enum { PORT = 5071 };

static const struct locate_host hosts[] = {
	{ "public.example", "203.0.113.9", 0 },
	{ "private.example", "10.0.0.5", 0 },
	{ "loop.example", "127.0.0.1", 0 },
	{ "local.example", "fd00::5", 0 },
	{ "meta.example", "169.254.169.254", 0 },
	{ "zero.example", "0.0.0.0", 0 },
	{ "mapped.example", "::ffff:10.0.0.5", 0 },
};
static const struct locate_options locate = {
	.hosts = hosts, .n_hosts = sizeof(hosts) / sizeof(hosts[0])
};

struct world {
	struct fixture_world base;
	struct fixture_node node;
};

static int setup(void **state)
{
	struct world *w = mem_new(sizeof(*w));

	fixture_world_open(&w->base);
	fixture_node_open(&w->node, &w->base, "a.example", PORT, &locate);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fixture_node_close(&w->node);
	fixture_world_close(&w->base);
	mem_free(w);
	return 0;
}

static void on_connected(void *owner, struct sip_link *link, int err,
			 const char *why)
{
	*(int *)owner = err;
}

/* True: it was tried, though nobody is there. by NULL: a trunk. */
static bool is_tried(struct world *w, const char *by, const char *host)
{
	struct sip_target target = { 0 };
	int err = 1;

	snprintf(target.host, sizeof(target.host), "%s", host);
	if (by)
		assert_int_equal(
			addr_parse(&target.named_by, slice_of(by), 4444), 0);
	sip_transport_connect(w->node.transport, &target, on_connected, &err);
	loop_advance_ms(w->base.loop, 60 * 1000);
	assert_true(err < 0);
	return err != -EHOSTUNREACH;
}

static void test_where_a_peer_may_lead_us(void **state)
{
	static const struct {
		const char *by, *host;
		bool may;
	} rows[] = {
		{ "198.51.100.7", "public.example", true },
		{ "198.51.100.7", "private.example", false },
		{ "198.51.100.7", "local.example", false },
		{ "198.51.100.7", "loop.example", false },
		{ "198.51.100.7", "meta.example", false },
		{ "198.51.100.7", "zero.example", false },
		{ "198.51.100.7", "mapped.example", false },
		{ "::ffff:198.51.100.7", "public.example", true },
		{ "::ffff:198.51.100.7", "private.example", false },
		{ "2a01:4f8::7", "loop.example", false },
		{ "10.0.0.5", "private.example", true }, /* itself */
		{ "192.168.1.1", "private.example", true },
		{ "192.168.1.1", "loop.example", false },
		{ "192.168.1.1", "public.example", true },
		{ "::ffff:192.168.1.1", "private.example", true },
		{ "127.0.0.1", "loop.example", true },
		{ "127.0.0.1", "meta.example", false },
		{ NULL, "public.example", true }, /* trunks */
		{ NULL, "private.example", true },
		{ NULL, "loop.example", true },
		{ NULL, "meta.example", false },
		{ NULL, "zero.example", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_tried(*state, rows[i].by, rows[i].host) != rows[i].may)
			fail_msg("%s from %s", rows[i].host,
				 rows[i].by ? rows[i].by : "us");
}

/* Where organisations are strangers to each other and to the operator. */
static void test_no_private_trunks(void **state)
{
	struct sip_transport_options options = { .locate = &locate,
						 .no_private_trunks = true };
	struct world *w = *state;
	struct tls *tls;

	fixture_node_close(&w->node);
	fixture_tls(&w->base, &tls, "strict", "a.example");
	fixture_node_open_with(&w->node, &w->base, tls, PORT, &options);
	assert_true(is_tried(w, NULL, "public.example"));
	assert_false(is_tried(w, NULL, "private.example"));
	assert_false(is_tried(w, NULL, "local.example"));
	assert_false(is_tried(w, NULL, "loop.example"));
	assert_false(is_tried(w, NULL, "meta.example"));
}

/* A dialog of ours leads to its trunk, one of a peer's to what that says. */
static void test_who_named_the_next_hop(void **state)
{
	static const char text[] =
		"INVITE sip:a@a.example SIP/2.0\r\n"
		"Via: SIP/2.0/TLS b.example;branch=z9hG4bK1\r\n"
		"From: <sip:b@b.example>;tag=1\r\nTo: <sip:a@a.example>\r\n"
		"Call-ID: 1\r\nCSeq: 1 INVITE\r\n"
		"Contact: <sip:b@private.example>\r\n"
		"Content-Length: 0\r\n\r\n";
	struct sip_message *invite;
	struct dialog *dialog;
	struct sip_target hop;

	assert_int_equal(sip_message_parse(&invite, slice_of(text), NULL), 0);
	dialog = dialog_open_in(invite, NULL, "ours");
	addr_parse(&dialog->peer, SLICE("198.51.100.7"), 5061);
	assert_int_equal(dialog_hop(dialog, &hop), 0);
	assert_string_equal(hop.host, "private.example");
	assert_true(addr_is_same(&hop.named_by, &dialog->peer));
	assert_false(is_tried(*state, "198.51.100.7", hop.host));
	dialog_close(&dialog, NULL);
	sip_message_unref(&invite);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_where_a_peer_may_lead_us,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_private_trunks, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_named_the_next_hop,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

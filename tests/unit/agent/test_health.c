/* SPDX-License-Identifier: MIT */
/* Health of trunks: each host and port of an outbound configuration is asked
 * once per sip.probe_interval_s, spread over it, however many numbers and
 * organisations lead there; which answers count as alive; what the store says
 * meanwhile; how many at once; asking by hand within 5 s. */
#include "agent/call/health.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/config.h"
#include "core/link.h"
#include "core/listener.h"
#include "core/mem.h"
#include "core/sim.h"
#include "core/timer.h"
#include "core/tls.h"
#include "tests/unit/agent/fixture_house.h"

enum { FAR_PORT = 5063, SERVER_PORT = 5070, LINKS = 4, INTERVAL_MS = 60000 };

/* A far end that answers each request with one status. */
struct server {
	struct house *house;
	struct listener *listener;
	struct link *links[LINKS];
	size_t n_links;
	struct buffer in;
	int status; /* 0: silence */
	unsigned asked;
	uint64_t asked_us[64];
	bool has_login;
};

static void add_header(struct buffer *out, const char *request,
		       const char *name)
{
	const char *at = strstr(request, name);

	assert_non_null(at);
	buffer_printf(out, "%.*s\r\n", (int)strcspn(at, "\r"), at);
}

static void on_data(void *owner, struct slice data)
{
	static const char *const names[] = { "Via: ", "From: ", "To: ",
					     "Call-ID: ", "CSeq: " };
	struct server *server = owner;
	struct buffer out;

	if (slice_eq(data, SLICE("\r\n\r\n")))
		return; /* a ping that stays without its pong */
	buffer_add(&server->in, data);
	if (!strstr(buffer_str(&server->in), "\r\n\r\n"))
		return;
	assert_memory_equal(buffer_str(&server->in), "OPTIONS ", 8);
	server->has_login |=
		strstr(buffer_str(&server->in), "Authorization") != NULL;
	server->asked_us[server->asked++ % 64] =
		loop_now_us(server->house->service.loop);
	buffer_init(&out, 4096);
	buffer_printf(&out, "SIP/2.0 %d As told\r\n", server->status);
	for (size_t i = 0; i < 5; i++)
		add_header(&out, buffer_str(&server->in), names[i]);
	buffer_add_str(&out, "WWW-Authenticate: Digest realm=\"r\", "
			     "nonce=\"n\"\r\nContent-Length: 0\r\n\r\n");
	buffer_clear(&server->in);
	for (size_t i = 0; server->status && i < server->n_links; i++)
		if (server->links[i])
			link_send(server->links[i], buffer_slice(&out));
	buffer_reset(&out);
}

static void on_close(void *owner, int err, const char *why)
{
	struct server *server = owner;

	for (size_t i = 0; i < server->n_links; i++)
		link_close(&server->links[i]);
}

static void on_accept(void *owner, struct link *link)
{
	static const struct link_events events = { .on_data = on_data,
						   .on_close = on_close };
	struct server *server = owner;

	assert_true(server->n_links < LINKS);
	server->links[server->n_links++] = link;
	link_attach(link, &events, server);
}

static void server_open(struct server *server, struct house *house, int status)
{
	struct listen_options options = { 0 };

	*server = (struct server){ .house = house, .status = status };
	buffer_init(&server->in, 65536);
	addr_parse(&options.bind, SLICE("127.0.0.1"), SERVER_PORT);
	assert_int_equal(tls_listen(&server->listener, house->tls, &options,
				    on_accept, server),
			 0);
}

static void server_close(struct server *server)
{
	on_close(server, 0, "");
	listener_close(&server->listener);
	buffer_reset(&server->in);
}

/* ---- the house's trunks ---- */

static void put_trunk(struct house *house, const char *number, const char *host,
		      uint16_t port)
{
	struct trunk_row row = { .id = number,
				 .org_id = HOUSE_ORG,
				 .number = number,
				 .direction = TRUNK_OUTBOUND,
				 .sip_endpoint = "sip:x",
				 .host = host,
				 .port = port,
				 .username = "user" };

	trunks_put(house->service.store, &row, house_reply(house));
	house_run(house, 0);
	assert_int_equal(house->reply_err, 0);
}

static void start(struct house *house)
{
	assert_int_equal(health_open(&house->service.health, &house->service),
			 0);
}

static int teardown(void **state)
{
	struct house *house = *state;

	health_close(&house->service.health);
	return house_teardown(state);
}

static struct health_report report_of(struct house *house, const char *host,
				      uint16_t port)
{
	struct trunk_target target = { host, port };
	struct health_report report;

	health_report(house->service.health, &target, &report);
	return report;
}

static struct health_stats stats_of(struct house *house)
{
	struct health_stats stats;

	health_stats(house->service.health, &stats);
	return stats;
}

/* ---- rounds ---- */

static void asks_what_the_store_names(void **state)
{
	struct house *house = *state;
	struct health_report report;

	sim_set_delay_us(house->service.loop, 20000);
	start(house);
	report = report_of(house, "trunk.test", FAR_PORT);
	assert_int_equal(report.state, HEALTH_UNCHECKED);
	assert_true(report.checked_ms == 0);
	house_run(house, 1000);
	report = report_of(house, "Trunk.TEST", FAR_PORT);
	assert_int_equal(report.state, HEALTH_HEALTHY);
	assert_in_range(report.response_ms, 40, 400);
	assert_true(report.checked_ms > 0);
	assert_string_equal(report.why, "");
	assert_int_equal(stats_of(house).targets[HEALTH_HEALTHY], 1);
	assert_int_equal(stats_of(house).probes, 1);
	house_run(house, INTERVAL_MS - 2000);
	assert_int_equal(stats_of(house).probes, 1);
	house_run(house, 2000);
	assert_int_equal(stats_of(house).probes, 2);
	assert_int_equal(stats_of(house).failures, 0);
}

static void asks_once_for_many_numbers(void **state)
{
	struct house *house = *state;
	char number[16];

	for (int i = 0; i < 100; i++) {
		snprintf(number, sizeof(number), "+1415555%04d", i);
		put_trunk(house, number, i % 2 ? "trunk.test" : "TRUNK.test",
			  FAR_PORT);
	}
	house_put_trunk(house, false, NULL, NULL);
	start(house);
	house_run(house, INTERVAL_MS - 1);
	assert_int_equal(stats_of(house).probes, 1);
}

/* In the order of the index: by host, then port; none earlier than its part
 * of the interval. */
static void spreads_them_over_the_interval(void **state)
{
	struct house *house = *state;
	struct server server;

	server_open(&server, house, 200);
	for (uint16_t i = 0; i < 4; i++)
		put_trunk(house, (const char *[]){ "+1", "+2", "+3", "+4" }[i],
			  "trunk.test",
			  (uint16_t)(SERVER_PORT + i)); /* three refuse */
	start(house);
	for (uint64_t i = 0; i < 5; i++) { /* FAR_PORT is the first */
		house_run(house, 100);
		assert_int_equal(stats_of(house).probes, i + 1);
		house_run(house, INTERVAL_MS / 5 - 200);
		assert_int_equal(stats_of(house).probes, i + 1);
		house_run(house, 100);
	}
	assert_int_equal(server.asked, 1);
	assert_int_equal(stats_of(house).targets[HEALTH_HEALTHY], 2);
	assert_int_equal(stats_of(house).targets[HEALTH_UNREACHABLE], 3);
	house_run(house, INTERVAL_MS);
	assert_int_equal(server.asked, 2);
	assert_in_range(server.asked_us[1] - server.asked_us[0],
			(INTERVAL_MS - 50) * 1000, (INTERVAL_MS + 50) * 1000);
	server_close(&server);
}

static void tells_alive_from_not(void **state)
{
	static const struct {
		int status;
		enum health_state state;
		const char *why;
	} cases[] = {
		{ 200, HEALTH_HEALTHY, "" },
		{ 401, HEALTH_HEALTHY, "" },
		{ 403, HEALTH_HEALTHY, "" },
		{ 404, HEALTH_HEALTHY, "" },
		{ 405, HEALTH_HEALTHY, "" },
		{ 481, HEALTH_HEALTHY, "" },
		{ 500, HEALTH_HEALTHY, "" },
		{ 603, HEALTH_HEALTHY, "" },
		{ 408, HEALTH_UNREACHABLE, "it answered 408" },
		{ 503, HEALTH_UNREACHABLE, "it answered 503" },
		{ 504, HEALTH_UNREACHABLE, "it answered 504" },
		{ 0, HEALTH_UNREACHABLE, "no answer within 15 s" },
	};
	struct house *house = *state;
	struct server server;

	server_open(&server, house, 200);
	house_put_trunk(house, true, "trunk.test", NULL);
	put_trunk(house, HOUSE_NUMBER, "trunk.test", SERVER_PORT);
	start(house);
	house_run(house, INTERVAL_MS - 100);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct health_report report;

		server.status = cases[i].status;
		house_run(house, 20000);
		report = report_of(house, "trunk.test", SERVER_PORT);
		assert_int_equal(report.state, cases[i].state);
		assert_string_equal(report.why, cases[i].why);
		assert_int_equal(server.asked, i + 2);
		house_run(house, INTERVAL_MS - 20000);
	}
	assert_false(server.has_login);
	server_close(&server);
}

static void says_why_and_recovers(void **state)
{
	struct house *house = *state;
	struct health_report report;
	struct server server;

	put_trunk(house, HOUSE_NUMBER, "trunk.test", SERVER_PORT);
	start(house);
	house_run(house, 1000);
	report = report_of(house, "trunk.test", SERVER_PORT);
	assert_int_equal(report.state, HEALTH_UNREACHABLE);
	assert_non_null(strstr(report.why, "refused"));
	server_open(&server, house, 200);
	house_run(house, INTERVAL_MS);
	report = report_of(house, "trunk.test", SERVER_PORT);
	assert_int_equal(report.state, HEALTH_HEALTHY);
	assert_string_equal(report.why, "");
	server_close(&server);
}

static void follows_the_store(void **state)
{
	struct house *house = *state;

	start(house);
	house_run(house, 1000);
	put_trunk(house, HOUSE_NUMBER, "localhost", 5999);
	assert_int_equal(report_of(house, "localhost", 5999).state,
			 HEALTH_UNCHECKED);
	house_run(house, INTERVAL_MS);
	assert_int_equal(report_of(house, "localhost", 5999).state,
			 HEALTH_UNREACHABLE);
	assert_int_equal(report_of(house, "trunk.test", FAR_PORT).state,
			 HEALTH_UNCHECKED); /* forgotten */
	house_sql(house, "DELETE FROM trunks");
	house_run(house, INTERVAL_MS);
	assert_int_equal(stats_of(house).targets[HEALTH_UNREACHABLE], 0);
	assert_int_equal(stats_of(house).targets[HEALTH_HEALTHY], 0);
}

static void goes_on_when_the_store_fails(void **state)
{
	struct house *house = *state;

	start(house);
	house_run(house, 1000);
	house_sql(house, "ALTER TABLE trunks RENAME TO gone");
	house_run(house, INTERVAL_MS);
	assert_int_equal(report_of(house, "trunk.test", FAR_PORT).state,
			 HEALTH_HEALTHY);
	house_sql(house, "ALTER TABLE gone RENAME TO trunks");
	house_run(house, INTERVAL_MS);
	assert_int_equal(stats_of(house).probes, 2);
}

static enum sim_verdict drop_connects(void *arg,
				      const struct sim_packet *packet)
{
	unsigned *connects = arg;

	if (!packet->is_connect)
		return SIM_PASS;
	(*connects)++;
	return SIM_DROP;
}

static void asks_so_many_at_once(void **state)
{
	struct house *house = *state;
	unsigned most = 0, connects = 0;

	house_sql(house, "DELETE FROM trunks");
	house_sql(house,
		  "WITH RECURSIVE n(i) AS (SELECT 6000 UNION ALL"
		  " SELECT i + 1 FROM n WHERE i < 8999)"
		  " INSERT INTO trunks SELECT i, 'o', '+' || i, 1, 'sip:x',"
		  " 'trunk.test', i, NULL, x'', NULL, NULL, 0, 0, 0 FROM n");
	sim_set_filter(house->service.loop, drop_connects, &connects);
	start(house);
	for (int i = 0; i < 800; i++) {
		house_run(house, 1000);
		if (stats_of(house).in_flight > most)
			most = stats_of(house).in_flight;
	}
	assert_int_equal(most, 64);
	assert_int_equal(stats_of(house).targets[HEALTH_UNREACHABLE], 3000);
	assert_true(stats_of(house).probes >= 3000);
	sim_set_filter(house->service.loop, NULL, NULL);
}

static void use_config(struct house *house, const char *setting)
{
	char *env[] = { (char *)setting, NULL };
	struct config *config = (struct config *)house->service.config;
	struct buffer why;

	config_close(&config);
	buffer_init(&why, 512);
	assert_int_equal(config_open(&config, NULL, env, &why), 0);
	house->service.config = config;
	buffer_reset(&why);
}

/* ---- asking by hand ---- */

struct asked {
	unsigned n;
	struct health_report report;
};

static void on_report(void *owner, const struct health_report *report)
{
	struct asked *asked = owner;

	asked->n++;
	asked->report = *report;
}

static int ask(struct house *house, uint16_t port, struct asked *asked)
{
	struct trunk_target target = { "trunk.test", port };

	return health_ask(house->service.health, HOUSE_ORG, &target, on_report,
			  asked);
}

static void off_asks_by_hand_alone(void **state)
{
	struct house *house = *state;
	struct asked asked = { 0 };

	use_config(house, "PARLEY_SIP_PROBE_INTERVAL_S=0");
	start(house);
	house_run(house, 3 * INTERVAL_MS);
	assert_int_equal(stats_of(house).probes, 0);
	assert_int_equal(ask(house, FAR_PORT, &asked), 0);
	assert_int_equal(asked.n, 0);
	house_run(house, 100);
	assert_int_equal(asked.n, 1);
	assert_int_equal(asked.report.state, HEALTH_HEALTHY);
	assert_int_equal(report_of(house, "trunk.test", FAR_PORT).state,
			 HEALTH_HEALTHY);
	assert_int_equal(ask(house, 5999, &asked), 0); /* not in the store */
	house_run(house, 100);
	assert_int_equal(asked.report.state, HEALTH_UNREACHABLE);
	assert_int_equal(report_of(house, "trunk.test", 5999).state,
			 HEALTH_UNREACHABLE);
	house_run(house, INTERVAL_MS);
	assert_int_equal(report_of(house, "trunk.test", 5999).state,
			 HEALTH_UNCHECKED);
}

static void an_ask_waits_5_s(void **state)
{
	struct house *house = *state;
	struct asked asked = { 0 }, late = { 0 };
	struct server server;

	use_config(house, "PARLEY_SIP_PROBE_INTERVAL_S=0");
	server_open(&server, house, 0);
	start(house);
	assert_int_equal(ask(house, SERVER_PORT, &asked), 0);
	house_run(house, 4990);
	assert_int_equal(asked.n, 0);
	assert_int_equal(ask(house, SERVER_PORT, &late), 0);
	house_run(house, 20);
	assert_int_equal(asked.n, 1);
	assert_int_equal(asked.report.state, HEALTH_UNREACHABLE);
	assert_string_equal(asked.report.why, "no answer within 5 s");
	assert_true(asked.report.checked_ms > 0);
	assert_int_equal(server.asked, 1); /* both wait for the same */
	house_run(house, 20000);
	assert_int_equal(late.n, 1);
	assert_string_equal(late.report.why, "no answer within 5 s");
	server_close(&server);
}

static void many_wait_for_one_probe(void **state)
{
	struct house *house = *state;
	struct asked asked = { 0 };
	struct server server;

	use_config(house, "PARLEY_SIP_PROBE_INTERVAL_S=0");
	server_open(&server, house, 200);
	start(house);
	for (int i = 0; i < 32; i++)
		assert_int_equal(ask(house, SERVER_PORT, &asked), 0);
	assert_int_equal(ask(house, SERVER_PORT, &asked), -EBUSY);
	house_run(house, 100);
	assert_int_equal(asked.n, 32);
	assert_int_equal(server.asked, 1);
	assert_int_equal(ask(house, SERVER_PORT, &asked), 0);
	health_close(&house->service.health); /* who waits is told */
	assert_int_equal(asked.n, 33);
	assert_int_equal(asked.report.state, HEALTH_UNREACHABLE);
	server_close(&server);
}

static void a_host_that_is_no_name(void **state)
{
	struct house *house = *state;
	struct trunk_target target = { "a b", 0 };
	struct asked asked = { 0 };

	start(house);
	assert_int_equal(health_ask(house->service.health, HOUSE_ORG, &target,
				    on_report, &asked),
			 0);
	assert_int_equal(asked.n, 0);
	house_run(house, 10);
	assert_int_equal(asked.n, 1);
	assert_int_equal(asked.report.state, HEALTH_UNREACHABLE);
}

/* In flight in the rounds and by hand, nothing is left. */
static void closes_in_the_middle(void **state)
{
	struct house *house = *state;
	struct asked asked = { 0 };

	start(house);
	house_run(house, 0);
	assert_int_equal(ask(house, 5998, &asked), 0);
	health_close(&house->service.health);
	assert_int_equal(asked.n, 1);
	house_run(house, 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, house_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(asks_what_the_store_names),
		TEST(asks_once_for_many_numbers),
		TEST(spreads_them_over_the_interval),
		TEST(tells_alive_from_not),
		TEST(says_why_and_recovers),
		TEST(follows_the_store),
		TEST(goes_on_when_the_store_fails),
		TEST(asks_so_many_at_once),
		TEST(off_asks_by_hand_alone),
		TEST(an_ask_waits_5_s),
		TEST(many_wait_for_one_probe),
		TEST(a_host_that_is_no_name),
		TEST(closes_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

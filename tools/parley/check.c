/* SPDX-License-Identifier: MIT */
/* tools/parley/check.c - parley check: is this folder fit to run on? */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/loop.h"
#include "core/tcp.h"
#include "core/tls.h"
#include "core/work.h"
#include "sip/ua.h"
#include "store/orgs.h"
#include "store/trunks.h"
#include "tools/parley/tool.h"

struct check {
	struct tool tool;
	struct work *work;
	struct tls *tls; /* SIP's, for probes */
	struct ua *ua;
	unsigned faults;
	bool is_probed;
};

static void report(struct check *check, const char *what, const char *fault)
{
	printf("%-5s %s%s%s\n", fault ? "FAULT" : "ok", what, fault ? ": " : "",
	       fault ? fault : "");
	check->faults += fault != NULL;
}

static struct tls *check_tls(struct check *check, const char *section)
{
	char certificate[32], key[32], what[64];
	struct tls_options options = { .loop = check->tool.loop,
				       .work = check->work,
				       .system_store = true };
	struct tls *tls = NULL;
	struct buffer why;

	snprintf(certificate, sizeof(certificate), "%s.certificate", section);
	snprintf(key, sizeof(key), "%s.key", section);
	snprintf(what, sizeof(what), "%s certificate and key", section);
	options.certificate_file = config_text(check->tool.config, certificate);
	options.key_file = config_text(check->tool.config, key);
	if (!strcmp(section, "sip"))
		options.ca_file =
			config_text(check->tool.config, "sip.ca_file");
	buffer_init(&why, 1024);
	report(check, what,
	       tls_open(&tls, &options, &why) ? buffer_str(&why) : NULL);
	buffer_reset(&why);
	return tls;
}

static void on_accept(void *owner, struct link *link)
{
	(void)owner;
	link_close(&link);
}

static void check_port(struct check *check, const char *section)
{
	struct listen_options options = { 0 };
	struct listener *listener = NULL;
	char listen[32], port[32], what[96];
	int err;

	snprintf(listen, sizeof(listen), "%s.listen", section);
	snprintf(port, sizeof(port), "%s.port", section);
	snprintf(what, sizeof(what), "%s port %lld", section,
		 (long long)config_number(check->tool.config, port));
	err = addr_parse(&options.bind,
			 slice_of(config_text(check->tool.config, listen)),
			 (uint16_t)config_number(check->tool.config, port));
	if (!err)
		err = tcp_listen(&listener, check->tool.loop, &options,
				 on_accept, check);
	if (err == -EADDRINUSE)
		printf("note  %s is in use: by parleyd, if it runs\n", what);
	else
		report(check, what, err ? strerror(-err) : NULL);
	if (listener)
		listener_close(&listener);
}

static int on_invite(void *owner, struct session *session,
		     const struct ua_invite *invite)
{
	(void)owner;
	(void)session;
	(void)invite;
	return 503;
}

static void on_probed(void *owner, int status, uint32_t ms, const char *why)
{
	struct check *check = owner;

	if (status)
		printf("ok      answered %d in %u ms\n", status, ms);
	else
		printf("FAULT   %s\n", why);
	check->faults += !status;
	check->is_probed = true;
	loop_stop(check->tool.loop);
}

static void probe(struct check *check, const struct trunk_row *row)
{
	struct session_trunk trunk = { .port = row->port };
	struct ua_probe *probing;

	snprintf(trunk.host, sizeof(trunk.host), "%s", row->host);
	printf("trunk %s by %s\n", row->number, row->sip_endpoint);
	check->is_probed = false;
	probing = ua_probe(check->ua, &trunk, on_probed, check);
	if (!probing)
		on_probed(check, 0, 0, "not a usable host name");
	while (!check->is_probed)
		loop_run(check->tool.loop);
}

static void check_trunks(struct check *check)
{
	static const struct ua_events events = { .on_invite = on_invite };
	struct ua_options options = {
		.transport = { .loop = check->tool.loop,
			       .tls = check->tls,
			       .public_address = "",
			       .user_agent = "Parley" },
		.domain = config_text(check->tool.config, "sip.domain"),
		.max_sessions = 1,
	};
	struct arena *arena = arena_open();
	struct org_row *orgs = NULL;
	size_t n_orgs = 0;

	addr_parse(&options.transport.listen.bind, SLICE("127.0.0.1"), 0);
	orgs_list(check->tool.store, arena, &orgs, &n_orgs);
	if (!check->tls || ua_open(&check->ua, &options, &events, check))
		n_orgs = 0;
	for (size_t i = 0; i < n_orgs; i++) {
		struct trunk_row *rows = NULL;
		size_t n = 0;

		trunks_list(check->tool.store, arena, orgs[i].id, &rows, &n);
		for (size_t j = 0; j < n; j++) {
			if (rows[j].direction == TRUNK_OUTBOUND)
				probe(check, &rows[j]);
		}
	}
	if (check->ua)
		ua_close(&check->ua);
	arena_close(&arena);
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ 0 },
	};
	struct check check = { 0 };
	const char *config = NULL;
	struct tls *http = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option != 'c')
			return EXIT_FAILURE;
		config = optarg;
	}
	if (tool_open(&check.tool, config)) {
		tool_close(&check.tool);
		return EXIT_FAILURE;
	}
	report(&check, "settings and store", NULL);
	if (work_open(&check.work, check.tool.loop))
		return tool_fail("cannot start the worker threads");
	if (config_bool(check.tool.config, "http.tls"))
		http = check_tls(&check, "http");
	check.tls = check_tls(&check, "sip");
	check_port(&check, "http");
	check_port(&check, "sip");
	check_trunks(&check);
	tls_close(&http);
	tls_close(&check.tls);
	work_close(&check.work);
	tool_close(&check.tool);
	printf("%u fault%s\n", check.faults, check.faults == 1 ? "" : "s");
	return check.faults ? EXIT_FAILURE : EXIT_SUCCESS;
}

const struct command command_check = {
	"check", run,
	"check [--config FILE]\n"
	"  Are settings, certificates, ports and store in order, and do the\n"
	"  trunks answer OPTIONS?\n"
};

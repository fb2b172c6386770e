/* SPDX-License-Identifier: MIT */
/* main.c - parleyd: reads the configuration, opens each part, runs the loop,
 * shuts down in reverse. */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "agent/call/dispatch.h"
#include "agent/service.h"
#include "agent/service_check.h"
#include "core/config.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/timer.h"
#include "core/tls.h"
#include "http/route.h"
#include "http/server.h"
#include "sip/ua.h"

extern char **environ;

enum { ANSWER_LOOK_MS = 20, ANSWERS_MAX_MS = 5000 };

struct house {
	struct service service;
	struct tls *http_tls; /* NULL when http.tls is off */
	struct http_server *http;
	struct config *config;
	struct timer *last_answers; /* while shutting down */
	uint64_t waited_ms;
	char base_url[320];
};

static const char help[] =
	"usage: parleyd --config FILE\n"
	"\n"
	"Runs the Parley voice-calling service until SIGTERM or SIGINT.\n"
	"SIGHUP reloads certificates.\n"
	"\n"
	"  --config FILE   settings; `parley init` writes one\n"
	"  --keys          lists every setting with its meaning and exits\n"
	"  --routes        lists every route of the API and exits\n"
	"  --version       prints the version and exits\n"
	"  --help          this text\n"
	"\n"
	"PARLEY_SECTION_KEY in the environment overrides section.key of the "
	"file.\n";

static void list_keys(void)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);

	for (size_t i = 0; i < n; i++)
		printf("%-34s %s%s%s\n", keys[i].name, keys[i].doc,
		       keys[i].preset[0] ? "; default " : "", keys[i].preset);
}

static void list_routes(void)
{
	size_t n;
	const struct route_set *const *sets = route_sets(&n);

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < sets[i]->n; j++)
			printf("%-7s%s\n       %s\n", sets[i]->routes[j].method,
			       sets[i]->routes[j].pattern,
			       sets[i]->routes[j].doc);
}

/* One descriptor per RTP and RTCP socket: the soft limit is too low. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Audio leaves on time also when the pool is busy; refused without the right,
 * and then we do without. Threads made later do not inherit it. */
static void ask_for_real_time(void)
{
	struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param))
		log_info("main", NULL, "no real-time priority: %s",
			 strerror(errno));
}

static void setup_log(const struct config *config)
{
	struct log_options options = {
		.level = (enum log_level)log_level_parse(
			config_text(config, "log.level")),
		.json = !strcmp(config_text(config, "log.format"), "json"),
		.fd = 2,
	};

	log_setup(&options);
}

static int open_http_tls(struct house *house, struct buffer *why)
{
	struct config *config = house->config;
	struct tls_options tls = {
		.loop = house->service.loop,
		.work = house->service.work,
		.certificate_file = config_text(config, "http.certificate"),
		.key_file = config_text(config, "http.key"),
	};

	if (!config_bool(config, "http.tls"))
		return 0;
	if (service_check_certificate(config, "http", why))
		return -EINVAL;
	return tls_open(&house->http_tls, &tls, why);
}

static int open_http(struct house *house, struct buffer *why)
{
	struct config *config = house->config;
	struct http_server_options options = { .service = &house->service };
	const char *public_url = config_text(config, "http.public_url");
	char host[ADDR_TEXT_SIZE];
	int err = open_http_tls(house, why);

	if (err)
		return err;
	if (addr_parse(&options.listen.bind,
		       slice_of(config_text(config, "http.listen")), 0)) {
		buffer_printf(why, "http.listen: \"%s\" is not an IP address",
			      config_text(config, "http.listen"));
		return -EINVAL;
	}
	addr_set_port(&options.listen.bind,
		      (uint16_t)config_number(config, "http.port"));
	options.listen.max_links =
		(unsigned)config_number(config, "http.max_connections");
	options.tls = house->http_tls;
	err = http_server_open(&house->http, &options, why);
	if (err)
		return err;
	addr_set_port(&options.listen.bind, http_server_port(house->http));
	if (public_url[0])
		snprintf(house->base_url, sizeof(house->base_url), "%s",
			 public_url);
	else
		snprintf(house->base_url, sizeof(house->base_url), "%s://%s",
			 house->http_tls ? "https" : "http",
			 addr_text(&options.listen.bind, host));
	return 0;
}

static int open_house(struct house *house, struct buffer *why)
{
	int err = service_open(&house->service, house->config, why);

	house->service.base_url = house->base_url;
	if (!err)
		err = open_http(house, why);
	if (!err)
		err = service_start(&house->service, why);
	return err;
}

static void close_house(struct house *house)
{
	http_server_close(&house->http);
	service_close(&house->service);
	tls_close(&house->http_tls);
	timer_close(&house->last_answers);
	service_close_base(&house->service);
}

/* The last call is over; what was asked by now is still answered. */
static void on_answering(void *arg)
{
	struct house *house = arg;
	struct http_stats stats;

	http_server_stats(house->http, &stats);
	house->waited_ms += ANSWER_LOOK_MS;
	if (!stats.connections || house->waited_ms > ANSWERS_MAX_MS)
		loop_stop(house->service.loop);
	else
		timer_start(house->last_answers, ANSWER_LOOK_MS, on_answering,
			    house);
}

static void on_idle(void *owner)
{
	struct house *house = owner;

	http_server_drain(house->http);
	if (!timer_is_armed(house->last_answers))
		timer_start(house->last_answers, 0, on_answering, house);
}

static void reload(struct tls *tls, const char *subject)
{
	struct buffer why;

	buffer_init(&why, 1024);
	if (tls && tls_reload(tls, &why))
		log_error(subject, NULL, "certificates not reloaded: %s",
			  buffer_str(&why));
	else if (tls)
		log_info(subject, NULL, "certificates reloaded");
	buffer_reset(&why);
}

static void on_signal(void *owner, int signum)
{
	struct house *house = owner;

	if (signum == SIGHUP) {
		reload(house->service.sip_tls, "sip");
		reload(house->http_tls, "http");
		return;
	}
	log_info("main", NULL, "shutting down: no new calls");
	house->service.is_stopping = true;
	ua_drain(house->service.ua);
	dispatch_drain(
		house->service.dispatch,
		(uint64_t)config_number(house->config, "shutdown.drain_s") *
			1000,
		on_idle, house);
}

static int run(struct house *house)
{
	struct buffer why;
	int err;

	buffer_init(&why, 4096);
	err = open_house(house, &why);
	if (err) {
		fprintf(stderr, "parleyd: %s\n",
			why.len ? buffer_str(&why) : strerror(-err));
	} else {
		ask_for_real_time();
		house->last_answers = timer_new(house->service.loop);
		loop_on_signals(house->service.loop, on_signal, house);
		log_info("main", NULL, "ready: %s sip_port=%u", house->base_url,
			 ua_port(house->service.ua));
		loop_run(house->service.loop);
		log_info("main", NULL, "stopped");
	}
	close_house(house);
	buffer_reset(&why);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int load_and_run(const char *file)
{
	struct house house = { 0 };
	struct buffer why;
	int status = EXIT_FAILURE;

	buffer_init(&why, 4096);
	if (config_open(&house.config, file, environ, &why)) {
		fprintf(stderr, "parleyd: %s\n", buffer_str(&why));
	} else {
		setup_log(house.config);
		raise_descriptor_limit();
		status = run(&house);
	}
	config_close(&house.config);
	buffer_reset(&why);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "keys", no_argument, NULL, 'k' },
		{ "routes", no_argument, NULL, 'r' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *file = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		if (option == 'c')
			file = optarg;
		else if (option == 'k')
			return list_keys(), EXIT_SUCCESS;
		else if (option == 'r')
			return list_routes(), EXIT_SUCCESS;
		else if (option == 'v')
			return puts("parleyd 0.1.0"), EXIT_SUCCESS;
		else if (option == 'h')
			return fputs(help, stdout), EXIT_SUCCESS;
		else
			return EXIT_FAILURE;
	}
	if (!file || optind < argc) {
		fprintf(stderr, "parleyd: %s\n\n%s",
			file ? "what does the rest mean?"
			     : "--config FILE is missing",
			help);
		return EXIT_FAILURE;
	}
	return load_and_run(file);
}

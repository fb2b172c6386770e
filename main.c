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
#include <sys/stat.h>
#include <unistd.h>
#include "agent/call/dispatch.h"
#include "agent/call/webhook.h"
#include "agent/engine/model.h"
#include "agent/engine/speech.h"
#include "agent/service.h"
#include "core/config.h"
#include "core/fetch.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/secret.h"
#include "core/tls.h"
#include "core/work.h"
#include "http/server.h"
#include "media/codec.h"
#include "media/stream.h"
#include "sip/ua.h"
#include "store/store.h"

extern char **environ;

struct house {
	struct service service;
	struct tls *sip_tls;
	struct tls *http_tls; /* NULL when http.tls is off */
	struct http_server *http;
	struct config *config;
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
		printf("%-28s %s%s%s\n", keys[i].name, keys[i].doc,
		       keys[i].preset[0] ? "; default " : "", keys[i].preset);
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

static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static int open_base(struct house *house, struct buffer *why)
{
	struct service *service = &house->service;
	const char *folder = config_text(house->config, "store.path");
	struct store_options store = { .folder = folder };
	char key_file[4096];
	int err = loop_open(&service->loop);

	if (!err)
		err = work_open(&service->work, service->loop);
	if (err) {
		buffer_printf(why, "the loop cannot be opened: %s",
			      strerror(-err));
		return err;
	}
	store.loop = service->loop;
	err = store_open(&service->store, &store, why);
	if (err)
		return err;
	snprintf(key_file, sizeof(key_file), "%s/store.key", folder);
	return secret_box_open(&service->box, key_file, true, why);
}

static int open_fetch(struct house *house, struct buffer *why)
{
	struct config *config = house->config;
	struct fetch_options options = {
		.loop = house->service.loop,
		.egress = {
			.allow_private =
				config_bool(config, "webhook.allow_private"),
			.allow_loopback =
				config_bool(config, "webhook.allow_loopback"),
		},
		.ca_file = or_null(config_text(config, "webhook.ca_file")),
	};
	int err = fetch_open(&house->service.fetch, &options);

	if (err)
		buffer_printf(why, "the HTTP client cannot be opened: %s",
			      strerror(-err));
	return err;
}

static int parse_codecs(struct media_options *options, const char *list,
			struct buffer *why)
{
	struct slice rest = slice_of(list);

	while (rest.len && options->n_codecs < MEDIA_CODECS) {
		struct slice name = slice_trim(slice_cut(&rest, ','));
		enum media_codec codec =
			codec_find(name, STREAM_RATE_HZ, UINT8_MAX);

		if (codec == MEDIA_CODECS) {
			buffer_printf(why,
				      "media.codecs: unknown codec \"%.*s\"; "
				      "known are PCMU and PCMA",
				      (int)name.len, name.ptr);
			return -EINVAL;
		}
		options->codecs[options->n_codecs++] = codec;
	}
	return 0;
}

static int parse_address(struct addr *out, const struct config *config,
			 const char *key, struct buffer *why)
{
	const char *text = config_text(config, key);

	if (!addr_parse(out, slice_of(text), 0))
		return 0;
	buffer_printf(why, "%s: \"%s\" is not an IP address", key, text);
	return -EINVAL;
}

static int open_media(struct house *house, struct buffer *why)
{
	struct config *config = house->config;
	const char *key = config_text(config, "media.address")[0]
				  ? "media.address"
				  : "sip.listen";
	struct media_options options = {
		.loop = house->service.loop,
		.work = house->service.work,
		.public_address =
			or_null(config_text(config, "media.public_address")),
		.port_min = (uint16_t)config_number(config, "media.port_min"),
		.port_max = (uint16_t)config_number(config, "media.port_max"),
		.timeout_ms =
			(uint32_t)config_number(config, "media.timeout_s") *
			1000,
	};
	int err = parse_codecs(&options, config_text(config, "media.codecs"),
			       why);

	if (!err)
		err = parse_address(&options.bind, config, key, why);
	if (err)
		return err;
	err = media_open(&house->service.media, &options);
	if (err)
		buffer_printf(why,
			      "media cannot be opened: %s; ports are "
			      "media.port_min to media.port_max within 16384 "
			      "to 32767",
			      strerror(-err));
	return err;
}

static int open_engines(struct house *house, struct buffer *why)
{
	struct service *service = &house->service;
	unsigned recognisers =
		(unsigned)config_number(house->config, "speech.recognisers");
	int err = speech_open_embedded(&service->speech, service->loop,
				       service->work, recognisers);

	if (!err)
		err = model_open_rules(&service->model, service->loop);
	if (err)
		buffer_printf(why, "the speech engines cannot be opened: %s",
			      strerror(-err));
	return err;
}

static int open_agent(struct house *house, struct buffer *why)
{
	struct service *service = &house->service;
	const char *folder = config_text(house->config, "recordings.path");
	int err;

	if (mkdir(folder, 0700) && errno != EEXIST) {
		err = -errno;
		buffer_printf(why, "recordings.path: %s: %s", folder,
			      strerror(errno));
		return err;
	}
	err = webhook_open(&service->webhook, service);
	if (!err)
		err = dispatch_open(&service->dispatch, service);
	return err;
}

static int open_sip(struct house *house, struct buffer *why)
{
	static const struct ua_events events = {
		.on_invite = dispatch_on_invite,
	};
	struct config *config = house->config;
	struct tls_options tls = {
		.loop = house->service.loop,
		.work = house->service.work,
		.certificate_file = config_text(config, "sip.certificate"),
		.key_file = config_text(config, "sip.key"),
		.ca_file = or_null(config_text(config, "sip.ca_file")),
		.system_store = true,
		.require_client_certificate =
			config_bool(config, "sip.require_client_certificate"),
	};
	struct ua_options options = {
		.domain = config_text(config, "sip.domain"),
		.max_sessions =
			(unsigned)config_number(config, "agent.max_calls"),
	};
	int err = tls_open(&house->sip_tls, &tls, why);

	if (!err)
		err = parse_address(&options.transport.listen.bind, config,
				    "sip.listen", why);
	if (err)
		return err;
	addr_set_port(&options.transport.listen.bind,
		      (uint16_t)config_number(config, "sip.port"));
	options.transport.loop = house->service.loop;
	options.transport.tls = house->sip_tls;
	options.transport.public_address =
		config_text(config, "sip.public_address");
	options.transport.user_agent = "Parley";
	err = ua_open(&house->service.ua, &options, &events,
		      house->service.dispatch);
	if (err)
		buffer_printf(why, "SIP cannot listen on %s port %lld: %s",
			      config_text(config, "sip.listen"),
			      (long long)config_number(config, "sip.port"),
			      strerror(-err));
	return err;
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
	return tls_open(&house->http_tls, &tls, why);
}

static int open_http(struct house *house, struct buffer *why)
{
	struct config *config = house->config;
	struct http_server_options options = { .service = &house->service };
	const char *public_url = config_text(config, "http.public_url");
	char host[ADDR_TEXT_SIZE];
	int err = open_http_tls(house, why);

	if (!err)
		err = parse_address(&options.listen.bind, config, "http.listen",
				    why);
	if (err)
		return err;
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
	int (*const steps[])(struct house *, struct buffer *) = {
		open_base, open_fetch, open_media, open_engines,
		open_http, open_agent, open_sip,
	};
	int err = 0;

	house->service.config = house->config;
	house->service.base_url = house->base_url;
	for (size_t i = 0; !err && i < sizeof(steps) / sizeof(*steps); i++)
		err = steps[i](house, why);
	house->service.started_ms = err ? 0 : loop_wall_ms(house->service.loop);
	return err;
}

/* Media flows and calls end before what they stand on is closed; parts that
 * were never opened are NULL. */
static void close_house(struct house *house)
{
	struct service *service = &house->service;

	http_server_close(&house->http);
	dispatch_close(&service->dispatch);
	webhook_close(&service->webhook);
	if (service->ua)
		ua_close(&service->ua);
	if (service->media)
		media_close(&service->media);
	if (service->speech)
		speech_close(&service->speech);
	if (service->model)
		model_close(&service->model);
	if (service->fetch)
		fetch_close(&service->fetch);
	tls_close(&house->sip_tls);
	tls_close(&house->http_tls);
	secret_box_close(&service->box);
	if (service->work)
		work_close(&service->work);
	if (service->store)
		store_close(&service->store);
	if (service->loop)
		loop_close(&service->loop);
}

static void on_idle(void *owner)
{
	struct house *house = owner;

	loop_stop(house->service.loop);
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
		reload(house->sip_tls, "sip");
		reload(house->http_tls, "http");
		return;
	}
	log_info("main", NULL, "shutting down: no new calls");
	ua_drain(house->service.ua);
	http_server_drain(house->http);
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
		else if (option == 'v')
			return puts("parleyd 0.1.0"), EXIT_SUCCESS;
		else if (option == 'h')
			return fputs(help, stdout), EXIT_SUCCESS;
		else
			return EXIT_FAILURE;
	}
	if (!file || optind < argc) {
		fputs(help, stderr);
		return EXIT_FAILURE;
	}
	return load_and_run(file);
}

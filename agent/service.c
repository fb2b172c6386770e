/* SPDX-License-Identifier: MIT */
#include "agent/service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "agent/call/dispatch.h"
#include "agent/call/health.h"
#include "agent/call/networks.h"
#include "agent/call/trace.h"
#include "agent/call/webhook.h"
#include "agent/engine/model.h"
#include "agent/engine/speech.h"
#include "agent/service_check.h"
#include "core/config.h"
#include "core/fetch.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/secret.h"
#include "core/tls.h"
#include "core/udp.h"
#include "core/work.h"
#include "media/codec.h"
#include "media/stream.h"
#include "sip/ua.h"
#include "store/orgs.h"
#include "store/store.h"

enum { SPARE_SESSIONS = 64 };

static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

/* A key that is gone must not be made anew under a store that has secrets: they
 * would be lost for good, and webhooks leave unsigned. */
static int open_box(struct service *service, const char *folder,
		    struct buffer *why)
{
	struct arena *arena = arena_open();
	struct org_row *orgs;
	char key_file[4096];
	size_t n = 0;
	int err = orgs_list(service->store, arena, &orgs, &n);

	arena_close(&arena);
	if (err) {
		buffer_printf(why, "%s: the store cannot be read: %s", folder,
			      strerror(-err));
		return err;
	}
	snprintf(key_file, sizeof(key_file), "%s/store.key", folder);
	err = secret_box_open(&service->box, key_file, n == 0, why);
	if (err == -ENOENT)
		buffer_add_str(why, "; the store's secrets are sealed under "
				    "it: put it back from a backup");
	return err;
}

static int open_base(struct service *service, struct buffer *why)
{
	const char *folder = config_text(service->config, "store.path");
	struct store_options store = { .folder = folder };
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
	return err ? err : open_box(service, folder, why);
}

static int open_fetch(struct service *service, struct buffer *why)
{
	const struct config *config = service->config;
	struct fetch_options options = {
		.loop = service->loop,
		.egress = {
			.allow_private =
				config_bool(config, "webhook.allow_private"),
			.allow_loopback =
				config_bool(config, "webhook.allow_loopback"),
		},
		.ca_file = or_null(config_text(config, "webhook.ca_file")),
	};
	int err = fetch_open(&service->fetch, &options);

	if (err)
		buffer_printf(why,
			      "the HTTP client cannot be opened: %s "
			      "(webhook.ca_file = %s)",
			      strerror(-err),
			      config_text(config, "webhook.ca_file"));
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

/* Found now and not with the first call. */
static int try_address(struct service *service, const struct addr *bind,
		       const char *key, struct buffer *why)
{
	const char *text = config_text(service->config, key);
	struct addr probe = *bind;
	struct udp *udp;
	int err;

	if (addr_is_any(bind) &&
	    !config_text(service->config, "media.public_address")[0]) {
		buffer_printf(why,
			      "%s: %s is every address: set "
			      "media.public_address to the one that callers "
			      "can reach",
			      key, text);
		return -EINVAL;
	}
	addr_set_port(&probe, 0);
	err = udp_open(&udp, service->loop, &probe);
	if (err)
		buffer_printf(why,
			      "%s: audio cannot use %s, which must be an "
			      "address of this machine: %s",
			      key, text, strerror(-err));
	else
		udp_close(&udp);
	return err;
}

/* Calls that find no port would be refused one by one. */
static void compare_ports(const struct service *service)
{
	int64_t calls = config_number(service->config, "agent.max_calls");
	struct media_stats media;

	media_stats(service->media, &media);
	if (calls > media.ports_free)
		log_warn("main", NULL,
			 "agent.max_calls is %lld, but media.port_min to "
			 "media.port_max have ports for %u calls",
			 (long long)calls, media.ports_free);
}

static int open_media(struct service *service, struct buffer *why)
{
	const struct config *config = service->config;
	const char *key = config_text(config, "media.address")[0]
				  ? "media.address"
				  : "sip.listen";
	struct media_options options = {
		.loop = service->loop,
		.work = service->work,
		.public_address =
			or_null(config_text(config, "media.public_address")),
		.port_min = (uint16_t)config_number(config, "media.port_min"),
		.port_max = (uint16_t)config_number(config, "media.port_max"),
		.timeout_ms =
			(uint32_t)config_number(config, "media.timeout_s") *
			1000,
	};
	struct addr announced;
	int err = parse_codecs(&options, config_text(config, "media.codecs"),
			       why);

	if (!err)
		err = parse_address(&options.bind, config, key, why);
	if (!err && options.public_address)
		err = parse_address(&announced, config, "media.public_address",
				    why);
	if (!err)
		err = try_address(service, &options.bind, key, why);
	if (err)
		return err;
	err = media_open(&service->media, &options);
	if (!err)
		compare_ports(service);
	else
		buffer_printf(why,
			      "media cannot be opened: %s; ports are "
			      "media.port_min to media.port_max within 16384 "
			      "to 32767",
			      strerror(-err));
	return err;
}

static int open_engines(struct service *service, struct buffer *why)
{
	unsigned recognisers =
		(unsigned)config_number(service->config, "speech.recognisers");
	int err = speech_open_embedded(&service->speech, service->loop,
				       service->work, recognisers);

	if (!err)
		err = model_open_rules(&service->model, service->loop);
	if (err)
		buffer_printf(why, "the speech engines cannot be opened: %s",
			      strerror(-err));
	return err;
}

static int open_agent(struct service *service, struct buffer *why)
{
	const char *folder = config_text(service->config, "recordings.path");
	int err;

	if (mkdir(folder, 0700) && errno != EEXIST) {
		err = -errno;
		buffer_printf(why, "recordings.path: %s: %s", folder,
			      strerror(errno));
		return err;
	}
	call_traces_open(&service->traces, service);
	err = webhook_open(&service->webhook, service);
	if (!err)
		err = dispatch_open(&service->dispatch, service);
	return err;
}

static int check_networks(const struct config *config, struct buffer *why)
{
	static const char key[] = "sip.allowed_networks";
	struct slice bad = networks_bad(slice_of(config_text(config, key)));

	if (!bad.len)
		return 0;
	buffer_printf(why,
		      "%s: \"%.*s\" is no network: wanted are addresses or "
		      "prefixes like 192.0.2.0/24, with commas between them",
		      key, (int)bad.len, bad.ptr);
	return -EINVAL;
}

static int open_sip(struct service *service, struct buffer *why)
{
	static const struct ua_events events = {
		.on_invite = dispatch_on_invite,
	};
	const struct config *config = service->config;
	struct tls_options tls = {
		.loop = service->loop,
		.work = service->work,
		.certificate_file = config_text(config, "sip.certificate"),
		.key_file = config_text(config, "sip.key"),
		.ca_file = or_null(config_text(config, "sip.ca_file")),
		.system_store = true,
		.require_client_certificate =
			config_bool(config, "sip.require_client_certificate"),
	};
	struct ua_options options = {
		.domain = config_text(config, "sip.domain"),
		/* A transfer has two; dispatch counts the calls. */
		.max_sessions =
			2 * (unsigned)config_number(config, "agent.max_calls") +
			SPARE_SESSIONS,
		.session_expires_s = (uint32_t)config_number(
			config, "sip.session_expires_s"),
	};
	int err = check_networks(config, why);

	service_set_sip(&tls, &options, config);
	if (!err)
		err = service_check_sip(config, why);
	if (!err)
		err = tls_open(&service->sip_tls, &tls, why);
	if (!err)
		err = parse_address(&options.transport.listen.bind, config,
				    "sip.listen", why);
	if (err)
		return err;
	addr_set_port(&options.transport.listen.bind,
		      (uint16_t)config_number(config, "sip.port"));
	options.transport.loop = service->loop;
	options.transport.tls = service->sip_tls;
	options.transport.public_address =
		config_text(config, "sip.public_address");
	options.transport.user_agent = "Parley";
	err = ua_open(&service->ua, &options, &events, service->dispatch);
	if (err)
		buffer_printf(why, "SIP cannot listen on %s port %lld: %s",
			      config_text(config, "sip.listen"),
			      (long long)config_number(config, "sip.port"),
			      strerror(-err));
	return err;
}

int service_open(struct service *service, const struct config *config,
		 struct buffer *why)
{
	int (*const steps[])(struct service *,
			     struct buffer *) = { open_base, open_fetch,
						  open_media, open_engines };
	int err = 0;

	service->config = config;
	for (size_t i = 0; !err && i < sizeof(steps) / sizeof(*steps); i++)
		err = steps[i](service, why);
	return err;
}

int service_start(struct service *service, struct buffer *why)
{
	int err = open_agent(service, why);

	if (!err)
		err = open_sip(service, why);
	if (!err)
		err = health_open(&service->health, service);
	if (!err)
		service->started_ms = loop_wall_ms(service->loop);
	return err;
}

void service_close(struct service *service)
{
	health_close(&service->health);
	dispatch_close(&service->dispatch);
	call_traces_close(&service->traces);
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
	tls_close(&service->sip_tls);
	secret_box_close(&service->box);
}

void service_close_base(struct service *service)
{
	if (service->work)
		work_close(&service->work);
	if (service->store)
		store_close(&service->store);
	if (service->loop)
		loop_close(&service->loop);
}

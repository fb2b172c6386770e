/* SPDX-License-Identifier: MIT */
/* /healthz and /metrics (Prometheus text format 0.0.4). */
#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <stdio.h>
#include "agent/call/dispatch.h"
#include "agent/call/health.h"
#include "agent/call/webhook.h"
#include "agent/service.h"
#include "core/addr.h"
#include "core/config.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/secret.h"
#include "http/api/sets.h"
#include "media/media.h"
#include "sip/ua.h"

enum { TEXT_MAX_BYTES = 256 * 1024 };

static void health(struct request *request)
{
	const struct service *service = request_view(request)->service;
	bool is_open = service->started_ms && service->dispatch;
	bool is_ready = is_open && !service->is_stopping;
	json_t *body = json_object();

	json_put_str(body, "status",
		     is_ready  ? "ok"
		     : is_open ? "stopping"
			       : "starting");
	json_put_bool(body, "live", true);
	json_put_bool(body, "ready", is_ready);
	request_reply(request, is_ready ? 200 : 503, body);
}

/* ---- metrics ---- */

struct metric {
	const char *name; /* without "parley_" */
	const char *type; /* "counter", "gauge" */
	const char *help;
	double value;
};

static void add_head(struct buffer *out, const struct metric *metric)
{
	buffer_printf(out, "# HELP parley_%s %s\n# TYPE parley_%s %s\n",
		      metric->name, metric->help, metric->name, metric->type);
}

static void add_all(struct buffer *out, const struct metric *metrics, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add_head(out, &metrics[i]);
		buffer_printf(out, "parley_%s %.15g\n", metrics[i].name,
			      metrics[i].value);
	}
}

#define ADD(out, metrics)                                                      \
	add_all(out, metrics, sizeof(metrics) / sizeof(*(metrics)))

static void add_turns(struct buffer *out, const struct dispatch_stats *stats)
{
	static const char *const bounds[] = { "0.1", "0.2", "0.4", "0.7",
					      "1",   "1.5", "3",   "+Inf" };
	const struct metric head = { "turn_latency_seconds", "histogram",
				     "Caller's last word to the agent's first.",
				     0 };
	uint64_t below = 0;

	add_head(out, &head);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		below += stats->turn_bucket[i];
		buffer_printf(out,
			      "parley_turn_latency_seconds_bucket{le=\"%s\"} "
			      "%llu\n",
			      bounds[i], (unsigned long long)below);
	}
	buffer_printf(out,
		      "parley_turn_latency_seconds_sum %.3f\n"
		      "parley_turn_latency_seconds_count %llu\n",
		      (double)stats->turn_ms_total / 1000.0,
		      (unsigned long long)stats->turns);
}

static void add_load(struct buffer *out, const struct load_stats *load)
{
	static const char *const reasons[] = { "fine", "calls", "ports",
					       "late" };
	const struct metric head = { "calls_refused_total", "counter",
				     "Incoming calls refused with 503.", 0 };
	const struct metric metrics[] = {
		{ "calls_held_back", "gauge",
		  "1 while no further call may begin.", load->is_full },
		{ "loop_late_seconds", "gauge",
		  "Lateness of the loop, mean of a second.",
		  load->late_ms / 1000 },
	};

	ADD(out, metrics);
	add_head(out, &head);
	for (int i = LOAD_FINE + 1; i < LOAD_STATES; i++)
		buffer_printf(out,
			      "parley_calls_refused_total{reason=\"%s\"} "
			      "%llu\n",
			      reasons[i], (unsigned long long)load->refused[i]);
}

static void add_calls(struct buffer *out, const struct service *service)
{
	struct dispatch_stats calls = { 0 };
	struct webhook_stats hooks = { 0 };

	if (service->dispatch)
		dispatch_stats(service->dispatch, &calls);
	if (service->webhook)
		webhook_stats(service->webhook, &hooks);
	const struct metric metrics[] = {
		{ "calls_live", "gauge", "Calls that are up or dialing.",
		  calls.live },
		{ "calls_started_total", "counter", "Calls begun.",
		  (double)calls.started },
		{ "calls_completed_total", "counter", "Calls ended.",
		  (double)calls.completed },
		{ "calls_failed_total", "counter", "Calls that failed.",
		  (double)calls.failed },
		{ "webhooks_delivered_total", "counter", "Webhooks accepted.",
		  (double)hooks.delivered },
		{ "webhook_attempts_failed_total", "counter",
		  "Attempts that were not accepted.",
		  (double)hooks.failed_attempts },
		{ "webhooks_given_up_total", "counter",
		  "Webhooks without further attempts.",
		  (double)hooks.given_up },
		{ "webhooks_in_flight", "gauge", "Attempts under way.",
		  hooks.in_flight },
	};

	ADD(out, metrics);
	add_turns(out, &calls);
	add_load(out, &calls.load);
}

static void add_health(struct buffer *out, const struct service *service)
{
	struct health_stats stats = { 0 };
	const struct metric head = { "sip_targets", "gauge",
				     "Hosts of trunks, by their health.", 0 };

	if (service->health)
		health_stats(service->health, &stats);
	add_head(out, &head);
	for (int i = 0; i < HEALTH_STATES; i++)
		buffer_printf(out, "parley_sip_targets{state=\"%s\"} %u\n",
			      health_state_name((enum health_state)i),
			      stats.targets[i]);
	const struct metric metrics[] = {
		{ "sip_probes_total", "counter", "OPTIONS sent to trunks.",
		  (double)stats.probes },
		{ "sip_probes_failed_total", "counter",
		  "OPTIONS that brought no sign of life.",
		  (double)stats.failures },
	};

	ADD(out, metrics);
}

static void add_sip(struct buffer *out, const struct service *service)
{
	struct ua_stats sip = { 0 };

	if (service->ua)
		ua_stats(service->ua, &sip);
	const struct metric metrics[] = {
		{ "sip_sessions", "gauge", "SIP sessions.", sip.sessions },
		{ "sip_dialogs", "gauge", "SIP dialogs.", sip.dialogs },
		{ "sip_client_transactions", "gauge", "Client transactions.",
		  sip.client_transactions },
		{ "sip_server_transactions", "gauge", "Server transactions.",
		  sip.server_transactions },
		{ "sip_links", "gauge", "TLS connections.", sip.links },
		{ "sip_messages_in_total", "counter", "Messages received.",
		  (double)sip.messages_in },
		{ "sip_messages_out_total", "counter", "Messages sent.",
		  (double)sip.messages_out },
		{ "sip_invites_in_total", "counter", "INVITEs received.",
		  (double)sip.invites_in },
		{ "sip_invites_out_total", "counter", "INVITEs sent.",
		  (double)sip.invites_out },
		{ "sip_parse_errors_total", "counter", "Malformed messages.",
		  (double)sip.parse_errors },
	};

	ADD(out, metrics);
}

static void add_media(struct buffer *out, const struct service *service)
{
	struct media_stats media = { 0 };

	if (service->media)
		media_stats(service->media, &media);
	const struct metric metrics[] = {
		{ "media_streams", "gauge", "Audio streams.", media.streams },
		{ "media_ports_free", "gauge", "Ports not in use.",
		  media.ports_free },
		{ "media_ports_used", "gauge", "Ports in use.",
		  media.ports_used },
		{ "media_packets_in_total", "counter", "RTP received.",
		  (double)media.packets_in },
		{ "media_packets_out_total", "counter", "RTP sent.",
		  (double)media.packets_out },
		{ "media_bytes_in_total", "counter", "Bytes received.",
		  (double)media.bytes_in },
		{ "media_bytes_out_total", "counter", "Bytes sent.",
		  (double)media.bytes_out },
		{ "media_auth_failures_total", "counter",
		  "Packets that failed authentication.",
		  (double)media.auth_failures },
		{ "media_replays_total", "counter", "Replayed packets.",
		  (double)media.replays },
		{ "media_late_slots_total", "counter", "Slots sent late.",
		  (double)media.late_slots },
		{ "media_slot_late_seconds_max", "gauge", "Latest slot.",
		  (double)media.slot_late_us_max / 1e6 },
	};

	ADD(out, metrics);
}

static void add_store(struct buffer *out, const struct service *service)
{
	struct store_stats store = { 0 };
	struct loop_stats loop = { 0 };

	store_stats(service->store, &store);
	loop_stats(service->loop, &loop);
	const struct metric metrics[] = {
		{ "store_writes_total", "counter", "Operations written.",
		  (double)store.writes },
		{ "store_commits_total", "counter", "Transactions committed.",
		  (double)store.commits },
		{ "store_failures_total", "counter", "Operations that failed.",
		  (double)store.failures },
		{ "store_queued", "gauge", "Operations waiting.",
		  (double)store.queued },
		{ "store_commit_seconds_total", "counter", "Time in COMMIT.",
		  (double)store.commit_us_total / 1e6 },
		{ "store_wal_bytes", "gauge", "Size of the log.",
		  (double)store.wal_bytes },
		{ "loop_turns_total", "counter", "Turns of the loop.",
		  (double)loop.turns },
		{ "loop_slow_callbacks_total", "counter",
		  "Callbacks over 5 ms.", (double)loop.slow_callbacks },
		{ "loop_longest_callback_seconds", "gauge", "Longest callback.",
		  (double)loop.longest_us / 1e6 },
		{ "loop_timers", "gauge", "Timers of all parts.",
		  (double)loop.timers },
	};

	ADD(out, metrics);
}

static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	char line[128] = "";
	struct slice rest;
	uint64_t pages = 0;

	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	rest = slice_of(line);
	slice_cut(&rest, ' ');
	slice_to_u64(&pages, slice_cut(&rest, ' '), UINT64_MAX);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	double n = -1; /* the folder's own */

	if (!folder)
		return 0;
	while (readdir(folder))
		n++;
	closedir(folder);
	return n - 2; /* "." and ".." */
}

static void add_process(struct buffer *out, const struct service *service)
{
	struct rusage usage = { 0 };
	double cpu;

	getrusage(RUSAGE_SELF, &usage);
	cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	const struct metric metrics[] = {
		{ "process_cpu_seconds_total", "counter", "CPU time.", cpu },
		{ "process_resident_bytes", "gauge", "Resident memory.",
		  resident_bytes() },
		{ "process_heap_bytes", "gauge", "Allocated memory in use.",
		  (double)mem_in_use() },
		{ "process_open_files", "gauge", "Open descriptors.",
		  open_files() },
		{ "process_start_seconds", "gauge", "Start, Unix time.",
		  (double)service->started_ms / 1000.0 },
	};

	ADD(out, metrics);
}

/* The token, or without one a peer on this machine that asks for itself: a
 * reverse proxy asks for others. */
static bool may_read(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct slice token = slice_of(
		config_text(view->service->config, "http.metrics_token"));
	struct slice rest =
		slice_trim(request_header(request, "Authorization"));
	struct slice scheme;

	if (!token.len)
		return addr_is_loopback(view->peer) &&
		       !request_header(request, "X-Forwarded-For").ptr &&
		       !request_header(request, "Forwarded").ptr;
	scheme = slice_cut(&rest, ' ');
	return slice_eq_nocase(scheme, SLICE("Bearer")) &&
	       secret_is_equal(slice_trim(rest), token);
}

static void metrics(struct request *request)
{
	static const struct request_error refused = { 401, "AUTH_FAILURE",
						      "Unauthorized", NULL };
	const struct service *service = request_view(request)->service;
	struct buffer text;

	if (!may_read(request)) {
		request_fail(request, &refused);
		return;
	}
	buffer_init(&text, TEXT_MAX_BYTES);
	add_calls(&text, service);
	add_sip(&text, service);
	add_health(&text, service);
	add_media(&text, service);
	add_store(&text, service);
	add_process(&text, service);
	request_reply_as(request, "text/plain; version=0.0.4; charset=utf-8",
			 buffer_slice(&text));
	buffer_reset(&text);
}

static const struct route routes[] = {
	{ "GET", "/healthz", health, ROUTE_OPEN,
	  "Is the process up, and is it ready for calls?" },
	{ "GET", "/metrics", metrics, ROUTE_OPEN, "Counters for Prometheus." },
};

const struct route_set api_status = { routes,
				      sizeof(routes) / sizeof(*routes) };

/* SPDX-License-Identifier: MIT */
/* /v1/sip/numbers, /v1/sip/status, /v1/sip/firewall-ips: what is attached, is
 * the other side there, and what it must let through. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>
#include "agent/call/health.h"
#include "agent/call/phone.h"
#include "core/addr.h"
#include "core/config.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/time.h"
#include "core/timer.h"
#include "http/api/sets.h"
#include "http/api/sip_body.h"
#include "http/problem.h"
#include "sip/ua.h"

enum { PAGE = 100, TEXT_MAX_BYTES = 64 * 1024 * 1024 };

static void report_of(const struct service *service, const char *host,
		      uint16_t port, struct health_report *out)
{
	struct trunk_target target = { host, port };

	*out = (struct health_report){ 0 };
	if (service->health && host)
		health_report(service->health, &target, out);
}

/* ---- numbers ---- */

/* One list in the making: a page of it in each turn of the loop. */
struct listing {
	struct request *request;
	struct timer *timer; /* owned */
	struct buffer text; /* owned */
	char after[PHONE_SIZE];
};

static const char *direction_of(const struct trunk_number *number)
{
	if (number->is_inbound && number->is_outbound)
		return "both";
	return number->is_inbound ? "inbound" : "outbound";
}

static void add_number(struct buffer *out, const struct service *service,
		       const struct trunk_number *number)
{
	json_t *entry = json_object();
	json_t *directions = json_array();
	struct health_report report;

	if (number->is_inbound)
		json_array_append_new(directions, json_string("inbound"));
	if (number->is_outbound)
		json_array_append_new(directions, json_string("outbound"));
	report_of(service, number->host, number->port, &report);
	json_put_str(entry, "phone_number", number->number);
	json_put(entry, "directions", directions);
	json_put_str(entry, "direction", direction_of(number));
	json_put_str(entry, "sip_endpoint", number->sip_endpoint);
	json_put_str(entry, "health_status", health_state_name(report.state));
	json_put_str(entry, "status", "active");
	json_write(out, entry);
	json_decref(entry);
}

static void finish_listing(struct listing *listing, int err)
{
	struct request *request = listing->request;

	buffer_add_str(&listing->text, "]},\"errors\":null}");
	if (!err)
		err = buffer_error(&listing->text);
	if (err)
		request_fail_internal(request, err);
	else
		request_reply_text(request, 200, buffer_slice(&listing->text));
	timer_close(&listing->timer);
	buffer_reset(&listing->text);
	mem_free(listing);
}

static void list_page(void *arg)
{
	struct listing *listing = arg;
	const struct request_view *view = request_view(listing->request);
	const struct trunk_page page = { view->org_id, listing->after, PAGE };
	struct arena *arena = arena_open();
	struct trunk_number *rows;
	size_t n = 0;
	int err = trunks_numbers(view->service->store, arena, &page, &rows, &n);

	for (size_t i = 0; !err && i < n; i++) {
		if (i || listing->after[0])
			buffer_add_char(&listing->text, ',');
		add_number(&listing->text, view->service, &rows[i]);
	}
	if (!err && n == PAGE) {
		snprintf(listing->after, sizeof(listing->after), "%s",
			 rows[n - 1].number);
		timer_start(listing->timer, 0, list_page, listing);
	} else {
		finish_listing(listing, err);
	}
	arena_close(&arena);
}

static void list_numbers(struct request *request)
{
	struct listing *listing = mem_new(sizeof(*listing));

	*listing = (struct listing){
		.request = request,
		.timer = timer_new(request_view(request)->service->loop),
	};
	buffer_init(&listing->text, TEXT_MAX_BYTES);
	buffer_add_str(&listing->text, "{\"data\":{\"numbers\":[");
	list_page(listing); /* last */
}

/* ---- status ---- */

static json_t *status_json(const struct health_report *report)
{
	json_t *data = json_object();
	char at[TIME_TEXT_SIZE];

	json_put_str(data, "status", health_state_name(report->state));
	json_put(data, "response_time_ms",
		 report->state == HEALTH_HEALTHY
			 ? json_integer(report->response_ms)
			 : json_null());
	json_put_str(data, "checked_at",
		     report->checked_ms ? time_write(at, report->checked_ms)
					: NULL);
	if (report->why[0])
		json_put_str(data, "reason", report->why);
	return data;
}

static void on_asked(void *owner, const struct health_report *report)
{
	request_reply_data(owner, 200, status_json(report));
}

static void ask(struct request *request, const struct trunk_row *row)
{
	static const struct request_error busy = {
		429, "TOO_MANY_REQUESTS",
		"Too many trunks are being checked at once", NULL
	};
	const struct request_view *view = request_view(request);
	const struct trunk_target target = { row->host, row->port };
	struct health_report unchecked = { 0 };

	if (!view->service->health)
		on_asked(request, &unchecked);
	else if (health_ask(view->service->health, view->org_id, &target,
			    on_asked, request))
		request_fail(request, &busy);
}

/* Inbound alone leads nowhere that could be asked. */
static void status_of_inbound(struct request *request, struct trunk_row *key)
{
	const struct request_view *view = request_view(request);
	struct health_report unchecked = { 0 };
	struct trunk_row row;
	int err;

	key->direction = TRUNK_INBOUND;
	err = trunks_get(view->service->store, view->arena, key, &row);
	if (!err)
		on_asked(request, &unchecked);
	else if (err == -ENOENT)
		problem_missing(
			request,
			arena_printf(view->arena,
				     "No SIP configuration is attached to %s",
				     key->number));
	else
		request_fail_internal(request, err);
}

static void status(struct request *request)
{
	const struct request_view *view = request_view(request);
	char number[PHONE_SIZE];
	struct trunk_row key = { .org_id = view->org_id,
				 .number = number,
				 .direction = TRUNK_OUTBOUND };
	struct trunk_row row;
	int err;

	if (sip_query_number(number, request))
		return;
	err = trunks_get(view->service->store, view->arena, &key, &row);
	if (!err)
		ask(request, &row);
	else if (err == -ENOENT)
		status_of_inbound(request, &key);
	else
		request_fail_internal(request, err);
}

/* ---- firewall ---- */

static void add_address(json_t *out, const struct addr *addr)
{
	char text[ADDR_TEXT_SIZE];
	size_t i;
	json_t *value;

	addr_ip(addr, text);
	json_array_foreach(out, i, value) {
		if (!strcmp(json_string_value(value), text))
			return;
	}
	json_array_append_new(out, json_string(text));
}

static bool is_public(const struct ifaddrs *face)
{
	const struct addr *addr = (const struct addr *)face->ifa_addr;

	if (!addr || !(face->ifa_flags & IFF_UP) || addr_is_loopback(addr))
		return false;
	if (addr->sa.sa_family == AF_INET6)
		return !IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr);
	return addr->sa.sa_family == AF_INET;
}

/* Who listens on all addresses may be seen with any. */
static void add_interfaces(json_t *out, const struct addr *any)
{
	struct ifaddrs *faces = NULL;

	if (getifaddrs(&faces))
		return;
	for (struct ifaddrs *at = faces; at; at = at->ifa_next) {
		const struct addr *addr = (const struct addr *)at->ifa_addr;

		if (is_public(at) && (any->sa.sa_family == AF_INET6 ||
				      addr->sa.sa_family == AF_INET))
			add_address(out, addr);
	}
	freeifaddrs(faces);
}

/* The first of the settings that is given: what is announced, what is bound. */
static void add_first(json_t *out, const struct config *config,
		      const char *const *keys)
{
	struct addr addr;

	while (*keys &&
	       addr_parse(&addr, slice_of(config_text(config, *keys)), 0))
		keys++;
	if (!*keys)
		return;
	if (addr_is_any(&addr))
		add_interfaces(out, &addr);
	else
		add_address(out, &addr);
}

static void firewall(struct request *request)
{
	static const char *const sip[] = { "sip.public_address", "sip.listen",
					   NULL };
	static const char *const media[] = { "media.public_address",
					     "media.address",
					     "sip.public_address", "sip.listen",
					     NULL };
	const struct request_view *view = request_view(request);
	const struct config *config = view->service->config;
	/* The range ends with the RTCP port of its last pair: 32768 as it is
	 * published, of which 32767 is the last that is used. */
	long long last = config_number(config, "media.port_max");
	unsigned port = view->service->ua
				? ua_port(view->service->ua)
				: (unsigned)config_number(config, "sip.port");
	json_t *data = json_object();
	json_t *addresses = json_array();
	json_t *ports = json_object();

	add_first(addresses, config, sip);
	add_first(addresses, config, media);
	json_put(data, "ip_addresses", addresses);
	json_put_str(ports, "sip", arena_printf(view->arena, "%u TLS", port));
	json_put_str(
		ports, "rtp",
		arena_printf(view->arena, "%lld-%lld UDP",
			     (long long)config_number(config, "media.port_min"),
			     last + (last & 1)));
	json_put(data, "ports", ports);
	request_reply_data(request, 200, data);
}

static const struct route routes[] = {
	{ "GET", "/v1/sip/numbers", list_numbers, ROUTE_SIP,
	  "All attached numbers, with the health of their trunks." },
	{ "GET", "/v1/sip/status", status, ROUTE_SIP,
	  "Asks a number's trunk with an OPTIONS, now." },
	{ "GET", "/v1/sip/firewall-ips", firewall, ROUTE_SIP,
	  "Addresses and ports that the other side must let through." },
};

const struct route_set api_sip_numbers = { routes,
					   sizeof(routes) / sizeof(*routes) };

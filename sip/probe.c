/* SPDX-License-Identifier: MIT */
/* One OPTIONS to a trunk (RFC 3261, 11): is anyone there, and how quickly. */
#include <stdio.h>
#include "core/loop.h"
#include "core/mem.h"
#include "sip/request.h"
#include "sip/session_trunk.h"
#include "sip/ua_priv.h"

struct ua_probe {
	struct ua *ua; /* borrowed: outlives us */
	struct dialog *dialog; /* owned */
	struct sip_request *request; /* owned */
	struct sip_request_login login; /* owned text */
	ua_options_fn *on_done;
	void *owner; /* borrowed: may cancel us */
	uint64_t start_us;
};

static void done(struct ua_probe *probe, int status, const char *why)
{
	ua_options_fn *on_done = probe->on_done;
	void *owner = probe->owner;
	uint64_t us = loop_now_us(probe->ua->loop) - probe->start_us;
	char text[256];

	snprintf(text, sizeof(text), "%s", why ? why : "");
	ua_probe_cancel(&probe);
	on_done(owner, status, (uint32_t)(us / 1000), text); /* last */
}

static void on_response(void *owner, struct sip_message *response)
{
	if (response->start.status >= 200)
		done(owner, response->start.status, NULL);
}

static void on_failed(void *owner, const struct sip_request_failure *failure)
{
	done(owner, 0, failure->why);
}

static struct dialog *open_dialog(struct ua *ua,
				  const struct session_trunk *trunk)
{
	struct sip_target target;
	char uri[sizeof(trunk->host) + 16];
	struct dialog_out out = { .trunk = &target,
				  .target = uri,
				  .domain = ua->domain,
				  .user = "parley" };

	if (session_trunk_target(&target, ua, trunk))
		return NULL;
	snprintf(uri, sizeof(uri),
		 strchr(trunk->host, ':') ? "sip:[%s]" : "sip:%s", trunk->host);
	if (trunk->port)
		snprintf(uri + strlen(uri), sizeof(uri) - strlen(uri), ":%u",
			 trunk->port);
	return dialog_open_out(&out);
}

static void ignore_request(void *user, struct dialog *dialog,
			   struct sip_message *request)
{
	struct ua_probe *probe = user;

	if (request->start.method != SIP_ACK)
		ua_respond(probe->ua, dialog->link, request, 481, SLICE(""));
}

struct ua_probe *ua_probe(struct ua *ua, const struct session_trunk *trunk,
			  ua_options_fn *on_done, void *owner)
{
	static const struct sip_request_events events = {
		.on_response = on_response,
		.on_failed = on_failed,
	};
	struct ua_probe *probe = mem_new(sizeof(*probe));
	struct sip_request_options options = { .method = SIP_OPTIONS };

	*probe = (struct ua_probe){
		.ua = ua,
		.dialog = open_dialog(ua, trunk),
		.login = { .username = mem_dup_str(trunk->username),
			   .password = mem_dup_str(trunk->password) },
		.on_done = on_done,
		.owner = owner,
		.start_us = loop_now_us(ua->loop),
	};
	if (!probe->dialog) {
		ua_probe_cancel(&probe);
		return NULL;
	}
	dialog_list(probe->dialog, &ua->dialogs, ignore_request, probe);
	options.dialog = probe->dialog;
	options.login = &probe->login;
	probe->request = sip_request_open(ua, &options, &events, probe);
	return probe;
}

void ua_probe_cancel(struct ua_probe **probe)
{
	struct ua_probe *p = *probe;

	if (!p)
		return;
	*probe = NULL;
	sip_request_close(&p->request);
	dialog_close(&p->dialog, &p->ua->dialogs);
	mem_free(p->login.username);
	mem_free(p->login.password);
	mem_free(p);
}

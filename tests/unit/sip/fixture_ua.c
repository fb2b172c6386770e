/* SPDX-License-Identifier: MIT */
#include "fixture_ua.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/link.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/pki.h"
#include "core/tls.h"
#include "core/work.h"
#include "sip/header.h"
#include "sip/locate.h"
#include "sip/response.h"

static const int64_t start_ms = 1767312000000; /* 2026-01-02 */

/* ---- owners of sessions ---- */

static void note(struct side *side, const char *what, struct slice sdp)
{
	buffer_printf(&side->log, "%s [%.*s];", what, (int)sdp.len,
		      sdp.len ? sdp.ptr : "");
}

static void on_progress(void *owner, int status, struct slice sdp)
{
	char what[24];

	snprintf(what, sizeof(what), "progress %d", status);
	note(owner, what, sdp);
}

static void on_answer(void *owner, struct slice sdp)
{
	note(owner, "answer", sdp);
}

static void on_offer(void *owner, struct slice sdp)
{
	note(owner, "offer", sdp);
}

static void on_end(void *owner, const struct session_end *end)
{
	static const char *const causes[] = {
		[SESSION_HANGUP] = "hangup",
		[SESSION_REJECTED] = "rejected",
		[SESSION_CANCELED] = "canceled",
		[SESSION_NO_ANSWER] = "no answer",
		[SESSION_UNREACHABLE] = "unreachable",
		[SESSION_UNTRUSTED] = "untrusted",
		[SESSION_LOST] = "lost",
		[SESSION_TIMED_OUT] = "timed out",
		[SESSION_PROTOCOL] = "protocol",
	};
	struct side *side = owner;

	buffer_printf(&side->log, "end %s %d%s;", causes[end->cause], end->code,
		      end->by_remote ? " remote" : "");
	assert_non_null(end->reason);
	if (side->closes_in_end)
		session_close(&side->session);
}

/* "refer URI NUMBER HOST:PORT REPLACES REFERRED-BY [no notify];" */
static int on_refer(void *owner, const struct session_refer *refer)
{
	struct side *side = owner;

	buffer_printf(&side->log, "refer %s %s %s:%u %s %s%s;", refer->uri,
		      refer->number, refer->host, refer->port,
		      refer->replaces ? refer->replaces : "-",
		      refer->referred_by ? refer->referred_by : "-",
		      refer->wants_notify ? "" : " no notify");
	return side->refer_status ? side->refer_status : 202;
}

static void on_refer_status(void *owner, int status, bool is_over)
{
	struct side *side = owner;

	buffer_printf(&side->log, "referred %d%s;", status,
		      is_over ? " over" : "");
}

const struct session_events side_events = {
	.on_refer = on_refer,
	.on_refer_status = on_refer_status,
	.on_progress = on_progress,
	.on_answer = on_answer,
	.on_offer = on_offer,
	.on_end = on_end,
};

static int on_invite(void *owner, struct session *session,
		     const struct ua_invite *invite)
{
	struct side *side = owner;

	buffer_printf(&side->log, "invite %s %s %s ", invite->to_number,
		      invite->from_number, invite->from_display);
	note(side, "", invite->offer);
	if (side->on_invited)
		side->on_invited(side, session);
	if (invite->replaces)
		buffer_printf(&side->log, "replaces %s;",
			      invite->replaces == side->session ? "ours"
								: "another");
	if (side->invite_status)
		return side->invite_status;
	session_close(&side->session);
	session_accept(session, &side_events, side);
	side->session = session;
	if (side->answer)
		assert_int_equal(
			session_answer(session, slice_of(side->answer)), 0);
	if (side->closes_in_invite)
		session_close(&side->session);
	return 0;
}

/* ---- the world ---- */

/* Keys are made once for all worlds of a program. */
static char pki_dir[32];

static void make_leaf(const char *ca, const char *name)
{
	static const char *const names[] = { "127.0.0.1", "localhost",
					     "sip:trunk.test", "sip:multi.test",
					     "::1" };
	char ca_pem[64], ca_key[64], pem[64], key[64];
	struct pki_files files = { ca_pem, ca_key };
	struct pki_leaf leaf = { .ca = files,
				 .files = { pem, key },
				 .names = names,
				 .n_names = 5,
				 .wall_ms = start_ms };
	struct buffer why;

	buffer_init(&why, 512);
	snprintf(ca_pem, sizeof(ca_pem), "%s/%s.pem", pki_dir, ca);
	snprintf(ca_key, sizeof(ca_key), "%s/%s.key", pki_dir, ca);
	snprintf(pem, sizeof(pem), "%s/%s.pem", pki_dir, name);
	snprintf(key, sizeof(key), "%s/%s.key", pki_dir, name);
	assert_int_equal(pki_make_ca(&files, ca, start_ms, &why), 0);
	assert_int_equal(pki_make_leaf(&leaf, &why), 0);
	buffer_reset(&why);
}

static void remove_pki(void)
{
	DIR *dir = opendir(pki_dir);
	const struct dirent *entry;
	char file[320];

	while ((entry = readdir(dir))) {
		snprintf(file, sizeof(file), "%s/%s", pki_dir, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(file);
	}
	closedir(dir);
	rmdir(pki_dir);
}

static void make_pki(void)
{
	if (pki_dir[0])
		return;
	snprintf(pki_dir, sizeof(pki_dir), "/tmp/parley-ua-XXXXXX");
	assert_non_null(mkdtemp(pki_dir));
	atexit(remove_pki);
	make_leaf("ca", "node");
	make_leaf("other", "stranger");
}

static struct tls *open_tls(struct world *w, const char *name)
{
	char ca[64], pem[64], key[64];
	struct tls_options options = { .loop = w->loop,
				       .work = w->work,
				       .certificate_file = pem,
				       .key_file = key,
				       .ca_file = ca };
	struct tls *tls = NULL;
	struct buffer why;

	buffer_init(&why, 512);
	snprintf(ca, sizeof(ca), "%s/ca.pem", pki_dir);
	snprintf(pem, sizeof(pem), "%s/%s.pem", pki_dir, name);
	snprintf(key, sizeof(key), "%s/%s.key", pki_dir, name);
	assert_int_equal(tls_open(&tls, &options, &why), 0);
	buffer_reset(&why);
	return tls;
}

static void open_side(struct world *w, struct side *side, uint16_t port)
{
	static const struct locate_host hosts[] = {
		{ "trunk.test", "127.0.0.1", 0 },
		/* Two servers, by their ports. */
		{ "multi.test", "127.0.0.1", RAW_PORT },
		{ "multi.test", "127.0.0.1", SECOND_PORT },
	};
	static const struct ua_events events = { .on_invite = on_invite };
	const struct locate_options locate = { .hosts = hosts, .n_hosts = 3 };
	struct ua_options options = {
		.transport = { .loop = w->loop,
			       .tls = w->tls,
			       .public_address = "",
			       .user_agent = "parley-test",
			       .locate = &locate },
		.domain = "near.test",
		.max_sessions = 4,
	};

	addr_parse(&options.transport.listen.bind, SLICE("127.0.0.1"), port);
	buffer_init(&side->log, 65536);
	assert_int_equal(ua_open(&side->ua, &options, &events, side), 0);
	assert_int_equal(ua_port(side->ua), port);
}

int world_setup(void **state)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	struct world *w = mem_new(sizeof(*w));

	log_setup(&quiet);
	make_pki();
	loop_open_sim(&w->loop, start_ms);
	assert_int_equal(work_open(&w->work, w->loop), 0);
	w->tls = open_tls(w, "node");
	w->stranger = open_tls(w, "stranger");
	open_side(w, &w->near, NEAR_PORT);
	open_side(w, &w->far, FAR_PORT);
	w->raw.world = w;
	buffer_init(&w->raw.got, 1 << 20);
	*state = w;
	return 0;
}

void world_run(struct world *world, uint64_t ms)
{
	loop_advance_ms(world->loop, ms);
}

static void assert_counts_zero(const struct ua *ua)
{
	struct ua_stats stats = { 0 };

	if (ua)
		ua_stats(ua, &stats);
	assert_int_equal(stats.sessions, 0);
	assert_int_equal(stats.dialogs, 0);
	assert_int_equal(stats.client_transactions, 0);
	assert_int_equal(stats.server_transactions, 0);
}

static void close_side(struct side *side)
{
	ua_close(&side->ua);
	buffer_reset(&side->log);
}

int world_teardown(void **state)
{
	struct world *w = *state;

	session_close(&w->near.session);
	session_close(&w->far.session);
	world_run(w, 130 * 1000);
	assert_counts_zero(w->near.ua);
	assert_counts_zero(w->far.ua);
	close_side(&w->near);
	close_side(&w->far);
	link_close(&w->raw.link);
	listener_close(&w->raw.listener);
	buffer_reset(&w->raw.got);
	sip_message_unref(&w->raw.message);
	tls_close(&w->tls);
	tls_close(&w->stranger);
	world_run(w, 0);
	work_close(&w->work);
	loop_close(&w->loop);
	mem_free(w);
	return 0;
}

int side_call(struct world *world, uint16_t port,
	      const struct session_call *call)
{
	struct session_trunk trunk = { .host = "trunk.test", .port = port };
	struct session_call full = *call;

	if (!full.trunk)
		full.trunk = &trunk;
	if (!full.to_number)
		full.to_number = "+15550100";
	if (!full.from_number)
		full.from_number = "+15550199";
	if (!full.offer.len)
		full.offer = SLICE("offer");
	return session_invite(&world->near.session, world->near.ua, &full,
			      &side_events, &world->near);
}

/* ---- the scripted peer ---- */

static void raw_on_data(void *owner, struct slice data)
{
	struct raw *raw = owner;

	buffer_add(&raw->got, data);
}

static void raw_on_close(void *owner, int err, const char *why)
{
	struct raw *raw = owner;

	raw->closes++;
	link_close(&raw->link);
}

static void raw_on_open(void *owner)
{
}

static const struct link_events raw_events = {
	.on_open = raw_on_open,
	.on_data = raw_on_data,
	.on_close = raw_on_close,
};

static void raw_on_accept(void *owner, struct link *link)
{
	struct raw *raw = owner;

	raw->accepts++;
	link_close(&raw->link);
	raw->link = link;
	link_attach(link, &raw_events, raw);
}

void raw_listen_at(struct raw *raw, struct tls *tls, const char *ip,
		   uint16_t port)
{
	struct listen_options options = { 0 };

	addr_parse(&options.bind, slice_of(ip), port);
	assert_int_equal(
		tls_listen(&raw->listener, tls, &options, raw_on_accept, raw),
		0);
}

void raw_listen(struct world *world, struct tls *tls)
{
	raw_listen_at(&world->raw, tls, "127.0.0.1", RAW_PORT);
}

void raw_dial(struct world *world)
{
	struct raw *raw = &world->raw;
	struct tls_target target = { .name = "127.0.0.1" };

	addr_parse(&target.addr, SLICE("127.0.0.1"), NEAR_PORT);
	link_close(&raw->link);
	assert_int_equal(
		tls_connect(&raw->link, world->tls, &target, &raw_events, raw),
		0);
	world_run(world, 50);
	if (raw->call_id[0])
		return;
	snprintf(raw->call_id, sizeof(raw->call_id), "raw-call@127.0.0.1");
	snprintf(raw->local, sizeof(raw->local),
		 "\"Ann\" <sip:+15550177@127.0.0.1>;tag=raw");
	snprintf(raw->remote, sizeof(raw->remote), "<sip:+15550100@near.test>");
	snprintf(raw->target, sizeof(raw->target), "sip:+15550100@near.test");
}

void raw_cut(struct raw *raw)
{
	link_close(&raw->link);
	buffer_clear(&raw->got);
}

struct sip_message *raw_take(struct raw *raw)
{
	const char *why = NULL;
	ssize_t len;

	sip_message_unref(&raw->message);
	while (raw->got.len && raw->got.ptr[0] == '\r')
		buffer_consume(&raw->got, raw->got.len > 1 ? 2 : 1);
	len = sip_message_frame(buffer_slice(&raw->got));
	assert_true(len >= 0);
	if (len == 0)
		return NULL;
	assert_int_equal(
		sip_message_parse(&raw->message,
				  slice_make(raw->got.ptr, (size_t)len), &why),
		0);
	buffer_consume(&raw->got, (size_t)len);
	return raw->message;
}

struct sip_message *raw_expect(struct raw *raw, const char *what)
{
	struct sip_message *message = raw_take(raw);
	char seen[32] = "nothing";

	if (message && message->start.is_request)
		snprintf(seen, sizeof(seen), "%.*s",
			 (int)message->start.method_text.len,
			 message->start.method_text.ptr);
	else if (message)
		snprintf(seen, sizeof(seen), "%d", message->start.status);
	assert_string_equal(seen, what);
	return message;
}

void raw_write(struct raw *raw, struct slice text)
{
	assert_non_null(raw->link);
	assert_int_equal(link_send(raw->link, text), 0);
	world_run(raw->world, 20);
}

void raw_reply(struct raw *raw, const struct sip_message *request, int status,
	       const char *headers, const char *body)
{
	struct addr peer;
	struct response response = { .request = request,
				     .peer = &peer,
				     .tag = "rawtag",
				     .headers = slice_of(headers),
				     .body = slice_of(body) };
	struct buffer text;

	addr_parse(&peer, SLICE("127.0.0.1"), 1);
	buffer_init(&text, 65536);
	response_write(&text, status, &response);
	assert_int_equal(buffer_error(&text), 0);
	raw_write(raw, buffer_slice(&text));
	buffer_reset(&text);
}

struct slice message_value(const struct sip_message *message, const char *name)
{
	return sip_message_value(message, slice_of(name));
}

static void copy_slice(char *out, size_t size, struct slice from)
{
	snprintf(out, size, "%.*s", (int)from.len, from.len ? from.ptr : "");
}

void raw_learn(struct raw *raw, const struct sip_message *message)
{
	const struct sip_header *contact =
		sip_message_header(message, SIP_H_CONTACT, 0);
	struct sip_address address;

	copy_slice(raw->call_id, sizeof(raw->call_id), message->common.call_id);
	if (message->start.is_request) {
		copy_slice(raw->remote, sizeof(raw->remote),
			   message_value(message, "From"));
		copy_slice(raw->local, sizeof(raw->local) - 16,
			   message_value(message, "To"));
		strcat(raw->local, ";tag=rawtag");
	} else {
		copy_slice(raw->remote, sizeof(raw->remote),
			   message_value(message, "To"));
	}
	if (contact && sip_address_parse(&address, contact->value) == 0)
		copy_slice(raw->target, sizeof(raw->target), address.uri_text);
}

void raw_request(struct raw *raw, const char *method, const char *headers,
		 const char *body)
{
	struct buffer text;

	if (strcmp(method, "ACK") != 0)
		raw->cseq++;
	snprintf(raw->branch, sizeof(raw->branch), "z9hG4bKraw%u",
		 ++raw->branches);
	buffer_init(&text, 65536);
	buffer_printf(&text,
		      "%s %s SIP/2.0\r\n"
		      "Via: SIP/2.0/TLS 127.0.0.1:5065;branch=%s;rport\r\n"
		      "Max-Forwards: 70\r\nFrom: %s\r\nTo: %s\r\n"
		      "Call-ID: %s\r\nCSeq: %u %s\r\n"
		      "Contact: <sip:raw@127.0.0.1:5065;transport=tls>\r\n",
		      method, raw->target, raw->branch, raw->local, raw->remote,
		      raw->call_id, raw->cseq, method);
	buffer_add_str(&text, headers);
	if (*body && !strstr(headers, "Content-Type"))
		buffer_add_str(&text, "Content-Type: application/sdp\r\n");
	buffer_printf(&text, "Content-Length: %zu\r\n\r\n%s", strlen(body),
		      body);
	raw_write(raw, buffer_slice(&text));
	buffer_reset(&text);
}

void raw_take_call(struct world *world)
{
	struct raw *raw = &world->raw;
	struct sip_message *invite;

	if (!raw->listener)
		raw_listen(world, world->tls);
	assert_int_equal(
		side_call(world, RAW_PORT, &(struct session_call){ 0 }), 0);
	world_run(world, 50);
	invite = raw_expect(raw, "INVITE");
	raw_learn(raw, invite);
	raw_reply(raw, invite, 200,
		  "Contact: <sip:raw@127.0.0.1:5065;transport=tls>\r\n",
		  "answer");
	raw_expect(raw, "ACK");
	raw_expect_none(raw);
	expect_log(&world->near, "answer [answer];");
}

void raw_make_call(struct world *world)
{
	struct raw *raw = &world->raw;

	raw_dial(world);
	world->near.answer = "answer";
	raw_request(raw, "INVITE", "", "offer");
	raw_expect(raw, "100");
	raw_learn(raw, raw_expect(raw, "200"));
	raw_request(raw, "ACK", "", "");
	raw_expect_none(raw);
	expect_log(&world->near, "invite +15550100 +15550177 Ann  [offer];"
				 "answer [];");
}

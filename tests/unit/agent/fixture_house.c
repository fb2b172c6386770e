/* SPDX-License-Identifier: MIT */
#include "tests/unit/agent/fixture_house.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/id.h"
#include "core/json.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/pki.h"
#include "core/secret.h"
#include "core/sim.h"
#include "core/timer.h"
#include "core/tls.h"
#include "core/work.h"
#include "media/playout.h"
#include "sip/locate.h"
#include "sip/message.h"
#include "sip/session_priv.h"
#include "store/numbers.h"
#include "store/pathways.h"
#include "store/store_priv.h"
#include "store/trunks.h"
#include "tests/unit/agent/fixture_pathway.h"

enum { NEAR_PORT = 5061, FAR_PORT = 5063 };

static const int64_t start_ms = 1767312000000; /* 2026-01-02 */

static const char nodes[] =
	"[{'id':'a','type':'Default','data':{'name':'Start','isStart':true,"
	" 'text':'Hello there, would you like a pizza?'}},"
	"{'id':'b','type':'Default','data':{'name':'Size',"
	" 'text':'What size should it be?'}},"
	"{'id':'c','type':'Default','data':{'name':'Order',"
	" 'text':'Shall I order it now?'}},"
	"{'id':'d','type':'End Call','data':{'name':'Bye',"
	" 'text':'All right. Goodbye.'}}]";
static const char edges[] =
	"[{'id':'1','source':'a','target':'b','label':'user says yes'},"
	"{'id':'2','source':'a','target':'d','label':'user says no'},"
	"{'id':'3','source':'b','target':'c','data':{'alwaysPick':true,"
	" 'label':'any size'}},"
	"{'id':'4','source':'c','target':'d','label':'user says yes'},"
	"{'id':'5','source':'c','target':'b','label':'user says no'}]";

/* ---- files: made once for all houses of a program ---- */

static char dir[40];

static const char *path(struct house *house, const char *name)
{
	return arena_printf(house->arena, "%s/%s", dir, name);
}

static void remove_files(void)
{
	DIR *open = opendir(dir);
	const struct dirent *entry;
	char file[320];

	while ((entry = readdir(open))) {
		snprintf(file, sizeof(file), "%s/%s", dir, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(file);
	}
	closedir(open);
	rmdir(dir);
}

static void make_files(struct house *house)
{
	static const char *const names[] = { "127.0.0.1", "localhost",
					     "sip:trunk.test" };
	struct pki_leaf leaf = { .names = names,
				 .n_names = 3,
				 .wall_ms = start_ms };
	struct buffer why;

	if (dir[0])
		return;
	snprintf(dir, sizeof(dir), "/tmp/parley-house-XXXXXX");
	assert_non_null(mkdtemp(dir));
	atexit(remove_files);
	leaf.ca = (struct pki_files){ path(house, "ca.pem"),
				      path(house, "ca.key") };
	leaf.files = (struct pki_files){ path(house, "node.pem"),
					 path(house, "node.key") };
	buffer_init(&why, 512);
	assert_int_equal(pki_make_ca(&leaf.ca, "ca", start_ms, &why), 0);
	assert_int_equal(pki_make_leaf(&leaf, &why), 0);
	buffer_reset(&why);
}

/* ---- the network of the webhooks ---- */

static char *header(const struct fetch_request *request, const char *name)
{
	for (size_t i = 0; i < request->n_headers; i++) {
		if (!strcmp(request->headers[i].name, name))
			return mem_dup_str(request->headers[i].value);
	}
	return NULL;
}

static void on_fetch(void *arg, const struct fetch_request *request,
		     struct fetch_result *result)
{
	struct house *house = arg;
	struct house_post *post = &house->posts[house->n_posts];

	assert_true(house->n_posts < HOUSE_POSTS);
	*post = (struct house_post){
		.url = mem_dup_str(request->url),
		.body = slice_dup(request->body),
		.signature = header(request, "X-Webhook-Signature"),
		.previous = header(request, "X-Webhook-Signature-Previous"),
		.id = header(request, "X-Webhook-Id"),
		.attempt = header(request, "X-Webhook-Attempt"),
		.at_ms = loop_wall_ms(house->service.loop),
	};
	*result = (struct fetch_result){ .status = 200,
					 .duration_ms = 10,
					 .reason = "" };
	if (house->n_posts < house->n_results)
		*result = house->results[house->n_posts];
	house->n_posts++;
}

/* ---- the far end ---- */

static void far_say(struct far_leg *leg, unsigned ms)
{
	size_t n = ms * 8;
	int16_t *samples = mem_new_array(n, sizeof(*samples));

	actor_speech(samples, n);
	assert_int_equal(playout_queue(stream_playout(leg->stream), samples, n),
			 0);
	mem_free(samples);
}

static void far_on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct far_leg *leg = owner;
	struct far_manners *manners = &leg->house->manners;

	leg->quiet_ms = is_voice ? 0 : leg->quiet_ms + 20;
	leg->voiced += is_voice;
	leg->has_heard |= is_voice;
	if (!leg->has_heard || leg->said == manners->n_says ||
	    leg->quiet_ms < manners->patience_ms)
		return;
	leg->has_heard = false;
	far_say(leg, manners->says_ms[leg->said++]);
}

static void far_on_hangup(void *arg)
{
	struct far_leg *leg = arg;

	session_hangup(leg->session, NULL);
}

static void far_on_answer(void *owner, struct slice sdp)
{
	struct far_leg *leg = owner;
	uint32_t ms = leg->house->manners.hangs_up_ms;

	leg->is_up = true;
	if (sdp.len)
		assert_int_equal(stream_take_answer(leg->stream, sdp), 0);
	if (ms)
		timer_start(leg->timer, ms, far_on_hangup, leg);
}

static void far_on_end(void *owner, const struct session_end *end)
{
	struct far_leg *leg = owner;

	leg->has_ended = true;
	snprintf(leg->reason, sizeof(leg->reason), "%s",
		 end->reason ? end->reason : "");
	timer_stop(leg->timer);
	session_close(&leg->session);
	stream_close(&leg->stream);
}

static void far_tell(void *arg)
{
	struct far_leg *leg = arg;

	session_refer_notify(leg->session, leg->house->manners.refer_final);
}

static int far_on_refer(void *owner, const struct session_refer *refer)
{
	struct far_leg *leg = owner;
	const struct far_manners *manners = &leg->house->manners;

	snprintf(leg->refer_to, sizeof(leg->refer_to), "%s", refer->number);
	if (manners->refer_final)
		timer_start(leg->timer, 100, far_tell, leg);
	return manners->refer_status ? manners->refer_status : 202;
}

static void far_on_refer_status(void *owner, int status, bool is_over)
{
	struct far_leg *leg = owner;

	assert_true(leg->n_told < 8);
	leg->told[leg->n_told++] = status;
	leg->is_told_all = is_over;
}

static const struct session_events far_session_events = {
	.on_answer = far_on_answer,
	.on_refer = far_on_refer,
	.on_refer_status = far_on_refer_status,
	.on_end = far_on_end,
};
static const struct stream_events far_stream_events = {
	.on_frame = far_on_frame,
};

static struct far_leg *far_leg_open(struct house *house)
{
	struct far_leg *leg = &house->legs[house->n_legs++];

	assert_true(house->n_legs <= FAR_LEGS);
	leg->house = house;
	leg->timer = timer_new(house->service.loop);
	buffer_init(&leg->sdp, 16384);
	assert_int_equal(stream_open(&leg->stream, house->far_media,
				     &far_stream_events, leg),
			 0);
	return leg;
}

static void far_answer(void *arg)
{
	struct far_leg *leg = arg;
	const char *other = leg->house->manners.answer;

	session_answer(leg->session,
		       other ? slice_of(other) : buffer_slice(&leg->sdp));
}

static int far_on_invite(void *owner, struct session *session,
			 const struct ua_invite *invite)
{
	struct house *house = owner;
	struct far_manners *manners = &house->manners;
	struct far_leg *leg;

	if (manners->status)
		return manners->status;
	leg = far_leg_open(house);
	leg->session = session;
	leg->invite = sip_message_ref((struct sip_message *)invite->message);
	assert_int_equal(
		stream_take_offer(leg->stream, invite->offer, &leg->sdp), 0);
	session_accept(session, &far_session_events, leg);
	session_ring(session);
	if (!manners->is_silent)
		timer_start(leg->timer, manners->answer_ms, far_answer, leg);
	return 0;
}

struct far_leg *house_dial_with(struct house *house,
				const struct session_call *wanted)
{
	struct far_leg *leg = far_leg_open(house);
	struct session_trunk trunk = { .host = "trunk.test",
				       .port = NEAR_PORT };
	struct session_call call = *wanted;

	call.trunk = &trunk;
	if (!call.from_number)
		call.from_number = HOUSE_CALLEE;
	stream_offer(leg->stream, &leg->sdp);
	call.offer = buffer_slice(&leg->sdp);
	assert_int_equal(session_invite(&leg->session, house->far_ua, &call,
					&far_session_events, leg),
			 0);
	return leg;
}

struct far_leg *house_dial_in(struct house *house, const char *to)
{
	struct session_call call = { .to_number = to };

	return house_dial_with(house, &call);
}

const char *house_replaces(struct house *house, const struct far_leg *leg)
{
	const struct dialog *dialog = leg->session->dialog;

	return arena_printf(house->arena, "%s;to-tag=%s;from-tag=%s",
			    dialog->id.call_id, dialog->id.remote_tag,
			    dialog->id.local_tag);
}

const char *far_header(struct house *house, const struct far_leg *leg,
		       const char *name)
{
	struct slice value = sip_message_value(leg->invite, slice_of(name));

	return value.ptr ? arena_dup(house->arena, value) : "-";
}

/* ---- opening ---- */

static void open_ua(struct house *house, struct ua **out, uint16_t port,
		    const struct ua_events *events, void *owner)
{
	static const struct locate_host hosts[] = {
		{ "trunk.test", "127.0.0.1", 0 },
	};
	const struct locate_options locate = { .hosts = hosts, .n_hosts = 1 };
	struct ua_options options = {
		.transport = { .loop = house->service.loop,
			       .tls = house->tls,
			       .public_address = "",
			       .user_agent = "parley-test",
			       .locate = &locate },
		.domain = "near.test",
	};

	addr_parse(&options.transport.listen.bind, SLICE("127.0.0.1"), port);
	assert_int_equal(ua_open(out, &options, events, owner), 0);
}

static void open_media(struct house *house, struct media **out, uint16_t port,
		       uint16_t ports)
{
	struct media_options options = {
		.loop = house->service.loop,
		.work = house->service.work,
		.port_min = port,
		.port_max = (uint16_t)(port + ports - 1),
		.codecs = { MEDIA_PCMU, MEDIA_PCMA },
		.n_codecs = 2,
		.timeout_ms = 15000,
	};

	addr_parse(&options.bind, SLICE("127.0.0.1"), 0);
	assert_int_equal(media_open(out, &options), 0);
}

static void open_config(struct house *house)
{
	char *env[] = { arena_printf(house->arena, "PARLEY_RECORDINGS_PATH=%s",
				     dir),
			"PARLEY_SIP_RING_TIMEOUT_S=20",
			"PARLEY_AGENT_MAX_CALLS=12", NULL };
	struct config *config = NULL;
	struct buffer why;

	buffer_init(&why, 512);
	if (config_open(&config, NULL, env, &why))
		fail_msg("%s", buffer_str(&why));
	house->service.config = config;
	buffer_reset(&why);
}

static void open_base(struct house *house)
{
	struct service *service = &house->service;
	struct tls_options tls = { .certificate_file = path(house, "node.pem"),
				   .key_file = path(house, "node.key"),
				   .ca_file = path(house, "ca.pem") };
	struct store_options store = { .folder = ":memory:" };
	struct buffer why;

	loop_open_sim(&service->loop, start_ms);
	assert_int_equal(work_open(&service->work, service->loop), 0);
	tls.loop = store.loop = service->loop;
	tls.work = service->work;
	buffer_init(&why, 512);
	if (tls_open(&house->tls, &tls, &why) ||
	    store_open(&service->store, &store, &why) ||
	    secret_box_open(&service->box, path(house, "store.key"), true,
			    &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
	open_config(house);
}

static void put_pathway(struct house *house)
{
	json_t *tree = rig_json(nodes);
	char *nodes_text = json_text(tree), *edges_text;
	struct pathway_row row = { .id = HOUSE_PATHWAY,
				   .org_id = HOUSE_ORG,
				   .name = "Pizza",
				   .nodes = nodes_text,
				   .created_ms = start_ms,
				   .updated_ms = start_ms };

	json_decref(tree);
	tree = rig_json(edges);
	row.edges = edges_text = json_text(tree);
	pathways_insert(house->service.store, &row, house_reply(house));
	json_decref(tree);
	mem_free(nodes_text);
	mem_free(edges_text);
}

void house_start(struct house *house)
{
	static const struct ua_events near_events = {
		.on_invite = dispatch_on_invite,
	};
	struct service *service = &house->service;

	assert_int_equal(webhook_open(&service->webhook, service), 0);
	open_media(house, &service->media, 20000,
		   house->media_ports ? house->media_ports : 100);
	assert_int_equal(dispatch_open(&service->dispatch, service), 0);
	open_ua(house, &service->ua, NEAR_PORT, &near_events,
		service->dispatch);
}

int house_setup(void **state)
{
	static const struct ua_events far_events = { .on_invite =
							     far_on_invite };
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	struct house *house = mem_new(sizeof(*house));
	struct service *service = &house->service;
	struct fetch_options fetch = { .answer = on_fetch,
				       .answer_arg = house };

	if (!getenv("HOUSE_LOG"))
		log_setup(&quiet);
	house->arena = arena_open();
	house->manners.patience_ms = 300;
	make_files(house);
	open_base(house);
	service->base_url = "https://node.test";
	service->started_ms = start_ms;
	actor_open(&house->actor, service->loop);
	service->speech = &house->actor.base;
	assert_int_equal(model_open_rules(&service->model, service->loop), 0);
	fetch.loop = service->loop;
	assert_int_equal(fetch_open(&service->fetch, &fetch), 0);
	house_put_org(house, 10);
	house_put_trunk(house, true, "trunk.test", NULL);
	house_put_trunk(house, false, NULL, NULL);
	put_pathway(house);
	open_ua(house, &house->far_ua, FAR_PORT, &far_events, house);
	open_media(house, &house->far_media, 24000, 100);
	house_start(house);
	house_run(house, 0);
	assert_int_equal(house->reply_err, 0);
	*state = house;
	return 0;
}

/* ---- closing ---- */

static void assert_ua_idle(const struct ua *ua)
{
	struct ua_stats stats;

	ua_stats(ua, &stats);
	assert_int_equal(stats.sessions, 0);
	assert_int_equal(stats.dialogs, 0);
	assert_int_equal(stats.client_transactions, 0);
	assert_int_equal(stats.server_transactions, 0);
}

static void assert_media_idle(const struct media *media)
{
	struct media_stats stats;

	media_stats(media, &stats);
	assert_int_equal(stats.streams, 0);
	assert_int_equal(stats.ports_used, 0);
}

void house_stop(struct house *house)
{
	struct service *service = &house->service;

	dispatch_close(&service->dispatch);
	house_run(house, 130 * 1000);
	assert_ua_idle(service->ua);
	assert_media_idle(service->media);
	webhook_close(&service->webhook);
	ua_close(&service->ua);
	media_close(&service->media);
}

static void close_far(struct house *house)
{
	for (size_t i = 0; i < house->n_legs; i++) {
		session_close(&house->legs[i].session);
		stream_close(&house->legs[i].stream);
		timer_close(&house->legs[i].timer);
		buffer_reset(&house->legs[i].sdp);
		if (house->legs[i].invite)
			sip_message_unref(&house->legs[i].invite);
	}
	house_run(house, 130 * 1000);
	assert_ua_idle(house->far_ua);
	assert_media_idle(house->far_media);
	ua_close(&house->far_ua);
	media_close(&house->far_media);
}

static void free_posts(struct house *house)
{
	for (size_t i = 0; i < house->n_posts; i++) {
		mem_free(house->posts[i].url);
		mem_free(house->posts[i].body);
		mem_free(house->posts[i].signature);
		mem_free(house->posts[i].previous);
		mem_free(house->posts[i].id);
		mem_free(house->posts[i].attempt);
	}
}

int house_teardown(void **state)
{
	struct house *house = *state;
	struct service *service = &house->service;
	struct config *config = (struct config *)service->config;

	if (service->dispatch)
		house_stop(house);
	close_far(house);
	model_close(&service->model);
	fetch_close(&service->fetch);
	house_run(house, 0);
	actor_close(&house->actor);
	store_close(&service->store);
	secret_box_close(&service->box);
	config_close(&config);
	tls_close(&house->tls);
	house_run(house, 0);
	assert_int_equal(sim_tcp_links(service->loop), 0);
	assert_int_equal(sim_udp_sockets(service->loop), 0);
	work_close(&service->work);
	loop_close(&service->loop);
	arena_close(&house->arena);
	free_posts(house);
	mem_free(house);
	return 0;
}

void house_run(struct house *house, uint64_t ms)
{
	loop_advance_ms(house->service.loop, ms);
}

/* ---- what is stored ---- */

static void on_reply(void *owner, int err)
{
	struct house *house = owner;

	house->replies++;
	house->reply_err = err;
}

struct store_reply house_reply(struct house *house)
{
	return (struct store_reply){ on_reply, house };
}

void house_put_org(struct house *house, int64_t concurrency)
{
	struct org_row row = { .id = HOUSE_ORG,
			       .name = "Test",
			       .plan = "enterprise",
			       .timezone = "UTC",
			       .created_ms = start_ms };
	struct buffer secret;

	row.plan_limits.concurrency = concurrency;
	row.plan_limits.countries = "";
	row.plan_limits.sip = true;
	buffer_init(&secret, 512);
	secret_seal(house->service.box, &secret, SLICE("hush"));
	row.webhook_secret = buffer_slice(&secret);
	orgs_put(house->service.store, &row, house_reply(house));
	buffer_reset(&secret);
}

static void put_trunk(struct house *house, bool is_outbound, const char *host,
		      const char *options, const char *headers)
{
	char id[ID_UUID_SIZE];
	struct trunk_row row = {
		.id = id,
		.org_id = HOUSE_ORG,
		.number = HOUSE_NUMBER,
		.direction = is_outbound ? TRUNK_OUTBOUND : TRUNK_INBOUND,
		.sip_endpoint = host ? "sip:trunk.test:5063" : NULL,
		.host = host,
		.port = host ? FAR_PORT : 0,
		.options = options,
		.headers = headers,
		.created_ms = start_ms,
		.updated_ms = start_ms,
	};

	id_uuid(id);
	trunks_put(house->service.store, &row, house_reply(house));
}

void house_put_trunk(struct house *house, bool is_outbound, const char *host,
		     const char *options)
{
	put_trunk(house, is_outbound, host, options, NULL);
}

void house_put_mapping(struct house *house, bool is_outbound,
		       const char *mapping)
{
	json_t *tree = rig_json(mapping);
	char *text = json_text(tree);

	put_trunk(house, is_outbound, is_outbound ? "trunk.test" : NULL, NULL,
		  text);
	mem_free(text);
	json_decref(tree);
}

void house_put_number(struct house *house, const char *settings)
{
	json_t *tree = rig_json(settings);
	char *text = json_text(tree);
	struct number_row row = { .number = HOUSE_NUMBER,
				  .org_id = HOUSE_ORG,
				  .settings = text,
				  .created_ms = start_ms,
				  .updated_ms = start_ms };

	numbers_put(house->service.store, &row, house_reply(house));
	mem_free(text);
	json_decref(tree);
}

void house_sql(struct house *house, const char *sql)
{
	assert_int_equal(db_exec(house->service.store->main, sql), 0);
}

const char *house_queue(struct house *house, const char *settings)
{
	json_t *tree =
		rig_json(settings ? settings
				  : "{'pathway_id':'" HOUSE_PATHWAY
				    "','webhook':'https://hook.test/x'}");
	char *text = json_text(tree);
	char id[ID_UUID_SIZE];
	struct call_row row = { .id = id,
				.org_id = HOUSE_ORG,
				.to = HOUSE_CALLEE,
				.from = HOUSE_NUMBER,
				.queue_status = "queued",
				.request = text,
				.body = "{}",
				.brief = "{}" };

	id_uuid(id);
	row.times.created_ms = loop_wall_ms(house->service.loop);
	calls_insert(house->service.store, &row, house_reply(house));
	if (house->service.dispatch)
		dispatch_wake(house->service.dispatch);
	mem_free(text);
	json_decref(tree);
	return arena_dup_str(house->arena, id);
}

struct call_row house_call(struct house *house, const char *id)
{
	struct call_row row = { 0 };

	assert_int_equal(
		calls_get(house->service.store, house->arena, NULL, id, &row),
		0);
	return row;
}

json_t *house_record(struct house *house, const char *id)
{
	struct call_row row = house_call(house, id);
	json_t *record = json_parse(slice_of(row.body), NULL);

	assert_non_null(record);
	return record;
}

void house_finish(struct house *house, const char *id, uint64_t ms)
{
	for (uint64_t at = 0; at < ms; at += 20) {
		if (house_call(house, id).completed)
			return;
		house_run(house, 20);
	}
	fail_msg("call %s is not completed: %s\n%s", id,
		 house_call(house, id).queue_status,
		 buffer_str(&house->actor.log));
}

const char *house_at(struct house *house, const json_t *record, const char *at)
{
	int err = 0;
	json_t *value = json_path(record, slice_of(at), &err);
	const char *copy;
	char *text;

	assert_int_equal(err, 0);
	if (!value)
		return "-";
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_null(value))
		return "";
	text = json_text(value);
	copy = arena_dup_str(house->arena, text);
	mem_free(text);
	return copy;
}

const char *house_transcript(struct house *house, const json_t *record)
{
	struct buffer text;
	const json_t *turn;
	const char *copy;
	size_t i;

	buffer_init(&text, 1 << 20);
	json_array_foreach(json_object_get(record, "transcripts"), i, turn)
		buffer_printf(&text, "%s: %s\n", json_str(turn, "user"),
			      json_str(turn, "text"));
	copy = arena_dup(house->arena, buffer_slice(&text));
	buffer_reset(&text);
	return copy;
}

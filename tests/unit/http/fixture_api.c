/* SPDX-License-Identifier: MIT */
#include "fixture_api.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include "agent/call/dispatch.h"
#include "agent/call/record.h"
#include "agent/call/webhook.h"
#include "core/config.h"
#include "core/fetch.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/secret.h"
#include "core/tcp.h"
#include "core/work.h"
#include "http/server.h"

enum { PORT = 8443 };

static void put_key(struct api *api, const char *org_id, const char *key)
{
	char id[ID_UUID_SIZE];
	struct key_row row = { .id = id,
			       .org_id = org_id,
			       .name = "test",
			       .hint = "org_test",
			       .created_ms = API_WALL_MS };

	id_uuid(id);
	secret_hash_token(row.hash, slice_of(key));
	keys_put(api->service.store, &row, (struct store_reply){ 0 });
}

void api_put_org(struct api *api, const struct org_row *over)
{
	struct org_row row = *over;

	row.name = row.name ? row.name : "Test";
	row.plan = row.plan ? row.plan : "enterprise";
	row.timezone = row.timezone ? row.timezone : "UTC";
	if (!row.plan_limits.countries)
		row.plan_limits.countries = "";
	row.created_ms = API_WALL_MS;
	orgs_put(api->service.store, &row, (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
}

static void open_base(struct api *api, char *const *env)
{
	static char *const none[] = { NULL };
	struct service *service = &api->service;
	struct store_options store = { .folder = ":memory:" };
	struct fetch_options fetch = { 0 };
	struct config *config;
	char file[128];

	loop_open_sim(&service->loop, API_WALL_MS);
	assert_int_equal(
		config_open(&config, NULL, env ? env : none, &api->why), 0);
	service->config = config;
	assert_int_equal(work_open(&service->work, service->loop), 0);
	store.loop = service->loop;
	assert_int_equal(store_open(&service->store, &store, &api->why), 0);
	snprintf(file, sizeof(file), "%s/store.key", api->folder);
	assert_int_equal(secret_box_open(&service->box, file, true, &api->why),
			 0);
	fetch.loop = service->loop;
	assert_int_equal(fetch_open(&service->fetch, &fetch), 0);
	assert_int_equal(webhook_open(&service->webhook, service), 0);
	assert_int_equal(dispatch_open(&service->dispatch, service), 0);
	service->base_url = "https://parley.example";
	service->started_ms = API_WALL_MS;
}

int api_setup_with(void **state, char *const *env)
{
	struct api *api = mem_new(sizeof(*api));
	struct http_server_options options = { .service = &api->service };
	struct org_row org = { .id = API_ORG, .plan_limits = { .sip = true } };
	struct org_row other = { .id = API_OTHER,
				 .plan_limits = { .sip = true } };

	snprintf(api->folder, sizeof(api->folder), "/tmp/parley-api-XXXXXX");
	assert_non_null(mkdtemp(api->folder));
	api->arena = arena_open();
	api->key = API_KEY;
	buffer_init(&api->why, 4096);
	buffer_init(&api->got, 64 * 1024 * 1024);
	open_base(api, env);
	addr_parse(&options.listen.bind, SLICE("127.0.0.1"), PORT);
	assert_int_equal(http_server_open(&api->server, &options, &api->why),
			 0);
	api_put_org(api, &org);
	api_put_org(api, &other);
	put_key(api, API_ORG, API_KEY);
	put_key(api, API_OTHER, API_OTHER_KEY);
	loop_advance_ms(api->service.loop, 0);
	*state = api;
	return 0;
}

int api_setup(void **state)
{
	return api_setup_with(state, NULL);
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	return remove(path);
}

int api_teardown(void **state)
{
	struct api *api = *state;
	struct service *service = &api->service;

	link_close(&api->link);
	http_server_close(&api->server);
	dispatch_close(&service->dispatch);
	webhook_close(&service->webhook);
	fetch_close(&service->fetch);
	store_close(&service->store);
	secret_box_close(&service->box);
	work_close(&service->work);
	config_close((struct config **)&service->config);
	loop_close(&service->loop);
	arena_close(&api->arena);
	buffer_reset(&api->why);
	buffer_reset(&api->got);
	json_decref(api->body);
	nftw(api->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	mem_free(api);
	return 0;
}

/* ---- the client ---- */

static void on_open(void *owner)
{
	(void)owner;
}

static void on_data(void *owner, struct slice data)
{
	struct api *api = owner;

	buffer_add(&api->got, data);
}

static void on_close(void *owner, int err, const char *why)
{
	struct api *api = owner;

	link_close(&api->link);
}

static void connect_to(struct api *api)
{
	static const struct link_events events = { .on_open = on_open,
						   .on_data = on_data,
						   .on_close = on_close };
	struct addr to;

	addr_parse(&to, SLICE("127.0.0.1"), PORT);
	assert_int_equal(
		tcp_connect(&api->link, api->service.loop, &to, &events, api),
		0);
	loop_advance_ms(api->service.loop, 0);
}

static void send_request(struct api *api, const char *method, const char *path,
			 const char *body)
{
	struct buffer text;

	buffer_init(&text, 64 * 1024 * 1024);
	buffer_printf(&text, "%s %s HTTP/1.1\r\nHost: parley.example\r\n",
		      method, path);
	if (api->key)
		buffer_printf(&text, "Authorization: %s\r\n", api->key);
	if (api->headers)
		buffer_add_str(&text, api->headers);
	if (body)
		buffer_printf(&text,
			      "Content-Type: application/json\r\n"
			      "Content-Length: %zu\r\n",
			      strlen(body));
	buffer_add_str(&text, "\r\n");
	buffer_add_str(&text, body ? body : "");
	assert_int_equal(link_send(api->link, buffer_slice(&text)), 0);
	buffer_reset(&text);
}

static void read_answer(struct api *api)
{
	char *split = strstr(api->got.ptr ? api->got.ptr : "", "\r\n\r\n");

	if (!split)
		fail_msg("no answer: %s", buffer_str(&api->got));
	*split = 0;
	api->head = api->got.ptr;
	api->text = split + 4;
	api->status = atoi(api->head + strlen("HTTP/1.1 "));
	api->body = json_parse(slice_of(api->text), NULL);
}

void api_ask(struct api *api, const char *method, const char *path,
	     const char *body)
{
	json_decref(api->body);
	api->body = NULL;
	buffer_clear(&api->got);
	if (!api->link)
		connect_to(api);
	send_request(api, method, path, body);
	for (int i = 0; i < 8; i++)
		loop_advance_ms(api->service.loop, 0);
	read_answer(api);
}

void api_expect(struct api *api, int status, const char *text)
{
	assert_string_equal(api->text, text);
	assert_int_equal(api->status, status);
}

void api_expect_error(struct api *api, int status, const char *error,
		      const char *message, const char *field)
{
	json_t *errors = json_object_get(api->body, "errors");
	json_t *first = json_array_get(errors, 0);
	const char *found = json_str(first, "field");

	if (!first)
		fail_msg("no error: %d %s", api->status, api->text);
	assert_string_equal(json_str(first, "message"), message);
	assert_string_equal(json_str(first, "error"), error);
	assert_int_equal(api->status, status);
	assert_true(json_is_null(json_object_get(api->body, "data")));
	assert_string_equal(found ? found : "", field ? field : "");
}

void api_expect_at(struct api *api, const char *path, const char *json)
{
	int err;
	json_t *value = json_path(api->body, slice_of(path), &err);
	char *text;

	if (!value)
		fail_msg("%s is not in %s", path, api->text);
	text = json_text(value);
	if (strcmp(text, json) != 0)
		fail_msg("%s: wanted %s, got %s", path, json, text);
	mem_free(text);
}

const char *api_str(struct api *api, const char *key)
{
	const char *text = json_str(api->body, key);

	if (!text)
		fail_msg("no %s in %s", key, api->text);
	return arena_dup_str(api->arena, text);
}

/* ---- what is stored ---- */

void api_put_trunk(struct api *api, const char *org_id, const char *number,
		   enum trunk_direction direction)
{
	char id[ID_UUID_SIZE];
	struct trunk_row row = { .id = id,
				 .org_id = org_id,
				 .number = number,
				 .direction = direction,
				 .created_ms = API_WALL_MS,
				 .updated_ms = API_WALL_MS };

	id_uuid(id);
	if (direction == TRUNK_OUTBOUND) {
		row.sip_endpoint = "sip:carrier.example";
		row.host = "carrier.example";
	}
	trunks_put(api->service.store, &row, (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
}

const char *api_put_call(struct api *api, struct call_row row)
{
	char *id = arena_new(api->arena, ID_UUID_SIZE);
	struct record_input input = { .row = &row,
				      .base_url = api->service.base_url };

	id_uuid(id);
	row.id = id;
	row.org_id = row.org_id ? row.org_id : API_ORG;
	row.to = row.to ? row.to : "+14155550100";
	row.from = row.from ? row.from : "+14155550199";
	row.queue_status = row.queue_status ? row.queue_status : "queued";
	row.request = row.request ? row.request : "{}";
	if (!row.times.created_ms)
		row.times.created_ms = API_WALL_MS;
	record_render(&row, api->arena, &input);
	calls_insert(api->service.store, &row, (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
	return id;
}

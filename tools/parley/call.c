/* SPDX-License-Identifier: MIT */
/* tools/parley/call.c - parley call: dispatches a call by REST and follows it
 * in the terminal until it is completed, or draws the SIP messages of one. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "core/fetch.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "tools/parley/ladder.h"
#include "tools/parley/tool.h"

enum { POLL_MS = 1000, TIMEOUT_MS = 20000, BODY_MAX = 8 * 1024 * 1024 };

struct follow {
	struct loop *loop;
	struct fetch *fetch;
	struct fetch_call *request;
	struct timer *timer;
	const char *base_url;
	const json_t *body; /* of the call to dispatch */
	bool has_text; /* of the ladder */
	char authorization[128];
	char id[64];
	json_t *call; /* owned: the latest answer */
	size_t printed; /* turns shown so far */
	int status;
};

static void poll(void *arg);

static void stop(struct follow *follow, int status)
{
	follow->status = status;
	loop_stop(follow->loop);
}

static void send_request(struct follow *follow, const char *method,
			 const char *path, const char *body,
			 fetch_done_fn *on_done)
{
	char url[512];
	struct fetch_header headers[] = {
		{ "Authorization", follow->authorization },
		{ "Content-Type", "application/json" },
	};
	struct fetch_request request = { .method = method,
					 .url = url,
					 .headers = headers,
					 .n_headers = 2,
					 .body = slice_of(body),
					 .timeout_ms = TIMEOUT_MS,
					 .max_body_bytes = BODY_MAX };

	snprintf(url, sizeof(url), "%s%s", follow->base_url, path);
	if (fetch_start(&follow->request, follow->fetch, &request, on_done,
			follow))
		stop(follow, tool_fail("cannot ask %s", url));
}

/* The answer as JSON, or NULL after saying what is wrong. */
static json_t *take_answer(struct follow *follow,
			   const struct fetch_result *result)
{
	json_t *answer = json_parse(result->body, NULL);
	const char *message = json_str(answer, "message");

	follow->request = NULL;
	if (!result->error && result->status == 200 && answer)
		return answer;
	if (!message)
		message = json_str(
			json_array_get(json_object_get(answer, "errors"), 0),
			"message");
	if (result->error)
		tool_fail("%s: %s", follow->base_url, result->reason);
	else
		tool_fail("the service answered %d: %s", result->status,
			  message ? message : "no message");
	json_decref(answer);
	stop(follow, EXIT_FAILURE);
	return NULL;
}

/* One line without what terminals obey (C0, DEL, C1): callers and trunks have
 * their words in it. */
static void print_text(const char *text)
{
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 0x7f) {
			putchar(c == '\n' || c == '\t' ? ' ' : '?');
		} else if (c == 0xc2 && (unsigned char)text[1] < 0xa0) {
			putchar('?');
			text += text[1] != '\0';
		} else {
			putchar(c);
		}
	}
	putchar('\n');
}

static void print_turns(struct follow *follow)
{
	json_t *turns = json_object_get(follow->call, "transcripts");

	for (; follow->printed < json_array_size(turns); follow->printed++) {
		json_t *turn = json_array_get(turns, follow->printed);
		const char *who = json_str(turn, "user");
		const char *text = json_str(turn, "text");

		printf("%10s  ", who ? who : "");
		print_text(text);
	}
	fflush(stdout);
}

static void print_end(const struct follow *follow)
{
	static const char *const shown[] = { "status", "error_message",
					     "summary", "recording_url" };

	putchar('\n');
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		const char *text = json_str(follow->call, shown[i]);

		if (text) {
			printf("%-14s ", shown[i]);
			print_text(text);
		}
	}
}

static void on_polled(void *owner, const struct fetch_result *result)
{
	struct follow *follow = owner;
	json_t *call = take_answer(follow, result);
	const char *status;

	if (!call)
		return;
	json_decref(follow->call);
	follow->call = call;
	print_turns(follow);
	if (!json_is_true(json_object_get(call, "completed"))) {
		timer_start(follow->timer, POLL_MS, poll, follow);
		return;
	}
	print_end(follow);
	status = json_str(call, "status");
	stop(follow, status && !strcmp(status, "completed") ? EXIT_SUCCESS
							    : EXIT_FAILURE);
}

static void poll(void *arg)
{
	struct follow *follow = arg;
	char path[128];

	snprintf(path, sizeof(path), "/v1/calls/%s", follow->id);
	send_request(follow, "GET", path, NULL, on_polled);
}

static void on_dispatched(void *owner, const struct fetch_result *result)
{
	struct follow *follow = owner;
	json_t *answer = take_answer(follow, result);
	const char *id = json_str(answer, "call_id");

	if (!answer)
		return;
	snprintf(follow->id, sizeof(follow->id), "%s", id ? id : "");
	printf("call_id        %s\n\n", follow->id);
	json_decref(answer);
	poll(follow);
}

static void dispatch(struct follow *follow)
{
	char *text = json_text(follow->body);

	send_request(follow, "POST", "/v1/calls", text, on_dispatched);
	mem_free(text);
}

/* ---- the ladder of a call ---- */

static void on_ladder(void *owner, const struct fetch_result *result)
{
	struct follow *follow = owner;
	struct ladder_style style = ladder_style_of(stdout);
	json_t *answer = take_answer(follow, result);

	if (!answer)
		return;
	style.has_text = follow->has_text;
	ladder_print(stdout, json_object_get(answer, "data"), &style);
	json_decref(answer);
	stop(follow, EXIT_SUCCESS);
}

static void ask_ladder(struct follow *follow)
{
	char path[128];

	snprintf(path, sizeof(path), "/v1/calls/%s/sip", follow->id);
	send_request(follow, "GET", path, NULL, on_ladder);
}

/* ---- running ---- */

static int run_follow(const struct config *config, const char *key,
		      struct follow *follow)
{
	struct fetch_options options = {
		.egress = { .allow_private = true, .allow_loopback = true },
	};
	char url[320], ca[4096];
	const char *public_url = config_text(config, "http.public_url");

	snprintf(url, sizeof(url), "%s://%s:%lld",
		 config_bool(config, "http.tls") ? "https" : "http",
		 config_text(config, "http.listen"),
		 (long long)config_number(config, "http.port"));
	follow->base_url = public_url[0] ? public_url : url;
	snprintf(ca, sizeof(ca), "%s", config_text(config, "sip.ca_file"));
	options.ca_file = ca[0] ? ca : NULL;
	snprintf(follow->authorization, sizeof(follow->authorization),
		 "Bearer %s", key);
	if (!loop_open(&follow->loop)) {
		options.loop = follow->loop;
		follow->timer = timer_new(follow->loop);
		if (!fetch_open(&follow->fetch, &options)) {
			if (follow->body)
				dispatch(follow);
			else
				ask_ladder(follow);
			loop_run(follow->loop);
			fetch_close(&follow->fetch);
		}
		timer_close(&follow->timer);
		loop_close(&follow->loop);
	}
	json_decref(follow->call);
	return follow->status;
}

static const struct option longs[] = {
	{ "to", required_argument, NULL, 't' },
	{ "from", required_argument, NULL, 'f' },
	{ "task", required_argument, NULL, 'k' },
	{ "pathway", required_argument, NULL, 'p' },
	{ "record", no_argument, NULL, 'r' },
	{ "ladder", no_argument, NULL, 'l' },
	{ "text", no_argument, NULL, 'x' },
	{ "key", required_argument, NULL, 'a' },
	{ "config", required_argument, NULL, 'c' },
	{ 0 },
};

struct wanted {
	const char *config_file, *key;
	json_t *body; /* owned: the call's settings */
	bool is_ladder, has_text;
};

static int take_option(struct wanted *wanted, int option)
{
	static const struct {
		int option;
		const char *field;
	} fields[] = { { 't', "phone_number" },
		       { 'f', "from" },
		       { 'k', "task" },
		       { 'p', "pathway_id" } };

	if (option == '?')
		return EXIT_FAILURE;
	if (option == 'a')
		wanted->key = optarg;
	else if (option == 'c')
		wanted->config_file = optarg;
	else if (option == 'r')
		json_put_bool(wanted->body, "record", true);
	wanted->is_ladder |= option == 'l';
	wanted->has_text |= option == 'x';
	for (size_t i = 0; i < 4; i++) {
		if (fields[i].option == option)
			json_put_str(wanted->body, fields[i].field, optarg);
	}
	return EXIT_SUCCESS;
}

/* id is NULL for a call that is yet to be made. */
static int check(const struct wanted *wanted, const char *id)
{
	bool has_number = json_object_get(wanted->body, "phone_number");

	if (wanted->is_ladder != (id != NULL) ||
	    (wanted->has_text && !wanted->is_ladder))
		return tool_fail("ID goes with --ladder, and --text with both; "
				 "see parley call --help");
	if (wanted->is_ladder && (has_number || !wanted->key))
		return tool_fail("--ladder wants the ID of a call and --key "
				 "KEY (or $PARLEY_KEY)");
	if (!wanted->is_ladder && (!has_number || !wanted->key))
		return tool_fail("--to NUMBER and --key KEY (or $PARLEY_KEY) "
				 "are needed; see parley call --help");
	return EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
	struct wanted wanted = { .key = getenv("PARLEY_KEY"),
				 .body = json_object() };
	struct follow follow = { .status = EXIT_FAILURE };
	struct config *config = NULL;
	const char *id;
	int option, status = EXIT_SUCCESS;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1)
		status |= take_option(&wanted, option);
	id = optind < argc ? argv[optind] : NULL;
	if (!status)
		status = check(&wanted, id);
	if (!status)
		status = tool_open_config(&config, wanted.config_file);
	if (!status) {
		follow.body = id ? NULL : wanted.body;
		follow.has_text = wanted.has_text;
		snprintf(follow.id, sizeof(follow.id), "%s", id ? id : "");
		status = run_follow(config, wanted.key, &follow);
	}
	config_close(&config);
	json_decref(wanted.body);
	return status;
}

const struct command command_call = {
	"call", run,
	"call --to NUMBER [--from NUMBER] --task TEXT | --pathway ID\n"
	"     [--record] [--key KEY]\n"
	"call ID --ladder [--text] [--key KEY]\n"
	"  Dispatches a call and follows it until it has ended. The key may\n"
	"  also stand in $PARLEY_KEY. --ladder draws the SIP messages of a\n"
	"  call, with --text each of them whole.\n"
};

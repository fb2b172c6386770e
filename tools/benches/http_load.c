/* SPDX-License-Identifier: MIT */
/* tools/benches/http_load.c - HTTPS clients that keep their connections: each
 * sends its next request when the last was answered. Either GET of the paths in
 * a file, in turn, or POST of one body. The key is BENCH_KEY of the
 * environment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/buffer.h"
#include "core/link.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "core/tls.h"
#include "tools/benches/bench.h"
#include "tools/benches/meter.h"
#include "tools/benches/node.h"

enum { PATHS_MAX = 4096, PATH_SIZE = 128, ANSWER_MAX = 1024 * 1024 };

struct client {
	struct load *load; /* borrowed */
	struct link *link; /* owned */
	struct buffer in;
	size_t wanted; /* bytes of the answer; 0: its head is not complete */
};

struct load {
	struct node node;
	struct timer *timer; /* owned */
	struct meter meter;
	struct client *clients; /* owned */
	size_t n_clients;
	struct {
		char (*paths)[PATH_SIZE]; /* owned; NULL: POST */
		size_t n, next;
		struct buffer post; /* the whole request */
		const char *key;
	} what;
	struct {
		uint64_t done, bad, broken;
	} count;
	uint64_t windows, window_ms;
	char first_bad[400];
};

/* ---- one client ---- */

static void ask(struct client *client)
{
	struct load *load = client->load;
	char text[512];
	int n;

	if (!load->what.paths) {
		link_send(client->link, buffer_slice(&load->what.post));
		return;
	}
	n = snprintf(text, sizeof(text),
		     "GET %s HTTP/1.1\r\nHost: localhost\r\n"
		     "Authorization: %s\r\n\r\n",
		     load->what.paths[load->what.next], load->what.key);
	load->what.next = (load->what.next + 1) % load->what.n;
	link_send(client->link, slice_make(text, (size_t)n));
}

/* The head's length and the body's, or 0 when the head is not all there. */
static size_t find_wanted(const struct buffer *in)
{
	const char *text = buffer_str(in);
	const char *end = strstr(text, "\r\n\r\n");
	const char *length;

	if (!end)
		return 0;
	length = strcasestr(text, "\r\ncontent-length:");
	if (!length || length > end)
		return (size_t)(end - text) + 4;
	return (size_t)(end - text) + 4 + strtoul(length + 17, NULL, 10);
}

static void on_answer(struct client *client)
{
	struct load *load = client->load;
	const char *text = buffer_str(&client->in);

	if (client->in.len > 12 && !strncmp(text, "HTTP/1.1 2", 10))
		load->count.done++;
	else if (load->count.bad++ == 0)
		snprintf(load->first_bad, sizeof(load->first_bad), "%s", text);
	buffer_consume(&client->in, client->wanted);
	client->wanted = 0;
	ask(client);
}

static void on_data(void *owner, struct slice data)
{
	struct client *client = owner;

	buffer_add(&client->in, data);
	if (!client->wanted)
		client->wanted = find_wanted(&client->in);
	if (client->wanted && client->in.len >= client->wanted)
		on_answer(client);
}

static void on_open(void *owner)
{
	ask(owner);
}

static void on_close(void *owner, int err, const char *why)
{
	struct client *client = owner;

	if (client->load->count.broken++ == 0)
		snprintf(client->load->first_bad,
			 sizeof(client->load->first_bad), "%s: %s",
			 strerror(-err), why ? why : "");
	link_close(&client->link);
}

static int open_client(struct load *load, struct client *client, uint16_t port)
{
	static const struct link_events events = {
		.on_open = on_open,
		.on_data = on_data,
		.on_close = on_close,
	};
	struct tls_target target = { .name = "localhost" };

	client->load = load;
	buffer_init(&client->in, ANSWER_MAX);
	addr_parse(&target.addr, SLICE("127.0.0.1"), port);
	return tls_connect(&client->link, load->node.tls, &target, &events,
			   client);
}

/* ---- what is asked ---- */

static int read_paths(struct load *load, const char *file)
{
	FILE *in = fopen(file, "r");

	if (!in)
		return -errno;
	load->what.paths = mem_new_array(PATHS_MAX, PATH_SIZE);
	while (load->what.n < PATHS_MAX &&
	       fgets(load->what.paths[load->what.n], PATH_SIZE, in)) {
		char *path = load->what.paths[load->what.n++];

		path[strcspn(path, "\n")] = 0;
	}
	fclose(in);
	return load->what.n ? 0 : -ENOENT;
}

static int read_post(struct load *load, const char *path, const char *file)
{
	char body[16384];
	FILE *in = fopen(file, "r");
	size_t n;

	if (!in)
		return -errno;
	n = fread(body, 1, sizeof(body), in);
	fclose(in);
	buffer_init(&load->what.post, sizeof(body) + 1024);
	buffer_printf(&load->what.post,
		      "POST %s HTTP/1.1\r\nHost: localhost\r\n"
		      "Authorization: %s\r\nContent-Type: application/json\r\n"
		      "Content-Length: %zu\r\n\r\n",
		      path, load->what.key, n);
	buffer_add(&load->what.post, slice_make(body, n));
	return buffer_error(&load->what.post);
}

/* ---- the run ---- */

static void on_window(void *arg)
{
	struct load *load = arg;

	meter_end(&load->meter, load->count.done);
	if (--load->windows)
		timer_start(load->timer, load->window_ms, on_window, load);
	else
		loop_stop(load->node.loop);
}

static void on_warm(void *arg)
{
	struct load *load = arg;

	meter_begin(&load->meter, load->count.done);
	timer_start(load->timer, load->window_ms, on_window, load);
}

static int open_load(struct load *load, char **argv)
{
	const char *paths = bench_text(argv, "--paths", NULL);
	int err = node_open(&load->node, argv);

	load->windows = bench_number(argv, "--windows", 5);
	load->window_ms = bench_number(argv, "--seconds", 3) * 1000;
	load->n_clients = bench_number(argv, "--clients", 16);
	load->clients = mem_new_array(load->n_clients, sizeof(*load->clients));
	load->what.key = getenv("BENCH_KEY");
	if (!load->what.key)
		load->what.key = "none";
	if (!err)
		err = paths ? read_paths(load, paths)
			    : read_post(load,
					bench_text(argv, "--post", "/v1/calls"),
					bench_text(argv, "--body", ""));
	return err ? err
		   : meter_open(&load->meter,
				(pid_t)bench_number(argv, "--pid", 0));
}

static void report(const struct load *load)
{
	printf("{\"answers\": %llu, \"bad\": %llu, \"broken\": %llu}\n",
	       (unsigned long long)load->count.done,
	       (unsigned long long)load->count.bad,
	       (unsigned long long)load->count.broken);
	if (load->first_bad[0])
		fprintf(stderr, "http-load: %s\n", load->first_bad);
}

static void close_load(struct load *load)
{
	for (size_t i = 0; i < load->n_clients; i++) {
		link_close(&load->clients[i].link);
		buffer_reset(&load->clients[i].in);
	}
	timer_close(&load->timer);
	node_close(&load->node);
	buffer_reset(&load->what.post);
	mem_free(load->what.paths);
	mem_free(load->clients);
	mem_free(load);
}

int bench_http_load(int argc, char **argv)
{
	struct load *load = mem_new(sizeof(*load));
	uint64_t warm_ms = bench_number(argv, "--warm-up", 2) * 1000;
	uint16_t port = (uint16_t)bench_number(argv, "--port", 8443);
	int err = open_load(load, argv);

	(void)argc;
	for (size_t i = 0; !err && i < load->n_clients; i++)
		err = open_client(load, &load->clients[i], port);
	if (err) {
		fprintf(stderr, "http-load: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	load->timer = timer_new(load->node.loop);
	timer_start(load->timer, warm_ms, on_warm, load);
	loop_run(load->node.loop);
	report(load);
	err = load->count.bad || load->count.broken || !load->count.done;
	close_load(load);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

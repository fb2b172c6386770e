/* SPDX-License-Identifier: MIT */
/* core/fetch: what is asked and answered on a simulated loop; on a real one,
 * against a small server of our own on loopback: statuses, bodies, pieces,
 * limits, timeouts, egress, cancelling at any moment; https with our own CA.
 * Nothing here waits longer than the timeouts it asks for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "core/fetch.h"
#include "core/link.h"
#include "core/listener.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/tcp.h"
#include "core/timer.h"
#include "core/tls.h"
#include "core/work.h"
#include "fixture_pki.h"

enum { CALLS = 100, CONNS = 256 };

/* What an owner was told. */
struct told {
	struct world *world;
	struct fetch_call *call;
	unsigned dones, pieces;
	int error, status;
	char reason[256], retry_after[64];
	struct buffer body, streamed;
	bool cancels_in_piece, closes_in_done, starts_in_done;
};

struct conn {
	struct world *world;
	struct link *link;
	struct buffer in;
};

struct world {
	struct loop *loop;
	struct fetch *fetch;
	struct listener *listener;
	struct work *work;
	struct tls *tls;
	struct fixture_pki pki;
	struct told told[CALLS];
	struct conn conns[CONNS];
	unsigned n_conns, awaited;
	char url[128];
	/* Simulated: what answer saw and says. */
	struct buffer seen;
	struct fetch_result answer;
};

static void on_done(void *owner, const struct fetch_result *result)
{
	struct told *told = owner;
	struct world *w = told->world;

	assert_null(told->call); /* cleared before */
	told->dones++;
	told->error = result->error;
	told->status = result->status;
	snprintf(told->reason, sizeof(told->reason), "%s", result->reason);
	snprintf(told->retry_after, sizeof(told->retry_after), "%.*s",
		 (int)result->retry_after.len, result->retry_after.ptr);
	buffer_add(&told->body, result->body);
	fetch_cancel(&told->call);
	if (told->closes_in_done)
		fetch_close(&w->fetch);
	if (w->awaited && --w->awaited == 0)
		loop_stop(w->loop);
}

static void on_piece(void *owner, struct slice piece)
{
	struct told *told = owner;

	told->pieces++;
	buffer_add(&told->streamed, piece);
	if (told->cancels_in_piece) {
		fetch_cancel(&told->call);
		loop_stop(told->world->loop);
	}
}

static struct world *new_world(void)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	struct world *w = mem_new(sizeof(*w));

	log_setup(&quiet);
	buffer_init(&w->seen, 1 << 16);
	for (unsigned i = 0; i < CALLS; i++) {
		w->told[i].world = w;
		buffer_init(&w->told[i].body, 1 << 24);
		buffer_init(&w->told[i].streamed, 1 << 24);
	}
	return w;
}

static void free_world(struct world *w)
{
	for (unsigned i = 0; i < CALLS; i++) {
		buffer_reset(&w->told[i].body);
		buffer_reset(&w->told[i].streamed);
	}
	for (unsigned i = 0; i < w->n_conns; i++) {
		link_close(&w->conns[i].link);
		buffer_reset(&w->conns[i].in);
	}
	buffer_reset(&w->seen);
	fetch_close(&w->fetch);
	listener_close(&w->listener);
	tls_close(&w->tls);
	if (w->work)
		work_close(&w->work);
	loop_close(&w->loop);
	mem_free(w);
}

/* The request all tests start from. */
static struct fetch_request get(const char *url)
{
	return (struct fetch_request){ .method = "GET",
				       .url = url,
				       .timeout_ms = 10 * 1000 };
}

static int start(struct world *w, unsigned i,
		 const struct fetch_request *request)
{
	return fetch_start(&w->told[i].call, w->fetch, request, on_done,
			   &w->told[i]);
}

/* On a simulated loop */

static void answer(void *arg, const struct fetch_request *request,
		   struct fetch_result *result)
{
	struct world *w = arg;

	buffer_printf(&w->seen, "%s %s", request->method, request->url);
	for (size_t i = 0; i < request->n_headers; i++)
		buffer_printf(&w->seen, " %s=%s", request->headers[i].name,
			      request->headers[i].value);
	buffer_add_str(&w->seen, " ");
	buffer_add(&w->seen, request->body);
	*result = w->answer;
}

static int setup_sim(void **state)
{
	struct world *w = new_world();
	struct fetch_options options = { .answer = answer, .answer_arg = w };

	loop_open_sim(&w->loop, 0);
	options.loop = w->loop;
	w->answer = (struct fetch_result){ .reason = "", .status = 200 };
	assert_int_equal(fetch_open(&w->fetch, &options), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	free_world(*state);
	return 0;
}

static void test_sim_answers_on_the_next_turn(void **state)
{
	static const struct fetch_header headers[] = { { "X-Key", "k" },
						       { "Accept", "*/*" } };
	struct world *w = *state;
	struct fetch_request request = { .method = "POST",
					 .url = "https://api.example/x",
					 .headers = headers,
					 .n_headers = 2,
					 .body = SLICE("{}") };

	w->answer.status = 429;
	w->answer.body = SLICE("later");
	w->answer.retry_after = SLICE("7");
	assert_int_equal(start(w, 0, &request), 0);
	assert_non_null(w->told[0].call);
	assert_int_equal(w->seen.len, 0);
	loop_advance_ms(w->loop, 0);
	assert_string_equal(buffer_str(&w->seen),
			    "POST https://api.example/x X-Key=k Accept=*/* {}");
	assert_int_equal(w->told[0].dones, 1);
	assert_int_equal(w->told[0].status, 429);
	assert_string_equal(buffer_str(&w->told[0].body), "later");
	assert_string_equal(w->told[0].retry_after, "7");
	assert_string_equal(w->told[0].reason, "");
}

static void test_sim_takes_its_time(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get("http://slow.example/");

	w->answer.duration_ms = 9 * 1000;
	assert_int_equal(start(w, 0, &request), 0);
	request.timeout_ms = 8 * 1000;
	assert_int_equal(start(w, 1, &request), 0);
	loop_advance_ms(w->loop, 7999);
	assert_int_equal(w->told[1].dones, 0);
	loop_advance_ms(w->loop, 1);
	assert_int_equal(w->told[1].error, -ETIMEDOUT);
	assert_int_equal(w->told[1].status, 0);
	assert_int_equal(w->told[0].dones, 0);
	loop_advance_ms(w->loop, 1000);
	assert_int_equal(w->told[0].status, 200);
}

static void test_sim_limits_and_pieces(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get("http://big.example/");

	w->answer.body = SLICE("0123456789");
	request.max_body_bytes = 9;
	assert_int_equal(start(w, 0, &request), 0);
	request.max_body_bytes = 10;
	request.on_body = on_piece;
	assert_int_equal(start(w, 1, &request), 0);
	loop_advance_ms(w->loop, 0);
	assert_int_equal(w->told[0].error, -EMSGSIZE);
	assert_string_equal(w->told[0].reason,
			    "the answer is larger than 9 bytes");
	assert_int_equal(w->told[0].body.len, 0);
	assert_string_equal(buffer_str(&w->told[1].streamed), "0123456789");
	assert_int_equal(w->told[1].body.len, 0);
	assert_int_equal(w->told[1].dones, 1);
}

static void test_sim_cancel_and_close(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get("http://a.example/");

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(start(w, i, &request), 0);
	fetch_cancel(&w->told[1].call);
	assert_null(w->told[1].call);
	w->told[2].closes_in_done = true;
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->told[0].dones, 1);
	assert_int_equal(w->told[1].dones, 0);
	assert_int_equal(w->told[2].dones, 1);
	assert_int_equal(w->told[3].dones, 0);
	assert_null(w->told[3].call);
}

static void test_refuses_bad_requests(void **state)
{
	static const struct {
		const char *method, *url, *name, *value;
	} cases[] = {
		{ "GET", "ftp://a.example/", "A", "b" },
		{ "GET", "file:///etc/passwd", "A", "b" },
		{ "GET", "a.example", "A", "b" },
		{ "GET", "", "A", "b" },
		{ "GET", NULL, "A", "b" },
		{ "GET", "http://", "A", "b" },
		{ "GET", "http://a.example/\r\nX: y", "A", "b" },
		{ "GET", "http://a.example:99999/", "A", "b" },
		{ "G T", "http://a.example/", "A", "b" },
		{ "GET\r\n", "http://a.example/", "A", "b" },
		{ "", "http://a.example/", "A", "b" },
		{ "GET", "http://a.example/", "A", "b\r\nC: d" },
		{ "GET", "http://a.example/", "A", "b\n" },
		{ "GET", "http://a.example/", "A\r\nB", "c" },
		{ "GET", "http://a.example/", "A b", "c" },
		{ "GET", "http://a.example/", "", "c" },
		{ "GET", "http://a.example/", "A:", "c" },
		{ "GET", "http://a.example/", "Content-Length", "1" },
		{ "GET", "http://a.example/", "transfer-encoding", "x" },
		{ "GET", "http://a.example/", "A", NULL },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fetch_header header = { cases[i].name, cases[i].value };
		struct fetch_request request = { .method = cases[i].method,
						 .url = cases[i].url,
						 .headers = &header,
						 .n_headers = 1 };

		if (start(w, 0, &request) != -EINVAL)
			fail_msg("case %zu was let through", i);
		assert_null(w->told[0].call);
	}
}

/* On a real loop: a server that answers by path */

static void say(struct conn *conn, const char *text)
{
	assert_int_equal(link_send(conn->link, slice_of(text)), 0);
}

static void say_big(struct conn *conn, size_t len, bool has_length)
{
	struct buffer out;

	buffer_init(&out, len + 256);
	buffer_add_str(&out, "HTTP/1.1 200 OK\r\n");
	if (has_length)
		buffer_printf(&out, "Content-Length: %zu\r\n\r\n", len);
	else
		buffer_printf(&out,
			      "Transfer-Encoding: chunked\r\n\r\n"
			      "%zx\r\n",
			      len);
	for (size_t i = 0; i < len; i++)
		buffer_add_char(&out, 'x');
	if (!has_length)
		buffer_add_str(&out, "\r\n0\r\n\r\n");
	assert_int_equal(link_send(conn->link, buffer_slice(&out)), 0);
	buffer_reset(&out);
}

static void say_headers(struct conn *conn)
{
	struct buffer out;

	buffer_init(&out, 1 << 18);
	buffer_add_str(&out, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
	for (unsigned i = 0; i < 3000; i++)
		buffer_printf(&out, "X-%u: 01234567890123456789\r\n", i);
	buffer_add_str(&out, "\r\n");
	assert_int_equal(link_send(conn->link, buffer_slice(&out)), 0);
	buffer_reset(&out);
}

static void say_echo(struct conn *conn)
{
	struct buffer out;

	buffer_init(&out, 1 << 16);
	buffer_printf(&out, "HTTP/1.1 201 Made\r\nContent-Length: %zu\r\n\r\n",
		      conn->in.len);
	buffer_add(&out, buffer_slice(&conn->in));
	assert_int_equal(link_send(conn->link, buffer_slice(&out)), 0);
	buffer_reset(&out);
}

static void on_request(struct conn *conn, struct slice path)
{
	if (slice_eq(path, SLICE("/ok")))
		say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	else if (slice_eq(path, SLICE("/busy")))
		say(conn, "HTTP/1.1 503 Busy\r\nRetry-After:  120 \r\n"
			  "Content-Length: 4\r\n\r\nbusy");
	else if (slice_eq(path, SLICE("/moved")))
		say(conn, "HTTP/1.1 302 Found\r\nLocation: /ok\r\n"
			  "Content-Length: 0\r\n\r\n");
	else if (slice_eq(path, SLICE("/chunked")))
		say(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
			  "\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
	else if (slice_eq(path, SLICE("/cut")))
		say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut");
	else if (slice_eq(path, SLICE("/noise")))
		say(conn, "SSH-2.0-OpenSSH_9.2\r\n");
	else if (slice_eq(path, SLICE("/big")))
		say_big(conn, 1 << 20, true);
	else if (slice_eq(path, SLICE("/big-chunk")))
		say_big(conn, 1 << 20, false);
	else if (slice_eq(path, SLICE("/headers")))
		say_headers(conn);
	else if (slice_eq(path, SLICE("/echo")))
		say_echo(conn);
	/* anything else is never answered */
	if (slice_eq(path, SLICE("/cut")) || slice_eq(path, SLICE("/noise")) ||
	    slice_eq(path, SLICE("/nothing")))
		link_shutdown(conn->link);
}

/* No pipelining: what is in the buffer is one request, whole once its head
 * is there (bodies of tests come with it). */
static void conn_on_data(void *owner, struct slice data)
{
	struct conn *conn = owner;
	struct slice rest;

	buffer_add(&conn->in, data);
	if (!strstr(buffer_str(&conn->in), "\r\n\r\n"))
		return;
	rest = buffer_slice(&conn->in);
	slice_cut(&rest, ' ');
	on_request(conn, slice_cut(&rest, ' '));
	buffer_clear(&conn->in);
}

static void conn_on_close(void *owner, int err, const char *why)
{
	struct conn *conn = owner;

	link_close(&conn->link);
}

static const struct link_events conn_events = {
	.on_data = conn_on_data,
	.on_close = conn_on_close,
};

static void on_accept(void *owner, struct link *link)
{
	struct world *w = owner;
	struct conn *conn = &w->conns[w->n_conns++];

	assert_true(w->n_conns <= CONNS);
	conn->world = w;
	conn->link = link;
	buffer_init(&conn->in, 1 << 20);
	link_attach(link, &conn_events, conn);
}

static int setup_real(void **state)
{
	struct world *w = new_world();
	struct listen_options listen = { .max_links = 2 * CONNS };
	struct fetch_options options = { .egress.allow_loopback = true };

	assert_int_equal(loop_open(&w->loop), 0);
	options.loop = w->loop;
	assert_int_equal(fetch_open(&w->fetch, &options), 0);
	addr_parse(&listen.bind, SLICE("127.0.0.1"), 0);
	assert_int_equal(
		tcp_listen(&w->listener, w->loop, &listen, on_accept, w), 0);
	*state = w;
	return 0;
}

static const char *at(struct world *w, const char *path)
{
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%u%s",
		 listener_port(w->listener), path);
	return w->url;
}

static void on_late(void *arg)
{
	loop_stop(arg);
}

static void run(struct world *w, unsigned awaited)
{
	struct timer *late = timer_new(w->loop);

	w->awaited = awaited;
	timer_start(late, 20 * 1000, on_late, w->loop);
	loop_run(w->loop);
	timer_close(&late);
}

static void test_real_answers(void **state)
{
	static const struct {
		const char *path;
		int error, status;
		const char *body, *retry_after, *reason;
	} cases[] = {
		{ "/ok", 0, 200, "ok", "", "" },
		{ "/busy", 0, 503, "busy", "120", "" },
		{ "/moved", 0, 302, "", "", "" },
		{ "/chunked", 0, 200, "onetwo", "", "" },
		{ "/cut", -ECONNRESET, 0, "", "", "answer cut short" },
		{ "/noise", -EPROTO, 0, "", "", "not an HTTP answer" },
		{ "/nothing", -ECONNRESET, 0, "", "",
		  "closed without an answer" },
		{ "/headers", -EMSGSIZE, 0, "", "",
		  "the answer's headers are larger than 65536 bytes" },
	};
	struct world *w = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fetch_request request = get(at(w, cases[i].path));
		struct told *told = &w->told[i];

		assert_int_equal(start(w, i, &request), 0);
		run(w, 1);
		assert_int_equal(told->dones, 1);
		if (told->error != cases[i].error)
			fail_msg("%s: %d %s", cases[i].path, told->error,
				 told->reason);
		assert_int_equal(told->status, cases[i].status);
		assert_string_equal(buffer_str(&told->body), cases[i].body);
		assert_string_equal(told->retry_after, cases[i].retry_after);
		if (strncmp(told->reason, cases[i].reason,
			    strlen(cases[i].reason)))
			fail_msg("%s: %s", cases[i].path, told->reason);
	}
}

static void test_real_request_is_as_asked(void **state)
{
	static const struct fetch_header headers[] = { { "X-One", "1" },
						       { "X-Empty", "" },
						       { "Accept", "a/b" } };
	struct world *w = *state;
	struct fetch_request request = get(at(w, "/echo"));
	char expected[256];

	request.method = "PUT";
	request.headers = headers;
	request.n_headers = 3;
	request.body = SLICE("a\0b");
	assert_int_equal(start(w, 0, &request), 0);
	run(w, 1);
	assert_int_equal(w->told[0].status, 201);
	snprintf(expected, sizeof(expected),
		 "PUT /echo HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-One: 1\r\n"
		 "X-Empty:\r\nAccept: a/b\r\nUser-Agent: parley\r\n"
		 "Content-Length: 3\r\n\r\na",
		 listener_port(w->listener));
	assert_string_equal(buffer_str(&w->told[0].body), expected);
	assert_int_equal(w->told[0].body.len, strlen(expected) + 2);
}

static void test_real_limits(void **state)
{
	static const char *const paths[] = { "/big", "/big-chunk" };
	struct world *w = *state;
	unsigned i = 0;

	for (unsigned p = 0; p < 2; p++, i += 3) {
		struct fetch_request request = get(at(w, paths[p]));

		request.max_body_bytes = (1 << 20) - 1;
		assert_int_equal(start(w, i, &request), 0);
		request.max_body_bytes = 1 << 20;
		assert_int_equal(start(w, i + 1, &request), 0);
		request.on_body = on_piece;
		assert_int_equal(start(w, i + 2, &request), 0);
		run(w, 3);
		assert_int_equal(w->told[i].error, -EMSGSIZE);
		assert_int_equal(w->told[i + 1].error, 0);
		assert_int_equal(w->told[i + 1].body.len, 1 << 20);
		assert_int_equal(w->told[i + 2].body.len, 0);
		assert_int_equal(w->told[i + 2].streamed.len, 1 << 20);
		assert_true(w->told[i + 2].pieces > 0);
	}
}

static void test_real_timeout(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get(at(w, "/silent"));

	request.timeout_ms = 50;
	assert_int_equal(start(w, 0, &request), 0);
	run(w, 1);
	assert_int_equal(w->told[0].error, -ETIMEDOUT);
	assert_string_equal(w->told[0].reason, "timed out after 50 ms");
}

static void test_real_refused(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get(at(w, "/ok"));

	listener_close(&w->listener);
	assert_int_equal(start(w, 0, &request), 0);
	run(w, 1);
	assert_int_equal(w->told[0].error, -ECONNREFUSED);
	assert_string_equal(w->told[0].reason,
			    "cannot connect: Connection refused");
}

static void test_real_egress(void **state)
{
	static const char *const hosts[] = {
		"127.0.0.1",	      "[::1]",
		"localhost",	      "0.0.0.0",
		"10.0.0.1",	      "169.254.169.254",
		"[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
		"2130706433",	      "0x7f.1",
	};
	struct world *w = *state;
	struct fetch_options options = { .loop = w->loop };
	unsigned port = listener_port(w->listener);

	fetch_close(&w->fetch);
	assert_int_equal(fetch_open(&w->fetch, &options), 0);
	for (unsigned i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct fetch_request request = get(w->url);

		snprintf(w->url, sizeof(w->url), "http://%s:%u/ok", hosts[i],
			 port);
		assert_int_equal(start(w, i, &request), 0);
		run(w, 1);
		if (w->told[i].error != -EACCES)
			fail_msg("%s: %d %s", hosts[i], w->told[i].error,
				 w->told[i].reason);
	}
	assert_string_equal(w->told[0].reason,
			    "the address 127.0.0.1 is on this machine or a "
			    "private network, which the settings do not allow");
	assert_int_equal(w->n_conns, 0);
}

static void test_real_keeps_connections(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get(at(w, "/ok"));

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(start(w, i, &request), 0);
		run(w, 1);
		assert_int_equal(w->told[i].status, 200);
	}
	assert_int_equal(w->n_conns, 1);
}

static void test_real_hundred_at_once(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get(at(w, "/ok"));

	for (unsigned i = 0; i < CALLS; i++)
		assert_int_equal(start(w, i, &request), 0);
	run(w, CALLS);
	for (unsigned i = 0; i < CALLS; i++) {
		assert_int_equal(w->told[i].dones, 1);
		assert_int_equal(w->told[i].status, 200);
		assert_string_equal(buffer_str(&w->told[i].body), "ok");
	}
}

static void test_real_cancel(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get(at(w, "/silent"));

	assert_int_equal(start(w, 0, &request), 0);
	fetch_cancel(&w->told[0].call); /* before its first turn */
	assert_int_equal(start(w, 1, &request), 0);
	request = get(at(w, "/ok"));
	assert_int_equal(start(w, 2, &request), 0);
	run(w, 1);
	fetch_cancel(&w->told[1].call); /* in flight */
	request = get(at(w, "/big"));
	request.on_body = on_piece;
	w->told[3].cancels_in_piece = true;
	assert_int_equal(start(w, 3, &request), 0);
	run(w, 2);
	assert_int_equal(w->told[3].pieces, 1);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(w->told[i].dones, i == 2);
		assert_null(w->told[i].call);
	}
}

static void test_real_close_with_calls_in_flight(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get(at(w, "/silent"));

	for (unsigned i = 1; i < 5; i++)
		assert_int_equal(start(w, i, &request), 0);
	request = get(at(w, "/ok"));
	w->told[0].closes_in_done = true;
	assert_int_equal(start(w, 0, &request), 0);
	run(w, 1);
	assert_null(w->fetch);
	assert_int_equal(w->told[0].dones, 1);
	for (unsigned i = 1; i < 5; i++) {
		assert_int_equal(w->told[i].dones, 0);
		assert_null(w->told[i].call);
	}
}

/* .invalid never resolves (RFC 6761); without any resolver the answer comes
 * at once, else it is awaited for the timeout at most. */
static void test_real_unknown_host(void **state)
{
	struct world *w = *state;
	struct fetch_request request = get("http://nowhere.invalid/");

	request.timeout_ms = 2000;
	assert_int_equal(start(w, 0, &request), 0);
	run(w, 1);
	assert_int_equal(w->told[0].dones, 1);
	assert_true(w->told[0].error == -EHOSTUNREACH ||
		    w->told[0].error == -ETIMEDOUT);
}

/* The certificate is judged by the CA file beside the system's. */
static void test_real_https(void **state)
{
	static const char *const names[] = { "127.0.0.1", NULL };
	struct world *w = *state;
	struct listen_options listen = { 0 };
	char certificate[PKI_PATH_SIZE], key[PKI_PATH_SIZE];
	struct tls_options options = { .loop = w->loop,
				       .certificate_file = certificate,
				       .key_file = key };
	struct fetch_options trusting = { .loop = w->loop,
					  .egress.allow_loopback = true };
	struct fetch_request request = get(w->url);
	struct buffer why;

	fixture_pki_open(&w->pki, loop_wall_ms(w->loop));
	fixture_pki_leaf(&w->pki, "web", names, loop_wall_ms(w->loop), 0);
	strcpy(certificate, fixture_pki_path(&w->pki, "web.pem"));
	strcpy(key, fixture_pki_path(&w->pki, "web.key"));
	assert_int_equal(work_open(&w->work, w->loop), 0);
	options.work = w->work;
	buffer_init(&why, 256);
	assert_int_equal(tls_open(&w->tls, &options, &why), 0);
	listener_close(&w->listener);
	addr_parse(&listen.bind, SLICE("127.0.0.1"), 0);
	assert_int_equal(
		tls_listen(&w->listener, w->tls, &listen, on_accept, w), 0);
	snprintf(w->url, sizeof(w->url), "https://127.0.0.1:%u/ok",
		 listener_port(w->listener));
	assert_int_equal(start(w, 0, &request), 0);
	run(w, 1);
	assert_int_equal(w->told[0].error, -EKEYREJECTED);
	fetch_close(&w->fetch);
	trusting.ca_file = w->pki.ca;
	assert_int_equal(fetch_open(&w->fetch, &trusting), 0);
	assert_int_equal(start(w, 1, &request), 0);
	run(w, 1);
	fixture_pki_close(&w->pki);
	assert_string_equal(w->told[1].reason, "");
	assert_int_equal(w->told[1].status, 200);
}

#define SIM(test)  cmocka_unit_test_setup_teardown(test, setup_sim, teardown)
#define REAL(test) cmocka_unit_test_setup_teardown(test, setup_real, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIM(test_sim_answers_on_the_next_turn),
		SIM(test_sim_takes_its_time),
		SIM(test_sim_limits_and_pieces),
		SIM(test_sim_cancel_and_close),
		SIM(test_refuses_bad_requests),
		REAL(test_real_answers),
		REAL(test_real_request_is_as_asked),
		REAL(test_real_limits),
		REAL(test_real_timeout),
		REAL(test_real_refused),
		REAL(test_real_egress),
		REAL(test_real_keeps_connections),
		REAL(test_real_hundred_at_once),
		REAL(test_real_cancel),
		REAL(test_real_close_with_calls_in_flight),
		REAL(test_real_unknown_host),
		REAL(test_real_https),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

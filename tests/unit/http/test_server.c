/* SPDX-License-Identifier: MIT */
/* http/server, connection, sender and request: keep-alive and pipelining in
 * order, bodies by length and in chunks, every limit (head 16 KiB 431, body
 * 1 MiB or 8 MiB 413, head 10 s and body stall 30 s 408, idle 60 s), HEAD, 100,
 * 401 before 404 before 405, 415, INVALID_JSON with its place, ranges of files,
 * requests that outlive their connection, slow readers, drain, a crowd. The
 * routes are the test's own: its sets stand in for those of http/api. */
#include "tests/unit/http/fixture_face.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/json.h"
#include "core/mem.h"
#include "http/api/sets.h"

#define AUTH   FACE_HOST FACE_AUTH
#define ECHO   "POST /echo HTTP/1.1\r\n" AUTH
#define GET(p) "GET " p " HTTP/1.1\r\n" AUTH "\r\n"

enum { FILE_BYTES = 3 * 1024 * 1024 + 17 };

/* ---- routes ---- */

static struct request *waiting[4]; /* by /later, until the test answers */
static int n_waiting;
static char file_path[64];

static void open_route(struct request *request)
{
	const struct request_view *view = request_view(request);
	const char *name = request_query(request, "name");
	json_t *body = json_object();

	assert_true(addr_is_loopback(view->peer));
	assert_string_equal(view->method, "GET");
	json_put_str(body, "name", name);
	json_put_str(body, "org", view->org_id);
	request_reply(request, 200, body);
}

static void param_route(struct request *request)
{
	const struct request_view *view = request_view(request);
	json_t *data = json_array();

	json_array_append_new(data, json_string(view->params[0]));
	json_array_append_new(data, json_string(view->params[1]));
	assert_null(view->params[2]);
	request_reply_data(request, 201, data);
}

static void echo_route(struct request *request)
{
	const struct request_view *view = request_view(request);

	request_reply(request, 200,
		      view->body ? json_incref((json_t *)view->body)
				 : json_null());
}

static void gone_route(struct request *request)
{
	request_reply_text(request, 204, SLICE(""));
}

static void later_route(struct request *request)
{
	waiting[n_waiting++] = request;
}

static void text_route(struct request *request)
{
	size_t n = (size_t)atol(request_query(request, "n"));
	char *text = mem_new(n + 1);

	memset(text, 't', n);
	request_reply_as(request, "text/plain", slice_make(text, n));
	mem_free(text);
}

static void file_route(struct request *request)
{
	const struct request_error missing = { 404, "NO_FILE", "none", NULL };

	if (request_reply_file(request, file_path, "audio/wav"))
		request_fail(request, &missing);
}

static void fail_route(struct request *request)
{
	const char *full = request_query(request, "full");

	request_fail_internal(request, full ? -ENOSPC : -EIO);
}

static const struct route routes[] = {
	{ "GET", "/open", open_route, ROUTE_OPEN, "" },
	{ "GET", "/", open_route, 0, "" },
	{ "GET", "/p/{a}/q/{b}", param_route, 0, "" },
	{ "POST", "/echo", echo_route, 0, "" },
	{ "PATCH", "/echo", echo_route, 0, "" },
	{ "POST", "/v1/calls", echo_route, 0, "" },
	{ "GET", "/echo", echo_route, 0, "" },
	{ "DELETE", "/echo", gone_route, 0, "" },
	{ "POST", "/big", echo_route, ROUTE_BIG_BODY, "" },
	{ "GET", "/later", later_route, 0, "" },
	{ "POST", "/later", later_route, 0, "" },
	{ "GET", "/text", text_route, 0, "" },
	{ "GET", "/file", file_route, 0, "" },
	{ "GET", "/fail", fail_route, 0, "" },
	{ "GET", "/sip", echo_route, ROUTE_SIP, "" },
};

const struct route_set api_status = { routes,
				      sizeof(routes) / sizeof(*routes) };
const struct route_set api_calls, api_recordings, api_events, api_sip,
	api_inbound, api_pathways, api_account, api_postcall;

static void answer_later(int which)
{
	request_reply(waiting[which], 200, json_integer(which));
	if (which == n_waiting - 1)
		n_waiting--;
}

/* ---- helpers ---- */

static void expect(struct peer *peer, int status, const char *body)
{
	struct reply reply = peer_reply(peer);

	assert_int_equal(reply.status, status);
	assert_slice(reply.body, body);
}

/* The first error's code. */
static void expect_error(struct peer *peer, int status, const char *code)
{
	struct reply reply = peer_reply(peer);
	char want[80];

	assert_int_equal(reply.status, status);
	snprintf(want, sizeof(want), "\"errors\":[{\"error\":\"%s\",", code);
	if (!memmem(reply.body.ptr, reply.body.len, want, strlen(want)))
		fail_msg("%.*s has no %s", (int)reply.body.len, reply.body.ptr,
			 code);
}

/* Nothing more came and the link has ended in order. */
static void expect_end(struct peer *peer)
{
	loop_advance_ms(peer->loop, 0);
	assert_int_equal(peer->read, peer->got.len);
	assert_int_equal(peer->closed, 1);
	assert_int_equal(peer->err, 0);
}

static void expect_header(const struct reply *reply, const char *name,
			  const char *value)
{
	struct slice got = reply_header(reply, name);

	assert_non_null(got.ptr);
	assert_slice(got, value);
}

static struct slice repeat(struct face *face, char c, size_t n)
{
	char *text = arena_new(face->arena, n + 1);

	memset(text, c, n);
	return slice_make(text, n);
}

static void post_sized(struct peer *peer, struct face *face, const char *path,
		       size_t n)
{
	peer_say(peer, arena_printf(face->arena,
				    "POST %s HTTP/1.1\r\n" AUTH
				    "Content-Length: %zu\r\n\r\n\"",
				    path, n));
	peer_send(peer, repeat(face, 'a', n - 2));
	peer_say(peer, "\"");
}

static unsigned connections(const struct face *face)
{
	return face_stats(face).connections;
}

/* ---- one request ---- */

static void test_answer(void **state)
{
	struct peer peer;
	struct reply reply =
		peer_ask(&peer, *state, GET("/open?x=1&name=a%20b+c&name=d"));

	assert_int_equal(reply.status, 200);
	assert_slice(reply.body, "{\"name\":\"a b c\",\"org\":null}");
	assert_true(slice_has_prefix(reply.head, SLICE("HTTP/1.1 200 OK\r\n")));
	expect_header(&reply, "Content-Type",
		      "application/json; charset=utf-8");
	expect_header(&reply, "Date", "Tue, 14 Nov 2023 22:13:20 GMT");
	assert_int_equal(reply_header(&reply, "X-Request-Id").len, 12);
	assert_null(reply_header(&reply, "Connection").ptr);
	assert_false(peer.closed);
	peer_close(&peer);
}

static void test_parameters(void **state)
{
	struct peer peer;

	peer_open(&peer, *state);
	peer_say(&peer, GET("/p/a%2Fb/q/%C3%A9?name=x"));
	expect(&peer, 201, "{\"data\":[\"a/b\",\"\xc3\xa9\"],\"errors\":null}");
	peer_say(&peer, GET("/p/%00/q/b"));
	expect_error(&peer, 404, "NOT_FOUND");
	peer_say(&peer, GET("/p/%ff/q/b"));
	expect_error(&peer, 404, "NOT_FOUND");
	peer_say(&peer, GET("/p//q/b"));
	expect_error(&peer, 404, "NOT_FOUND");
	peer_say(&peer, GET("/p/a/q/b/"));
	expect_error(&peer, 404, "NOT_FOUND");
	peer_say(&peer, GET("/?name=%zz"));
	assert_int_equal(peer_reply(&peer).status, 200);
	peer_close(&peer);
}

static void test_at_every_split(void **state)
{
	static const char text[] =
		ECHO "Content-Length: 7\r\n\r\n[1,2,3]" GET("/p/a/q/b");
	struct peer peer;

	peer_open(&peer, *state);
	for (size_t split = 0; split < sizeof(text); split++) {
		peer_send(&peer, slice_make(text, split));
		peer_send(&peer,
			  slice_make(text + split, sizeof(text) - 1 - split));
		expect(&peer, 200, "[1,2,3]");
		assert_int_equal(peer_reply(&peer).status, 201);
	}
	assert_int_equal(peer.read, peer.got.len);
	peer_close(&peer);
}

static void test_byte_by_byte(void **state)
{
	static const char text[] =
		"\r\n\r\n" ECHO "Transfer-Encoding: chunked\r\n\r\n"
		"3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n";
	struct peer peer;

	peer_open(&peer, *state);
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		peer_send(&peer, slice_make(text + i, 1));
	expect(&peer, 200, "[1,2]");
	peer_close(&peer);
}

static void test_body(void **state)
{
	static const struct {
		const char *headers, *body;
		int status;
		const char *answer; /* or the error's code */
	} table[] = {
		{ "", "", 200, "null" },
		{ "", "  ", 200, "null" },
		{ "", "{\"a\":1.0}", 200, "{\"a\":1}" },
		{ "Content-Type: text/plain\r\n", "[]", 200, "[]" },
		{ "Content-Type: application/x-www-form-urlencoded\r\n", "[]",
		  200, "[]" },
		{ "Content-Type: multipart/form-data; boundary=x\r\n", "[]",
		  415, "UNSUPPORTED_MEDIA_TYPE" },
		{ "Content-Type: IMAGE/png\r\n", "[]", 415,
		  "UNSUPPORTED_MEDIA_TYPE" },
		{ "Content-Type: application/octet-stream\r\n", "[]", 415,
		  "UNSUPPORTED_MEDIA_TYPE" },
		{ "Content-Type: image/png\r\n", "", 200, "null" },
		{ "", "{", 400, "INVALID_JSON" },
		{ "", "{\"a\":1,\"a\":2}", 400, "INVALID_JSON" },
		{ "", "a=b", 400, "INVALID_JSON" },
	};
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		peer_say(&peer,
			 arena_printf(face->arena,
				      ECHO "%sContent-Length: %zu\r\n\r\n%s",
				      table[i].headers, strlen(table[i].body),
				      table[i].body));
		if (table[i].status == 200)
			expect(&peer, 200, table[i].answer);
		else
			expect_error(&peer, table[i].status, table[i].answer);
	}
	peer_close(&peer);
}

static void test_invalid_json_says_where(void **state)
{
	struct peer peer;
	struct reply reply =
		peer_ask(&peer, *state,
			 "POST /v1/calls HTTP/1.1\r\n" AUTH
			 "Content-Length: 12\r\n\r\n{\n \"a\": tru}");

	assert_int_equal(reply.status, 400);
	assert_non_null(memmem(reply.body.ptr, reply.body.len,
			       "{\"status\":\"error\",\"message\":", 28));
	assert_non_null(
		memmem(reply.body.ptr, reply.body.len, "line 2, column 9", 16));
	peer_close(&peer);
}

/* A name that says nothing of who asks comes before one that says what is
 * there; a refusal without a body in the way keeps the connection. */
static void test_refusals_in_order(void **state)
{
	static const struct {
		const char *line, *headers;
		int status;
		const char *code;
	} table[] = {
		{ "GET /none", FACE_HOST, 401, "AUTH_FAILURE" },
		{ "PUT /echo", FACE_HOST, 401, "AUTH_FAILURE" },
		{ "GET /echo", FACE_HOST "Authorization: \r\n", 401,
		  "AUTH_FAILURE" },
		{ "GET /echo", FACE_HOST "Authorization: org_x\r\n", 401,
		  "AUTH_FAILURE" },
		{ "GET /echo",
		  FACE_HOST "Authorization: Basic " FACE_KEY "\r\n", 401,
		  "AUTH_FAILURE" },
		{ "GET /none", AUTH, 404, "NOT_FOUND" },
		{ "GET /echo/", AUTH, 404, "NOT_FOUND" },
		{ "GET //echo", AUTH, 404, "NOT_FOUND" },
		{ "PUT /echo", AUTH, 405, "METHOD_NOT_ALLOWED" },
		{ "OPTIONS /open", AUTH, 405, "METHOD_NOT_ALLOWED" },
		{ "GET /sip", AUTH, 403, "FORBIDDEN" },
		{ "GET /fail", AUTH, 500, "INTERNAL_ERROR" },
		{ "GET /fail?full=1", AUTH, 503, "STORAGE_FULL" },
		{ "GET /file", AUTH, 404, "NO_FILE" },
	};
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		peer_say(&peer,
			 arena_printf(face->arena, "%s HTTP/1.1\r\n%s\r\n",
				      table[i].line, table[i].headers));
		expect_error(&peer, table[i].status, table[i].code);
	}
	peer_say(&peer, "GET /echo HTTP/1.1\r\n" FACE_HOST
			"Authorization: bearer  " FACE_KEY "\r\n\r\n");
	expect(&peer, 200, "null");
	assert_int_equal(face_stats(face).answers_4xx, 12);
	assert_int_equal(face_stats(face).answers_5xx, 2);
	assert_int_equal(face_stats(face).requests, 15);
	peer_close(&peer);
}

static void test_unauthorized(void **state)
{
	struct peer peer;
	struct reply reply = peer_ask(
		&peer, *state, "GET /echo HTTP/1.1\r\n" FACE_HOST "\r\n");

	assert_slice(reply.body, "{\"data\":null,\"errors\":[{\"error\":"
				 "\"AUTH_FAILURE\",\"message\":"
				 "\"Unauthorized\"}]}");
	expect_header(&reply, "WWW-Authenticate", "Bearer");
	peer_close(&peer);
}

static void test_allow(void **state)
{
	struct peer peer;
	struct reply reply =
		peer_ask(&peer, *state, "PUT /echo HTTP/1.1\r\n" AUTH "\r\n");

	expect_header(&reply, "Allow", "POST, PATCH, GET, HEAD, DELETE");
	peer_close(&peer);
}

static void test_head(void **state)
{
	struct peer peer;
	struct reply reply;

	peer_open(&peer, *state);
	peer_say(&peer,
		 "HEAD /text?n=500 HTTP/1.1\r\n" AUTH "\r\n" GET("/none"));
	reply = peer_reply_to_head(&peer);
	assert_int_equal(reply.status, 200);
	expect_header(&reply, "Content-Length", "500");
	expect_header(&reply, "Content-Type", "text/plain");
	expect_error(&peer, 404, "NOT_FOUND");
	peer_say(&peer, "HEAD /none HTTP/1.1\r\n" AUTH "\r\n" GET("/echo"));
	assert_int_equal(peer_reply_to_head(&peer).status, 404);
	expect(&peer, 200, "null");
	peer_close(&peer);
}

static void test_no_content(void **state)
{
	struct peer peer;
	struct reply reply =
		peer_ask(&peer, *state,
			 "DELETE /echo HTTP/1.1\r\n" AUTH "\r\n" GET("/echo"));

	assert_int_equal(reply.status, 204);
	assert_null(reply_header(&reply, "Content-Length").ptr);
	assert_null(reply_header(&reply, "Content-Type").ptr);
	expect(&peer, 200, "null");
	peer_close(&peer);
}

/* ---- persistence ---- */

static void test_pipelining_in_order(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	peer_say(&peer, GET("/later") ECHO
		 "Content-Length: 1\r\n\r\n1" ECHO
		 "Transfer-Encoding: chunked\r\n\r\n1\r\n2\r\n0\r\n\r\n" GET(
			 "/later") GET("/none") "\r\n" GET("/echo"));
	assert_int_equal(peer.got.len, 0);
	answer_later(0);
	loop_advance_ms(peer.loop, 0);
	expect(&peer, 200, "0");
	expect(&peer, 200, "1");
	expect(&peer, 200, "2");
	assert_int_equal(peer_reply(&peer).status, 0);
	answer_later(0);
	loop_advance_ms(peer.loop, 0);
	expect(&peer, 200, "0");
	expect_error(&peer, 404, "NOT_FOUND");
	expect(&peer, 200, "null");
	assert_int_equal(face_stats(face).requests, 6);
	peer_close(&peer);
}

/* Thousands at once: what is not understood yet is bounded, nothing is lost. */
static void test_pipelining_in_bulk(void **state)
{
	struct face *face = *state;
	struct peer peer;
	struct buffer text;
	int i;

	buffer_init(&text, 4 * 1024 * 1024);
	for (i = 0; i < 8000; i++)
		buffer_printf(&text, ECHO "Content-Length: 5\r\n\r\n%5d", i);
	peer_open(&peer, face);
	peer_send(&peer, buffer_slice(&text));
	for (i = 0; i < 8000; i++)
		expect(&peer, 200, arena_printf(face->arena, "%d", i));
	assert_false(peer.closed);
	buffer_reset(&text);
	peer_close(&peer);
}

/* Large bodies one after the other in one go. */
static void test_pipelined_bodies(void **state)
{
	struct face *face = *state;
	struct peer peer;
	struct reply reply;

	peer_open(&peer, face);
	link_send(peer.link, SLICE(GET("/later")));
	for (int i = 0; i < 3; i++)
		post_sized(&peer, face, "/echo", 1024 * 1024);
	answer_later(0);
	loop_advance_ms(peer.loop, 0);
	expect(&peer, 200, "0");
	for (int i = 0; i < 3; i++) {
		reply = peer_reply(&peer);
		assert_int_equal(reply.status, 200);
		assert_int_equal(reply.body.len, 1024 * 1024);
	}
	peer_close(&peer);
}

static void test_close_when_asked(void **state)
{
	struct peer peer;
	struct reply reply = peer_ask(&peer, *state,
				      "GET /echo HTTP/1.1\r\n" AUTH
				      "Connection: close\r\n\r\n" GET("/echo"));

	assert_int_equal(reply.status, 200);
	expect_header(&reply, "Connection", "close");
	expect_end(&peer);
	peer_close(&peer);
}

static void test_http_1_0(void **state)
{
	struct peer peer;
	struct reply reply = peer_ask(&peer, *state,
				      "GET /echo HTTP/1.0\r\n" FACE_AUTH
				      "Connection: keep-alive\r\n\r\n");

	assert_int_equal(reply.status, 200);
	expect_header(&reply, "Connection", "keep-alive");
	peer_say(&peer, "GET /echo HTTP/1.0\r\n" FACE_AUTH "\r\n");
	reply = peer_reply(&peer);
	expect_header(&reply, "Connection", "close");
	expect_end(&peer);
	peer_close(&peer);
}

static void test_continue(void **state)
{
	struct peer peer;

	peer_open(&peer, *state);
	peer_say(&peer,
		 ECHO "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	assert_int_equal(peer_reply(&peer).status, 100);
	peer_say(&peer, "[]");
	expect(&peer, 200, "[]");
	/* Not needed when the body is here, or there is none. */
	peer_say(&peer,
		 ECHO "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n[]");
	expect(&peer, 200, "[]");
	peer_say(&peer, ECHO "Expect: 100-continue\r\n\r\n");
	expect(&peer, 200, "null");
	/* Refused without asking for the body. */
	peer_say(&peer, "POST /none HTTP/1.1\r\n" AUTH
			"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	expect_error(&peer, 404, "NOT_FOUND");
	expect_end(&peer);
	peer_close(&peer);
}

/* The body of a refused request is never taken for a request. */
static void test_refused_with_body_ends(void **state)
{
	struct peer peer;

	peer_open(&peer, *state);
	peer_say(&peer, "POST /echo HTTP/1.1\r\n" FACE_HOST
			"Content-Length: 400\r\n\r\n" GET("/echo"));
	expect_error(&peer, 401, "AUTH_FAILURE");
	expect_end(&peer);
	peer_close(&peer);
}

/* ---- limits ---- */

static void test_malformed(void **state)
{
	static const struct {
		const char *text;
		int status;
		const char *code;
	} table[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 400, "BAD_REQUEST" },
		{ "GET / HTTP/1.1\nHost: x\n\n", 400, "BAD_REQUEST" },
		{ "hello\r\n\r\n", 400, "BAD_REQUEST" },
		{ "\x16\x03\x01\x02\r", 0, NULL },
		{ "GET / HTTP/1.1\r\nHost: x\rX", 400, "BAD_REQUEST" },
		{ "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "HTTP_VERSION" },
		{ ECHO "Transfer-Encoding: gzip, chunked\r\n\r\n", 501,
		  "NOT_IMPLEMENTED" },
		{ ECHO "Transfer-Encoding: chunked\r\n\r\nx\r\n", 400,
		  "BAD_REQUEST" },
		{ ECHO "Transfer-Encoding: chunked\r\n\r\n1\r\n12\r\n", 400,
		  "BAD_REQUEST" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct peer peer;

		peer_open(&peer, *state);
		peer_say(&peer, table[i].text);
		if (table[i].status) {
			expect_error(&peer, table[i].status, table[i].code);
			expect_end(&peer);
		}
		peer_close(&peer);
	}
}

static void test_head_too_long(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	peer_say(&peer, "GET /echo HTTP/1.1\r\nX: ");
	peer_send(&peer, repeat(face, 'x', 16 * 1024));
	expect_error(&peer, 431, "HEADER_TOO_LARGE");
	expect_end(&peer);
	peer_close(&peer);
	peer_open(&peer, face);
	peer_say(&peer, "GET /");
	peer_send(&peer, repeat(face, 'x', 9000));
	peer_say(&peer, " HTTP/1.1\r\n" FACE_HOST "\r\n");
	expect_error(&peer, 414, "URI_TOO_LONG");
	expect_end(&peer);
	peer_close(&peer);
}

static void test_body_limits(void **state)
{
	static const struct {
		const char *path;
		size_t max;
	} table[] = { { "/echo", 1 << 20 }, { "/big", 8 << 20 } };
	struct face *face = *state;

	for (size_t i = 0; i < 2; i++) {
		struct peer peer;

		peer_open(&peer, face);
		for (size_t n = 0; n < 2; n++)
			peer_say(&peer, "");
		peer_say(&peer, arena_printf(face->arena,
					     "POST %s HTTP/1.1\r\n" AUTH
					     "Content-Length: %zu\r\n\r\n",
					     table[i].path, table[i].max));
		for (size_t n = 0; n < table[i].max; n += 1 << 20)
			peer_send(&peer, repeat(face, ' ', 1 << 20));
		expect(&peer, 200, "null");
		peer_say(&peer, arena_printf(face->arena,
					     "POST %s HTTP/1.1\r\n" AUTH
					     "Content-Length: %zu\r\n\r\n",
					     table[i].path, table[i].max + 1));
		expect_error(&peer, 413, "CONTENT_TOO_LARGE");
		expect_end(&peer);
		peer_close(&peer);
	}
}

static void test_huge_lengths(void **state)
{
	static const char *const lengths[] = { "1073741825", "9999999999999",
					       "099999999999",
					       "18446744073709551615" };

	for (size_t i = 0; i < 4; i++) {
		struct face *face = *state;
		struct peer peer;

		peer_open(&peer, face);
		peer_say(&peer, arena_printf(face->arena,
					     ECHO "Content-Length: %s\r\n\r\n",
					     lengths[i]));
		expect_error(&peer, 413, "CONTENT_TOO_LARGE");
		expect_end(&peer);
		peer_close(&peer);
	}
}

static void test_chunked_too_large(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	peer_say(&peer, ECHO "Transfer-Encoding: chunked\r\n\r\n100001\r\n");
	peer_send(&peer, repeat(face, ' ', 1 << 20));
	assert_int_equal(peer_reply(&peer).status, 0);
	peer_say(&peer, " \r\n");
	expect_error(&peer, 413, "CONTENT_TOO_LARGE");
	expect_end(&peer);
	peer_close(&peer);
}

/* The answer to a refused upload comes though the peer sends on. */
static void test_sends_on_after_refusal(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	peer_say(&peer, ECHO "Content-Length: 2000000\r\n\r\n");
	for (int i = 0; i < 40; i++)
		peer_send(&peer, repeat(face, 'x', 50000));
	expect_error(&peer, 413, "CONTENT_TOO_LARGE");
	loop_advance_ms(peer.loop, 2000);
	assert_int_equal(connections(face), 0);
	peer_close(&peer);
}

/* ---- time ---- */

static void test_slow_head(void **state)
{
	struct peer peer;

	peer_open(&peer, *state);
	loop_advance_ms(peer.loop, 30000);
	peer_say(&peer, "G");
	for (int i = 0; i < 9; i++) {
		loop_advance_ms(peer.loop, 1000);
		peer_say(&peer, "E");
	}
	loop_advance_ms(peer.loop, 999);
	assert_int_equal(peer_reply(&peer).status, 0);
	loop_advance_ms(peer.loop, 1);
	expect_error(&peer, 408, "REQUEST_TIMEOUT");
	expect_end(&peer);
	peer_close(&peer);
}

static void test_body_stalls(void **state)
{
	struct peer peer;

	peer_open(&peer, *state);
	peer_say(&peer, ECHO "Content-Length: 9\r\n\r\n");
	for (int i = 0; i < 3; i++) {
		loop_advance_ms(peer.loop, 29999);
		peer_say(&peer, " ");
	}
	loop_advance_ms(peer.loop, 29999);
	assert_int_equal(peer_reply(&peer).status, 0);
	loop_advance_ms(peer.loop, 1);
	expect_error(&peer, 408, "REQUEST_TIMEOUT");
	expect_end(&peer);
	peer_close(&peer);
}

/* A byte now and then does not hold a connection for ever. */
static void test_body_trickles(void **state)
{
	struct peer peer;

	peer_open(&peer, *state);
	peer_say(&peer, ECHO "Transfer-Encoding: chunked\r\n\r\nfff\r\n");
	for (int i = 0; i < 15; i++) {
		loop_advance_ms(peer.loop, 20000);
		peer_say(&peer, " ");
		assert_int_equal(peer_reply(&peer).status, 0);
	}
	loop_advance_ms(peer.loop, 20000);
	peer_say(&peer, " ");
	expect_error(&peer, 408, "REQUEST_TIMEOUT");
	expect_end(&peer);
	peer_close(&peer);
}

static void test_idle(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	peer_say(&peer, GET("/echo"));
	expect(&peer, 200, "null");
	loop_advance_ms(peer.loop, 59999);
	peer_say(&peer, "\r\n" GET("/echo"));
	expect(&peer, 200, "null");
	loop_advance_ms(peer.loop, 30000);
	peer_say(&peer, "\r\n"); /* is no request */
	loop_advance_ms(peer.loop, 29999);
	assert_false(peer.closed);
	loop_advance_ms(peer.loop, 1);
	expect_end(&peer);
	peer_close(&peer);
	assert_int_equal(connections(face), 0);
}

static void test_never_a_byte(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	assert_int_equal(connections(face), 1);
	loop_advance_ms(peer.loop, 60001);
	assert_int_equal(peer.closed, 1);
	assert_int_equal(connections(face), 0);
	peer_close(&peer);
}

/* An answer may take as long as it takes. */
static void test_long_wait(void **state)
{
	struct peer peer;

	peer_open(&peer, *state);
	peer_say(&peer, GET("/later"));
	loop_advance_ms(peer.loop, 3600 * 1000);
	answer_later(0);
	loop_advance_ms(peer.loop, 0);
	expect(&peer, 200, "0");
	peer_close(&peer);
}

/* ---- the peer goes ---- */

static void test_request_outlives_connection(void **state)
{
	struct face *face = *state;
	struct peer peers[2];

	for (int i = 0; i < 2; i++) {
		peer_open(&peers[i], face);
		peer_say(&peers[i], "POST /later HTTP/1.1\r\n" AUTH
				    "Content-Length: 7\r\n\r\n[\"abc\"]");
	}
	sim_cut_tcp(face->service.loop, &face->addr);
	loop_advance_ms(face->service.loop, 0);
	assert_int_equal(connections(face), 0);
	for (int i = 1; i >= 0; i--) {
		const struct request_view *view = request_view(waiting[i]);

		assert_string_equal(
			json_string_value(json_array_get(view->body, 0)),
			"abc");
		assert_true(addr_is_loopback(view->peer));
		answer_later(i);
		peer_close(&peers[i]);
	}
}

/* ... and the server. */
static void test_request_outlives_server(void **state)
{
	struct face *face = *state;
	struct peer peer;

	snprintf(file_path, sizeof(file_path), "/proc/self/exe");
	peer_open(&peer, face);
	peer_say(&peer, GET("/later"));
	http_server_close(&face->server);
	assert_int_equal(request_reply_file(waiting[--n_waiting], file_path,
					    "audio/wav"),
			 0);
	loop_advance_ms(peer.loop, 0);
	assert_int_equal(peer.closed, 1);
	peer_close(&peer);
	face_serve(face);
}

static void test_cut_anywhere(void **state)
{
	static const char *const texts[] = { "",
					     "GET",
					     ECHO,
					     ECHO "Content-Length: 5\r\n\r\n12",
					     GET("/echo") "GET",
					     GET("/text?n=3000000") };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct face *face = *state;
		struct peer peer;

		peer_open(&peer, face);
		link_pause(peer.link);
		peer_say(&peer, texts[i]);
		assert_int_equal(connections(face), 1);
		peer_close(&peer);
		loop_advance_ms(face->service.loop, 2000);
		assert_int_equal(connections(face), 0);
	}
}

/* One that has sent all it has may end its side before the answer. */
static void test_server_closes_in_each_state(void **state)
{
	static const char *const texts[] = { "", "GET",
					     ECHO "Content-Length: 5\r\n\r\n12",
					     GET("/text?n=3000000") };
	struct face *face = *state;
	struct peer peers[4];

	for (size_t i = 0; i < 4; i++) {
		peer_open(&peers[i], face);
		link_pause(peers[i].link);
		peer_say(&peers[i], texts[i]);
	}
	assert_int_equal(connections(face), 4);
	http_server_close(&face->server);
	for (size_t i = 0; i < 4; i++)
		peer_close(&peers[i]);
	face_serve(face);
}

/* ---- slow readers ---- */

static size_t unsent(const struct face *face, const struct peer *peer)
{
	return (size_t)(face_stats(face).bytes_out - peer->got.len);
}

static void test_big_answer(void **state)
{
	struct face *face = *state;
	struct peer peer;
	struct reply reply;

	peer_open(&peer, face);
	peer_say(&peer, GET("/text?n=20000000") GET("/echo"));
	reply = peer_reply(&peer);
	assert_int_equal(reply.status, 200);
	assert_int_equal(reply.body.len, 20000000);
	expect(&peer, 200, "null");
	peer_close(&peer);
}

/* Takes nothing: no more than the queue is handed over, and after 30 s the
 * connection is gone. */
static void test_reader_stops(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	link_pause(peer.link);
	peer_say(&peer, GET("/text?n=20000000"));
	assert_in_range(unsent(face, &peer), 512 * 1024, 800 * 1024);
	loop_advance_ms(peer.loop, 29999);
	assert_int_equal(connections(face), 1);
	loop_advance_ms(peer.loop, 1);
	assert_int_equal(connections(face), 0);
	peer_close(&peer);
}

/* Takes a piece every 20 s, for ten minutes: it gets all of it, though the
 * connection ends with it. */
static void test_reader_is_slow(void **state)
{
	struct face *face = *state;
	struct peer peer;
	struct reply reply = { 0 };
	int pieces;

	peer_open(&peer, face);
	peer.is_slow = true;
	peer_say(&peer, "GET /text?n=2000000 HTTP/1.1\r\n" AUTH
			"Connection: close\r\n\r\n");
	for (pieces = 1; !reply.status && !peer.closed; pieces++) {
		loop_advance_ms(peer.loop, 20000);
		assert_true(unsent(face, &peer) < 1024 * 1024);
		link_resume(peer.link);
		loop_advance_ms(peer.loop, 0);
		reply = peer_reply(&peer);
	}
	assert_in_range(pieces, 20, 200);
	assert_int_equal(reply.status, 200);
	assert_int_equal(reply.body.len, 2000000);
	peer_close(&peer);
}

/* Pipelines and never reads: the answers wait, not the memory. */
static void test_asks_and_never_reads(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	link_pause(peer.link);
	for (int i = 0; i < 100; i++)
		peer_say(&peer, GET("/text?n=200000"));
	assert_in_range(unsent(face, &peer), 512 * 1024, 800 * 1024);
	assert_true(face_stats(face).requests < 6);
	link_resume(peer.link);
	loop_advance_ms(peer.loop, 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(peer_reply(&peer).body.len, 200000);
	peer_close(&peer);
}

/* ---- files ---- */

static char byte_at(size_t i)
{
	return (char)(i * 2654435761u >> 13);
}

static void make_file(void)
{
	char *bytes = mem_new(FILE_BYTES);
	FILE *file;

	snprintf(file_path, sizeof(file_path), "/tmp/parley-file-XXXXXX");
	file = fdopen(mkstemp(file_path), "w");
	for (size_t i = 0; i < FILE_BYTES; i++)
		bytes[i] = byte_at(i);
	assert_int_equal(fwrite(bytes, 1, FILE_BYTES, file), FILE_BYTES);
	fclose(file);
	mem_free(bytes);
}

static void expect_part(struct peer *peer, int status, size_t first, size_t n)
{
	struct reply reply = peer_reply(peer);

	assert_int_equal(reply.status, status);
	assert_int_equal(reply.body.len, n);
	expect_header(&reply, "Content-Type", "audio/wav");
	expect_header(&reply, "Accept-Ranges", "bytes");
	for (size_t i = 0; i < n; i++) {
		if (reply.body.ptr[i] != byte_at(first + i))
			fail_msg("byte %d differs", (int)i);
	}
}

static int setup_file(void **state)
{
	make_file();
	return face_setup(state);
}

static int teardown_file(void **state)
{
	unlink(file_path);
	return face_teardown(state);
}

static void test_file(void **state)
{
	static const struct {
		const char *header;
		int status;
		size_t first, n;
	} table[] = {
		{ "", 200, 0, FILE_BYTES },
		{ "Range: bytes=0-0\r\n", 206, 0, 1 },
		{ "Range: bytes=1000000-1999999\r\n", 206, 1000000, 1000000 },
		{ "Range: bytes=-7\r\n", 206, FILE_BYTES - 7, 7 },
		{ "Range: bytes=262144-\r\n", 206, 262144,
		  FILE_BYTES - 262144 },
		{ "Range: bytes=0-1,2-3\r\n", 200, 0, FILE_BYTES },
		{ "Range: bytes=0-0\r\nIf-Range: \"x\"\r\n", 200, 0,
		  FILE_BYTES },
	};
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		peer_say(&peer,
			 arena_printf(face->arena,
				      "GET /file HTTP/1.1\r\n" AUTH "%s\r\n",
				      table[i].header));
		expect_part(&peer, table[i].status, table[i].first, table[i].n);
	}
	peer_close(&peer);
}

static void test_file_headers(void **state)
{
	struct peer peer;
	struct reply reply;

	peer_open(&peer, *state);
	peer_say(&peer,
		 "GET /file HTTP/1.1\r\n" AUTH "Range: bytes=5-6\r\n\r\n");
	reply = peer_reply(&peer);
	expect_header(&reply, "Content-Range", "bytes 5-6/3145745");
	peer_say(&peer,
		 "GET /file HTTP/1.1\r\n" AUTH "Range: bytes=9999999-\r\n\r\n");
	reply = peer_reply(&peer);
	assert_int_equal(reply.status, 416);
	expect_header(&reply, "Content-Range", "bytes */3145745");
	peer_say(&peer,
		 "HEAD /file HTTP/1.1\r\n" AUTH "Range: bytes=5-6\r\n\r\n");
	reply = peer_reply_to_head(&peer);
	assert_int_equal(reply.status, 200);
	expect_header(&reply, "Content-Length", "3145745");
	assert_int_equal(peer.read, peer.got.len);
	peer_close(&peer);
}

static void test_file_to_slow_reader(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	link_pause(peer.link);
	peer_say(&peer, GET("/file") GET("/echo"));
	assert_in_range(unsent(face, &peer), 512 * 1024, 1024 * 1024);
	link_resume(peer.link);
	loop_advance_ms(peer.loop, 0);
	expect_part(&peer, 200, 0, FILE_BYTES);
	expect(&peer, 200, "null");
	peer_close(&peer);
}

/* The length is promised: a file that shrinks ends the connection. */
static void test_file_shrinks(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	link_pause(peer.link);
	peer_say(&peer, GET("/file"));
	assert_int_equal(truncate(file_path, 1000), 0);
	link_resume(peer.link);
	loop_advance_ms(peer.loop, 0);
	assert_int_equal(peer.closed, 1);
	assert_int_equal(connections(face), 0);
	assert_true(peer.got.len < FILE_BYTES);
	peer_close(&peer);
}

/* The piece under way keeps the file, not the connection. */
static void test_gone_while_reading(void **state)
{
	struct face *face = *state;
	struct peer peer;

	peer_open(&peer, face);
	peer_say(&peer, GET("/later"));
	assert_int_equal(request_reply_file(waiting[--n_waiting], file_path,
					    "audio/wav"),
			 0);
	assert_int_equal(work_queued(face->service.work, WORK_DISK), 1);
	http_server_close(&face->server);
	loop_advance_ms(peer.loop, 0);
	assert_int_equal(work_queued(face->service.work, WORK_DISK), 0);
	peer_close(&peer);
	face_serve(face);
}

static void test_folder_is_no_file(void **state)
{
	struct peer peer;

	snprintf(file_path, sizeof(file_path), "/tmp");
	peer_open(&peer, *state);
	peer_say(&peer, GET("/file"));
	expect_error(&peer, 404, "NO_FILE");
	peer_close(&peer);
}

/* ---- drain ---- */

static void test_drain(void **state)
{
	struct face *face = *state;
	struct peer idle, busy, half, body, late;
	struct reply reply;

	peer_open(&idle, face);
	peer_open(&busy, face);
	peer_open(&half, face);
	peer_open(&body, face);
	peer_say(&idle, GET("/echo"));
	expect(&idle, 200, "null");
	peer_say(&busy, GET("/later") GET("/echo"));
	peer_say(&half, "GET /ec");
	peer_say(&body, ECHO "Content-Length: 3\r\n\r\n[");
	http_server_drain(face->server);
	http_server_drain(face->server); /* harmless */
	expect_end(&idle);
	peer_open(&late, face);
	assert_false(late.is_open);
	loop_advance_ms(face->service.loop, 1000); /* idle's last words */
	assert_int_equal(connections(face), 3);
	peer_say(&half, "ho HTTP/1.1\r\n" AUTH "\r\n");
	peer_say(&body, "1]");
	answer_later(0);
	loop_advance_ms(face->service.loop, 0);
	reply = peer_reply(&busy);
	assert_slice(reply.body, "0");
	expect_header(&reply, "Connection", "close");
	reply = peer_reply(&half);
	expect_header(&reply, "Connection", "close");
	reply = peer_reply(&body);
	assert_slice(reply.body, "[1]");
	expect_header(&reply, "Connection", "close");
	expect_end(&busy);
	expect_end(&half);
	expect_end(&body);
	loop_advance_ms(face->service.loop, 1000);
	assert_int_equal(connections(face), 0);
	peer_close(&idle);
	peer_close(&busy);
	peer_close(&half);
	peer_close(&body);
	peer_close(&late);
}

static void test_drain_finishes_sending(void **state)
{
	struct face *face = *state;
	struct peer peer;
	struct reply reply;

	peer_open(&peer, face);
	link_pause(peer.link);
	peer_say(&peer, GET("/text?n=3000000"));
	http_server_drain(face->server);
	loop_advance_ms(peer.loop, 1000);
	link_resume(peer.link);
	loop_advance_ms(peer.loop, 0);
	reply = peer_reply(&peer);
	assert_int_equal(reply.body.len, 3000000);
	expect_end(&peer);
	peer_close(&peer);
}

/* ---- a crowd ---- */

static void test_crowd(void **state)
{
	enum { N = 1000 };
	struct face *face = *state;
	struct peer *idle = mem_new_array(N, sizeof(*idle));
	struct peer peer;
	int i;

	for (i = 0; i < N; i++) {
		peer_open(&idle[i], face);
		peer_say(&idle[i],
			 i % 2 ? GET("/echo") : "GET /echo HTTP/1.1\r\n");
	}
	assert_int_equal(connections(face), N);
	peer_open(&peer, face);
	for (i = 0; i < 20; i++) {
		peer_say(&peer, GET("/text?n=100000"));
		assert_int_equal(peer_reply(&peer).body.len, 100000);
	}
	loop_advance_ms(peer.loop, 10000); /* the halves are too late */
	loop_advance_ms(peer.loop, 2000);
	assert_int_equal(connections(face), N / 2 + 1);
	for (i = 0; i < N; i++) {
		if (i % 2)
			expect(&idle[i], 200, "null");
		else
			expect_error(&idle[i], 408, "REQUEST_TIMEOUT");
		peer_close(&idle[i]);
	}
	peer_close(&peer);
	loop_advance_ms(face->service.loop, 2000);
	assert_int_equal(connections(face), 0);
	mem_free(idle);
}

static int setup_small(void **state)
{
	struct face *face = mem_new(sizeof(*face));

	face_open(face);
	face->max_links = 4;
	face_serve(face);
	*state = face;
	return 0;
}

/* The cap holds while all are in use; those in use are not disturbed. */
static void test_cap(void **state)
{
	struct face *face = *state;
	struct peer peers[4], late;

	for (int i = 0; i < 4; i++) {
		peer_open(&peers[i], face);
		peer_say(&peers[i], GET("/echo"));
		expect(&peers[i], 200, "null");
	}
	peer_open(&late, face);
	assert_int_equal(connections(face), 4);
	assert_int_equal(late.closed, 1);
	peer_say(&peers[0], GET("/echo"));
	expect(&peers[0], 200, "null");
	peer_close(&late);
	for (int i = 0; i < 4; i++)
		peer_close(&peers[i]);
}

static void test_refuses_plain_beyond_loopback(void **state)
{
	struct face face;
	struct http_server_options options = { .service = &face.service };
	struct buffer why;

	face_open(&face);
	buffer_init(&why, 1024);
	addr_parse(&options.listen.bind, SLICE("0.0.0.0"), 8080);
	assert_int_equal(http_server_open(&face.server, &options, &why),
			 -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "loopback"));
	assert_null(face.server);
	buffer_reset(&why);
	face_close(&face);
}

static void test_address_in_use(void **state)
{
	struct face *face = *state;
	struct http_server_options options = { .service = &face->service };
	struct http_server *second;
	struct buffer why;

	buffer_init(&why, 1024);
	options.listen.bind = face->addr;
	assert_int_equal(http_server_open(&second, &options, &why),
			 -EADDRINUSE);
	assert_null(second);
	assert_non_null(strstr(buffer_str(&why), "127.0.0.1:8080"));
	assert_int_equal(http_server_port(face->server), 8080);
	buffer_reset(&why);
}

#define WITH_FACE(test)                                                        \
	cmocka_unit_test_setup_teardown(test, face_setup, face_teardown)
#define WITH_FILE(test)                                                        \
	cmocka_unit_test_setup_teardown(test, setup_file, teardown_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FACE(test_answer),
		WITH_FACE(test_parameters),
		WITH_FACE(test_at_every_split),
		WITH_FACE(test_byte_by_byte),
		WITH_FACE(test_body),
		WITH_FACE(test_invalid_json_says_where),
		WITH_FACE(test_refusals_in_order),
		WITH_FACE(test_unauthorized),
		WITH_FACE(test_allow),
		WITH_FACE(test_head),
		WITH_FACE(test_no_content),
		WITH_FACE(test_pipelining_in_order),
		WITH_FACE(test_pipelining_in_bulk),
		WITH_FACE(test_pipelined_bodies),
		WITH_FACE(test_close_when_asked),
		WITH_FACE(test_http_1_0),
		WITH_FACE(test_continue),
		WITH_FACE(test_refused_with_body_ends),
		WITH_FACE(test_malformed),
		WITH_FACE(test_head_too_long),
		WITH_FACE(test_body_limits),
		WITH_FACE(test_huge_lengths),
		WITH_FACE(test_chunked_too_large),
		WITH_FACE(test_sends_on_after_refusal),
		WITH_FACE(test_slow_head),
		WITH_FACE(test_body_stalls),
		WITH_FACE(test_body_trickles),
		WITH_FACE(test_idle),
		WITH_FACE(test_never_a_byte),
		WITH_FACE(test_long_wait),
		WITH_FACE(test_request_outlives_connection),
		WITH_FACE(test_request_outlives_server),
		WITH_FACE(test_cut_anywhere),
		WITH_FACE(test_server_closes_in_each_state),
		WITH_FACE(test_big_answer),
		WITH_FACE(test_reader_stops),
		WITH_FACE(test_reader_is_slow),
		WITH_FACE(test_asks_and_never_reads),
		WITH_FILE(test_file),
		WITH_FILE(test_file_headers),
		WITH_FILE(test_file_to_slow_reader),
		WITH_FILE(test_file_shrinks),
		WITH_FILE(test_gone_while_reading),
		WITH_FACE(test_folder_is_no_file),
		WITH_FACE(test_drain),
		WITH_FACE(test_drain_finishes_sending),
		WITH_FACE(test_crowd),
		cmocka_unit_test_setup_teardown(test_cap, setup_small,
						face_teardown),
		cmocka_unit_test(test_refuses_plain_beyond_loopback),
		WITH_FACE(test_address_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

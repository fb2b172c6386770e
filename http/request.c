/* SPDX-License-Identifier: MIT */
#include "http/request_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "agent/service.h"
#include "core/id.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "http/percent.h"
#include "http/range.h"

enum { ANSWER_MAX_BYTES = 64 * 1024 * 1024 };

static const struct {
	int status;
	const char *phrase;
} phrases[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 206, "Partial Content" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 402, "Payment Required" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 416, "Range Not Satisfiable" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

static const char *phrase_of(int status)
{
	for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++) {
		if (phrases[i].status == status)
			return phrases[i].phrase;
	}
	return "Status";
}

struct request *request_open(struct connection *connection,
			     struct service *service)
{
	struct request *request = mem_new(sizeof(*request));

	request->view.service = service;
	request->view.arena = arena_open();
	request->connection = connection;
	request->started_us = loop_now_us(service->loop);
	id_word(request->id, sizeof(request->id) - 1);
	return request;
}

void request_close(struct request **request)
{
	if (!*request)
		return;
	json_decref((json_t *)(*request)->view.body);
	arena_close(&(*request)->view.arena);
	mem_free(*request);
	*request = NULL;
}

const struct request_view *request_view(const struct request *request)
{
	return &request->view;
}

struct slice request_header(const struct request *request, const char *name)
{
	return head_value(&request->head, name);
}

const char *request_query(const struct request *request, const char *name)
{
	struct slice rest = request->head.query;

	while (rest.len) {
		struct slice value = slice_cut(&rest, '&');
		struct slice key = slice_cut(&value, '=');
		const char *decoded =
			percent_decode(request->view.arena, key, true);

		if (decoded && !strcmp(decoded, name))
			return percent_decode(request->view.arena, value, true);
	}
	return NULL;
}

/* ---- answering ---- */

static void write_head(const struct request *request, struct answer *answer,
		       uint64_t length)
{
	time_t now = (time_t)(loop_wall_ms(request->view.service->loop) / 1000);
	struct tm tm;
	char date[48];

	gmtime_r(&now, &tm);
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	buffer_printf(&answer->text,
		      "HTTP/1.1 %d %s\r\nDate: %s\r\nX-Request-Id: %s\r\n",
		      answer->status, phrase_of(answer->status), date,
		      request->id);
	if (answer->status != 204)
		buffer_printf(&answer->text,
			      "Content-Type: %s\r\nContent-Length: %llu\r\n",
			      answer->type, (unsigned long long)length);
	if (answer->status == 401)
		buffer_add_str(&answer->text, "WWW-Authenticate: Bearer\r\n");
	if (!answer->keeps_alive)
		buffer_add_str(&answer->text, "Connection: close\r\n");
	else if (request->head.is_old)
		buffer_add_str(&answer->text, "Connection: keep-alive\r\n");
}

static void finish(struct request *request, struct answer *answer)
{
	const struct request_view *view = &request->view;
	uint64_t us = loop_now_us(view->service->loop) - request->started_us;

	log_debug("request", request->id, "%s %.*s -> %d in %llu us",
		  view->method ? view->method : "-", (int)view->path.len,
		  view->path.ptr, answer->status, (unsigned long long)us);
	request->is_answered = true;
	if (request->connection) {
		connection_answer(request->connection, request, answer);
		return;
	}
	buffer_reset(&answer->text);
	if (answer->fd >= 0)
		close(answer->fd);
	request_close(&request);
}

static struct answer answer_init(const struct request *request, int status)
{
	struct answer answer = { .type = "application/json; charset=utf-8",
				 .status = status,
				 .fd = -1,
				 .keeps_alive = request->head.keeps_alive };

	assert(!request->is_answered);
	buffer_init(&answer.text, ANSWER_MAX_BYTES + HEAD_MAX_BYTES);
	return answer;
}

static bool is_head_request(const struct request *request)
{
	return slice_eq(request->head.method, SLICE("HEAD"));
}

static void reply_with(struct request *request, struct answer *answer,
		       const char *headers, struct slice body)
{
	write_head(request, answer, body.len);
	buffer_add_str(&answer->text, headers);
	buffer_add_str(&answer->text, "\r\n");
	if (!is_head_request(request) && answer->status != 204)
		buffer_add(&answer->text, body);
	finish(request, answer);
}

void request_reply_text(struct request *request, int status, struct slice body)
{
	struct answer answer;

	if (body.len > ANSWER_MAX_BYTES) {
		request_fail_internal(request, -EMSGSIZE);
		return;
	}
	answer = answer_init(request, status);
	reply_with(request, &answer, "", body);
}

void request_reply_as(struct request *request, const char *type,
		      struct slice body)
{
	struct answer answer = answer_init(request, 200);

	assert(body.len <= ANSWER_MAX_BYTES);
	answer.type = type;
	reply_with(request, &answer, "", body);
}

void request_reply(struct request *request, int status, json_t *body)
{
	struct buffer text;

	buffer_init(&text, ANSWER_MAX_BYTES);
	json_write(&text, body);
	json_decref(body);
	if (buffer_error(&text))
		request_fail_internal(request, buffer_error(&text));
	else
		request_reply_text(request, status, buffer_slice(&text));
	buffer_reset(&text);
}

void request_reply_data(struct request *request, int status, json_t *data)
{
	json_t *envelope = json_object();

	json_put(envelope, "data", data);
	json_put(envelope, "errors", json_null());
	request_reply(request, status, envelope);
}

/* The error object; on /v1/calls* also status and message. */
static json_t *error_body(const struct request *request,
			  const struct request_error *what)
{
	json_t *body = json_object();
	json_t *errors = json_array();
	json_t *error = json_object();
	bool is_calls =
		slice_has_prefix(request->view.path, SLICE("/v1/calls"));

	if (is_calls && what->status == 400) {
		json_put_str(body, "status", "error");
		json_put_str(body, "message", what->message);
	}
	json_put(body, "data", json_null());
	json_put_str(error, "error", what->error);
	json_put_str(error, "message", what->message);
	if (what->field && what->field[0])
		json_put_str(error, "field", what->field);
	json_array_append_new(errors, error);
	json_put(body, "errors", errors);
	return body;
}

void request_fail_with(struct request *request,
		       const struct request_error *what, const char *headers)
{
	struct answer answer = answer_init(request, what->status);
	json_t *body = error_body(request, what);
	struct buffer text;

	buffer_init(&text, ANSWER_MAX_BYTES);
	json_write(&text, body);
	json_decref(body);
	reply_with(request, &answer, headers, buffer_slice(&text));
	buffer_reset(&text);
}

void request_fail(struct request *request, const struct request_error *what)
{
	request_fail_with(request, what, "");
}

void request_fail_internal(struct request *request, int err)
{
	struct request_error what = { .status = 500,
				      .error = "INTERNAL_ERROR" };
	char message[160];

	if (err == -ENOSPC) {
		what = (struct request_error){ 503, "STORAGE_FULL",
					       "The disk is full; nothing was "
					       "changed.",
					       NULL };
	} else {
		snprintf(message, sizeof(message),
			 "Internal error; the log has it under %s.",
			 request->id);
		what.message = message;
	}
	log_error("request", request->id, "failed: %s", strerror(-err));
	request_fail(request, &what);
}

/* ---- files ---- */

static void reply_unsatisfiable(struct request *request, uint64_t size)
{
	struct request_error what = { 416, "RANGE_NOT_SATISFIABLE",
				      "The range is outside the file.",
				      "Range" };
	char header[64];

	snprintf(header, sizeof(header), "Content-Range: bytes */%llu\r\n",
		 (unsigned long long)size);
	request_fail_with(request, &what, header);
}

/* Only GET has ranges (RFC 9110, 14.2), and what an If-Range compares with we
 * never sent. */
static struct slice wanted_range(const struct request *request)
{
	if (is_head_request(request) || request_header(request, "If-Range").ptr)
		return (struct slice){ 0 };
	return request_header(request, "Range");
}

int request_reply_file(struct request *request, const char *path,
		       const char *type)
{
	struct answer answer;
	struct stat stat;
	struct range range;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int part;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode)) {
		close(fd);
		return -ENOENT;
	}
	answer = answer_init(request, 200);
	part = range_parse(&range, wanted_range(request),
			   (uint64_t)stat.st_size);
	if (part < 0) {
		close(fd);
		reply_unsatisfiable(request, (uint64_t)stat.st_size);
		return 0;
	}
	answer.at = range.first;
	answer.size = range.n;
	answer.status = part ? 206 : 200;
	answer.fd = fd;
	answer.type = type;
	write_head(request, &answer, answer.size);
	buffer_add_str(&answer.text, "Accept-Ranges: bytes\r\n");
	if (part)
		buffer_printf(&answer.text,
			      "Content-Range: bytes %llu-%llu/%llu\r\n",
			      (unsigned long long)answer.at,
			      (unsigned long long)(range.first + range.n - 1),
			      (unsigned long long)stat.st_size);
	buffer_add_str(&answer.text, "\r\n");
	if (is_head_request(request))
		answer.size = 0;
	finish(request, &answer);
	return 0;
}

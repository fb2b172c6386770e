/* SPDX-License-Identifier: MIT */
/* core/fetch_priv.h - inside of core/fetch: fetch.c has the calls and what
 * their owners are told, fetch_request.c checks and copies what is asked for,
 * fetch_curl.c drives libcurl, fetch_ca.c has the certificates it trusts. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>
#include "core/buffer.h"
#include "core/fetch.h"

struct fetch_curl;
struct timer;

enum { FETCH_REASON_SIZE = 256, FETCH_RETRY_SIZE = 64 };

/* What was asked for, checked; all of it ours. */
struct fetch_copy {
	char *method;
	char *url;
	struct fetch_header *headers; /* name and value are owned too */
	size_t n_headers;
	char *body;
	size_t body_len;
	uint32_t timeout_ms; /* never 0 */
	size_t max_body_bytes; /* never 0 */
};

/* What came of it. */
struct fetch_answer {
	int error;
	int status;
	uint32_t duration_ms;
	size_t body_bytes; /* in all, delivered pieces too */
	size_t header_bytes;
	char reason[FETCH_REASON_SIZE];
	char retry_after[FETCH_RETRY_SIZE];
};

/* RUNNING --> DONE --> freed, then on_done */
enum fetch_state { FETCH_RUNNING, FETCH_DONE };

struct fetch_call {
	TAILQ_ENTRY(fetch_call) in_calls;
	TAILQ_ENTRY(fetch_call) in_ready; /* something to tell */
	bool is_ready;
	enum fetch_state state;
	struct fetch *fetch; /* borrowed: owns us */
	struct fetch_call **handle; /* the owner's pointer to us, or NULL */
	struct fetch_copy copy;
	void (*on_body)(void *owner, struct slice piece);
	fetch_done_fn *on_done;
	void *owner;
	uint64_t start_us;
	struct buffer body; /* not delivered yet */
	struct fetch_answer answer;
	struct timer *timer; /* owned; on a simulated loop */
	void *easy; /* owned by fetch_curl.c */
};

TAILQ_HEAD(fetch_calls, fetch_call);

struct fetch {
	struct fetch_options options;
	struct fetch_calls calls; /* owned: all of them */
	struct fetch_calls ready;
	struct timer *post; /* owned */
	struct fetch_curl *curl; /* owned; NULL on a simulated loop */
};

/* 0 or -EINVAL, and then nothing to reset. */
int fetch_copy_init(struct fetch_copy *copy,
		    const struct fetch_request *request);
void fetch_copy_reset(struct fetch_copy *copy);

struct fetch_ca {
	char *path; /* owned; what CURLOPT_CAINFO takes */
	int fd; /* owned; -1: none */
};

int fetch_ca_init(struct fetch_ca *ca, const char *ca_file);
void fetch_ca_reset(struct fetch_ca *ca);

/* From fetch_curl.c, inside libcurl: they only note. -EMSGSIZE ends it. */
int fetch_on_body(struct fetch_call *call, struct slice piece);
void fetch_on_end(struct fetch_call *call, int error, const char *reason);

int fetch_curl_open(struct fetch_curl **out, struct fetch *fetch);
void fetch_curl_close(struct fetch_curl **curl);
int fetch_curl_start(struct fetch_curl *curl, struct fetch_call *call);
void fetch_curl_stop(struct fetch_curl *curl, struct fetch_call *call);

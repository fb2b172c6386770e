/* SPDX-License-Identifier: MIT */
/* libcurl's multi interface on the loop. Its callbacks note what happened;
 * owners are told after it has returned. Host names are resolved by its own
 * threads (Debian builds it so), which are left behind when a request ends. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <curl/curl.h>
#include "core/fetch_priv.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "core/watch.h"

enum {
	CONNECT_MS = 10 * 1000,
	HEADERS_MAX_BYTES = 64 * 1024,
	CONNECTIONS_MAX = 256,
	POOL_MAX = 64,
	LINE_SIZE = 32 * 1024,
};

struct fetch_curl {
	struct fetch *fetch; /* borrowed: owns us */
	CURLM *multi; /* owned */
	struct timer *timer; /* owned: libcurl's one timer */
	struct fetch_ca ca;
	bool is_global; /* curl_global_init() was done */
};

/* One request's handle and what only libcurl's callbacks know. */
struct easy {
	CURL *curl; /* owned */
	struct curl_slist *headers; /* owned */
	struct fetch_call *call; /* borrowed: owns us */
	struct fetch_curl *home; /* borrowed: outlives us */
	unsigned n_opened; /* sockets */
	bool is_refused; /* an address, by the egress policy */
	bool has_long_headers;
	char refused[ADDR_TEXT_SIZE];
	char error[CURL_ERROR_SIZE];
};

/* Results, after libcurl has returned */

static int os_error(const struct easy *easy)
{
	long number = 0;

	curl_easy_getinfo(easy->curl, CURLINFO_OS_ERRNO, &number);
	return number ? -(int)number : -EHOSTUNREACH;
}

static int end_connect(struct easy *easy, char *reason)
{
	int err = os_error(easy);

	if (easy->is_refused && !easy->n_opened) {
		snprintf(reason, FETCH_REASON_SIZE,
			 "the address %s is on this machine or a private "
			 "network, which the settings do not allow",
			 easy->refused);
		return -EACCES;
	}
	snprintf(reason, FETCH_REASON_SIZE, "cannot connect: %s",
		 strerror(-err));
	return err;
}

static int end_timeout(struct easy *easy, char *reason)
{
	snprintf(reason, FETCH_REASON_SIZE, "timed out after %u ms",
		 easy->call->copy.timeout_ms);
	return -ETIMEDOUT;
}

static int end_write(struct easy *easy, char *reason)
{
	snprintf(reason, FETCH_REASON_SIZE,
		 "the answer%s larger than %zu bytes",
		 easy->has_long_headers ? "'s headers are" : " is",
		 easy->has_long_headers ? (size_t)HEADERS_MAX_BYTES
					: easy->call->copy.max_body_bytes);
	return -EMSGSIZE;
}

/* What libcurl ends with, by its number. */
static const struct {
	CURLcode code;
	int err;
	const char *text; /* libcurl's own words follow */
	int (*tell)(struct easy *easy, char *reason); /* instead */
} ends[] = {
	{ CURLE_COULDNT_CONNECT, 0, NULL, end_connect },
	{ CURLE_OPERATION_TIMEDOUT, 0, NULL, end_timeout },
	{ CURLE_WRITE_ERROR, 0, NULL, end_write },
	{ CURLE_FILESIZE_EXCEEDED, 0, NULL, end_write },
	{ CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH, "no such host", NULL },
	{ CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED,
	  "certificate not trusted", NULL },
	{ CURLE_SSL_CONNECT_ERROR, -EPROTO, "TLS failed", NULL },
	{ CURLE_GOT_NOTHING, -ECONNRESET, "closed without an answer", NULL },
	{ CURLE_RECV_ERROR, -ECONNRESET, "connection lost", NULL },
	{ CURLE_SEND_ERROR, -ECONNRESET, "connection lost", NULL },
	{ CURLE_PARTIAL_FILE, -ECONNRESET, "answer cut short", NULL },
	{ CURLE_WEIRD_SERVER_REPLY, -EPROTO, "not an HTTP answer", NULL },
	{ CURLE_UNSUPPORTED_PROTOCOL, -EPROTO, "not an HTTP answer", NULL },
};

static int judge(struct easy *easy, CURLcode code, char *reason)
{
	const char *words =
		easy->error[0] ? easy->error : curl_easy_strerror(code);

	reason[0] = '\0';
	if (code == CURLE_OK)
		return 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ends[i].code != code)
			continue;
		if (ends[i].tell)
			return ends[i].tell(easy, reason);
		snprintf(reason, FETCH_REASON_SIZE, "%s: %.160s", ends[i].text,
			 words);
		return ends[i].err;
	}
	snprintf(reason, FETCH_REASON_SIZE, "failed: %.160s", words);
	return -EIO;
}

static void finish(CURL *curl, CURLcode code)
{
	char reason[FETCH_REASON_SIZE];
	struct easy *easy = NULL;
	long status = 0;
	int err;

	curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&easy);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	err = judge(easy, code, reason);
	easy->call->answer.status = (int)status;
	fetch_on_end(easy->call, err, reason);
	fetch_curl_stop(easy->home, easy->call);
}

static void collect(struct fetch_curl *c)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(c->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			finish(message->easy_handle, message->data.result);
}

/* Sockets and time */

static void on_ready(void *owner, int fd, int events)
{
	struct fetch_curl *c = owner;
	int bits = 0, running;

	if (events & WATCH_READ)
		bits |= CURL_CSELECT_IN;
	if (events & WATCH_WRITE)
		bits |= CURL_CSELECT_OUT;
	curl_multi_socket_action(c->multi, fd, bits, &running);
	collect(c);
}

static void on_time(void *arg)
{
	struct fetch_curl *c = arg;
	int running;

	curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(c);
}

static int on_curl_timer(CURLM *multi, long ms, void *arg)
{
	struct fetch_curl *c = arg;

	if (ms < 0)
		timer_stop(c->timer);
	else
		timer_start(c->timer, (uint64_t)ms, on_time, c);
	return 0;
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
			  void *socket_arg)
{
	struct fetch_curl *c = arg;
	struct watch *watch = socket_arg;
	int events = 0;

	if (what == CURL_POLL_REMOVE) {
		curl_multi_assign(c->multi, fd, NULL);
		watch_close(&watch);
		return 0;
	}
	if (!watch &&
	    watch_open(&watch, c->fetch->options.loop, fd, on_ready, c))
		return -1;
	if (what & CURL_POLL_IN)
		events |= WATCH_READ;
	if (what & CURL_POLL_OUT)
		events |= WATCH_WRITE;
	watch_set(watch, events);
	curl_multi_assign(c->multi, fd, watch);
	return 0;
}

/* The one place where an address is known for sure: what is opened here is
 * what is spoken to. */
static curl_socket_t on_open_socket(void *arg, curlsocktype purpose,
				    struct curl_sockaddr *address)
{
	struct easy *easy = arg;
	const struct egress *egress = &easy->home->fetch->options.egress;
	struct addr addr = { 0 };
	int fd;

	if (address->addrlen > sizeof(addr) ||
	    (address->family != AF_INET && address->family != AF_INET6)) {
		easy->is_refused = true;
		snprintf(easy->refused, sizeof(easy->refused), "(no IP)");
		return CURL_SOCKET_BAD;
	}
	memcpy(&addr,
	       (const char *)address + offsetof(struct curl_sockaddr, addr),
	       address->addrlen);
	if (egress_check(egress, &addr)) {
		easy->is_refused = true;
		addr_ip(&addr, easy->refused);
		return CURL_SOCKET_BAD;
	}
	fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
		    address->protocol);
	if (fd < 0)
		return CURL_SOCKET_BAD;
	easy->n_opened++;
	return fd;
}

/* The answer */

static size_t on_body(char *ptr, size_t size, size_t n, void *arg)
{
	struct easy *easy = arg;

	return fetch_on_body(easy->call, slice_make(ptr, size * n)) ? 0
								    : size * n;
}

static size_t on_header(char *ptr, size_t size, size_t n, void *arg)
{
	struct easy *easy = arg;
	struct fetch_answer *answer = &easy->call->answer;
	struct slice value = slice_make(ptr, size * n);
	struct slice name;

	answer->header_bytes += value.len;
	if (answer->header_bytes > HEADERS_MAX_BYTES) {
		easy->has_long_headers = true;
		return 0;
	}
	if (slice_has_prefix(value, SLICE("HTTP/")))
		answer->retry_after[0] = '\0'; /* another answer begins */
	name = slice_cut(&value, ':');
	if (!slice_eq_nocase(name, SLICE("retry-after")))
		return size * n;
	while (value.len && (value.ptr[value.len - 1] == '\n' ||
			     value.ptr[value.len - 1] == '\r'))
		value.len--;
	value = slice_trim(value);
	if (value.len < sizeof(answer->retry_after))
		snprintf(answer->retry_after, sizeof(answer->retry_after),
			 "%.*s", (int)value.len, value.ptr);
	return size * n;
}

/* The request */

static bool has_header(const struct fetch_copy *copy, const char *name)
{
	for (size_t i = 0; i < copy->n_headers; i++)
		if (slice_eq_nocase(slice_of(copy->headers[i].name),
				    slice_of(name)))
			return true;
	return false;
}

static int add_line(struct easy *easy, const char *line)
{
	struct curl_slist *more = curl_slist_append(easy->headers, line);

	if (!more)
		return -ENOMEM;
	easy->headers = more;
	return 0;
}

/* "name;" is how libcurl is asked for a header without a value, "name:" how
 * it is kept from sending one of its own. */
static int add_headers(struct easy *easy)
{
	const struct fetch_copy *copy = &easy->call->copy;
	struct buffer line;
	int err = 0;

	buffer_init(&line, LINE_SIZE);
	for (size_t i = 0; i < copy->n_headers && !err; i++) {
		const struct fetch_header *h = &copy->headers[i];

		buffer_clear(&line);
		if (slice_trim(slice_of(h->value)).len)
			buffer_printf(&line, "%s: %s", h->name, h->value);
		else
			buffer_printf(&line, "%s;", h->name);
		err = add_line(easy, buffer_str(&line));
	}
	buffer_reset(&line);
	if (!err && !has_header(copy, "Expect"))
		err = add_line(easy, "Expect:");
	if (!err && !has_header(copy, "Content-Type"))
		err = add_line(easy, "Content-Type:");
	if (!err && !has_header(copy, "User-Agent"))
		err = add_line(easy, "User-Agent: parley");
	return err;
}

static void set_method(struct easy *easy)
{
	const struct fetch_copy *copy = &easy->call->copy;
	struct slice method = slice_of(copy->method);
	bool has_body = copy->body_len || slice_eq(method, SLICE("POST")) ||
			slice_eq(method, SLICE("PUT")) ||
			slice_eq(method, SLICE("PATCH"));

	if (has_body) {
		curl_easy_setopt(easy->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(easy->curl, CURLOPT_POSTFIELDS, copy->body);
		curl_easy_setopt(easy->curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)copy->body_len);
	} else if (slice_eq(method, SLICE("HEAD"))) {
		curl_easy_setopt(easy->curl, CURLOPT_NOBODY, 1L);
		return;
	}
	curl_easy_setopt(easy->curl, CURLOPT_CUSTOMREQUEST, copy->method);
}

static void set_limits(struct easy *easy)
{
	const struct fetch_copy *copy = &easy->call->copy;
	long ms = (long)copy->timeout_ms;

	curl_easy_setopt(easy->curl, CURLOPT_TIMEOUT_MS, ms);
	curl_easy_setopt(easy->curl, CURLOPT_CONNECTTIMEOUT_MS,
			 ms < CONNECT_MS ? ms : (long)CONNECT_MS);
	curl_easy_setopt(easy->curl, CURLOPT_MAXFILESIZE_LARGE,
			 (curl_off_t)copy->max_body_bytes);
	curl_easy_setopt(easy->curl, CURLOPT_NOSIGNAL, 1L);
	/* Else the loop would wait for a resolver that hangs. */
	curl_easy_setopt(easy->curl, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy->curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(easy->curl, CURLOPT_SSLVERSION,
			 (long)CURL_SSLVERSION_TLSv1_2);
	/* With a path the store would be read for each connection (16 ms). */
	curl_easy_setopt(easy->curl, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(easy->curl, CURLOPT_CAINFO, easy->home->ca.path);
}

static void set_callbacks(struct easy *easy)
{
	curl_easy_setopt(easy->curl, CURLOPT_PRIVATE, easy);
	curl_easy_setopt(easy->curl, CURLOPT_ERRORBUFFER, easy->error);
	curl_easy_setopt(easy->curl, CURLOPT_OPENSOCKETFUNCTION,
			 on_open_socket);
	curl_easy_setopt(easy->curl, CURLOPT_OPENSOCKETDATA, easy);
	curl_easy_setopt(easy->curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy->curl, CURLOPT_WRITEDATA, easy);
	curl_easy_setopt(easy->curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy->curl, CURLOPT_HEADERDATA, easy);
	curl_easy_setopt(easy->curl, CURLOPT_URL, easy->call->copy.url);
	curl_easy_setopt(easy->curl, CURLOPT_HTTPHEADER, easy->headers);
}

int fetch_curl_start(struct fetch_curl *c, struct fetch_call *call)
{
	struct easy *easy = mem_new(sizeof(*easy));

	call->easy = easy;
	easy->call = call;
	easy->home = c;
	easy->curl = curl_easy_init();
	if (!easy->curl || add_headers(easy))
		return -ENOMEM; /* the caller stops it */
	set_method(easy);
	set_limits(easy);
	set_callbacks(easy);
	return curl_multi_add_handle(c->multi, easy->curl) ? -EIO : 0;
}

void fetch_curl_stop(struct fetch_curl *c, struct fetch_call *call)
{
	struct easy *easy = call->easy;

	if (!easy)
		return;
	call->easy = NULL;
	if (easy->curl) {
		curl_multi_remove_handle(c->multi, easy->curl);
		curl_easy_cleanup(easy->curl);
	}
	curl_slist_free_all(easy->headers);
	mem_free(easy);
}

static int set_up(struct fetch_curl *c)
{
	const curl_version_info_data *info;

	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return -EIO;
	c->is_global = true;
	info = curl_version_info(CURLVERSION_NOW);
	if (!(info->features & CURL_VERSION_ASYNCHDNS))
		return -EOPNOTSUPP; /* it would resolve names on the loop */
	c->multi = curl_multi_init();
	if (!c->multi)
		return -ENOMEM;
	curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
	curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
	curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)POOL_MAX);
	curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
			  (long)CONNECTIONS_MAX);
	return 0;
}

int fetch_curl_open(struct fetch_curl **out, struct fetch *fetch)
{
	struct fetch_curl *c = mem_new(sizeof(*c));
	int err;

	c->fetch = fetch;
	c->timer = timer_new(fetch->options.loop);
	err = fetch_ca_init(&c->ca, fetch->options.ca_file);
	if (!err)
		err = set_up(c);
	if (err)
		fetch_curl_close(&c);
	*out = c;
	return err;
}

void fetch_curl_close(struct fetch_curl **curl)
{
	struct fetch_curl *c = *curl;

	if (!c)
		return;
	*curl = NULL;
	curl_multi_cleanup(c->multi);
	if (c->is_global)
		curl_global_cleanup();
	timer_close(&c->timer);
	fetch_ca_reset(&c->ca);
	mem_free(c);
}

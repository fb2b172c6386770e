/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_callers.c - so many calls of each kind to a service, some
 * at once, on one TLS connection: answered and hung up, canceled while it
 * answers, to a number that is none, and without SRTP. Says how many went as
 * they should. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/ua.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"
#include "tools/benches/media_child.h"
#include "tools/benches/node.h"

/* ANSWERED: we hang up. CANCELED: CANCEL and 200 meet, or 487. */
enum kind { ANSWERED, CANCELED, MISSING, UNSAFE, KINDS };

static const struct {
	const char *option, *name;
} kinds[] = {
	[ANSWERED] = { "--answered", "answered" },
	[CANCELED] = { "--canceled", "canceled" },
	[MISSING] = { "--missing", "missing" },
	[UNSAFE] = { "--unsafe", "unsafe" },
};

static const char plain_offer[] =
	"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\n"
	"t=0 0\r\nm=audio 9 RTP/AVP 0\r\n";

struct caller {
	struct callers *all; /* borrowed */
	struct session *session; /* owned; NULL: idle */
	enum kind kind;
	bool is_answered;
};

struct callers {
	struct node node;
	struct ua *ua; /* owned */
	struct timer *timer; /* owned */
	struct session_trunk trunk;
	struct buffer offer;
	const char *number;
	struct caller *callers; /* owned */
	size_t n_callers, n_busy;
	enum kind next;
	uint64_t left[KINDS], done[KINDS], failed;
	char why[160]; /* of the first failure */
};

static void launch(struct caller *caller);

static bool is_as_it_should(const struct caller *caller,
			    const struct session_end *end)
{
	switch (caller->kind) {
	case ANSWERED:
		return caller->is_answered && end->cause == SESSION_HANGUP;
	case CANCELED:
		return end->cause == SESSION_CANCELED;
	case MISSING:
		return end->cause == SESSION_REJECTED && end->code == 404;
	case UNSAFE:
		return end->cause == SESSION_REJECTED && end->code == 488;
	case KINDS:
		break;
	}
	return false;
}

static void on_progress(void *owner, int status, struct slice sdp)
{
	struct caller *caller = owner;

	(void)status;
	(void)sdp;
	if (caller->kind == CANCELED)
		session_hangup(caller->session, NULL);
}

static void on_answer(void *owner, struct slice sdp)
{
	struct caller *caller = owner;

	(void)sdp;
	caller->is_answered = true;
	session_hangup(caller->session, NULL);
}

static void on_offer(void *owner, struct slice sdp)
{
	struct caller *caller = owner;

	(void)sdp;
	session_refuse(caller->session, 488);
}

static void on_end(void *owner, const struct session_end *end)
{
	struct caller *caller = owner;
	struct callers *all = caller->all;

	if (is_as_it_should(caller, end))
		all->done[caller->kind]++;
	else if (all->failed++ == 0)
		snprintf(all->why, sizeof(all->why), "%s: cause %d, %d %s",
			 kinds[caller->kind].name, end->cause, end->code,
			 end->reason ? end->reason : "");
	session_close(&caller->session);
	all->n_busy--;
	launch(caller);
}

/* The kinds take turns as long as they last; KINDS: all are over. */
static enum kind next_kind(struct callers *all)
{
	for (int i = 0; i < KINDS; i++) {
		enum kind kind = all->next;

		all->next = (kind + 1) % KINDS;
		if (all->left[kind]) {
			all->left[kind]--;
			return kind;
		}
	}
	return KINDS;
}

static void on_over(void *arg)
{
	struct callers *all = arg;

	loop_stop(all->node.loop);
}

static void launch(struct caller *caller)
{
	static const struct session_events events = {
		.on_progress = on_progress,
		.on_answer = on_answer,
		.on_offer = on_offer,
		.on_end = on_end,
	};
	struct callers *all = caller->all;
	struct session_call call = {
		.trunk = &all->trunk,
		.to_number = all->number,
		.from_number = "+14155550199",
		.offer = buffer_slice(&all->offer),
	};

	caller->kind = next_kind(all);
	caller->is_answered = false;
	if (caller->kind == KINDS) {
		if (!all->n_busy) /* the last BYE is answered meanwhile */
			timer_start(all->timer, 200, on_over, all);
		return;
	}
	if (caller->kind == MISSING)
		call.to_number = "+19995550000";
	if (caller->kind == UNSAFE)
		call.offer = SLICE(plain_offer);
	all->n_busy++;
	if (session_invite(&caller->session, all->ua, &call, &events, caller))
		abort();
}

/* The first call alone, so that the others find the connection open. */
static void on_start(void *arg)
{
	struct callers *all = arg;

	for (size_t i = 1; i < all->n_callers; i++)
		launch(&all->callers[i]);
}

static int open_callers(struct callers *all, char **argv)
{
	static const struct ua_events events = { .on_invite = NULL };
	uint8_t key[SRTP_KEY_BYTES] = { 1 };
	struct ua_options ua = {
		.transport = { .loop = all->node.loop,
			       .tls = all->node.tls,
			       .public_address = "",
			       .user_agent = "Parley-bench" },
		.domain = "localhost",
		.max_sessions = 10000,
	};

	for (int i = 0; i < KINDS; i++)
		all->left[i] = bench_number(argv, kinds[i].option, 0);
	all->number = bench_text(argv, "--number", "+14155550123");
	all->n_callers = bench_number(argv, "--outstanding", 16);
	all->callers = mem_new_array(all->n_callers, sizeof(*all->callers));
	for (size_t i = 0; i < all->n_callers; i++)
		all->callers[i].all = all;
	all->trunk.port = (uint16_t)bench_number(argv, "--port", 5061);
	memcpy(all->trunk.host, "localhost", sizeof("localhost"));
	/* Nobody listens there: the calls are shorter than a packet. */
	buffer_init(&all->offer, CHILD_TEXT_MAX);
	far_side_write(&all->offer, 9, 0, key);
	all->timer = timer_new(all->node.loop);
	addr_parse(&ua.transport.listen.bind, SLICE("127.0.0.1"), 0);
	return ua_open(&all->ua, &ua, &events, all);
}

static void report(const struct callers *all)
{
	putchar('{');
	for (int i = 0; i < KINDS; i++)
		printf("\"%s\": %llu, ", kinds[i].name,
		       (unsigned long long)all->done[i]);
	printf("\"failed\": %llu, \"why\": \"%s\"}\n",
	       (unsigned long long)all->failed, all->why);
}

static void close_callers(struct callers *all)
{
	for (size_t i = 0; i < all->n_callers; i++)
		session_close(&all->callers[i].session);
	ua_close(&all->ua);
	timer_close(&all->timer);
	buffer_reset(&all->offer);
	mem_free(all->callers);
	node_close(&all->node);
	mem_free(all);
}

int bench_sip_callers(int argc, char **argv)
{
	struct callers *all = mem_new(sizeof(*all));
	int err = node_open(&all->node, argv);
	bool has_failed;

	(void)argc;
	if (!err)
		err = open_callers(all, argv);
	if (err) {
		fprintf(stderr, "sip-callers: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	launch(&all->callers[0]);
	timer_start(all->timer, 300, on_start, all);
	loop_run(all->node.loop);
	report(all);
	has_failed = all->failed > 0;
	close_callers(all);
	return has_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

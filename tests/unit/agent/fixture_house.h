/* SPDX-License-Identifier: MIT */
/* tests/unit/agent/fixture_house.h - the whole service on a simulated loop: a
 * store in memory, a user agent and media behind real TLS and SRTP, a speech
 * engine that plays a part, the rules model, and a far end that takes calls and
 * makes them. JSON is written with ' for " here. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <jansson.h>
#include "agent/call/dispatch.h"
#include "agent/call/webhook.h"
#include "agent/service.h"
#include "core/arena.h"
#include "core/fetch.h"
#include "core/loop.h"
#include "media/media.h"
#include "media/stream.h"
#include "sip/ua.h"
#include "store/calls.h"
#include "store/orgs.h"
#include "tests/unit/agent/fixture_speech.h"

#define HOUSE_ORG     "0b9f1c3e-0000-4000-8000-000000000001"
#define HOUSE_NUMBER  "+14155550100"
#define HOUSE_CALLEE  "+14155550199"
#define HOUSE_PATHWAY "0b9f1c3e-0000-4000-8000-0000000000aa"

enum { HOUSE_POSTS = 64, FAR_LEGS = 16 };

/* What the far end does with an INVITE. */
struct far_manners {
	int status; /* refuses with it; 0: takes the call */
	bool is_silent; /* rings and never answers */
	uint32_t answer_ms; /* rings for so long */
	const char *answer; /* SDP in place of its own */
	const unsigned *says_ms; /* each once the agent has been silent */
	size_t n_says;
	uint32_t patience_ms; /* of silence before it speaks; 300 */
	uint32_t hangs_up_ms; /* after it was up; 0: never */
	int refer_status; /* answers a REFER; 0: 202 */
	int refer_final; /* then tells this; 0: nothing */
};

/* One call at the far end. */
struct far_leg {
	struct house *house;
	struct session *session; /* owned */
	struct stream *stream; /* owned */
	struct timer *timer; /* owned */
	struct buffer sdp;
	size_t said; /* of says_ms */
	bool has_heard; /* the agent, since it last spoke */
	uint32_t quiet_ms;
	bool is_up, has_ended;
	unsigned voiced; /* frames with the agent's voice */
	struct sip_message *invite; /* as it came; owned */
	char refer_to[128]; /* number of the last REFER that came */
	int told[8]; /* of its own REFER: status by status */
	size_t n_told;
	bool is_told_all;
	char reason[160]; /* why it ended, as the Reason header says */
};

struct house_post {
	char *url;
	char *body;
	char *signature, *previous, *id, *attempt;
	int64_t at_ms;
};

struct house {
	struct service service;
	struct tls *tls;
	struct actor actor;
	struct arena *arena;
	/* The network of the webhooks. */
	struct house_post posts[HOUSE_POSTS];
	size_t n_posts;
	const struct fetch_result *results; /* in order; then 200 */
	size_t n_results;
	/* The far end. */
	struct ua *far_ua;
	struct media *far_media;
	struct far_manners manners;
	struct far_leg legs[FAR_LEGS];
	size_t n_legs;
	uint16_t media_ports; /* of the service, when not 100 */
	unsigned replies;
	int reply_err;
};

/* cmocka fixtures; *state is the house, with HOUSE_ORG, HOUSE_NUMBER attached
 * both ways and the pathway HOUSE_PATHWAY of three questions. */
int house_setup(void **state);
int house_teardown(void **state); /* asserts that nothing is left */
void house_run(struct house *house, uint64_t ms);
/* Opens and closes the parts that dial, so that a restart can be played. */
void house_start(struct house *house);
void house_stop(struct house *house);

/* Stores a queued call and wakes dispatch; its id lives in the arena. settings
 * NULL: the pathway. */
const char *house_queue(struct house *house, const char *settings);
struct call_row house_call(struct house *house, const char *id);
/* Its record; the caller owns the reference. */
json_t *house_record(struct house *house, const char *id);
/* Runs until the call is completed, at most ms; fails the test when not. */
void house_finish(struct house *house, const char *id, uint64_t ms);
struct store_reply house_reply(struct house *house);
void house_put_org(struct house *house, int64_t concurrency);
void house_put_trunk(struct house *house, bool is_outbound, const char *host,
		     const char *options);
void house_put_number(struct house *house, const char *settings);
/* The header mapping of HOUSE_NUMBER's trunk: {'headers':[...]}. */
void house_put_mapping(struct house *house, bool is_outbound,
		       const char *mapping);
/* Runs SQL on the store's connection. */
void house_sql(struct house *house, const char *sql);
/* The far end calls HOUSE_NUMBER. */
struct far_leg *house_dial_in(struct house *house, const char *to);
/* The same with headers, Replaces or another caller, where call has them. */
struct far_leg *house_dial_with(struct house *house,
				const struct session_call *call);
/* "CALL-ID;to-tag=...;from-tag=...", that names the leg's dialog to the
 * house. */
const char *house_replaces(struct house *house, const struct far_leg *leg);
/* Value of a header of the INVITE that the leg came with; "-": none. */
const char *far_header(struct house *house, const struct far_leg *leg,
		       const char *name);
/* Text at "a.b[0].c", "" for null, "-" when nothing is there. */
const char *house_at(struct house *house, const json_t *record,
		     const char *path);
/* All lines of the transcript: "assistant: Hello\nuser: yes\n". */
const char *house_transcript(struct house *house, const json_t *record);
#define SAYS(house, ...)                                                       \
	do {                                                                   \
		static const unsigned says_[] = { __VA_ARGS__ };               \
		(house)->manners.says_ms = says_;                              \
		(house)->manners.n_says = sizeof(says_) / sizeof(says_[0]);    \
	} while (0)

/* SPDX-License-Identifier: MIT */
/* Two user agents and a scripted peer that speaks text, joined by TLS over the
 * simulated network. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "core/addr.h"
#include "core/buffer.h"
#include "sip/message.h"
#include "sip/session.h"
#include "sip/ua.h"

enum {
	NEAR_PORT = 5061,
	FAR_PORT = 5063,
	RAW_PORT = 5065,
	SECOND_PORT =
		5067 /* the second address of multi.test; RAW_PORT: first */
};

/* An owner of one session; log tells what it was told, "answer [sdp];". */
struct side {
	struct ua *ua; /* owned */
	struct session *session; /* owned */
	struct buffer log;
	int invite_status; /* on_invite returns it; 0: takes the session */
	const char *answer; /* on_invite answers at once; NULL: it waits */
	int refer_status; /* on_refer returns it; 0: 202 */
	/* on_invite begins with it; NULL: nothing. */
	void (*on_invited)(struct side *side, struct session *session);
	bool closes_in_invite;
	bool closes_in_end;
};

/* The scripted peer: one link, one dialog of its own making. */
struct raw {
	struct world *world; /* borrowed */
	struct listener *listener; /* owned */
	struct link *link; /* owned: the last one */
	struct buffer got;
	struct sip_message *message; /* owned: the last one taken */
	unsigned accepts, closes;
	char call_id[80];
	char local[300], remote[300]; /* From and To of its requests */
	char target[300];
	unsigned cseq;
	unsigned branches; /* used so far */
	char branch[40]; /* of the last request */
};

struct world {
	struct loop *loop;
	struct work *work;
	struct tls *tls, *stranger; /* stranger: signed by nobody we know */
	struct side near, far;
	struct raw raw;
};

int world_setup(void **state); /* cmocka fixtures; *state is the world */
int world_teardown(void **state); /* asserts that all UA counts are zero */
void world_run(struct world *world, uint64_t ms);

/* Calls from near to the trunk at this port; -errno or 0. */
int side_call(struct world *world, uint16_t port,
	      const struct session_call *call);
extern const struct session_events side_events;
#define expect_log(side, text)                                                 \
	do {                                                                   \
		assert_string_equal(buffer_str(&(side)->log), text);           \
		buffer_clear(&(side)->log);                                    \
	} while (0)

/* Listens at RAW_PORT with tls. */
void raw_listen(struct world *world, struct tls *tls);
/* The same for a further peer of the test's own, zeroed but for world and got.
 */
void raw_listen_at(struct raw *raw, struct tls *tls, const char *ip,
		   uint16_t port);
/* Connects to the near UA and makes up a dialog. */
void raw_dial(struct world *world);
void raw_cut(struct raw *raw); /* closes its link */
/* The next message that came, or NULL; valid until the next call. */
struct sip_message *raw_take(struct raw *raw);
/* It is there, and is this request ("INVITE") or answer ("200"). */
struct sip_message *raw_expect(struct raw *raw, const char *what);
#define raw_expect_none(raw) assert_null(raw_take(raw))
/* Answers request; headers are whole lines, body SDP. */
void raw_reply(struct raw *raw, const struct sip_message *request, int status,
	       const char *headers, const char *body);
/* Takes the dialog from an INVITE that came, or an answer to its own. */
void raw_learn(struct raw *raw, const struct sip_message *message);
/* Sends a request of its dialog with the next CSeq (ACK: the last one) and a
 * new branch. */
void raw_request(struct raw *raw, const char *method, const char *headers,
		 const char *body);
void raw_write(struct raw *raw, struct slice text);
/* The near UA calls, raw answers 200 "answer": up. The INVITE's CSeq in raw
 * stays free for its own requests. */
void raw_take_call(struct world *world);
/* raw calls the near UA, which answers "answer": up. */
void raw_make_call(struct world *world);
struct slice message_value(const struct sip_message *message, const char *name);

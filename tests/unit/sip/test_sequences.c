/* SPDX-License-Identifier: MIT */
/* sip/ua and sip/session under sequences nobody planned: a peer that sends any
 * request, any answer, in any order, cuts its links, and owners that do
 * whatever their header allows. Nothing may crash, leak, or stay behind. */
#include "fixture_ua.h"
#include <stdio.h>
#include <string.h>
#include "core/link.h"

enum { STEPS = 600, SEEDS = 12, KEPT = 6 };

struct chaos {
	struct world *w;
	uint32_t seed;
	struct sip_message *kept[KEPT]; /* requests the peer may answer */
};

/* xorshift32: the same sequence on every run. */
static unsigned pick(struct chaos *c, unsigned below)
{
	c->seed ^= c->seed << 13;
	c->seed ^= c->seed >> 17;
	c->seed ^= c->seed << 5;
	return c->seed % below;
}

static void read_all(struct chaos *c)
{
	struct sip_message *message;

	while ((message = raw_take(&c->w->raw))) {
		struct sip_message **at = &c->kept[pick(c, KEPT)];

		if (!message->start.is_request) {
			if (message->start.status > 100 &&
			    message->start.method == SIP_INVITE && pick(c, 2))
				raw_learn(&c->w->raw, message);
			continue;
		}
		if (message->start.method == SIP_INVITE &&
		    !message->common.to.tag.len)
			raw_learn(&c->w->raw, message);
		sip_message_unref(at);
		*at = sip_message_ref(message);
	}
}

static void peer_requests(struct chaos *c)
{
	static const char *const methods[] = { "INVITE", "ACK",	   "ACK",
					       "BYE",	 "UPDATE", "CANCEL",
					       "INFO",	 "OPTIONS" };
	unsigned branches = c->w->raw.branches;

	if (!c->w->raw.link)
		raw_dial(c->w);
	if (!c->w->raw.link)
		return;
	if (pick(c, 6) == 0 && branches)
		c->w->raw.branches--; /* a branch once more */
	if (pick(c, 8) == 0 && c->w->raw.cseq)
		c->w->raw.cseq--;
	raw_request(&c->w->raw, methods[pick(c, 8)], "",
		    pick(c, 2) ? "sdp" : "");
}

static void peer_calls_anew(struct chaos *c)
{
	raw_dial(c->w);
	if (!c->w->raw.link)
		return;
	snprintf(c->w->raw.call_id, sizeof(c->w->raw.call_id), "call-%u",
		 pick(c, 1000000));
	snprintf(c->w->raw.local, sizeof(c->w->raw.local),
		 "<sip:+15550177@127.0.0.1>;tag=raw");
	snprintf(c->w->raw.remote, sizeof(c->w->raw.remote),
		 "<sip:+15550100@near.test>");
	raw_request(&c->w->raw, "INVITE", "", pick(c, 4) ? "sdp" : "");
}

static void peer_answers(struct chaos *c)
{
	static const int statuses[] = { 100, 180, 183, 200, 200, 200, 302,
					401, 408, 481, 486, 487, 491, 503 };
	const struct sip_message *request = c->kept[pick(c, KEPT)];
	bool has_sdp = pick(c, 4) != 0;

	if (!request || !c->w->raw.link || request->start.method == SIP_ACK)
		return;
	raw_reply(&c->w->raw, request, statuses[pick(c, 14)],
		  "Contact: <sip:raw@trunk.test:5065>\r\n"
		  "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n",
		  has_sdp ? "sdp" : "");
}

/* A peer that plays by the rules for once. */
static void peer_accepts(struct chaos *c)
{
	for (int i = 0; i < KEPT && c->w->raw.link; i++)
		if (c->kept[i] && c->kept[i]->start.method == SIP_INVITE)
			raw_reply(&c->w->raw, c->kept[i], 200,
				  "Contact: <sip:raw@trunk.test:5065>\r\n",
				  "sdp");
}

static void owner_acts(struct chaos *c)
{
	struct session *session = c->w->near.session;

	if (!session)
		return;
	switch (pick(c, 9)) {
	case 0:
		session_ring(session);
		break;
	case 1:
	case 2:
		session_answer(session, SLICE("sdp"));
		break;
	case 3:
		session_refuse(session, 488);
		break;
	case 4:
	case 7:
	case 8:
		session_offer(session, SLICE("sdp"));
		break;
	case 5:
		session_hangup(session, pick(c, 2) ? NULL : "SIP;cause=200");
		break;
	case 6:
		session_close(&c->w->near.session);
		break;
	}
}

static void owner_calls(struct chaos *c)
{
	static const struct session_trunk trunk = { .host = "trunk.test",
						    .port = RAW_PORT,
						    .username = "u",
						    .password = "p" };
	const struct session_call call = { .trunk = &trunk,
					   .ring_timeout_ms = 3000 };

	session_close(&c->w->near.session);
	side_call(c->w, RAW_PORT, &call);
	world_run(c->w, pick(c, 2) ? 0 : 60);
}

static void step(struct chaos *c)
{
	c->w->near.closes_in_end = pick(c, 2);
	c->w->near.closes_in_invite = pick(c, 10) == 0;
	c->w->near.answer = pick(c, 3) ? NULL : "sdp";
	c->w->near.invite_status = pick(c, 8) ? 0 : 486;
	switch (pick(c, 12)) {
	case 0:
		owner_calls(c);
		break;
	case 1:
		peer_calls_anew(c);
		break;
	case 2:
		if (pick(c, 3) == 0)
			raw_cut(&c->w->raw);
		break;
	case 3:
		world_run(c->w, pick(c, 5) ? pick(c, 5000) : 33000);
		break;
	case 4:
		peer_accepts(c);
		break;
	case 5:
	case 6:
		peer_answers(c);
		break;
	case 7:
	case 8:
		owner_acts(c);
		break;
	default:
		peer_requests(c);
		break;
	}
	read_all(c);
	buffer_clear(&c->w->near.log);
}

static void test_anything_in_any_order(void **state)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct chaos c = { .seed = seed * 2654435761u };

		world_setup(state);
		c.w = *state;
		raw_listen(c.w, c.w->tls);
		raw_dial(c.w);
		for (int i = 0; i < STEPS; i++)
			step(&c);
		for (int i = 0; i < KEPT; i++)
			sip_message_unref(&c.kept[i]);
		world_teardown(state); /* all counts are zero again */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anything_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "fixture_chaos.h"
#include <stdio.h>
#include <string.h>
#include "core/link.h"

#define COUNT(table) (sizeof(table) / sizeof(table[0]))

/* ---- choices ---- */

static unsigned next_number(struct chaos *c)
{
	unsigned number = 0;

	if (!c->bytes.ptr) { /* xorshift32 */
		c->seed ^= c->seed << 13;
		c->seed ^= c->seed >> 17;
		c->seed ^= c->seed << 5;
		return c->seed;
	}
	for (int i = 0; i < 2 && c->bytes.len; i++) {
		number = number << 8 | (uint8_t)c->bytes.ptr[0];
		c->bytes = slice_make(c->bytes.ptr + 1, c->bytes.len - 1);
	}
	return number;
}

static unsigned pick(struct chaos *c, unsigned below)
{
	unsigned number;

	if (below > 256 || !c->bytes.ptr)
		return next_number(c) % below;
	if (!c->bytes.len)
		return 0;
	number = (uint8_t)c->bytes.ptr[0];
	c->bytes = slice_make(c->bytes.ptr + 1, c->bytes.len - 1);
	return number % below;
}

#define pick_of(c, table) ((table)[pick(c, COUNT(table))])

/* ---- the peer ---- */

static const char *const sdps[] = { "", "sdp", "sdp", "other sdp" };

/* Lines that a request or an answer may carry, alone or together. */
static const char *const lines[] = {
	"",
	"",
	"",
	"Supported: timer, replaces\r\n",
	"Supported: timer\r\nSession-Expires: 90;refresher=uac\r\n",
	"Supported: timer\r\nSession-Expires: 90;refresher=uas\r\n",
	"Session-Expires: 1800\r\n",
	"x: 4;refresher=uas\r\n",
	"Session-Expires: 99999999999999\r\nMin-SE: 0\r\n",
	"Min-SE: 3600\r\n",
	"Require: timer\r\nSession-Expires: 120;refresher=uas\r\n",
	"Require: timer\r\nSession-Expires: 120;refresher=uac\r\n",
	"Require: 100rel, timer\r\n",
	"Refer-To: <sip:+15550123@trunk.test>\r\n",
	"Refer-To: <sip:+15550123@trunk.test>\r\n",
	"Refer-To: <sip:a@b.test?Replaces=a%3Bto-tag%3D1%3Bfrom-tag%3D2>\r\n",
	"Refer-To: <sip:a@b.test?Replaces=%00>\r\n",
	"Refer-To: tel:+15550123\r\nReferred-By: <sip:a@b.test>\r\n",
	"Refer-To: x\r\n",
	"Refer-Sub: false\r\n",
	"Referred-By: <<\r\n",
	"Event: refer\r\nSubscription-State: active;expires=60\r\n"
	"Content-Type: message/sipfrag\r\n",
	"Event: refer\r\nSubscription-State: terminated\r\n"
	"Content-Type: message/sipfrag\r\n",
	"Event: refer;id=1\r\n",
	"Event: presence\r\n",
	"Replaces: nobody;to-tag=1;from-tag=2\r\n",
	"Replaces: ;\r\n",
	"Reason: SIP;cause=200\r\n",
	"Retry-After: 1\r\n",
	"Record-Route: <sip:proxy.test;lr>, <sip:127.0.0.1:5065;lr>\r\n",
	"Record-Route: <sip:strict.test>\r\n",
	"Contact: <sip:raw@trunk.test:5065>\r\n",
	"Contact: *\r\n",
	"WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n",
	"Proxy-Authenticate: Digest realm=\"r\", nonce=\"m\", stale=true\r\n",
	"Content-Type: text/plain\r\n",
	"Content-Encoding: gzip\r\n",
	"Content-Length: 1\r\n",
	"Max-Forwards: 0\r\n",
	"To: <sip:x@y.test>\r\n",
	"CSeq: 1 INVITE\r\n",
	"X-Folded: a\r\n b\r\n",
	": no name\r\n",
	"No colon\r\n",
	"Subject: \xc0\x8d\xff\r\n",
};

static void pick_lines(struct chaos *c, char *out, size_t size)
{
	snprintf(out, size, "%s%s", pick_of(c, lines), pick_of(c, lines));
}

static bool peer_is_there(struct chaos *c)
{
	if (!c->w->raw.link)
		raw_dial(c->w);
	return c->w->raw.link != NULL;
}

/* Sends a request; at times with an old branch or CSeq. */
static void send_request(struct chaos *c, const char *method,
			 const char *headers, const char *body)
{
	struct raw *raw = &c->w->raw;

	if (!peer_is_there(c))
		return;
	if (pick(c, 6) == 0 && raw->branches)
		raw->branches--;
	if (pick(c, 8) == 0 && raw->cseq)
		raw->cseq--;
	raw_request(raw, method, headers, body);
}

static void peer_requests(struct chaos *c)
{
	static const char *const methods[] = {
		"INVITE", "INVITE", "ACK",   "ACK",  "BYE",
		"UPDATE", "CANCEL", "REFER", "INFO", "OPTIONS",
		"PRACK",  "NOTIFY", "FROB",
	};
	const char *method = pick_of(c, methods);
	char headers[600];

	pick_lines(c, headers, sizeof(headers));
	send_request(c, method, headers, pick_of(c, sdps));
}

static void peer_refers(struct chaos *c)
{
	char headers[600];

	snprintf(headers, sizeof(headers),
		 "Refer-To: <sip:+15550123@trunk.test>\r\n%s",
		 pick(c, 3) ? "" : "Refer-Sub: false\r\n");
	send_request(c, "REFER", headers, "");
}

static void peer_notifies(struct chaos *c)
{
	static const char *const bodies[] = {
		"",
		"SIP/2.0 100 Trying\r\n",
		"SIP/2.0 180 Ringing\r\n",
		"SIP/2.0 200 OK\r\n",
		"SIP/2.0 603 Decline",
		"SIP/2.0 1",
		"hello",
	};
	static const char *const states[] = {
		"",
		"Subscription-State: active;expires=60\r\n",
		"Subscription-State: active;expires=99999999999\r\n",
		"Subscription-State: terminated;reason=noresource\r\n",
	};
	char headers[600];

	snprintf(headers, sizeof(headers),
		 "Event: refer%s\r\n%sContent-Type: message/sipfrag\r\n",
		 pick(c, 4) ? "" : ";id=3", pick_of(c, states));
	send_request(c, "NOTIFY", headers, pick_of(c, bodies));
}

static void write_replaces(const struct raw *raw, char *out, size_t size)
{
	const char *to = strstr(raw->remote, ";tag=");
	const char *from = strstr(raw->local, ";tag=");

	snprintf(out, size, "Replaces: %s;to-tag=%s;from-tag=%s\r\n",
		 raw->call_id, to ? to + 5 : "0", from ? from + 5 : "0");
}

/* A new call; at times it asks to take the last one over. */
static void peer_calls_anew(struct chaos *c)
{
	struct raw *raw = &c->w->raw;
	char headers[1200] = "";

	if (!peer_is_there(c))
		return;
	if (pick(c, 3) == 0)
		write_replaces(raw, headers, sizeof(headers));
	else
		pick_lines(c, headers, sizeof(headers));
	snprintf(raw->call_id, sizeof(raw->call_id), "call-%u", c->calls++);
	snprintf(raw->local, sizeof(raw->local),
		 "<sip:+15550177@127.0.0.1>;tag=raw");
	snprintf(raw->remote, sizeof(raw->remote), "<sip:+15550100@near.test>");
	snprintf(raw->target, sizeof(raw->target), "sip:+15550100@near.test");
	raw_request(raw, "INVITE", headers, pick_of(c, sdps));
}

static void peer_answers(struct chaos *c)
{
	static const int statuses[] = { 100, 180, 183, 199, 200, 200, 200,
					202, 302, 401, 407, 408, 422, 481,
					486, 487, 491, 500, 503, 603 };
	const struct sip_message *request = c->kept[pick(c, CHAOS_KEPT)];
	int status = pick_of(c, statuses);
	char headers[600];

	pick_lines(c, headers, sizeof(headers));
	if (request && c->w->raw.link && request->start.method != SIP_ACK)
		raw_reply(&c->w->raw, request, status, headers,
			  pick_of(c, sdps));
}

/* A peer that plays by the rules for once. */
static void peer_accepts(struct chaos *c)
{
	for (int i = 0; i < CHAOS_KEPT && c->w->raw.link; i++) {
		const struct sip_message *request = c->kept[i];

		if (request && request->start.method != SIP_ACK)
			raw_reply(&c->w->raw, request, 200,
				  "Contact: <sip:raw@trunk.test:5065>\r\n",
				  request->start.method == SIP_INVITE ? "sdp"
								      : "");
	}
}

/* Bytes that are no message, or one with a byte changed. */
static void peer_babbles(struct chaos *c)
{
	static const char *const texts[] = {
		"\r\n\r\n",
		"\r\n",
		"\r",
		"SIP/2.0 200 OK\r\n\r\n",
		"\x16\x03\x01\r\n\r\n",
		"INVITE sip:a@b.test SIP/2.0\r\nContent-Length: -1\r\n\r\n",
	};
	char text[] = "OPTIONS sip:near.test SIP/2.0\r\n"
		      "Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bKz\r\n"
		      "From: <sip:a@a.test>;tag=1\r\nTo: <sip:near.test>\r\n"
		      "Call-ID: z\r\nCSeq: 1 OPTIONS\r\n"
		      "Content-Length: 0\r\n\r\n";

	if (!peer_is_there(c))
		return;
	if (pick(c, 2)) {
		raw_write(&c->w->raw, slice_of(pick_of(c, texts)));
		return;
	}
	text[pick(c, sizeof(text) - 1)] = (char)pick(c, 256);
	raw_write(&c->w->raw, slice_make(text, sizeof(text) - 1));
}

static void peer_leaves(struct chaos *c)
{
	if (pick(c, 3) == 0)
		raw_cut(&c->w->raw);
}

/* ---- the owners ---- */

/* Its peer is the scripted one, or the other user agent. */
static void owner_calls(struct chaos *c)
{
	static const struct session_trunk trunks[] = {
		{ .host = "trunk.test",
		  .port = RAW_PORT,
		  .username = "u",
		  .password = "p" },
		{ .host = "trunk.test", .port = FAR_PORT },
	};
	struct session_call call = { .ring_timeout_ms = 3000 };

	call.trunk = &trunks[pick(c, 4) == 0];
	if (pick(c, 4) == 0)
		call.replaces = "a;to-tag=1;from-tag=2";
	session_close(&c->w->near.session);
	side_call(c->w, call.trunk->port, &call);
	world_run(c->w, pick(c, 2) ? 0 : 60);
}

static void owner_refers(struct chaos *c, struct session *session)
{
	static const char *const targets[] = { "sip:+15550123@trunk.test",
					       "tel:+15550123", "nowhere" };
	static const char *const replaces[] = { NULL, NULL,
						"a;to-tag=1;from-tag=2" };

	session_refer(session, pick_of(c, targets), pick_of(c, replaces));
}

static void owner_acts(struct chaos *c)
{
	static const int statuses[] = { 100, 180, 183, 200, 486, 0 };
	struct side *side = pick(c, 4) ? &c->w->near : &c->w->far;

	if (!side->session)
		return;
	switch (pick(c, 13)) {
	case 0:
		session_ring(side->session);
		break;
	case 1:
	case 2:
		session_answer(side->session, SLICE("sdp"));
		break;
	case 3:
		session_refuse(side->session, 488);
		break;
	case 4:
	case 5:
	case 6:
		session_offer(side->session, SLICE("sdp"));
		break;
	case 7:
		session_hangup(side->session, pick(c, 2) ? NULL : "SIP");
		break;
	case 8:
		session_close(&side->session);
		break;
	case 9:
	case 10:
		owner_refers(c, side->session);
		break;
	default:
		session_refer_notify(side->session, pick_of(c, statuses));
		break;
	}
}

static void time_passes(struct chaos *c)
{
	static const unsigned most_ms[] = { 50, 500, 5000, 5000, 33000, 70000 };

	world_run(c->w, pick(c, pick_of(c, most_ms)));
}

/* How the owners will behave next. */
static void choose_manners(struct chaos *c)
{
	struct side *sides[] = { &c->w->near, &c->w->far };
	unsigned bits = pick(c, 256);

	for (int i = 0; i < 2; i++, bits >>= 4) {
		sides[i]->closes_in_end = bits & 1;
		sides[i]->closes_in_invite = (bits & 14) == 14;
		sides[i]->answer = bits & 2 ? "sdp" : NULL;
		sides[i]->invite_status = (bits & 12) == 12 ? 486 : 0;
		sides[i]->refer_status = (bits & 12) == 8 ? 603 : 0;
	}
}

/* ---- public ---- */

/* An answer to what is no message repeats what is wrong with it: that goes.
 * All else must be one. */
static void drop_refusals(struct raw *raw)
{
	struct sip_message *message = NULL;
	ssize_t len;

	while ((len = sip_message_frame(buffer_slice(&raw->got))) > 0) {
		struct slice text = slice_make(raw->got.ptr, (size_t)len);
		bool is_one = sip_message_parse(&message, text, NULL) == 0;

		sip_message_unref(&message);
		if (is_one || (!slice_has_prefix(text, SLICE("SIP/2.0 4")) &&
			       !slice_has_prefix(text, SLICE("SIP/2.0 5"))))
			return;
		buffer_consume(&raw->got, (size_t)len);
	}
}

static struct sip_message *take(struct raw *raw)
{
	while (raw->got.len && raw->got.ptr[0] == '\r')
		buffer_consume(&raw->got, raw->got.len > 1 ? 2 : 1);
	drop_refusals(raw);
	return raw_take(raw);
}

/* The peer remembers requests to answer them later, and dialogs. */
static void read_all(struct chaos *c)
{
	struct raw *raw = &c->w->raw;
	struct sip_message *message;

	while ((message = take(raw))) {
		struct sip_message **at = &c->kept[pick(c, CHAOS_KEPT)];

		if (!message->start.is_request) {
			if (message->start.status > 100 &&
			    message->start.method == SIP_INVITE && pick(c, 2))
				raw_learn(raw, message);
			continue;
		}
		if (message->start.method == SIP_INVITE &&
		    !message->common.to.tag.len)
			raw_learn(raw, message);
		sip_message_unref(at);
		*at = sip_message_ref(message);
	}
}

void chaos_open(struct chaos *chaos, struct world *world, struct slice bytes,
		uint32_t seed)
{
	*chaos = (struct chaos){ .w = world, .bytes = bytes, .seed = seed };
	if (!world->raw.listener)
		raw_listen(world, world->tls);
	raw_cut(&world->raw);
	world->raw.call_id[0] = '\0';
	world->raw.cseq = world->raw.branches = 0;
	raw_dial(world);
}

bool chaos_has_more(const struct chaos *chaos)
{
	return chaos->bytes.len > 0;
}

void chaos_step(struct chaos *chaos)
{
	static void (*const steps[])(struct chaos *) = {
		owner_calls,   peer_calls_anew, peer_calls_anew, peer_leaves,
		time_passes,   time_passes,	peer_accepts,	 peer_accepts,
		peer_answers,  peer_answers,	owner_acts,	 owner_acts,
		owner_acts,    peer_requests,	peer_requests,	 peer_requests,
		peer_notifies, peer_refers,	peer_babbles,	 choose_manners,
	};

	pick_of(chaos, steps)(chaos);
	read_all(chaos);
	buffer_clear(&chaos->w->near.log);
	buffer_clear(&chaos->w->far.log);
}

static void assert_nothing_left(const struct ua *ua)
{
	struct ua_stats stats;

	ua_stats(ua, &stats);
	assert_int_equal(stats.sessions, 0);
	assert_int_equal(stats.dialogs, 0);
	assert_int_equal(stats.client_transactions, 0);
	assert_int_equal(stats.server_transactions, 0);
}

void chaos_close(struct chaos *chaos)
{
	struct world *w = chaos->w;

	for (int i = 0; i < CHAOS_KEPT; i++)
		sip_message_unref(&chaos->kept[i]);
	session_close(&w->near.session);
	session_close(&w->far.session);
	w->near.invite_status = w->far.invite_status = 486;
	world_run(w, 130 * 1000);
	while (take(&w->raw))
		;
	assert_nothing_left(w->near.ua);
	assert_nothing_left(w->far.ua);
	buffer_clear(&w->near.log);
	buffer_clear(&w->far.log);
	w->near.invite_status = w->far.invite_status = 0;
}

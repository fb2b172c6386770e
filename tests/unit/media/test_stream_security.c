/* SPDX-License-Identifier: MIT */
/* What strangers and broken networks send changes nothing but counters: forged,
 * replayed, cut and plain packets; addresses are learnt from authenticated
 * packets alone (CVE-2021-41105, CVE-2021-26712, RTP bleed). */
#include "tests/unit/media/fixture.h"
#include <stdlib.h>
#include <string.h>
#include "media/rtp.h"
#include "media/srtp.h"

static int16_t speech[16000];

static void speak(struct end *end)
{
	fixture_speech(speech, 16000, 1);
	playout_queue(stream_playout(end->stream), speech, 16000);
}

static double heard(const struct end *end)
{
	return fixture_correlation(end->heard, end->n_heard, speech, 16000);
}

static unsigned twice(void *arg, bool to_b, uint8_t *packet, size_t *len)
{
	return 2;
}

static void test_replays_are_counted_and_dropped(void **state)
{
	struct fixture *f = *state;
	struct relay *relay = fixture_join_by_relay(f, twice, NULL);
	struct stream_report report;

	speak(f->a);
	loop_advance_ms(f->loop, 3000);
	report = fixture_report(f->b);
	assert_in_range(report.packets_in, 148, 151);
	assert_in_range(report.replays, 148, 151);
	assert_int_equal(report.lost, 0);
	assert_int_equal(report.late + report.concealed, 0);
	assert_true(heard(f->b) > 0.98);
	relay_close(&relay);
}

static unsigned flip_bit(void *arg, bool to_b, uint8_t *packet, size_t *len)
{
	unsigned *n = arg;
	unsigned bit = (*n)++ % (unsigned)(8 * *len);

	packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
	return 1;
}

static void test_forged_packets_do_not_keep_a_call_up(void **state)
{
	struct fixture *f = *state;
	unsigned n = 0;
	struct relay *relay = fixture_join_by_relay(f, flip_bit, &n);
	struct stream_report report;

	speak(f->a);
	loop_advance_ms(f->loop, 29950);
	assert_int_equal(f->b->timeouts, 0);
	loop_advance_ms(f->loop, 100);
	report = fixture_report(f->b);
	assert_int_equal(f->b->timeouts, 1);
	assert_int_equal(report.packets_in, 0);
	assert_in_range(report.auth_failures, 1490, 1520);
	assert_int_equal(f->b->voiced, 0);
	assert_int_equal(report.lost + report.late, 0);
	relay_close(&relay);
}

/* Each packet comes once cut, then whole: the relay is asked twice for it. */
struct cutter {
	struct udp *udp;
	struct addr to;
	unsigned n;
};

static unsigned cut_before(void *arg, bool to_b, uint8_t *packet, size_t *len)
{
	struct cutter *cutter = arg;
	size_t n = cutter->n++ % *len;

	if (to_b)
		udp_send(cutter->udp, slice_make(packet, n), &cutter->to);
	return 1;
}

static uint16_t port_of(struct stream *stream)
{
	struct buffer sdp;
	uint16_t port;

	buffer_init(&sdp, 4096);
	stream_offer(stream, &sdp);
	port = (uint16_t)strtoul(strstr(sdp.ptr, "m=audio ") + 8, NULL, 10);
	buffer_reset(&sdp);
	return port;
}

static void open_stranger(struct fixture *f, struct udp **out)
{
	struct addr addr;

	addr_parse(&addr, SLICE("203.0.113.66"), 4444);
	assert_int_equal(udp_open(out, f->loop, &addr), 0);
}

static unsigned count_received(struct udp *udp)
{
	char bytes[2048];
	unsigned n = 0;

	while (udp_recv(udp, bytes, sizeof(bytes), NULL) >= 0)
		n++;
	return n;
}

static void test_cut_packets(void **state)
{
	struct fixture *f = *state;
	struct cutter cutter = { .n = 0 };
	struct relay *relay = fixture_join_by_relay(f, cut_before, &cutter);

	open_stranger(f, &cutter.udp);
	cutter.to = fixture_options(f).bind;
	addr_set_port(&cutter.to, port_of(f->b->stream));
	speak(f->a);
	loop_advance_ms(f->loop, 3000);
	assert_true(heard(f->b) > 0.98);
	assert_int_equal(count_received(cutter.udp), 0);
	udp_close(&cutter.udp);
	relay_close(&relay);
}

static void test_strangers_before_the_first_packet(void **state)
{
	struct fixture *f = *state;
	struct udp *stranger;
	struct addr to = fixture_options(f).bind;
	uint8_t packet[172] = { 0x80, 0 };
	uint16_t port;

	fixture_join(f);
	open_stranger(f, &stranger);
	port = port_of(f->b->stream);
	for (unsigned i = 0; i < 200; i++) {
		packet[3] = (uint8_t)i;
		addr_set_port(&to, (uint16_t)(port + i % 2));
		udp_send(stranger, slice_make(packet, i % 173), &to);
	}
	speak(f->a);
	speak(f->b);
	loop_advance_ms(f->loop, 3000);
	assert_int_equal(count_received(stranger), 0);
	assert_true(fixture_report(f->b).auth_failures >= 190);
	assert_int_equal(fixture_report(f->b).lost, 0);
	assert_true(heard(f->b) > 0.98);
	assert_true(heard(f->a) > 0.98);
	udp_close(&stranger);
}

static void test_peer_behind_nat_is_adopted(void **state)
{
	struct fixture *f = *state;

	end_open(f, f->a);
	end_open(f, f->b);
	/* a announces an address that leads nowhere. */
	assert_int_equal(fixture_agree(f->a, f->b, "c=IN IP4 192.0.2.1",
				       "c=IN IP4 10.0.0.9"),
			 0);
	speak(f->b);
	loop_advance_ms(f->loop, 25000);
	assert_true(heard(f->a) > 0.97);
	assert_true(fixture_report(f->a).rtt_ms >= 0); /* RTCP, too */
}

/* What the network saw last from a to b; drops all after. */
struct tap {
	bool drops;
	uint16_t port; /* of b */
	size_t len;
	uint8_t packet[2048];
};

static enum sim_verdict on_sent(void *arg, const struct sim_packet *packet)
{
	struct tap *tap = arg;

	if (addr_port(&packet->to) != tap->port ||
	    addr_port(&packet->from) == 4444)
		return SIM_PASS;
	memcpy(tap->packet, packet->bytes.ptr, packet->bytes.len);
	tap->len = packet->bytes.len;
	return tap->drops ? SIM_DROP : SIM_PASS;
}

static void test_replay_from_elsewhere_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct tap tap = { .drops = false };
	struct addr to = fixture_options(f).bind;
	struct udp *stranger;
	uint8_t first[2048];
	size_t len;

	fixture_join(f);
	open_stranger(f, &stranger);
	tap.port = port_of(f->b->stream);
	addr_set_port(&to, tap.port);
	sim_set_filter(f->loop, on_sent, &tap);
	loop_advance_ms(f->loop, 500);
	memcpy(first, tap.packet, tap.len);
	len = tap.len;
	loop_advance_ms(f->loop, 40);
	tap.drops = true;
	loop_advance_ms(f->loop, 1500); /* b listens to everybody again */
	for (unsigned i = 0; i < 50; i++) {
		udp_send(stranger, slice_make(first, len), &to);
		loop_advance_ms(f->loop, 20);
	}
	assert_int_equal(fixture_report(f->b).replays, 50);
	assert_int_equal(count_received(stranger), 0);
	tap.drops = false;
	speak(f->a);
	speak(f->b);
	loop_advance_ms(f->loop, 3000);
	assert_true(heard(f->a) > 0.98);
	assert_true(heard(f->b) > 0.98);
	sim_set_filter(f->loop, NULL, NULL);
	udp_close(&stranger);
}

/* The peer's own socket, seen from another port: it has moved. */
static void test_genuine_packet_from_elsewhere_is_followed(void **state)
{
	struct fixture *f = *state;
	struct tap tap = { .drops = false };
	struct addr to = fixture_options(f).bind;
	struct udp *elsewhere;

	fixture_join(f);
	open_stranger(f, &elsewhere);
	tap.port = port_of(f->b->stream);
	addr_set_port(&to, tap.port);
	sim_set_filter(f->loop, on_sent, &tap);
	loop_advance_ms(f->loop, 500);
	tap.drops = true;
	loop_advance_ms(f->loop, 1500);
	udp_send(elsewhere, slice_make(tap.packet, tap.len), &to);
	loop_advance_ms(f->loop, 500);
	assert_in_range(count_received(elsewhere), 20, 26);
	sim_set_filter(f->loop, NULL, NULL);
	udp_close(&elsewhere);
}

static unsigned two_of_three_lost(void *arg, bool to_b, uint8_t *packet,
				  size_t *len)
{
	unsigned *n = arg;

	return n[to_b]++ % 3 == 0;
}

static void test_digits_over_a_bad_network(void **state)
{
	struct fixture *f = *state;
	unsigned n[2] = { 0, 0 };
	struct relay *relay = fixture_join_by_relay(f, two_of_three_lost, n);

	stream_send_digits(f->a->stream, "1223334444#");
	stream_send_digits(f->b->stream, "*99");
	loop_advance_ms(f->loop, 4000);
	assert_string_equal(f->b->digits, "1223334444#");
	assert_string_equal(f->a->digits, "*99");
	relay_close(&relay);
}

static unsigned tenth_lost(void *arg, bool to_b, uint8_t *packet, size_t *len)
{
	unsigned *n = arg;

	return n[to_b]++ % 10 != 9;
}

static void test_loss_is_concealed_and_counted(void **state)
{
	struct fixture *f = *state;
	unsigned n[2] = { 0, 0 };
	struct relay *relay = fixture_join_by_relay(f, tenth_lost, n);
	struct stream_report report;

	speak(f->a);
	loop_advance_ms(f->loop, 3000);
	report = fixture_report(f->b);
	assert_in_range(report.lost, 12, 18);
	assert_in_range(report.concealed, 10, 18);
	assert_true(heard(f->b) > 0.85);
	assert_true(report.mos < 3.9);
	assert_true(report.mos > 1);
	relay_close(&relay);
}

/* A peer of our own making: packets under the old key and the new one. */
struct peer {
	struct udp *udp;
	struct srtp_context *out;
	struct addr to;
	uint32_t ssrc, timestamp;
	uint16_t seq;
};

static void peer_send(struct peer *peer, struct srtp_context *context)
{
	uint32_t packet[128];
	struct rtp_header header = { .seq = peer->seq++,
				     .timestamp = peer->timestamp,
				     .ssrc = peer->ssrc };
	size_t len = RTP_HEADER_BYTES + 160;

	memset(packet, 0xff, sizeof(packet));
	rtp_write((uint8_t *)packet, &header);
	assert_int_equal(srtp_seal(context, packet, &len), 0);
	udp_send(peer->udp, slice_make(packet, len), &peer->to);
	peer->timestamp += 160;
}

static void take(struct fixture *f, struct end *end, const char *key_text)
{
	struct buffer offer, answer;

	buffer_init(&offer, 4096);
	buffer_init(&answer, 4096);
	buffer_printf(&offer,
		      "v=0\r\no=- 1 1 IN IP4 203.0.113.66\r\ns=-\r\n"
		      "c=IN IP4 203.0.113.66\r\nt=0 0\r\n"
		      "m=audio 4444 RTP/SAVP 0\r\n"
		      "a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:%s\r\n",
		      key_text);
	assert_int_equal(
		stream_take_offer(end->stream, buffer_slice(&offer), &answer),
		0);
	assert_non_null(strstr(answer.ptr, "a=crypto:7 "));
	buffer_reset(&offer);
	buffer_reset(&answer);
}

static void test_both_keys_receive_for_two_seconds(void **state)
{
	struct fixture *f = *state;
	struct peer peer = { .ssrc = 77, .seq = 100 };
	struct srtp_context *old, *new;
	uint8_t key[SRTP_KEY_BYTES] = { 0 };

	end_open(f, f->a);
	peer.to = fixture_options(f).bind;
	addr_set_port(&peer.to, port_of(f->a->stream));
	open_stranger(f, &peer.udp);
	srtp_context_open(&old, key, SRTP_SEND);
	memset(key, 0x10, sizeof(key));
	srtp_context_open(&new, key, SRTP_SEND);
	take(f, f->a, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
	for (unsigned i = 0; i < 10; i++, loop_advance_ms(f->loop, 20))
		peer_send(&peer, old);
	take(f, f->a, "EBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ");
	for (unsigned i = 0; i < 80; i++, loop_advance_ms(f->loop, 20))
		peer_send(&peer, i % 2 ? old : new);
	assert_int_equal(fixture_report(f->a).auth_failures, 0);
	assert_int_equal(fixture_report(f->a).packets_in, 90);
	assert_int_equal(fixture_report(f->a).lost, 0);
	loop_advance_ms(f->loop, 500);
	peer_send(&peer, old);
	peer_send(&peer, new);
	loop_advance_ms(f->loop, 20);
	assert_int_equal(fixture_report(f->a).auth_failures, 1);
	assert_int_equal(fixture_report(f->a).packets_in, 91);
	srtp_context_close(&old);
	srtp_context_close(&new);
	udp_close(&peer.udp);
}

static void test_new_source_in_the_call(void **state)
{
	struct fixture *f = *state;
	struct peer peer = { .ssrc = 77, .seq = 65500 };
	struct srtp_context *context;
	uint8_t key[SRTP_KEY_BYTES] = { 0 };

	end_open(f, f->a);
	peer.to = fixture_options(f).bind;
	addr_set_port(&peer.to, port_of(f->a->stream));
	open_stranger(f, &peer.udp);
	srtp_context_open(&context, key, SRTP_SEND);
	take(f, f->a, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
	for (unsigned i = 0; i < 200; i++, loop_advance_ms(f->loop, 20)) {
		if (i % 50 == 49) {
			peer.ssrc += 1;
			peer.seq = (uint16_t)(peer.seq + 20000);
			peer.timestamp += 1u << 30;
		}
		peer_send(&peer, context);
	}
	assert_int_equal(fixture_report(f->a).packets_in, 200);
	assert_int_equal(fixture_report(f->a).lost, 0);
	assert_int_equal(fixture_report(f->a).late, 0);
	srtp_context_close(&context);
	udp_close(&peer.udp);
}

#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_replays_are_counted_and_dropped),
		CASE(test_forged_packets_do_not_keep_a_call_up),
		CASE(test_cut_packets),
		CASE(test_strangers_before_the_first_packet),
		CASE(test_peer_behind_nat_is_adopted),
		CASE(test_replay_from_elsewhere_is_not_followed),
		CASE(test_genuine_packet_from_elsewhere_is_followed),
		CASE(test_digits_over_a_bad_network),
		CASE(test_loss_is_concealed_and_counted),
		CASE(test_both_keys_receive_for_two_seconds),
		CASE(test_new_source_in_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

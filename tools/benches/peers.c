/* SPDX-License-Identifier: MIT */
#include "tools/benches/peers.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "core/id.h"
#include "core/mem.h"
#include "media/g711.h"
#include "media/rtcp.h"
#include "media/rtp.h"

enum {
	VOICE_FRAMES = 400, /* 8 s, then again */
	RTCP_TURNS = 5 * PEERS_TURNS_PER_S
};

struct peer {
	int fd;
	struct far_side far;
	struct srtp_context *send, *receive; /* owned; NULL before the answer */
	uint8_t key[SRTP_KEY_BYTES];
	uint32_t ssrc;
	uint16_t seq;
	uint64_t packets, sent, rejected;
};

struct peers {
	int rtcp_fd; /* of all calls */
	uint16_t rtcp_port;
	struct peer *all; /* owned */
	size_t n;
	uint64_t turn, rtcp_in, rtcp_out;
	uint8_t voice[VOICE_FRAMES][PAYLOAD];
};

/* Room for SRTP's trailer, on a boundary that libsrtp2 accepts. */
union packet {
	uint32_t align;
	uint8_t bytes[PACKET_MAX];
};

static void make_voice(struct peers *peers, bool is_silent)
{
	size_t n = VOICE_FRAMES * PAYLOAD;
	struct g711 *g711 = mem_new(sizeof(*g711));
	int16_t *voice = mem_new_array(n, sizeof(*voice));

	g711_init(g711);
	child_voice(voice, n);
	for (size_t i = 0; is_silent && i < n; i++)
		voice[i] %= 8;
	g711_ulaw_encode(g711, peers->voice[0], voice, n);
	mem_free(voice);
	mem_free(g711);
}

int peers_open(struct peers **out, size_t n, bool is_silent)
{
	struct peers *peers = mem_new(sizeof(*peers));

	peers->n = n;
	peers->all = mem_new_array(n, sizeof(*peers->all));
	make_voice(peers, is_silent);
	peers->rtcp_fd = child_socket(&peers->rtcp_port);
	*out = peers;
	return peers->rtcp_fd < 0 ? peers->rtcp_fd : srtp_library_open();
}

void peers_close(struct peers **peers)
{
	if (!*peers)
		return;
	for (size_t i = 0; i < (*peers)->n; i++) {
		srtp_context_close(&(*peers)->all[i].send);
		srtp_context_close(&(*peers)->all[i].receive);
		if ((*peers)->all[i].fd > 0)
			close((*peers)->all[i].fd);
	}
	close((*peers)->rtcp_fd);
	mem_free((*peers)->all);
	mem_free(*peers);
	*peers = NULL;
}

int peers_offer(struct peers *peers, size_t i, struct buffer *sdp)
{
	struct peer *peer = &peers->all[i];
	uint16_t port = 0;

	id_bytes(peer->key, sizeof(peer->key));
	peer->ssrc = id_random(UINT32_MAX);
	peer->fd = child_socket(&port);
	far_side_write(sdp, port, peers->rtcp_port, peer->key);
	return peer->fd < 0 ? peer->fd : buffer_error(sdp);
}

int peers_answered(struct peers *peers, size_t i, struct slice sdp)
{
	struct peer *peer = &peers->all[i];
	int err = far_side_parse(&peer->far, sdp);

	if (!err &&
	    connect(peer->fd, &peer->far.rtp.sa, addr_size(&peer->far.rtp)))
		err = -errno;
	if (err)
		return err;
	srtp_context_open(&peer->send, peer->key, SRTP_SEND);
	srtp_context_open(&peer->receive, peer->far.key, SRTP_RECEIVE);
	return 0;
}

/* ---- packets ---- */

static void transmit(struct peers *peers, struct peer *peer, size_t index)
{
	union packet packet;
	struct rtp_header header = {
		.pt = 0,
		.seq = ++peer->seq,
		.timestamp = (uint32_t)peer->seq * PAYLOAD,
		.ssrc = peer->ssrc,
		.marker = peer->seq == 1,
	};
	size_t len = RTP_HEADER + PAYLOAD;

	rtp_write(packet.bytes, &header);
	memcpy(packet.bytes + RTP_HEADER,
	       peers->voice[(peer->seq + index * 7) % VOICE_FRAMES], PAYLOAD);
	srtp_seal(peer->send, packet.bytes, &len);
	peer->sent += send(peer->fd, packet.bytes, len, 0) > 0;
}

static void receive(struct peer *peer)
{
	union packet packet;
	ssize_t n;

	while ((n = recv(peer->fd, packet.bytes, sizeof(packet.bytes), 0)) >
	       0) {
		size_t len = (size_t)n;

		if (srtp_unseal(peer->receive, packet.bytes, &len))
			peer->rejected++;
		else
			peer->packets++;
	}
}

static void report(struct peers *peers, struct peer *peer)
{
	union packet packet;
	struct rtcp_report sr = {
		.ssrc = peer->ssrc,
		.is_sender = true,
		.ntp = rtcp_ntp((int64_t)time(NULL) * 1000000),
		.timestamp = (uint32_t)peer->seq * PAYLOAD,
		.packets = (uint32_t)peer->sent,
		.bytes = (uint32_t)peer->sent * PAYLOAD,
	};
	size_t len = rtcp_write(packet.bytes, &sr, "benchbenchbenchb");

	if (!srtp_seal_rtcp(peer->send, packet.bytes, &len))
		peers->rtcp_out += sendto(peers->rtcp_fd, packet.bytes, len, 0,
					  &peer->far.rtcp.sa,
					  addr_size(&peer->far.rtcp)) > 0;
}

void peers_turn(struct peers *peers)
{
	union packet packet;

	for (size_t i = peers->turn % SLOTS; i < peers->n; i += SLOTS) {
		if (!peers->all[i].send)
			continue;
		transmit(peers, &peers->all[i], i);
		receive(&peers->all[i]);
	}
	for (size_t i = peers->turn % RTCP_TURNS; i < peers->n; i += RTCP_TURNS)
		if (peers->all[i].send)
			report(peers, &peers->all[i]);
	while (recv(peers->rtcp_fd, packet.bytes, sizeof(packet.bytes), 0) > 0)
		peers->rtcp_in++;
	peers->turn++;
}

struct peers_count peers_count(const struct peers *peers)
{
	struct peers_count count = { .rtcp_in = peers->rtcp_in,
				     .rtcp_out = peers->rtcp_out };

	for (size_t i = 0; i < peers->n; i++) {
		count.packets += peers->all[i].packets;
		count.rejected += peers->all[i].rejected;
	}
	return count;
}

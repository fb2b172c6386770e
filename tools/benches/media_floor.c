/* SPDX-License-Identifier: MIT */
/* tools/benches/media_floor.c - the least a call can cost on this machine: one
 * connected socket each, recv() when its 20 ms slot comes, then send(), with
 * AES-CM and HMAC-SHA1 by mbedTLS (RFC 3711), G.711 by table and nothing else. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <mbedtls/aes.h>
#include "core/id.h"
#include "core/mem.h"
#include "media/bytes.h"
#include "media/g711.h"
#include "media/srtp_primitives.h" /* the names of mbedTLS 2 and 3 */
#include "tools/benches/bench.h"
#include "tools/benches/media_child.h"
#include "tools/benches/meter.h"

struct keys {
	mbedtls_aes_context aes;
	mbedtls_sha1_context inner, outer; /* keyed */
	uint8_t salt[16];
};

struct line {
	int fd;
	struct keys send, receive;
	uint32_t ssrc;
	uint16_t seq;
	uint64_t in, bad;
};

struct floor {
	struct g711 g711;
	int16_t prompt[PAYLOAD];
	int16_t heard[PAYLOAD];
	struct line *lines; /* owned */
	size_t n_lines;
};

/* ---- RFC 3711 for fewer than 65536 packets ---- */

static void derive(mbedtls_aes_context *master, const uint8_t *salt,
		   uint8_t label, uint8_t *out, size_t len)
{
	uint8_t counter[16] = { 0 }, stream[16];
	size_t offset = 0;

	memcpy(counter, salt, 14);
	counter[7] ^= label;
	memset(out, 0, len);
	mbedtls_aes_crypt_ctr(master, len, &offset, counter, stream, out, out);
}

static void keys_init(struct keys *keys, const uint8_t bytes[SRTP_KEY_BYTES])
{
	mbedtls_aes_context master;
	uint8_t key[16], auth[20], pad[64];

	memset(keys, 0, sizeof(*keys));
	mbedtls_aes_init(&master);
	mbedtls_aes_setkey_enc(&master, bytes, 128);
	derive(&master, bytes + 16, 0, key, sizeof(key));
	derive(&master, bytes + 16, 1, auth, sizeof(auth));
	derive(&master, bytes + 16, 2, keys->salt, 14);
	mbedtls_aes_free(&master);
	mbedtls_aes_init(&keys->aes);
	mbedtls_aes_setkey_enc(&keys->aes, key, 128);
	for (int is_outer = 0; is_outer < 2; is_outer++) {
		mbedtls_sha1_context *hash =
			is_outer ? &keys->outer : &keys->inner;

		memset(pad, is_outer ? 0x5c : 0x36, sizeof(pad));
		for (size_t i = 0; i < sizeof(auth); i++)
			pad[i] ^= auth[i];
		mbedtls_sha1_init(hash);
		mbedtls_sha1_starts(hash);
		mbedtls_sha1_update(hash, pad, sizeof(pad));
	}
}

static void crypt_payload(struct keys *keys, uint8_t *packet, size_t len)
{
	uint8_t counter[16], stream[16];
	size_t offset = 0;

	memcpy(counter, keys->salt, sizeof(counter));
	for (size_t i = 0; i < 4; i++)
		counter[4 + i] ^= packet[8 + i];
	counter[12] ^= packet[2];
	counter[13] ^= packet[3];
	mbedtls_aes_crypt_ctr(&keys->aes, len - RTP_HEADER, &offset, counter,
			      stream, packet + RTP_HEADER, packet + RTP_HEADER);
}

static void tag(const struct keys *keys, const uint8_t *packet, size_t len,
		uint8_t out[20])
{
	static const uint8_t roll_over[4];
	mbedtls_sha1_context hash = keys->inner;

	mbedtls_sha1_update(&hash, packet, len);
	mbedtls_sha1_update(&hash, roll_over, sizeof(roll_over));
	mbedtls_sha1_finish(&hash, out);
	hash = keys->outer;
	mbedtls_sha1_update(&hash, out, 20);
	mbedtls_sha1_finish(&hash, out);
}

/* ---- one call ---- */

static void receive(struct floor *floor, struct line *line)
{
	uint8_t packet[PACKET_MAX], expected[20];
	ssize_t n = recv(line->fd, packet, sizeof(packet), 0);
	size_t len = (size_t)n - SRTP_TAG_BYTES;

	if (n < RTP_HEADER + SRTP_TAG_BYTES + PAYLOAD)
		return;
	tag(&line->receive, packet, len, expected);
	if (memcmp(expected, packet + len, SRTP_TAG_BYTES)) {
		line->bad++;
		return;
	}
	crypt_payload(&line->receive, packet, len);
	g711_ulaw_decode(&floor->g711, floor->heard, packet + RTP_HEADER,
			 PAYLOAD);
	line->in++;
}

static void transmit(struct floor *floor, struct line *line)
{
	uint8_t packet[RTP_HEADER + PAYLOAD + 20] = { 0x80, 0 };
	size_t len = RTP_HEADER + PAYLOAD;
	ssize_t sent;

	line->seq++;
	bytes_put16(packet + 2, line->seq);
	bytes_put32(packet + 4, (uint32_t)line->seq * PAYLOAD);
	bytes_put32(packet + 8, line->ssrc);
	g711_ulaw_encode(&floor->g711, packet + RTP_HEADER, floor->prompt,
			 PAYLOAD);
	crypt_payload(&line->send, packet, len);
	tag(&line->send, packet, len, packet + len);
	sent = send(line->fd, packet, len + SRTP_TAG_BYTES, 0);
	(void)sent; /* a refused packet is the far end's affair */
}

static int open_line(struct line *line)
{
	uint8_t key[SRTP_KEY_BYTES];
	struct far_side far;
	struct buffer text;
	uint16_t port;
	int err;

	buffer_init(&text, CHILD_TEXT_MAX);
	id_bytes(key, sizeof(key));
	line->ssrc = id_random(UINT32_MAX);
	keys_init(&line->send, key);
	err = child_receive(CHILD_FD, &text);
	if (!err)
		err = far_side_parse(&far, buffer_slice(&text));
	if (!err) {
		keys_init(&line->receive, far.key);
		line->fd = child_socket(&port);
		err = line->fd < 0 ? line->fd : 0;
	}
	if (!err && connect(line->fd, &far.rtp.sa, addr_size(&far.rtp)))
		err = -errno;
	if (!err) {
		buffer_clear(&text);
		far_side_write(&text, port, 0, key);
		err = child_send(CHILD_FD, buffer_slice(&text));
	}
	buffer_reset(&text);
	return err;
}

static void run(struct floor *floor, int signals)
{
	uint64_t at = meter_now_ns();
	sigset_t pending;

	for (unsigned slot = 0;; slot = (slot + 1) % SLOTS) {
		sigpending(&pending);
		if (sigismember(&pending, signals))
			return;
		at += SLOT_NS;
		child_sleep_until(at);
		for (size_t i = slot; i < floor->n_lines; i += SLOTS) {
			receive(floor, &floor->lines[i]);
			transmit(floor, &floor->lines[i]);
		}
	}
}

int bench_media_floor(int argc, char **argv)
{
	struct floor *floor = mem_new(sizeof(*floor));
	struct buffer text;
	uint64_t frames = 0, bad = 0;
	sigset_t mask;
	int err;

	(void)argc;
	floor->n_lines = bench_number(argv, "--calls", 100);
	floor->lines = mem_new_array(floor->n_lines, sizeof(*floor->lines));
	g711_init(&floor->g711);
	child_voice(floor->prompt, PAYLOAD);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	err = child_send(CHILD_FD, SLICE("ready"));
	for (size_t i = 0; !err && i < floor->n_lines; i++)
		err = open_line(&floor->lines[i]);
	if (err) {
		fprintf(stderr, "media-floor: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	run(floor, SIGTERM);
	for (size_t i = 0; i < floor->n_lines; i++) {
		frames += floor->lines[i].in;
		bad += floor->lines[i].bad;
	}
	buffer_init(&text, CHILD_TEXT_MAX);
	buffer_printf(&text, "\"frames\": %llu, \"auth_failures\": %llu",
		      (unsigned long long)frames, (unsigned long long)bad);
	child_send(CHILD_FD, buffer_slice(&text));
	buffer_reset(&text);
	mem_free(floor->lines);
	mem_free(floor);
	return EXIT_SUCCESS;
}

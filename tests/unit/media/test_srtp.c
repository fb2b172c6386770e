/* SPDX-License-Identifier: MIT */
/* SRTP on mbedTLS gives the same bytes as stock libsrtp2, RTP and RTCP, past a
 * roll-over; forged, cut and replayed packets are refused and change nothing
 * (RFC 3711). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <srtp2/srtp.h>
#include "media/bytes.h"
#include "media/rtp.h"
#include "media/srtp.h"
#include "media/srtp_primitives.h"

/* Made before mbedTLS took the place of the library's own. */
static srtp_t stock;
static const uint8_t key[SRTP_KEY_BYTES] = "0123456789abcdefghijklmnopqrs";

struct packet {
	uint32_t words[128];
	size_t len;
};

static void make_rtp(struct packet *packet, uint32_t index, uint32_t ssrc)
{
	struct rtp_header header = { .seq = (uint16_t)index,
				     .timestamp = index * 160,
				     .ssrc = ssrc };

	packet->len = RTP_HEADER_BYTES + 1 + index % 200;
	memset(packet->words, (int)(index & 0xff), sizeof(packet->words));
	rtp_write((uint8_t *)packet->words, &header);
}

static void make_rtcp(struct packet *packet, uint32_t index)
{
	uint8_t *at = (uint8_t *)packet->words;

	memset(packet->words, (int)(index & 0xff), sizeof(packet->words));
	packet->len = 28;
	at[0] = 0x80;
	at[1] = 200;
	bytes_put16(at + 2, 6);
	bytes_put32(at + 4, 1234);
}

static void test_same_bytes_as_stock(void **state)
{
	struct srtp_context *ours;
	struct packet a, b;

	srtp_context_open(&ours, key, SRTP_SEND);
	for (uint32_t i = 30000; i < 30000 + 70000; i++) {
		int len;

		make_rtp(&a, i, 99);
		make_rtp(&b, i, 99);
		len = (int)b.len;
		assert_int_equal(srtp_seal(ours, a.words, &a.len), 0);
		assert_int_equal(srtp_protect(stock, b.words, &len), 0);
		assert_int_equal(a.len, len);
		assert_memory_equal(a.words, b.words, a.len);
		if (i % 50)
			continue;
		make_rtcp(&a, i);
		make_rtcp(&b, i);
		len = (int)b.len;
		assert_int_equal(srtp_seal_rtcp(ours, a.words, &a.len), 0);
		assert_int_equal(srtp_protect_rtcp(stock, b.words, &len), 0);
		assert_int_equal(a.len, len);
		assert_memory_equal(a.words, b.words, a.len);
	}
	srtp_context_close(&ours);
}

struct pair {
	struct srtp_context *out, *in;
};

static int setup(void **state)
{
	static struct pair pair;

	srtp_context_open(&pair.out, key, SRTP_SEND);
	srtp_context_open(&pair.in, key, SRTP_RECEIVE);
	*state = &pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	srtp_context_close(&pair->out);
	srtp_context_close(&pair->in);
	return 0;
}

static void test_there_and_back(void **state)
{
	struct pair *pair = *state;
	struct packet packet, plain;

	for (uint32_t i = 65000; i < 65000 + 2000; i++) {
		make_rtp(&packet, i, 7);
		plain = packet;
		assert_int_equal(
			srtp_seal(pair->out, packet.words, &packet.len), 0);
		assert_int_equal(packet.len, plain.len + SRTP_TAG_BYTES);
		assert_int_equal(
			srtp_unseal(pair->in, packet.words, &packet.len), 0);
		assert_int_equal(packet.len, plain.len);
		assert_memory_equal(packet.words, plain.words, plain.len);
	}
}

static void test_each_bit_is_guarded(void **state)
{
	struct pair *pair = *state;
	struct packet sealed, forged;

	make_rtp(&sealed, 30, 7);
	srtp_seal(pair->out, sealed.words, &sealed.len);
	for (size_t bit = 0; bit < 8 * sealed.len; bit++) {
		forged = sealed;
		((uint8_t *)forged.words)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(
			srtp_unseal(pair->in, forged.words, &forged.len),
			-EBADMSG);
		assert_int_equal(forged.len, sealed.len);
	}
	for (size_t len = 0; len < sealed.len; len++) {
		forged = sealed;
		forged.len = len;
		assert_int_equal(
			srtp_unseal(pair->in, forged.words, &forged.len),
			-EBADMSG);
	}
	assert_int_equal(srtp_unseal(pair->in, sealed.words, &sealed.len), 0);
}

static void test_replays(void **state)
{
	struct pair *pair = *state;
	struct packet packets[10], again;

	for (uint32_t i = 0; i < 10; i++) {
		make_rtp(&packets[i], 100 * i, 7);
		srtp_seal(pair->out, packets[i].words, &packets[i].len);
	}
	for (size_t i = 0; i < 10; i++) {
		again = packets[i ^ 1]; /* out of order */
		assert_int_equal(srtp_unseal(pair->in, again.words, &again.len),
				 0);
	}
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(srtp_unseal(pair->in, packets[i].words,
					     &packets[i].len),
				 -EALREADY);
}

static void test_rtcp(void **state)
{
	struct pair *pair = *state;
	struct packet packet, copy;

	make_rtcp(&packet, 1);
	assert_int_equal(srtp_seal_rtcp(pair->out, packet.words, &packet.len),
			 0);
	assert_int_equal(packet.len, 28 + 14);
	copy = packet;
	((uint8_t *)copy.words)[20] ^= 1;
	assert_int_equal(srtp_unseal_rtcp(pair->in, copy.words, &copy.len),
			 -EBADMSG);
	copy = packet;
	assert_int_equal(srtp_unseal_rtcp(pair->in, copy.words, &copy.len), 0);
	assert_int_equal(copy.len, 28);
	copy = packet;
	assert_int_equal(srtp_unseal_rtcp(pair->in, copy.words, &copy.len),
			 -EALREADY);
	for (size_t len = 0; len < 22; len++) {
		copy.len = len;
		assert_int_equal(
			srtp_unseal_rtcp(pair->in, copy.words, &copy.len),
			-EBADMSG);
	}
}

static void test_sources_are_bounded(void **state)
{
	struct pair *pair = *state;
	struct packet packet;

	for (uint32_t ssrc = 1; ssrc <= SRTP_SOURCES_MAX + 1; ssrc++) {
		make_rtp(&packet, 5, ssrc);
		srtp_seal(pair->out, packet.words, &packet.len);
		assert_int_equal(
			srtp_unseal(pair->in, packet.words, &packet.len),
			ssrc <= SRTP_SOURCES_MAX ? 0 : -EBADMSG);
	}
	make_rtp(&packet, 6, 1);
	srtp_seal(pair->out, packet.words, &packet.len);
	assert_int_equal(srtp_unseal(pair->in, packet.words, &packet.len), 0);
}

static void open_stock(void)
{
	static unsigned char copy[SRTP_KEY_BYTES];
	srtp_policy_t policy = { .window_size = 128, .key = copy };

	memcpy(copy, key, sizeof(copy));
	assert_int_equal(srtp_init(), srtp_err_status_ok);
	srtp_crypto_policy_set_rtp_default(&policy.rtp);
	srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
	policy.ssrc.type = ssrc_any_outbound;
	assert_int_equal(srtp_create(&stock, &policy), srtp_err_status_ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes_as_stock),
		cmocka_unit_test_setup_teardown(test_there_and_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_each_bit_is_guarded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_replays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rtcp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sources_are_bounded, setup,
						teardown),
	};
	int failed;

	open_stock();
	/* srtp_library_open() starts the library, which cannot be done twice:
	 * the types alone are replaced here. */
	assert_int_equal(srtp_replace_cipher_type(srtp_primitives_cipher(),
						  SRTP_AES_ICM_128),
			 srtp_err_status_ok);
	assert_int_equal(
		srtp_replace_auth_type(srtp_primitives_auth(), SRTP_HMAC_SHA1),
		srtp_err_status_ok);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	srtp_dealloc(stock);
	return failed;
}

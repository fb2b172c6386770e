/* SPDX-License-Identifier: MIT */
#include "media/sdes.h"
#include <errno.h>
#include <sodium.h>

enum { KEY_TEXT_BYTES = 40, LIFETIME_BITS_MAX = 48 };

struct slice sdes_suite(void)
{
	return SLICE("AES_CM_128_HMAC_SHA1_80");
}

/* "2^31" or a plain number, from 1 to 2^48 packets (RFC 3711, 9.2). */
static bool is_lifetime(struct slice text)
{
	uint64_t number;

	if (slice_has_prefix(text, SLICE("2^"))) {
		text.ptr += 2;
		text.len -= 2;
		return slice_to_u64(&number, text, LIFETIME_BITS_MAX) == 0;
	}
	return slice_to_u64(&number, text, 1ULL << LIFETIME_BITS_MAX) == 0 &&
	       number > 0;
}

/* An MKI ("1:4") would put bytes between payload and tag: not taken. */
static bool is_tail_fine(struct slice tail)
{
	struct slice lifetime = slice_cut(&tail, '|');

	return is_lifetime(lifetime) && tail.ptr == NULL;
}

static bool has_prefix_nocase(struct slice text, struct slice prefix)
{
	if (text.len < prefix.len)
		return false;
	text.len = prefix.len;
	return slice_eq_nocase(text, prefix);
}

/* RFC 4568, 6.3: a parameter we do not know refuses the line unless it starts
 * with "-". UNENCRYPTED_* and UNAUTHENTICATED_* are such, on purpose. */
static bool is_session_fine(struct slice session)
{
	while (session.len) {
		struct slice one = slice_cut(&session, ' ');

		if (one.len == 0 || one.ptr[0] == '-' ||
		    slice_eq_nocase(one, SLICE("KDR=0")) ||
		    has_prefix_nocase(one, SLICE("WSH=")))
			continue;
		return false;
	}
	return true;
}

int sdes_parse(uint8_t key[SRTP_KEY_BYTES], const struct sdp_crypto *crypto)
{
	struct slice rest = crypto->params;
	struct slice text;
	uint8_t bytes[SRTP_KEY_BYTES];
	size_t n = 0;
	int err = -ENOTSUP;

	if (!slice_eq_nocase(crypto->suite, sdes_suite()) ||
	    !has_prefix_nocase(rest, SLICE("inline:")) ||
	    !is_session_fine(crypto->session))
		return -ENOTSUP;
	rest.ptr += sizeof("inline:") - 1;
	rest.len -= sizeof("inline:") - 1;
	text = slice_cut(&rest, '|');
	if (rest.ptr && !is_tail_fine(rest))
		return -ENOTSUP;
	if (text.len == KEY_TEXT_BYTES &&
	    sodium_base642bin(bytes, sizeof(bytes), text.ptr, text.len, NULL,
			      &n, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
	    n == sizeof(bytes)) {
		memcpy(key, bytes, sizeof(bytes));
		err = 0;
	}
	sodium_memzero(bytes, sizeof(bytes));
	return err;
}

void sdes_write(char out[SDES_PARAMS_SIZE], const uint8_t key[SRTP_KEY_BYTES])
{
	enum { PREFIX = sizeof("inline:") - 1 };

	memcpy(out, "inline:", PREFIX);
	sodium_bin2base64(out + PREFIX, SDES_PARAMS_SIZE - PREFIX, key,
			  SRTP_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL);
}

/* SPDX-License-Identifier: MIT */
#include "core/id.h"
#include <assert.h>
#include <ctype.h>
#include <sodium.h>

static void start(void)
{
	int err = sodium_init(); /* 1 when it was done before */

	assert(err >= 0);
}

void id_bytes(void *out, size_t n)
{
	start();
	randombytes_buf(out, n);
}

uint32_t id_random(uint32_t below)
{
	start();
	return randombytes_uniform(below);
}

void id_uuid(char out[ID_UUID_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[16];
	size_t i, at = 0;

	id_bytes(bytes, sizeof(bytes));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	for (i = 0; i < sizeof(bytes); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[at++] = '-';
		out[at++] = digits[bytes[i] >> 4];
		out[at++] = digits[bytes[i] & 15];
	}
	out[at] = '\0';
}

bool id_is_uuid(struct slice text)
{
	size_t i;

	if (text.len != ID_UUID_SIZE - 1)
		return false;
	for (i = 0; i < text.len; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? text.ptr[i] != '-'
			    : !isxdigit((unsigned char)text.ptr[i]))
			return false;
	}
	return true;
}

/* Bytes are drawn many at a time: each draw is a system call. A byte above the
 * last whole multiple of the alphabet is dropped, so all letters are alike. */
static void pick(char *out, size_t n, struct slice alphabet)
{
	unsigned letters = (unsigned)alphabet.len;
	unsigned limit = 256 / letters * letters;
	uint8_t bytes[64];
	size_t i = 0, at = sizeof(bytes);

	while (i < n) {
		if (at == sizeof(bytes)) {
			id_bytes(bytes, sizeof(bytes));
			at = 0;
		}
		if (bytes[at] < limit)
			out[i++] = alphabet.ptr[bytes[at] % letters];
		at++;
	}
	sodium_memzero(bytes, sizeof(bytes));
	out[n] = '\0';
}

void id_token(char *out, size_t n)
{
	pick(out, n,
	     SLICE("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		   "0123456789_-"));
}

void id_word(char *out, size_t n)
{
	pick(out, n, SLICE("abcdefghijklmnopqrstuvwxyz0123456789"));
}

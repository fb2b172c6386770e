/* SPDX-License-Identifier: MIT */
/* core/secret: sealing under the node key, its file and who may read it,
 * published vectors for BLAKE2b and HMAC-SHA256 (RFC 4231). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/mem.h"
#include "core/secret.h"

struct fixture {
	char folder[64];
	char file[128];
	struct secret_box *box;
	struct buffer why;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));

	snprintf(f->folder, sizeof(f->folder), "/tmp/test_secret.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->file, sizeof(f->file), "%s/store.key", f->folder);
	buffer_init(&f->why, 4096);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	secret_box_close(&f->box);
	buffer_reset(&f->why);
	unlink(f->file);
	assert_int_equal(rmdir(f->folder), 0); /* no draft left behind */
	mem_free(f);
	return 0;
}

static void write_file(struct fixture *f, const char *text, mode_t mode)
{
	int fd = open(f->file, O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void test_key_file(void **state)
{
	struct fixture *f = *state;
	struct stat info;

	assert_int_equal(secret_box_open(&f->box, f->file, false, &f->why),
			 -ENOENT);
	assert_null(f->box);
	assert_non_null(strstr(buffer_str(&f->why), f->file));
	assert_int_equal(secret_box_open(&f->box, f->file, true, &f->why), 0);
	assert_string_equal(buffer_str(&f->why), "");
	assert_int_equal(stat(f->file, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(info.st_size, 65);
}

static void test_key_file_refused(void **state)
{
	static const struct {
		const char *text;
		mode_t mode;
		int err;
	} table[] = {
		{ "0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdef\n",
		  0640, -EACCES },
		{ "0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdef\n",
		  0604, -EACCES },
		{ "", 0600, -EINVAL },
		{ "0123456789abcdef\n", 0600, -EINVAL },
		{ "0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdeg\n",
		  0600, -EINVAL },
		{ "0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdef00",
		  0600, -EINVAL },
		{ "0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdef",
		  0600, 0 },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		buffer_clear(&f->why);
		unlink(f->file);
		write_file(f, table[i].text, table[i].mode);
		assert_int_equal(
			secret_box_open(&f->box, f->file, true, &f->why),
			table[i].err);
		assert_int_equal(f->why.len != 0, table[i].err != 0);
		secret_box_close(&f->box);
	}
}

static void test_seal(void **state)
{
	struct fixture *f = *state;
	struct buffer sealed, again, plain;
	size_t i;

	assert_int_equal(secret_box_open(&f->box, f->file, true, &f->why), 0);
	buffer_init(&sealed, 1000);
	buffer_init(&again, 1000);
	buffer_init(&plain, 1000);
	secret_seal(f->box, &sealed, SLICE("pass\0word"));
	secret_seal(f->box, &again, SLICE("pass\0word"));
	assert_int_equal(sealed.len, again.len);
	assert_memory_not_equal(sealed.ptr, again.ptr, sealed.len);
	/* a second run with the same file */
	secret_box_close(&f->box);
	assert_int_equal(secret_box_open(&f->box, f->file, false, &f->why), 0);
	assert_int_equal(secret_unseal(f->box, &plain, buffer_slice(&sealed)),
			 0);
	assert_true(slice_eq(buffer_slice(&plain), SLICE("pass\0word")));
	for (i = 0; i < sealed.len; i++) {
		sealed.ptr[i] ^= 1;
		assert_int_equal(
			secret_unseal(f->box, &plain, buffer_slice(&sealed)),
			-EBADMSG);
		sealed.ptr[i] ^= 1;
		assert_int_equal(secret_unseal(f->box, &plain,
					       slice_make(sealed.ptr, i)),
				 -EBADMSG);
	}
	assert_int_equal(plain.len, 9);
	buffer_reset(&sealed);
	buffer_reset(&again);
	buffer_reset(&plain);
}

static void test_seal_empty_and_other_key(void **state)
{
	struct fixture *f = *state;
	struct buffer sealed, plain;

	buffer_init(&sealed, 1000);
	buffer_init(&plain, 1000);
	assert_int_equal(secret_box_open(&f->box, f->file, true, &f->why), 0);
	secret_seal(f->box, &sealed, SLICE(""));
	assert_int_equal(secret_unseal(f->box, &plain, buffer_slice(&sealed)),
			 0);
	assert_int_equal(plain.len, 0);
	secret_box_close(&f->box);
	unlink(f->file);
	assert_int_equal(secret_box_open(&f->box, f->file, true, &f->why), 0);
	assert_int_equal(secret_unseal(f->box, &plain, buffer_slice(&sealed)),
			 -EBADMSG);
	buffer_reset(&sealed);
	buffer_reset(&plain);
}

static void test_hash(void **state)
{
	uint8_t hash[SECRET_HASH_BYTES];
	char hex[2 * SECRET_HASH_BYTES + 1];

	secret_hash_token(hash, SLICE("abc"));
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	assert_string_equal(hex, "bddd813c634239723171ef3fee98579b"
				 "94964e3bb1cb3e427262c8c068d52319");
	secret_hash_token(hash, slice_make(NULL, 0));
}

static void test_hmac(void **state)
{
	char hex[SECRET_HMAC_HEX_SIZE];

	secret_hmac_hex(hex, SLICE("Jefe"),
			SLICE("what do ya want for nothing?"));
	assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c7"
				 "5a003f089d2739839dec58b964ec3843");
	secret_hmac_hex(hex, SLICE(""), SLICE(""));
	assert_string_equal(hex, "b613679a0814d9ec772f95d778c35fc5"
				 "ff1697c493715653c6c712144292c5ad");
}

static void test_equal_and_wipe(void **state)
{
	char secret[] = "secret";

	assert_true(secret_is_equal(SLICE("abc"), SLICE("abc")));
	assert_false(secret_is_equal(SLICE("abc"), SLICE("abd")));
	assert_false(secret_is_equal(SLICE("abc"), SLICE("ab")));
	assert_true(secret_is_equal(slice_make(NULL, 0), SLICE("")));
	secret_wipe(secret, sizeof(secret));
	assert_memory_equal(secret, "\0\0\0\0\0\0", 7);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_key_file),
		CASE(test_key_file_refused),
		CASE(test_seal),
		CASE(test_seal_empty_and_other_key),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_hmac),
		cmocka_unit_test(test_equal_and_wipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

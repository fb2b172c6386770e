/* SPDX-License-Identifier: MIT */
#include "sip/identities.h"
#include <sodium.h>
#include "core/mem.h"

enum { HASH_BYTES = 32 };

struct row {
	struct tls_identity *identity; /* counted; NULL: free */
	unsigned char hash[HASH_BYTES]; /* of both texts */
	unsigned number;
	uint64_t used; /* higher: later */
};

struct identities {
	struct row *rows; /* owned */
	size_t n;
	unsigned last; /* number given */
	uint64_t uses;
};

struct identities *identities_open(void)
{
	return mem_new(sizeof(struct identities));
}

void identities_close(struct identities **identities)
{
	struct identities *old = *identities;

	if (!old)
		return;
	*identities = NULL;
	for (size_t i = 0; i < old->n; i++)
		tls_identity_close(&old->rows[i].identity);
	mem_free(old->rows);
	mem_free(old);
}

static void hash_of(unsigned char out[HASH_BYTES], struct slice certificate,
		    struct slice key)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
	crypto_generichash_update(&state, (unsigned char *)&certificate.len,
				  sizeof(certificate.len));
	crypto_generichash_update(&state, (unsigned char *)certificate.ptr,
				  certificate.len);
	crypto_generichash_update(&state, (unsigned char *)key.ptr, key.len);
	crypto_generichash_final(&state, out, HASH_BYTES);
}

static struct row *find_hash(struct identities *identities,
			     const unsigned char hash[HASH_BYTES])
{
	for (size_t i = 0; i < identities->n; i++)
		if (!memcmp(identities->rows[i].hash, hash, HASH_BYTES))
			return &identities->rows[i];
	return NULL;
}

static struct row *make_room(struct identities *identities)
{
	struct row *oldest = identities->rows;

	if (identities->n < IDENTITIES_MAX) {
		identities->rows = mem_resize(
			identities->rows,
			(identities->n + 1) * sizeof(*identities->rows));
		identities->rows[identities->n] = (struct row){ 0 };
		return &identities->rows[identities->n++];
	}
	for (size_t i = 0; i < identities->n; i++)
		if (identities->rows[i].used < oldest->used)
			oldest = &identities->rows[i];
	tls_identity_close(&oldest->identity);
	return oldest;
}

int identities_add(struct identities *identities, unsigned *number,
		   struct slice certificate, struct slice key,
		   struct buffer *why)
{
	unsigned char hash[HASH_BYTES];
	struct tls_identity *identity;
	struct row *row;
	int err;

	hash_of(hash, certificate, key);
	row = find_hash(identities, hash);
	if (!row) {
		err = tls_identity_open(&identity, certificate, key, why);
		if (err)
			return err;
		row = make_room(identities);
		*row = (struct row){ .identity = identity,
				     .number = ++identities->last };
		memcpy(row->hash, hash, HASH_BYTES);
	}
	row->used = ++identities->uses;
	*number = row->number;
	return 0;
}

struct tls_identity *identities_find(struct identities *identities,
				     unsigned number)
{
	for (size_t i = 0; i < identities->n; i++)
		if (identities->rows[i].number == number)
			return identities->rows[i].identity;
	return NULL;
}

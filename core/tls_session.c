/* SPDX-License-Identifier: MIT */
#include "core/tls_session.h"
#include <string.h>
#include "core/mem.h"

enum { SESSIONS_MAX = 64 };

static const uint64_t age_max_us = 3600ull * 1000 * 1000;

struct kept {
	char *name; /* owned; NULL: free */
	uint16_t port;
	bool is_sip;
	uint64_t at_us;
	mbedtls_ssl_session session;
};

struct tls_sessions {
	struct kept kept[SESSIONS_MAX];
};

static struct kept *find(struct tls_sessions *sessions,
			 const struct tls_session_key *key)
{
	for (struct kept *k = sessions->kept; k < sessions->kept + SESSIONS_MAX;
	     k++)
		if (k->name && k->port == key->port &&
		    k->is_sip == key->is_sip && !strcmp(k->name, key->name))
			return k;
	return NULL;
}

static void drop(struct kept *k)
{
	if (!k->name)
		return;
	mem_free(k->name);
	mbedtls_ssl_session_free(&k->session); /* wipes */
	*k = (struct kept){ 0 };
}

/* A free place, or that of the oldest. */
static struct kept *make_room(struct tls_sessions *sessions)
{
	struct kept *oldest = sessions->kept;

	for (struct kept *k = sessions->kept; k < sessions->kept + SESSIONS_MAX;
	     k++) {
		if (!k->name)
			return k;
		if (k->at_us < oldest->at_us)
			oldest = k;
	}
	drop(oldest);
	return oldest;
}

struct tls_sessions *tls_sessions_open(void)
{
	return mem_new(sizeof(struct tls_sessions));
}

void tls_sessions_close(struct tls_sessions **sessions)
{
	if (!*sessions)
		return;
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		drop(&(*sessions)->kept[i]);
	mem_free(*sessions);
	*sessions = NULL;
}

bool tls_sessions_offer(struct tls_sessions *sessions,
			const struct tls_session_key *key, uint64_t now_us,
			mbedtls_ssl_context *ssl)
{
	struct kept *k = find(sessions, key);

	if (!k)
		return false;
	if (now_us - k->at_us > age_max_us) {
		drop(k);
		return false;
	}
	return mbedtls_ssl_set_session(ssl, &k->session) == 0;
}

void tls_sessions_keep(struct tls_sessions *sessions,
		       const struct tls_session_key *key, uint64_t now_us,
		       const mbedtls_ssl_context *ssl)
{
	struct kept *k = find(sessions, key);
	/* A resumption does not make what was verified any younger. */
	uint64_t at_us = k ? k->at_us : now_us;

	if (k)
		drop(k);
	else
		k = make_room(sessions);
	mbedtls_ssl_session_init(&k->session);
	if (mbedtls_ssl_get_session(ssl, &k->session)) {
		mbedtls_ssl_session_free(&k->session);
		return;
	}
	k->name = mem_dup_str(key->name);
	k->port = key->port;
	k->is_sip = key->is_sip;
	k->at_us = at_us;
}

void tls_sessions_drop(struct tls_sessions *sessions,
		       const struct tls_session_key *key)
{
	struct kept *k = find(sessions, key);

	if (k)
		drop(k);
}

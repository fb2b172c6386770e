/* SPDX-License-Identifier: MIT */
/* core/tls_priv.h - inside of core/tls: tls.c has contexts and certificates,
 * tls_link.c a connection, tls_shake.c its handshake, tls_pipe.c its bytes,
 * tls_accept.c the server side's listener. */
#pragma once
#include <pthread.h>
#include <sys/queue.h>
#include "core/link_priv.h"
#include "core/listener_priv.h"
#include "core/tls.h"
#include "core/tls_compat.h"
#include "core/tls_identity.h"
#include "core/tls_pipe.h"
#include "core/tls_session.h"
#include "core/tls_verify.h"

struct job;
struct timer;
struct tls_accept;

/* What one generation of certificates amounts to. Never changes after it was
 * built, its caches aside; counted, because links outlive a reload. */
struct tls_trust {
	unsigned refs;
	struct loop *loop; /* borrowed: outlives us */
	struct work *work; /* borrowed: outlives us */
	mbedtls_ssl_config server;
	mbedtls_ssl_config client;
	mbedtls_x509_crt own; /* empty: a client without certificate */
	mbedtls_pk_context key;
	struct tls_identity *identity; /* counted: the client's; NULL: own */
	mbedtls_x509_crt ca;
	mbedtls_ssl_ticket_context tickets;
	struct tls_sessions *sessions; /* owned; loop thread only */
	bool no_sip_wildcards;
	/* One handshake job at a time: the library caches tables inside keys
	 * without a lock. The loop never takes it. */
	pthread_mutex_t job_lock;
};

struct tls {
	struct tls_options options; /* its strings are ours */
	struct tls_trust *trust; /* counted */
	unsigned generation;
	unsigned n_listeners; /* to be closed before us */
};

void tls_trust_hold(struct tls_trust *trust);
void tls_trust_release(struct tls_trust **trust);
/* A client's configuration under this trust that shows another certificate;
 * *conf is initialised here. 0 or mbedTLS' code. */
int tls_trust_configure(struct tls_trust *trust, mbedtls_ssl_config *conf,
			struct tls_identity *identity);

/*            on_open                     over              shutdown
 * CONNECTING -------> SHAKING (+ jobs) -------> OPEN ------------> CLOSING
 * any of them --> ENDED (the owner knows; link_close() frees)
 * SHAKING, not delivered yet --> LINGER (sends its alert) --> freed
 * any with a job under way, closed --> ABANDONED --done--> freed */
enum tls_state {
	TLS_CONNECTING,
	TLS_SHAKING,
	TLS_OPEN,
	TLS_CLOSING,
	TLS_ENDED,
	TLS_LINGER,
	TLS_ABANDONED,
};

/* How the raw link, or the reading from it, ended. */
struct tls_end {
	bool is_raw_over;
	int raw_err;
	int read; /* what mbedtls_ssl_read() ended with; 0 not yet */
	bool is_posted; /* err and why go out in the next turn */
	int err;
	struct buffer why;
};

struct tls_shake {
	int result; /* of the last step */
	bool is_full; /* a full handshake, no resumption */
	bool is_offered; /* with a session verified for this name */
};

/* A client's certificate where it is not the trust's; both or neither. */
struct tls_shown {
	struct tls_identity *identity; /* counted */
	mbedtls_ssl_config *conf; /* owned */
};

struct tls_link {
	struct link link; /* first */
	struct tls_trust *trust; /* counted */
	struct link *raw; /* owned */
	struct tls_accept *accept; /* borrowed: until delivered; or NULL */
	LIST_ENTRY(tls_link) in_accept;
	struct tls_shown shown;
	mbedtls_ssl_context ssl;
	struct tls_verify verify;
	struct tls_pipe pipe;
	struct buffer unsent; /* plain text that waits for the raw link */
	struct timer *deadline; /* owned */
	struct timer *post; /* owned: goes on in the next turn */
	struct job *job; /* set: ssl, verify and pipe are the job's */
	enum tls_state state;
	struct tls_shake shake;
	bool is_paused; /* by the owner */
	bool is_raw_paused;
	bool owes_drain;
	bool is_first; /* accepted, and its first byte is still to come */
	struct tls_end end;
};

/* accept NULL: a client; its verify.name is set before tls_shake_start(). */
struct tls_link *tls_link_new(struct tls_trust *trust,
			      struct tls_accept *accept,
			      const struct link_events *events, void *owner);
void tls_link_release(struct tls_link *x); /* frees it, after its job */
void tls_link_free(struct tls_link *x);
void tls_link_enter(struct tls_link *x, enum tls_state next);
void tls_link_pause_raw(struct tls_link *x, bool on);
/* Each tells the owner or the listener: last thing. */
void tls_link_opened(struct tls_link *x);
void tls_link_ended(struct tls_link *x, int err, const char *why);

void tls_shake_start(struct tls_link *x); /* the raw link is open */
void tls_shake_go_on(struct tls_link *x); /* bytes came, or the end */

extern const struct link_events tls_link_raw_events;

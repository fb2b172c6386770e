/* SPDX-License-Identifier: MIT */
/* core/tls_identity.h - a certificate chain and its key, as a client shows
 * them. Private to core/tls. Never changes once it is open; counted, because
 * links and generations of trust share it. */
#pragma once
#include <pthread.h>
#include "core/tls.h"
#include "core/tls_compat.h"

struct tls_identity {
	unsigned refs; /* loop thread only */
	mbedtls_x509_crt chain;
	mbedtls_pk_context key;
	/* As tls_trust's, for links of different generations. */
	pthread_mutex_t job_lock;
};

/* From PEM files. */
int tls_identity_read(struct tls_identity **out, const char *certificate_file,
		      const char *key_file, struct buffer *why);

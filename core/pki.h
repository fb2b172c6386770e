/* SPDX-License-Identifier: MIT */
/* core/pki.h - a private certificate authority and the certificates it signs,
 * as PEM files: what `parley init` sets up and what tests run on. Keys are
 * ECDSA P-256, serial numbers random (RFC 5280). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/buffer.h"

struct pki_files {
	const char *certificate; /* written with mode 0644 */
	const char *key; /* mode 0600 */
};

struct pki_leaf {
	struct pki_files ca; /* read */
	struct pki_files files; /* written */
	/* Each a DNS name ("*." in front is fine), an IP literal or a SIP URI
	 * ("sip:example.com"): subject alternative names, the first one that
	 * is no URI also the common name. At least one. */
	const char *const *names;
	size_t n_names;
	int64_t wall_ms; /* Unix time; valid from an hour before */
	unsigned days; /* 0: 825 */
};

/* A root that signs leaves only, valid for ten years. Existing files are
 * replaced whole or not at all; on failure why says which and the reason. */
int pki_make_ca(const struct pki_files *files, const char *name,
		int64_t wall_ms, struct buffer *why);
/* For TLS servers and clients alike. -EINVAL: a name that is none. */
int pki_make_leaf(const struct pki_leaf *leaf, struct buffer *why);

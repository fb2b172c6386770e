/* SPDX-License-Identifier: MIT */
/* A certificate authority in a folder that goes away with it. */
#pragma once
#include <stdint.h>

enum { PKI_PATH_SIZE = 96 };

struct fixture_pki {
	char dir[PKI_PATH_SIZE];
	char ca[PKI_PATH_SIZE];
	char ca_key[PKI_PATH_SIZE];
	char path[PKI_PATH_SIZE]; /* of the last fixture_pki_path() */
};

void fixture_pki_open(struct fixture_pki *pki, int64_t wall_ms);
void fixture_pki_close(struct fixture_pki *pki);
/* DIR/NAME; valid until the next call. */
const char *fixture_pki_path(struct fixture_pki *pki, const char *name);
/* Writes NAME.pem and NAME.key; names is NULL-terminated. */
void fixture_pki_leaf(struct fixture_pki *pki, const char *name,
		      const char *const *names, int64_t wall_ms, unsigned days);

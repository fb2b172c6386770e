/* SPDX-License-Identifier: MIT */
/* tools/benches/tls_floor.h - what both ends of the TLS floor agree on. */
#pragma once
#include "core/tls_compat.h"

enum {
	FLOOR_BATCH = 16, /* calls under way at once */
	/* Bytes of SIP messages as Parley and its far ends write them. */
	FLOOR_INVITE = 1000,
	FLOOR_TRYING = 300,
	FLOOR_RINGING = 400,
	FLOOR_ANSWER = 900,
	FLOOR_ACK = 350,
	FLOOR_BYE = 400,
	FLOOR_OK = 330,
};

struct floor_tls {
	mbedtls_ssl_config conf;
	mbedtls_x509_crt own, ca;
	mbedtls_pk_context key;
};

/* --certificate, --key and --ca; the suite that core/tls prefers. 0 or an
 * error of mbedTLS. */
int floor_tls_open(struct floor_tls *tls, char **argv, int endpoint);

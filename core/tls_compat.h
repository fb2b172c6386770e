/* SPDX-License-Identifier: MIT */
/* core/tls_compat.h - mbedTLS as the rest of core/tls and core/pki sees it:
 * every difference between 2.28 and 3.x is in this file. On 3.x the highest
 * version is 1.2 as well: 1.3 sends its tickets after the handshake, which
 * core/tls_session does not expect. */
#pragma once
#include <mbedtls/version.h>
#if MBEDTLS_VERSION_MAJOR >= 3
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#endif
#include <mbedtls/ecp.h>
#include <mbedtls/error.h>
#include <mbedtls/oid.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/x509_crt.h>
#include "core/id.h"

/* f_rng of mbedTLS; safe from every thread. */
static inline int tls_compat_random(void *arg, unsigned char *out, size_t len)
{
	id_bytes(out, len);
	return 0;
}

/* TLS 1.2 or higher; x25519 before the NIST curves. */
static inline void tls_compat_conf_limits(mbedtls_ssl_config *conf)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
	static const uint16_t groups[] = {
		MBEDTLS_SSL_IANA_TLS_GROUP_X25519,
		MBEDTLS_SSL_IANA_TLS_GROUP_SECP256R1,
		MBEDTLS_SSL_IANA_TLS_GROUP_SECP384R1,
		MBEDTLS_SSL_IANA_TLS_GROUP_SECP521R1,
		MBEDTLS_SSL_IANA_TLS_GROUP_NONE,
	};

	mbedtls_ssl_conf_min_tls_version(conf, MBEDTLS_SSL_VERSION_TLS1_2);
	mbedtls_ssl_conf_max_tls_version(conf, MBEDTLS_SSL_VERSION_TLS1_2);
	mbedtls_ssl_conf_groups(conf, groups);
#else
	static const mbedtls_ecp_group_id curves[] = {
		MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_SECP256R1,
		MBEDTLS_ECP_DP_SECP384R1,  MBEDTLS_ECP_DP_SECP521R1,
		MBEDTLS_ECP_DP_NONE,
	};

	/* 3.3 is TLS 1.2; the library's default is 1.0. */
	mbedtls_ssl_conf_min_version(conf, MBEDTLS_SSL_MAJOR_VERSION_3,
				     MBEDTLS_SSL_MINOR_VERSION_3);
	mbedtls_ssl_conf_curves(conf, curves);
#endif
}

/* PEM with its NUL counted in len. */
static inline int tls_compat_parse_key(mbedtls_pk_context *pk,
				       const unsigned char *pem, size_t len)
{
#if MBEDTLS_VERSION_MAJOR >= 3
	return mbedtls_pk_parse_key(pk, pem, len, NULL, 0, tls_compat_random,
				    NULL);
#else
	return mbedtls_pk_parse_key(pk, pem, len, NULL, 0);
#endif
}

static inline int tls_compat_check_pair(const mbedtls_pk_context *pub,
					const mbedtls_pk_context *key)
{
#if MBEDTLS_VERSION_MAJOR >= 3
	return mbedtls_pk_check_pair(pub, key, tls_compat_random, NULL);
#else
	return mbedtls_pk_check_pair(pub, key);
#endif
}

static inline int tls_compat_set_serial(mbedtls_x509write_cert *crt,
					unsigned char *serial, size_t len)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03040000
	return mbedtls_x509write_crt_set_serial_raw(crt, serial, len);
#else
	mbedtls_mpi number;
	int ret;

	mbedtls_mpi_init(&number);
	ret = mbedtls_mpi_read_binary(&number, serial, len);
	if (!ret)
		ret = mbedtls_x509write_crt_set_serial(crt, &number);
	mbedtls_mpi_free(&number);
	return ret;
#endif
}

/* The description of the alert that MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE has
 * just reported (RFC 5246, 7.2); the library has no call for it. */
static inline int tls_compat_alert(const mbedtls_ssl_context *ssl)
{
	return ssl->in_msg ? ssl->in_msg[1] : 0;
}

static inline int tls_compat_state(const mbedtls_ssl_context *ssl)
{
	return ssl->state;
}

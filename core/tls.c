/* SPDX-License-Identifier: MIT */
#include "core/tls.h"
#include <assert.h>
#include <errno.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/tls_file.h"
#include "core/tls_priv.h"

static const char system_store[] = "/etc/ssl/certs/ca-certificates.crt";

enum { TICKET_LIFETIME_S = 3600 };

/* Forward secrecy only, authenticated encryption first. */
static const int ciphersuites[] = {
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
	0,
};

void tls_trust_hold(struct tls_trust *trust)
{
	trust->refs++;
}

void tls_trust_release(struct tls_trust **trust)
{
	struct tls_trust *t = *trust;

	*trust = NULL;
	if (!t || --t->refs)
		return;
	mbedtls_ssl_config_free(&t->server);
	mbedtls_ssl_config_free(&t->client);
	mbedtls_x509_crt_free(&t->own);
	mbedtls_pk_free(&t->key); /* wipes */
	tls_identity_close(&t->identity);
	mbedtls_x509_crt_free(&t->ca);
	mbedtls_ssl_ticket_free(&t->tickets); /* wipes */
	tls_sessions_close(&t->sessions);
	pthread_mutex_destroy(&t->job_lock);
	mem_free(t);
}

static struct tls_trust *trust_new(const struct tls_options *options)
{
	struct tls_trust *t = mem_new(sizeof(*t));

	t->refs = 1;
	t->loop = options->loop;
	t->work = options->work;
	t->no_sip_wildcards = options->no_sip_wildcards;
	mbedtls_ssl_config_init(&t->server);
	mbedtls_ssl_config_init(&t->client);
	mbedtls_x509_crt_init(&t->own);
	mbedtls_pk_init(&t->key);
	mbedtls_x509_crt_init(&t->ca);
	mbedtls_ssl_ticket_init(&t->tickets);
	t->sessions = tls_sessions_open();
	pthread_mutex_init(&t->job_lock, NULL);
	return t;
}

static int load_own(struct tls_trust *t, const struct tls_options *options,
		    struct buffer *why)
{
	int err;

	if (!options->certificate_file)
		return 0;
	if (!options->certificate_file[0]) {
		buffer_add_str(why, "no certificate file is set");
		return -EINVAL;
	}
	if (!options->key_file) {
		buffer_printf(why, "%s: no key file is named for it",
			      options->certificate_file);
		return -EINVAL;
	}
	err = tls_file_read_certificates(&t->own, options->certificate_file,
					 why);
	if (!err)
		err = tls_file_read_key(&t->key, options->key_file, why);
	if (!err && tls_compat_check_pair(&t->own.pk, &t->key)) {
		buffer_printf(why, "%s is not the key of %s", options->key_file,
			      options->certificate_file);
		err = -EINVAL;
	}
	return err;
}

static int load_client(struct tls_trust *t, const struct tls_options *options,
		       struct buffer *why)
{
	const char *file = options->client_certificate_file;

	if (!file)
		return 0;
	if (!options->client_key_file) {
		buffer_printf(why, "%s: no key file is named for it", file);
		return -EINVAL;
	}
	return tls_identity_read(&t->identity, file, options->client_key_file,
				 why);
}

static int load_ca(struct tls_trust *t, const struct tls_options *options,
		   struct buffer *why)
{
	int err = 0;

	if (options->ca_file)
		err = tls_file_read_certificates(&t->ca, options->ca_file, why);
	if (!err && options->system_store) {
		err = tls_file_read_certificates(&t->ca, system_store, why);
		if (err == -EBADMSG) { /* one odd CA must not stop us */
			buffer_clear(why);
			err = 0;
		}
	}
	if (!err && options->require_client_certificate && !t->ca.version) {
		buffer_add_str(why, "no CA is named to verify clients by");
		err = -EINVAL;
	}
	return err;
}

static int configure(struct tls_trust *t, mbedtls_ssl_config *conf,
		     int endpoint, int authmode)
{
	int ret = mbedtls_ssl_config_defaults(conf, endpoint,
					      MBEDTLS_SSL_TRANSPORT_STREAM,
					      MBEDTLS_SSL_PRESET_DEFAULT);

	if (ret)
		return ret;
	tls_compat_conf_limits(conf);
	mbedtls_ssl_conf_rng(conf, tls_compat_random, NULL);
	mbedtls_ssl_conf_ciphersuites(conf, ciphersuites);
	mbedtls_ssl_conf_authmode(conf, authmode);
	mbedtls_ssl_conf_ca_chain(conf, &t->ca, NULL);
	mbedtls_ssl_conf_renegotiation(conf,
				       MBEDTLS_SSL_RENEGOTIATION_DISABLED);
	return 0;
}

static int configure_server(struct tls_trust *t, bool is_client_verified)
{
	int ret = mbedtls_ssl_ticket_setup(&t->tickets, tls_compat_random, NULL,
					   MBEDTLS_CIPHER_AES_256_GCM,
					   TICKET_LIFETIME_S);

	if (!ret)
		ret = configure(t, &t->server, MBEDTLS_SSL_IS_SERVER,
				is_client_verified ? MBEDTLS_SSL_VERIFY_REQUIRED
						   : MBEDTLS_SSL_VERIFY_NONE);
	if (!ret)
		ret = mbedtls_ssl_conf_own_cert(&t->server, &t->own, &t->key);
	if (ret)
		return ret;
	mbedtls_ssl_conf_session_tickets_cb(
		&t->server, mbedtls_ssl_ticket_write, mbedtls_ssl_ticket_parse,
		&t->tickets);
	/* The names of 140 system CAs would fill records for nothing. */
	mbedtls_ssl_conf_cert_req_ca_list(
		&t->server, MBEDTLS_SSL_CERT_REQ_CA_LIST_DISABLED);
	return 0;
}

static int configure_client(struct tls_trust *t, mbedtls_ssl_config *conf,
			    struct tls_identity *identity)
{
	int ret = configure(t, conf, MBEDTLS_SSL_IS_CLIENT,
			    MBEDTLS_SSL_VERIFY_REQUIRED);

	if (!ret && identity)
		ret = mbedtls_ssl_conf_own_cert(conf, &identity->chain,
						&identity->key);
	else if (!ret && t->own.version)
		ret = mbedtls_ssl_conf_own_cert(conf, &t->own, &t->key);
	return ret;
}

int tls_trust_configure(struct tls_trust *trust, mbedtls_ssl_config *conf,
			struct tls_identity *identity)
{
	mbedtls_ssl_config_init(conf);
	return configure_client(trust, conf, identity);
}

static int trust_load(struct tls_trust **out, const struct tls_options *options,
		      struct buffer *why)
{
	struct tls_trust *t = trust_new(options);
	char text[128];
	int ret, err;

	*out = NULL;
	err = load_own(t, options, why);
	if (!err)
		err = load_client(t, options, why);
	if (!err)
		err = load_ca(t, options, why);
	if (err)
		goto out;
	ret = configure_client(t, &t->client, t->identity);
	mbedtls_ssl_conf_session_tickets(&t->client,
					 MBEDTLS_SSL_SESSION_TICKETS_ENABLED);
	if (!ret && t->own.version)
		ret = configure_server(t, options->require_client_certificate);
	if (ret) {
		mbedtls_strerror(ret, text, sizeof(text));
		buffer_printf(why, "TLS cannot be set up: %s", text);
		err = -EIO;
	}
out:
	if (err)
		tls_trust_release(&t);
	*out = t;
	return err;
}

int tls_open(struct tls **out, const struct tls_options *options,
	     struct buffer *why)
{
	struct tls *tls = mem_new(sizeof(*tls));
	int err;

	tls->options = *options;
	tls->options.certificate_file = mem_dup_str(options->certificate_file);
	tls->options.key_file = mem_dup_str(options->key_file);
	tls->options.client_certificate_file =
		mem_dup_str(options->client_certificate_file);
	tls->options.client_key_file = mem_dup_str(options->client_key_file);
	tls->options.ca_file = mem_dup_str(options->ca_file);
	tls->generation = 1;
	err = trust_load(&tls->trust, &tls->options, why);
	if (err)
		tls_close(&tls);
	*out = tls;
	return err;
}

void tls_close(struct tls **tls)
{
	struct tls *old = *tls;

	if (!old)
		return;
	assert(!old->n_listeners);
	*tls = NULL;
	tls_trust_release(&old->trust);
	mem_free((char *)old->options.certificate_file);
	mem_free((char *)old->options.key_file);
	mem_free((char *)old->options.client_certificate_file);
	mem_free((char *)old->options.client_key_file);
	mem_free((char *)old->options.ca_file);
	mem_free(old);
}

int tls_reload(struct tls *tls, struct buffer *why)
{
	struct tls_trust *fresh;
	int err = trust_load(&fresh, &tls->options, why);

	if (err)
		return err;
	tls_trust_release(&tls->trust);
	tls->trust = fresh;
	tls->generation++;
	return 0;
}

unsigned tls_generation(const struct tls *tls)
{
	return tls->generation;
}

/* SPDX-License-Identifier: MIT */
#include "core/tls_identity.h"
#include <errno.h>
#include "core/mem.h"
#include "core/secret.h"
#include "core/tls_file.h"

static struct tls_identity *identity_new(void)
{
	struct tls_identity *identity = mem_new(sizeof(*identity));

	identity->refs = 1;
	mbedtls_x509_crt_init(&identity->chain);
	mbedtls_pk_init(&identity->key);
	pthread_mutex_init(&identity->job_lock, NULL);
	return identity;
}

struct tls_identity *tls_identity_hold(struct tls_identity *identity)
{
	if (identity)
		identity->refs++;
	return identity;
}

void tls_identity_close(struct tls_identity **identity)
{
	struct tls_identity *old = *identity;

	*identity = NULL;
	if (!old || --old->refs)
		return;
	mbedtls_x509_crt_free(&old->chain);
	mbedtls_pk_free(&old->key); /* wipes */
	pthread_mutex_destroy(&old->job_lock);
	mem_free(old);
}

static int library_error(struct buffer *why, const char *what, int ret)
{
	char text[128];

	mbedtls_strerror(ret, text, sizeof(text));
	buffer_printf(why, "%s: %s", what, text);
	return -EINVAL;
}

/* mbedTLS wants the NUL of PEM text counted. */
static int parse_chain(struct tls_identity *identity, struct slice pem,
		       struct buffer *why)
{
	char *text = slice_dup(pem);
	int ret = mbedtls_x509_crt_parse(
		&identity->chain, (const unsigned char *)text, pem.len + 1);

	mem_free(text);
	if (ret > 0) {
		buffer_printf(why, "client certificate: %d unreadable", ret);
		return -EINVAL;
	}
	return ret ? library_error(why, "client certificate", ret) : 0;
}

static int parse_key(struct tls_identity *identity, struct slice pem,
		     struct buffer *why)
{
	char *text = slice_dup(pem);
	int ret = tls_compat_parse_key(
		&identity->key, (const unsigned char *)text, pem.len + 1);

	secret_wipe(text, pem.len);
	mem_free(text);
	return ret ? library_error(why, "client key", ret) : 0;
}

static int check_pair(const struct tls_identity *identity)
{
	return tls_compat_check_pair(&identity->chain.pk, &identity->key)
		       ? -EINVAL
		       : 0;
}

int tls_identity_open(struct tls_identity **out, struct slice certificate,
		      struct slice key, struct buffer *why)
{
	struct tls_identity *identity = identity_new();
	int err = parse_chain(identity, certificate, why);

	if (!err)
		err = parse_key(identity, key, why);
	if (!err && check_pair(identity)) {
		buffer_add_str(why, "the client key is not that of the client "
				    "certificate");
		err = -EINVAL;
	}
	if (err)
		tls_identity_close(&identity);
	*out = identity;
	return err;
}

int tls_identity_read(struct tls_identity **out, const char *certificate_file,
		      const char *key_file, struct buffer *why)
{
	struct tls_identity *identity = identity_new();
	int err = tls_file_read_certificates(&identity->chain, certificate_file,
					     why);

	if (!err)
		err = tls_file_read_key(&identity->key, key_file, why);
	if (!err && check_pair(identity)) {
		buffer_printf(why, "%s is not the key of %s", key_file,
			      certificate_file);
		err = -EINVAL;
	}
	if (err)
		tls_identity_close(&identity);
	*out = identity;
	return err;
}

/* SPDX-License-Identifier: MIT */
#include "core/pki.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <mbedtls/asn1write.h>
#include "core/addr.h"
#include "core/mem.h"
#include "core/secret.h"
#include "core/slice.h"
#include "core/tls_compat.h"
#include "core/tls_file.h"

enum {
	PEM_MAX = 16 * 1024,
	SAN_MAX = 8 * 1024,
	NAME_MAX_LEN = 253, /* RFC 1035, 2.3.4, without the trailing dot */
	SUBJECT_MAX = 64, /* RFC 5280: ub-common-name */
	SERIAL_BYTES = 16,
	CA_DAYS = 3652,
	LEAF_DAYS = 825,
	STAMP_SIZE = 16,
	TAG_DNS = MBEDTLS_ASN1_CONTEXT_SPECIFIC | 2,
	TAG_URI = MBEDTLS_ASN1_CONTEXT_SPECIFIC | 6,
	TAG_IP = MBEDTLS_ASN1_CONTEXT_SPECIFIC | 7,
};

/* What both kinds of certificate are made from. */
struct making {
	mbedtls_x509write_cert crt;
	mbedtls_pk_context key; /* the subject's */
	mbedtls_x509_crt ca; /* empty for a root */
	mbedtls_pk_context ca_key;
	char subject[SUBJECT_MAX + 8];
	struct buffer *why; /* borrowed */
};

static void making_init(struct making *m, struct buffer *why)
{
	*m = (struct making){ .why = why };
	mbedtls_x509write_crt_init(&m->crt);
	mbedtls_pk_init(&m->key);
	mbedtls_x509_crt_init(&m->ca);
	mbedtls_pk_init(&m->ca_key);
}

static void making_reset(struct making *m)
{
	mbedtls_x509write_crt_free(&m->crt);
	mbedtls_pk_free(&m->key); /* wipes */
	mbedtls_x509_crt_free(&m->ca);
	mbedtls_pk_free(&m->ca_key);
}

static int library_error(struct making *m, const char *what, int ret)
{
	char text[128];

	mbedtls_strerror(ret, text, sizeof(text));
	buffer_printf(m->why, "%s: %s", what, text);
	return -EIO;
}

static int make_key(struct making *m)
{
	int ret = mbedtls_pk_setup(&m->key,
				   mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));

	if (!ret)
		ret = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1,
					  mbedtls_pk_ec(m->key),
					  tls_compat_random, NULL);
	return ret ? library_error(m, "cannot make a key", ret) : 0;
}

/* "20261121013640", UTC. */
static int set_validity(struct making *m, int64_t wall_ms, unsigned days)
{
	char from[STAMP_SIZE], until[STAMP_SIZE];
	time_t start = (time_t)(wall_ms / 1000) - 3600;
	time_t end = start + (time_t)days * 24 * 3600;
	struct tm tm;
	int ret;

	strftime(from, sizeof(from), "%Y%m%d%H%M%S", gmtime_r(&start, &tm));
	strftime(until, sizeof(until), "%Y%m%d%H%M%S", gmtime_r(&end, &tm));
	ret = mbedtls_x509write_crt_set_validity(&m->crt, from, until);
	return ret ? library_error(m, "cannot set the validity", ret) : 0;
}

static int set_serial(struct making *m)
{
	unsigned char serial[SERIAL_BYTES];
	int ret;

	id_bytes(serial, sizeof(serial));
	serial[0] = (serial[0] & 0x3f) | 0x40; /* positive, full length */
	ret = tls_compat_set_serial(&m->crt, serial, sizeof(serial));
	return ret ? library_error(m, "cannot set the serial number", ret) : 0;
}

/* What root and leaf have in common; issuer is "CN=..." or the CA's subject. */
static int set_common(struct making *m, const char *issuer,
		      mbedtls_pk_context *issuer_key)
{
	int ret;

	mbedtls_x509write_crt_set_version(&m->crt, MBEDTLS_X509_CRT_VERSION_3);
	mbedtls_x509write_crt_set_md_alg(&m->crt, MBEDTLS_MD_SHA256);
	mbedtls_x509write_crt_set_subject_key(&m->crt, &m->key);
	mbedtls_x509write_crt_set_issuer_key(&m->crt, issuer_key);
	ret = mbedtls_x509write_crt_set_subject_name(&m->crt, m->subject);
	if (!ret)
		ret = mbedtls_x509write_crt_set_issuer_name(&m->crt, issuer);
	if (!ret)
		ret = mbedtls_x509write_crt_set_subject_key_identifier(&m->crt);
	if (!ret)
		ret = mbedtls_x509write_crt_set_authority_key_identifier(
			&m->crt);
	return ret ? library_error(m, "cannot name the certificate", ret) : 0;
}

static int write_files(struct making *m, const struct pki_files *files)
{
	unsigned char *pem = mem_new(PEM_MAX);
	int ret, err;

	ret = mbedtls_pk_write_key_pem(&m->key, pem, PEM_MAX);
	err = ret ? library_error(m, files->key, ret)
		  : tls_file_write(files->key, (char *)pem, 0600, m->why);
	secret_wipe(pem, PEM_MAX);
	if (err)
		goto out;
	ret = mbedtls_x509write_crt_pem(&m->crt, pem, PEM_MAX,
					tls_compat_random, NULL);
	err = ret ? library_error(m, files->certificate, ret)
		  : tls_file_write(files->certificate, (char *)pem, 0644,
				   m->why);
out:
	mem_free(pem);
	return err;
}

/* A DNS name: letters, digits, hyphens and dots. Anything else would need
 * quoting in a distinguished name. */
static bool is_name(struct slice name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

	if (!name.len || name.len > NAME_MAX_LEN || name.ptr[0] == '.')
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!memchr(good, name.ptr[i], sizeof(good) - 1))
			return false;
	return true;
}

/* The value of one subject alternative name. */
struct san {
	unsigned char tag;
	struct slice value;
	struct addr addr; /* what value points to when it is an IP */
};

static int san_parse(struct san *out, const char *name)
{
	struct slice text = slice_of(name), host = text;

	if (addr_parse(&out->addr, text, 0) == 0) {
		out->tag = (unsigned char)TAG_IP;
		out->value = out->addr.sa.sa_family == AF_INET
				     ? slice_make(&out->addr.in.sin_addr, 4)
				     : slice_make(&out->addr.in6.sin6_addr, 16);
		return 0;
	}
	out->tag = (unsigned char)TAG_DNS;
	out->value = text;
	if (slice_has_prefix(text, SLICE("sip:"))) {
		out->tag = (unsigned char)TAG_URI;
		host = slice_make(text.ptr + 4, text.len - 4);
	} else if (slice_has_prefix(text, SLICE("*."))) {
		host = slice_make(text.ptr + 2, text.len - 2);
	}
	return is_name(host) ? 0 : -EINVAL;
}

/* mbedTLS writes DER backwards: from the end of the space to its start. */
static int san_write(unsigned char **p, unsigned char *start,
		     const struct san *san)
{
	size_t len = san->value.len;
	int ret;

	ret = mbedtls_asn1_write_raw_buffer(
		p, start, (const unsigned char *)san->value.ptr, len);
	if (ret >= 0)
		ret = mbedtls_asn1_write_len(p, start, len);
	if (ret >= 0)
		ret = mbedtls_asn1_write_tag(p, start, san->tag);
	return ret;
}

static int write_sequence(unsigned char **p, unsigned char *start,
			  unsigned char *end)
{
	int ret = mbedtls_asn1_write_len(p, start, (size_t)(end - *p));

	if (ret >= 0)
		ret = mbedtls_asn1_write_tag(p, start,
					     MBEDTLS_ASN1_CONSTRUCTED |
						     MBEDTLS_ASN1_SEQUENCE);
	return ret;
}

/* RFC 5280, 4.2.1.6. */
static int set_names(struct making *m, const struct pki_leaf *leaf)
{
	unsigned char *der = mem_new(SAN_MAX);
	unsigned char *p = der + SAN_MAX;
	struct san san;
	int ret = 0;

	for (size_t i = leaf->n_names; i-- > 0 && ret >= 0;) {
		if (san_parse(&san, leaf->names[i])) {
			buffer_printf(m->why, "'%s' is no name or address",
				      leaf->names[i]);
			mem_free(der);
			return -EINVAL;
		}
		ret = san_write(&p, der, &san);
	}
	if (ret >= 0)
		ret = write_sequence(&p, der, der + SAN_MAX);
	if (ret >= 0)
		ret = mbedtls_x509write_crt_set_extension(
			&m->crt, MBEDTLS_OID_SUBJECT_ALT_NAME,
			MBEDTLS_OID_SIZE(MBEDTLS_OID_SUBJECT_ALT_NAME), 0, p,
			(size_t)(der + SAN_MAX - p));
	mem_free(der);
	return ret < 0 ? library_error(m, "cannot add the names", ret) : 0;
}

/* serverAuth and clientAuth (RFC 5280, 4.2.1.12). */
static int set_usage(struct making *m)
{
	static const unsigned char both[] = {
		0x30, 0x14, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05,
		0x05, 0x07, 0x03, 0x01, 0x06, 0x08, 0x2b, 0x06,
		0x01, 0x05, 0x05, 0x07, 0x03, 0x02,
	};
	int ret;

	ret = mbedtls_x509write_crt_set_basic_constraints(&m->crt, 0, -1);
	if (!ret)
		ret = mbedtls_x509write_crt_set_key_usage(
			&m->crt, MBEDTLS_X509_KU_DIGITAL_SIGNATURE);
	if (!ret)
		ret = mbedtls_x509write_crt_set_extension(
			&m->crt, MBEDTLS_OID_EXTENDED_KEY_USAGE,
			MBEDTLS_OID_SIZE(MBEDTLS_OID_EXTENDED_KEY_USAGE), 0,
			both, sizeof(both));
	return ret ? library_error(m, "cannot set the usage", ret) : 0;
}

/* The first name that is no URI and fits. */
static void choose_subject(struct making *m, const struct pki_leaf *leaf)
{
	const char *name = "parley";

	for (size_t i = leaf->n_names; i-- > 0;) {
		struct slice s = slice_of(leaf->names[i]);

		if (s.len <= SUBJECT_MAX && !slice_has_prefix(s, SLICE("sip:")))
			name = leaf->names[i];
	}
	snprintf(m->subject, sizeof(m->subject), "CN=%s", name);
}

static int read_ca(struct making *m, const struct pki_files *ca)
{
	int err = tls_file_read_certificates(&m->ca, ca->certificate, m->why);

	if (!err)
		err = tls_file_read_key(&m->ca_key, ca->key, m->why);
	if (!err && tls_compat_check_pair(&m->ca.pk, &m->ca_key)) {
		buffer_printf(m->why, "%s is not the key of %s", ca->key,
			      ca->certificate);
		err = -EINVAL;
	}
	return err;
}

int pki_make_ca(const struct pki_files *files, const char *name,
		int64_t wall_ms, struct buffer *why)
{
	struct making m;
	int err, ret;

	making_init(&m, why);
	snprintf(m.subject, sizeof(m.subject), "CN=%s", name);
	err = make_key(&m);
	if (!err)
		err = set_common(&m, m.subject, &m.key);
	if (!err)
		err = set_validity(&m, wall_ms, CA_DAYS);
	if (!err)
		err = set_serial(&m);
	if (err)
		goto out;
	ret = mbedtls_x509write_crt_set_basic_constraints(&m.crt, 1, 0);
	if (!ret)
		ret = mbedtls_x509write_crt_set_key_usage(
			&m.crt, MBEDTLS_X509_KU_KEY_CERT_SIGN |
					MBEDTLS_X509_KU_CRL_SIGN);
	err = ret ? library_error(&m, "cannot set the usage", ret)
		  : write_files(&m, files);
out:
	making_reset(&m);
	return err;
}

int pki_make_leaf(const struct pki_leaf *leaf, struct buffer *why)
{
	char issuer[MBEDTLS_X509_MAX_DN_NAME_SIZE];
	struct making m;
	int err;

	making_init(&m, why);
	choose_subject(&m, leaf);
	err = read_ca(&m, &leaf->ca);
	if (!err)
		err = make_key(&m);
	if (!err &&
	    mbedtls_x509_dn_gets(issuer, sizeof(issuer), &m.ca.subject) < 0) {
		buffer_printf(why, "%s: subject too long",
			      leaf->ca.certificate);
		err = -EINVAL;
	}
	if (!err)
		err = set_common(&m, issuer, &m.ca_key);
	if (!err)
		err = set_validity(&m, leaf->wall_ms,
				   leaf->days ? leaf->days : LEAF_DAYS);
	if (!err)
		err = set_serial(&m);
	if (!err)
		err = set_usage(&m);
	if (!err)
		err = set_names(&m, leaf);
	if (!err)
		err = write_files(&m, &leaf->files);
	making_reset(&m);
	return err;
}

/* SPDX-License-Identifier: MIT */
#include "core/tls_verify.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include "core/addr.h"
#include "core/mem.h"

enum {
	NAMES_SHOWN = 8,
	DN_SIZE = 256,
	/* Context-specific tags of a GeneralName (RFC 5280, 4.2.1.6). */
	TAG_DNS = 0x82,
	TAG_URI = 0x86,
	TAG_IP = 0x87,
};

#define WEAK                                                                   \
	(MBEDTLS_X509_BADCERT_BAD_MD | MBEDTLS_X509_BADCERT_BAD_PK |           \
	 MBEDTLS_X509_BADCERT_BAD_KEY)
#define USAGE                                                                  \
	(MBEDTLS_X509_BADCERT_EXT_KEY_USAGE | MBEDTLS_X509_BADCERT_KEY_USAGE | \
	 MBEDTLS_X509_BADCERT_NS_CERT_TYPE)

/* id-kp-sipDomain (RFC 5924, 4.1). */
static const char sip_domain[] = MBEDTLS_OID_KP "\x14";

static struct slice san_value(const mbedtls_x509_sequence *san)
{
	return slice_make(san->buf.p, san->buf.len);
}

static bool has_san(const mbedtls_x509_crt *crt)
{
	return crt->subject_alt_names.buf.p != NULL;
}

/* A wildcard stands for the whole leftmost label, above at least two others
 * (RFC 6125, 6.4.3). */
static bool dns_matches(const struct tls_verify *v, struct slice pattern,
			struct slice name)
{
	struct slice rest = name, base;

	if (slice_eq_nocase(pattern, name))
		return true;
	if (v->no_wildcards || !slice_has_prefix(pattern, SLICE("*.")))
		return false;
	base = slice_make(pattern.ptr + 2, pattern.len - 2);
	if (slice_cut(&rest, '.').len == 0 || slice_find(base, '.') < 0)
		return false;
	return slice_eq_nocase(base, rest);
}

/* RFC 5922, 7.1: scheme sip, no user part; the host alone counts. */
static bool uri_matches(struct slice uri, struct slice name)
{
	if (uri.len < 4 ||
	    !slice_eq_nocase(slice_make(uri.ptr, 4), SLICE("sip:")))
		return false;
	return slice_eq_nocase(slice_make(uri.ptr + 4, uri.len - 4), name);
}

static bool ip_matches(struct slice value, const struct addr *addr)
{
	if (addr->sa.sa_family == AF_INET)
		return slice_eq(value, slice_make(&addr->in.sin_addr, 4));
	return slice_eq(value, slice_make(&addr->in6.sin6_addr, 16));
}

static bool san_matches(const struct tls_verify *v,
			const mbedtls_x509_sequence *san, struct slice name)
{
	struct addr addr;
	bool is_ip = addr_parse(&addr, name, 0) == 0;
	struct slice value = san_value(san);

	if (v->is_sip && san->buf.tag == TAG_URI)
		return uri_matches(value, name);
	if (is_ip)
		return san->buf.tag == TAG_IP && ip_matches(value, &addr);
	return san->buf.tag == TAG_DNS && dns_matches(v, value, name);
}

static struct slice common_name(const mbedtls_x509_crt *crt)
{
	const mbedtls_x509_name *part;

	for (part = &crt->subject; part; part = part->next)
		if (MBEDTLS_OID_CMP(MBEDTLS_OID_AT_CN, &part->oid) == 0)
			return slice_make(part->val.p, part->val.len);
	return slice_make(NULL, 0);
}

bool tls_verify_has_name(const struct tls_verify *verify,
			 const mbedtls_x509_crt *crt, struct slice name)
{
	const mbedtls_x509_sequence *san;
	struct addr addr;

	if (name.len && name.ptr[name.len - 1] == '.')
		name.len--;
	if (!name.len)
		return false;
	if (!has_san(crt))
		return addr_parse(&addr, name, 0) != 0 &&
		       dns_matches(verify, common_name(crt), name);
	for (san = &crt->subject_alt_names; san; san = san->next)
		if (san_matches(verify, san, name))
			return true;
	return false;
}

/* What a stranger's certificate holds goes into a log line. */
static void add_printable(struct buffer *out, struct slice text)
{
	for (size_t i = 0; i < text.len && i < 128; i++)
		buffer_add_char(out, isgraph((unsigned char)text.ptr[i])
					     ? text.ptr[i]
					     : '?');
}

static void add_san(struct buffer *out, const mbedtls_x509_sequence *san)
{
	struct addr addr = { .sa.sa_family = AF_UNSPEC };
	char text[ADDR_TEXT_SIZE];

	if (san->buf.tag == TAG_IP && san->buf.len == 4) {
		addr.sa.sa_family = AF_INET;
		memcpy(&addr.in.sin_addr, san->buf.p, 4);
	} else if (san->buf.tag == TAG_IP && san->buf.len == 16) {
		addr.sa.sa_family = AF_INET6;
		memcpy(&addr.in6.sin6_addr, san->buf.p, 16);
	}
	if (addr.sa.sa_family != AF_UNSPEC)
		buffer_add_str(out, addr_ip(&addr, text));
	else
		add_printable(out, san_value(san));
}

static void add_names(struct buffer *out, const mbedtls_x509_crt *crt)
{
	const mbedtls_x509_sequence *san = &crt->subject_alt_names;
	unsigned n = 0;

	if (!has_san(crt)) {
		add_printable(out, common_name(crt));
		return;
	}
	for (; san && n < NAMES_SHOWN; san = san->next, n++) {
		buffer_add_str(out, n ? ", " : "");
		add_san(out, san);
	}
	if (san)
		buffer_add_str(out, ", ...");
}

static void add_date(struct buffer *out, const mbedtls_x509_time *time)
{
	buffer_printf(out, "%04d-%02d-%02d %02d:%02d:%02d UTC", time->year,
		      time->mon, time->day, time->hour, time->min, time->sec);
}

static void add_dn(struct buffer *out, const mbedtls_x509_name *dn)
{
	char text[DN_SIZE];

	if (mbedtls_x509_dn_gets(text, sizeof(text), dn) < 0)
		snprintf(text, sizeof(text), "(long name)");
	buffer_add_str(out, text);
}

static bool is_self_signed(const mbedtls_x509_crt *crt)
{
	return slice_eq(slice_make(crt->issuer_raw.p, crt->issuer_raw.len),
			slice_make(crt->subject_raw.p, crt->subject_raw.len));
}

static void tell_unknown(struct tls_verify *v, const mbedtls_x509_crt *crt)
{
	if (v->depth == 0 && is_self_signed(crt)) {
		buffer_add_str(&v->why, "certificate is self-signed and not "
					"among the trusted ones: ");
		add_dn(&v->why, &crt->subject);
		return;
	}
	buffer_add_str(&v->why, "certificate signed by an unknown CA: ");
	add_dn(&v->why, &crt->issuer);
}

static void tell_expired(struct tls_verify *v, const mbedtls_x509_crt *crt)
{
	buffer_add_str(&v->why, "certificate expired: ");
	add_dn(&v->why, &crt->subject);
	buffer_add_str(&v->why, " was valid until ");
	add_date(&v->why, &crt->valid_to);
}

static void tell_future(struct tls_verify *v, const mbedtls_x509_crt *crt)
{
	buffer_add_str(&v->why, "certificate not yet valid: ");
	add_dn(&v->why, &crt->subject);
	buffer_add_str(&v->why, " is valid from ");
	add_date(&v->why, &crt->valid_from);
}

static void tell_weak(struct tls_verify *v, const mbedtls_x509_crt *crt)
{
	buffer_add_str(&v->why, "certificate with too weak a key or hash: ");
	add_dn(&v->why, &crt->subject);
}

static void tell_usage(struct tls_verify *v, const mbedtls_x509_crt *crt)
{
	buffer_printf(&v->why, "certificate not meant for TLS %s: ",
		      v->is_server ? "clients" : "servers");
	add_dn(&v->why, &crt->subject);
}

static void tell_name(struct tls_verify *v, const mbedtls_x509_crt *crt)
{
	buffer_printf(&v->why,
		      "certificate name mismatch: wanted %s, "
		      "certificate is for ",
		      v->name);
	add_names(&v->why, crt);
}

static void tell_other(struct tls_verify *v, const mbedtls_x509_crt *crt)
{
	buffer_add_str(&v->why, "certificate refused: ");
	add_dn(&v->why, &crt->subject);
}

/* The gravest first: of several findings one is told. */
static const struct {
	uint32_t flags;
	int err;
	void (*tell)(struct tls_verify *v, const mbedtls_x509_crt *crt);
} findings[] = {
	{ MBEDTLS_X509_BADCERT_NOT_TRUSTED, -EKEYREJECTED, tell_unknown },
	{ MBEDTLS_X509_BADCERT_EXPIRED, -EKEYEXPIRED, tell_expired },
	{ MBEDTLS_X509_BADCERT_FUTURE, -EKEYREJECTED, tell_future },
	{ WEAK, -EKEYREJECTED, tell_weak },
	{ USAGE, -EKEYREJECTED, tell_usage },
	{ MBEDTLS_X509_BADCERT_CN_MISMATCH, -ENOKEY, tell_name },
	{ UINT32_MAX, -EKEYREJECTED, tell_other },
};

enum { N_FINDINGS = sizeof(findings) / sizeof(findings[0]) };

static void note(struct tls_verify *v, const mbedtls_x509_crt *crt,
		 uint32_t flags)
{
	unsigned i = 0;

	if (!flags)
		return;
	while (!(findings[i].flags & flags))
		i++;
	if (v->worst && v->worst <= i + 1)
		return;
	v->worst = i + 1;
	buffer_clear(&v->why);
	findings[i].tell(v, crt);
}

static int64_t seconds_of(const mbedtls_x509_time *time)
{
	struct tm tm = { .tm_year = time->year - 1900,
			 .tm_mon = time->mon - 1,
			 .tm_mday = time->day,
			 .tm_hour = time->hour,
			 .tm_min = time->min,
			 .tm_sec = time->sec };

	return timegm(&tm);
}

/* By the loop's clock instead of the system's. */
static uint32_t time_flags(const struct tls_verify *v,
			   const mbedtls_x509_crt *crt)
{
	int64_t now = v->wall_ms / 1000;

	if (now < seconds_of(&crt->valid_from))
		return MBEDTLS_X509_BADCERT_FUTURE;
	if (now > seconds_of(&crt->valid_to))
		return MBEDTLS_X509_BADCERT_EXPIRED;
	return 0;
}

static bool has_usage(const mbedtls_x509_crt *crt, const char *oid, size_t len)
{
	return mbedtls_x509_crt_check_extended_key_usage(crt, oid, len) == 0;
}

/* Between SIP servers either side may open the connection, and many of their
 * certificates are for servers alone; hence any of the three for a client. */
static bool is_usage_good(const struct tls_verify *v,
			  const mbedtls_x509_crt *crt)
{
	if (has_usage(crt, MBEDTLS_OID_SERVER_AUTH,
		      MBEDTLS_OID_SIZE(MBEDTLS_OID_SERVER_AUTH)))
		return true;
	if ((v->is_server || v->is_sip) &&
	    has_usage(crt, sip_domain, sizeof(sip_domain) - 1))
		return true;
	return v->is_server &&
	       has_usage(crt, MBEDTLS_OID_CLIENT_AUTH,
			 MBEDTLS_OID_SIZE(MBEDTLS_OID_CLIENT_AUTH));
}

static uint32_t leaf_flags(const struct tls_verify *v, mbedtls_x509_crt *crt)
{
	uint32_t flags = 0;

	if (v->name && !tls_verify_has_name(v, crt, slice_of(v->name)))
		flags |= MBEDTLS_X509_BADCERT_CN_MISMATCH;
	if (!is_usage_good(v, crt))
		flags |= MBEDTLS_X509_BADCERT_EXT_KEY_USAGE;
	else /* judged: the library would ask for clientAuth alone */
		crt->ext_types &= ~MBEDTLS_X509_EXT_EXTENDED_KEY_USAGE;
	return flags;
}

int tls_verify_on_certificate(void *arg, mbedtls_x509_crt *crt, int depth,
			      uint32_t *flags)
{
	struct tls_verify *v = arg;
	uint32_t ours = MBEDTLS_X509_BADCERT_EXPIRED |
			MBEDTLS_X509_BADCERT_FUTURE |
			MBEDTLS_X509_BADCERT_CN_MISMATCH;

	v->depth = depth;
	*flags = (*flags & ~ours) | time_flags(v, crt);
	if (depth == 0)
		*flags |= leaf_flags(v, crt);
	note(v, crt, *flags);
	if (depth == 0)
		v->is_passed = v->worst == 0;
	return 0;
}

int tls_verify_error(const struct tls_verify *verify)
{
	return verify->worst ? findings[verify->worst - 1].err : 0;
}

void tls_verify_reset(struct tls_verify *verify)
{
	mem_free(verify->name);
	verify->name = NULL;
	buffer_reset(&verify->why);
}

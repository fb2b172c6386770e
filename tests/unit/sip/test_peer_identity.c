/* SPDX-License-Identifier: MIT */
/* Row "peer identity" of the signalling requirements: what the certificate at
 * the other end must be (chain, time, name by RFC 5922), each refusal in words
 * of its own and before one byte of SIP has left; a CA that is taken out of the
 * file; client certificates of the service and of one trunk, and that neither
 * is shown, nor its link used, for another. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/mem.h"
#include "core/pki.h"
#include "core/sim.h"
#include "core/tls_compat.h"
#include "core/tls_file.h"
#include "fixture_node.h"
#include "sip/identities.h"

#define REQUEST                                                                \
	"OPTIONS sip:b.example SIP/2.0\r\n"                                    \
	"Via: SIP/2.0/TLS a.example;branch=z9hG4bK1\r\n"                       \
	"From: <sip:a@a.example>;tag=1\r\nTo: <sip:b@b.example>\r\n"           \
	"Call-ID: 1\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"

enum { PORT_A = 5071, PORT_B = 5061, NAMES_MAX = 4, DAY_MS = 86400 * 1000 };

static const int64_t now_ms = 1767312000000; /* the fixture's */

static const struct locate_host hosts[] = {
	{ "b.example", "127.0.0.1", 0 },
	{ "sip.b.example", "127.0.0.1", 0 },
	{ "a.sip.b.example", "127.0.0.1", 0 },
};
static const struct locate_options locate = { .hosts = hosts, .n_hosts = 3 };

struct world {
	struct fixture_world base;
	struct fixture_node a, b;
	char paths[4][FIXTURE_PATH_SIZE];
	unsigned application_records; /* a to b */
};

static int setup(void **state)
{
	struct world *w = mem_new(sizeof(*w));

	fixture_world_open(&w->base);
	fixture_node_open(&w->a, &w->base, "a.example", PORT_A, &locate);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fixture_node_close(&w->a);
	fixture_node_close(&w->b);
	fixture_world_close(&w->base);
	mem_free(w);
	return 0;
}

/* DIR/NAME; four at a time. */
static const char *path(struct world *w, int i, const char *name)
{
	snprintf(w->paths[i], FIXTURE_PATH_SIZE, "%.40s/%.40s", w->base.dir,
		 name);
	return w->paths[i];
}

static void make_ca(struct world *w, const char *pem, const char *key,
		    const char *name)
{
	const struct pki_files files = { path(w, 0, pem), path(w, 1, key) };
	struct buffer why;

	buffer_init(&why, 256);
	assert_int_equal(pki_make_ca(&files, name, now_ms, &why), 0);
	buffer_reset(&why);
}

/* leaf.pem and leaf.key, from an hour before made_ms for so many days. */
struct leaf {
	const char *ca_pem, *ca_key;
	const char *names[NAMES_MAX];
	int64_t made_ms;
	unsigned days;
};

static void make_leaf(struct world *w, const struct leaf *leaf)
{
	struct pki_leaf made = {
		.ca = { path(w, 0, leaf->ca_pem), path(w, 1, leaf->ca_key) },
		.files = { path(w, 2, "leaf.pem"), path(w, 3, "leaf.key") },
		.names = leaf->names,
		.wall_ms = leaf->made_ms ? leaf->made_ms : now_ms,
		.days = leaf->days
	};
	struct buffer why;

	while (made.n_names < NAMES_MAX && leaf->names[made.n_names])
		made.n_names++;
	buffer_init(&why, 256);
	if (pki_make_leaf(&made, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

/* b listens with these files and asks whoever comes for a certificate. */
static void serve(struct world *w, const char *pem, const char *key)
{
	struct sip_transport_options options = { .locate = &locate };
	struct tls_options tls = { .loop = w->base.loop,
				   .work = w->base.work,
				   .certificate_file = path(w, 0, pem),
				   .key_file = path(w, 1, key),
				   .ca_file = w->base.ca,
				   .require_client_certificate = true };
	struct tls *opened;
	struct buffer why;

	fixture_node_close(&w->b);
	buffer_init(&why, 256);
	assert_int_equal(tls_open(&opened, &tls, &why), 0);
	buffer_reset(&why);
	fixture_node_open_with(&w->b, &w->base, opened, PORT_B, &options);
}

/* TLS records of application data (type 23) on their way to b. */
static enum sim_verdict count_records(void *arg,
				      const struct sim_packet *packet)
{
	const unsigned char *at = (const unsigned char *)packet->bytes.ptr;
	struct world *w = arg;
	size_t left = packet->bytes.len, record;

	if (!packet->is_tcp || addr_port(&packet->to) != PORT_B)
		return SIM_PASS;
	for (; left >= 5; at += record, left -= record) {
		record = 5 + ((size_t)at[3] << 8 | at[4]);
		w->application_records += at[0] == 23;
		record = record < left ? record : left;
	}
	return SIM_PASS;
}

static void join(struct world *w, const char *host, unsigned identity)
{
	w->a.connected = NULL;
	w->a.why[0] = '\0';
	fixture_connect_as(&w->a, host, identity);
	loop_advance_ms(w->base.loop, 100);
}

static void test_certificates(void **state)
{
	static const struct {
		struct leaf leaf;
		const char *host;
		int err;
		const char *why;
	} rows[] = {
		{ { "ca.pem", "ca.key", { "b.example" } }, "b.example", 0, "" },
		{ { "ca.pem", "ca.key", { "sip:b.example" } },
		  "b.example",
		  0,
		  "" },
		{ { "ca.pem", "ca.key", { "x.example", "sip:b.example" } },
		  "b.example",
		  0,
		  "" },
		{ { "ca.pem", "ca.key", { "127.0.0.1" } }, "127.0.0.1", 0, "" },
		{ { "ca.pem", "ca.key", { "b.example" } },
		  "127.0.0.1",
		  -ENOKEY,
		  "certificate name mismatch: wanted 127.0.0.1, certificate "
		  "is for b.example" },
		{ { "ca.pem", "ca.key", { "127.0.0.1" } },
		  "b.example",
		  -ENOKEY,
		  "certificate name mismatch: wanted b.example, certificate "
		  "is for 127.0.0.1" },
		/* The SRV target's or a subdomain's name is not the domain's,
		 * nor the other way round. */
		{ { "ca.pem", "ca.key", { "sip.b.example" } },
		  "b.example",
		  -ENOKEY,
		  "certificate name mismatch: wanted b.example" },
		{ { "ca.pem", "ca.key", { "b.example", "sip:b.example" } },
		  "sip.b.example",
		  -ENOKEY,
		  "certificate name mismatch: wanted sip.b.example" },
		{ { "ca.pem", "ca.key", { "*.b.example" } },
		  "sip.b.example",
		  0,
		  "" },
		{ { "ca.pem", "ca.key", { "*.b.example" } },
		  "a.sip.b.example",
		  -ENOKEY,
		  "certificate name mismatch: wanted a.sip.b.example" },
		{ { "ca.pem",
		    "ca.key",
		    { "b.example" },
		    now_ms - INT64_C(3) * DAY_MS,
		    2 },
		  "b.example",
		  -EKEYEXPIRED,
		  "certificate expired: CN=b.example was valid until "
		  "2025-12-31" },
		{ { "ca.pem",
		    "ca.key",
		    { "b.example" },
		    now_ms + INT64_C(3) * DAY_MS,
		    2 },
		  "b.example",
		  -EKEYREJECTED,
		  "certificate not yet valid: CN=b.example is valid from "
		  "2026-01-0" },
		{ { "other.pem", "other.key", { "b.example" } },
		  "b.example",
		  -EKEYREJECTED,
		  "certificate signed by an unknown CA: CN=Other CA" },
	};
	struct world *w = *state;

	make_ca(w, "other.pem", "other.key", "Other CA");
	sim_set_filter(w->base.loop, count_records, w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_leaf(w, &rows[i].leaf);
		serve(w, "leaf.pem", "leaf.key");
		w->application_records = 0;
		join(w, rows[i].host, 0);
		assert_int_equal(w->a.err, rows[i].err);
		assert_int_equal(!w->a.connected, rows[i].err != 0);
		if (strncmp(w->a.why, rows[i].why, strlen(rows[i].why)) != 0)
			fail_msg("%s", w->a.why);
		assert_int_equal(w->application_records, 0);
	}
}

/* self.pem and self.key: CN=b.example signed by itself, as openssl req -x509
 * makes it. */
static void make_self_signed(struct world *w)
{
	unsigned char pem[4096], serial[] = { 1 };
	mbedtls_x509write_cert crt;
	mbedtls_pk_context key;
	struct buffer why;

	buffer_init(&why, 256);
	mbedtls_x509write_crt_init(&crt);
	mbedtls_pk_init(&key);
	mbedtls_pk_setup(&key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
	mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(key),
			    tls_compat_random, NULL);
	mbedtls_x509write_crt_set_md_alg(&crt, MBEDTLS_MD_SHA256);
	mbedtls_x509write_crt_set_subject_key(&crt, &key);
	mbedtls_x509write_crt_set_issuer_key(&crt, &key);
	mbedtls_x509write_crt_set_subject_name(&crt, "CN=b.example");
	mbedtls_x509write_crt_set_issuer_name(&crt, "CN=b.example");
	mbedtls_x509write_crt_set_validity(&crt, "20250101000000",
					   "20300101000000");
	tls_compat_set_serial(&crt, serial, sizeof(serial));
	assert_int_equal(mbedtls_x509write_crt_pem(&crt, pem, sizeof(pem),
						   tls_compat_random, NULL),
			 0);
	tls_file_write(path(w, 0, "self.pem"), (char *)pem, 0600, &why);
	assert_int_equal(mbedtls_pk_write_key_pem(&key, pem, sizeof(pem)), 0);
	tls_file_write(path(w, 0, "self.key"), (char *)pem, 0600, &why);
	mbedtls_x509write_crt_free(&crt);
	mbedtls_pk_free(&key);
	buffer_reset(&why);
}

static void test_self_signed(void **state)
{
	struct world *w = *state;

	make_self_signed(w);
	serve(w, "self.pem", "self.key");
	sim_set_filter(w->base.loop, count_records, w);
	join(w, "b.example", 0);
	assert_null(w->a.connected);
	assert_int_equal(w->a.err, -EKEYREJECTED);
	assert_string_equal(w->a.why,
			    "certificate is self-signed and not among the "
			    "trusted ones: CN=b.example");
	assert_int_equal(w->application_records, 0);
}

/* Our counter would see SIP if there was any. */
static void test_counter_counts(void **state)
{
	struct world *w = *state;

	make_leaf(w, &(struct leaf){ "ca.pem", "ca.key", { "b.example" } });
	serve(w, "leaf.pem", "leaf.key");
	sim_set_filter(w->base.loop, count_records, w);
	join(w, "b.example", 0);
	sip_link_send(w->a.connected, SLICE(REQUEST));
	loop_advance_ms(w->base.loop, 100);
	assert_int_equal(w->application_records, 1);
	assert_int_equal(w->b.n, 1);
}

/* sip.allow_wildcard off: RFC 5922, 7.2 to the letter, in both directions. */
static void test_no_wildcards(void **state)
{
	struct world *w = *state;
	struct sip_transport_options options = { .locate = &locate };
	struct tls_options tls = { .loop = w->base.loop,
				   .work = w->base.work,
				   .ca_file = w->base.ca,
				   .no_sip_wildcards = true };
	struct tls *opened;
	struct buffer why;

	make_leaf(w, &(struct leaf){ "ca.pem",
				     "ca.key",
				     { "*.b.example", "sip:b.example" } });
	serve(w, "leaf.pem", "leaf.key");
	fixture_node_close(&w->a);
	tls.certificate_file = path(w, 0, "leaf.pem");
	tls.key_file = path(w, 1, "leaf.key");
	buffer_init(&why, 256);
	assert_int_equal(tls_open(&opened, &tls, &why), 0);
	buffer_reset(&why);
	fixture_node_open_with(&w->a, &w->base, opened, PORT_A, &options);
	join(w, "sip.b.example", 0);
	assert_int_equal(w->a.err, -ENOKEY);
	join(w, "b.example", 0);
	assert_non_null(w->a.connected);
}

static void replace_ca(struct world *w, const char *by)
{
	char text[16384];
	FILE *file = fopen(path(w, 0, by), "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, sizeof(text), file);
	fclose(file);
	file = fopen(w->base.ca, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
}

/* The CA is taken out of sip.ca_file, then SIGHUP: what is up goes on, the next
 * connection is refused. */
static void test_ca_is_removed(void **state)
{
	struct world *w = *state;
	struct sip_link *first;
	struct buffer why;

	make_leaf(w, &(struct leaf){ "ca.pem", "ca.key", { "b.example" } });
	serve(w, "leaf.pem", "leaf.key");
	join(w, "b.example", 0);
	first = w->a.connected;
	make_ca(w, "other.pem", "other.key", "Other CA");
	replace_ca(w, "other.pem");
	buffer_init(&why, 256);
	assert_int_equal(tls_reload(w->a.tls, &why), 0);
	buffer_reset(&why);
	assert_int_equal(sip_link_send(first, SLICE(REQUEST)), 0);
	join(w, "b.example", 0);
	assert_int_equal(w->b.n, 1);
	assert_null(w->a.connected);
	assert_int_equal(w->a.err, -EKEYREJECTED);
	assert_non_null(strstr(w->a.why, "unknown CA: CN=Test CA"));
	assert_int_equal(w->a.ended, 0);
}

/* ---- client certificates ---- */

static struct slice slurp(char out[8192], const char *file)
{
	FILE *in = fopen(file, "r");
	size_t n;

	assert_non_null(in);
	n = fread(out, 1, 8191, in);
	fclose(in);
	return slice_make(out, n);
}

/* The number of a certificate for this name. */
static unsigned identity(struct world *w, const char *name)
{
	char pem[8192], key[8192];
	unsigned number = 0, again = 0;
	struct slice texts[2];
	struct buffer why;

	make_leaf(w, &(struct leaf){ "ca.pem", "ca.key", { name } });
	texts[0] = slurp(pem, path(w, 0, "leaf.pem"));
	texts[1] = slurp(key, path(w, 0, "leaf.key"));
	buffer_init(&why, 256);
	assert_int_equal(sip_transport_identity(w->a.transport, &number,
						texts[0], texts[1], &why),
			 0);
	assert_int_equal(sip_transport_identity(w->a.transport, &again,
						texts[0], texts[1], &why),
			 0);
	assert_int_equal(number, again);
	buffer_reset(&why);
	return number;
}

/* Whom b takes the sender of the last message for. */
static void assert_seen_as(struct world *w, const char *name)
{
	sip_link_send(w->a.connected, SLICE(REQUEST));
	loop_advance_ms(w->base.loop, 100);
	assert_non_null(w->b.link);
	assert_true(sip_link_has_peer_name(w->b.link, slice_of(name)));
}

static void test_certificate_of_a_trunk(void **state)
{
	struct world *w = *state;
	unsigned one = identity(w, "one.example");
	unsigned two = identity(w, "two.example");
	struct sip_link *links[3];

	assert_int_not_equal(one, two);
	make_leaf(w, &(struct leaf){ "ca.pem", "ca.key", { "b.example" } });
	serve(w, "leaf.pem", "leaf.key");
	join(w, "b.example", 0);
	links[0] = w->a.connected;
	assert_seen_as(w, "a.example");
	join(w, "b.example", one);
	links[1] = w->a.connected;
	assert_seen_as(w, "one.example");
	join(w, "b.example", two);
	links[2] = w->a.connected;
	assert_seen_as(w, "two.example");
	assert_ptr_not_equal(links[0], links[1]);
	assert_ptr_not_equal(links[0], links[2]);
	assert_ptr_not_equal(links[1], links[2]);
	join(w, "b.example", one);
	assert_ptr_equal(w->a.connected, links[1]);
	join(w, "b.example", 0);
	assert_ptr_equal(w->a.connected, links[0]);
	/* A session of the one is not resumed for the other. */
	sip_link_retire(links[1]);
	sip_link_retire(links[2]);
	join(w, "b.example", two);
	assert_seen_as(w, "two.example");
	join(w, "b.example", 77);
	assert_null(w->a.connected);
	assert_int_equal(w->a.err, -ESTALE);
}

/* What nobody has asked for of late makes room; whoever still has its number is
 * told, and not taken for another. */
static void test_certificates_are_bounded(void **state)
{
	struct world *w = *state;
	unsigned first = identity(w, "one.example"), number = first;
	char pem[8192], key[8192], longer[8300];
	struct slice chain = slurp(pem, path(w, 0, "leaf.pem"));
	struct slice secret = slurp(key, path(w, 0, "leaf.key"));
	struct buffer why;

	buffer_init(&why, 256);
	for (unsigned i = 0; i < IDENTITIES_MAX; i++) {
		snprintf(longer, sizeof(longer), "%.*s# %u\n", (int)chain.len,
			 chain.ptr, i);
		assert_int_equal(sip_transport_identity(w->a.transport, &number,
							slice_of(longer),
							secret, &why),
				 0);
		assert_int_equal(number, first + 1 + i);
	}
	buffer_reset(&why);
	make_leaf(w, &(struct leaf){ "ca.pem", "ca.key", { "b.example" } });
	serve(w, "leaf.pem", "leaf.key");
	join(w, "b.example", number);
	assert_seen_as(w, "one.example");
	join(w, "b.example", first);
	assert_null(w->a.connected);
	assert_int_equal(w->a.err, -ESTALE);
}

static void test_bad_certificate_of_a_trunk(void **state)
{
	struct world *w = *state;
	char pem[8192], key[8192];
	struct slice texts[2];
	struct buffer why;
	unsigned number;

	identity(w, "one.example");
	texts[1] = slurp(key, path(w, 0, "leaf.key"));
	identity(w, "two.example");
	texts[0] = slurp(pem, path(w, 0, "leaf.pem"));
	buffer_init(&why, 512);
	assert_int_equal(sip_transport_identity(w->a.transport, &number,
						texts[0], texts[1], &why),
			 -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "is not that of"));
	buffer_clear(&why);
	assert_int_equal(sip_transport_identity(w->a.transport, &number,
						texts[0], SLICE("x"), &why),
			 -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "client key"));
	buffer_clear(&why);
	assert_int_equal(sip_transport_identity(w->a.transport, &number,
						SLICE(""), texts[1], &why),
			 -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "client certificate"));
	buffer_reset(&why);
}

/* sip.client_certificate: what the service shows where nothing else is set. */
static void test_certificate_of_the_service(void **state)
{
	struct world *w = *state;
	struct sip_transport_options options = { .locate = &locate };
	struct tls_options tls = { .loop = w->base.loop,
				   .work = w->base.work,
				   .ca_file = w->base.ca };
	struct tls *opened;
	struct buffer why;

	fixture_node_close(&w->a);
	make_leaf(w, &(struct leaf){ "ca.pem", "ca.key", { "b.example" } });
	serve(w, "leaf.pem", "leaf.key");
	tls.certificate_file = path(w, 0, "leaf.pem");
	tls.key_file = path(w, 1, "leaf.key");
	fixture_tls(&w->base, &opened, "client", "client.example");
	tls_close(&opened);
	tls.client_certificate_file = path(w, 2, "client.pem");
	buffer_init(&why, 512);
	assert_int_equal(tls_open(&opened, &tls, &why), -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "no key file is named"));
	tls.client_key_file = path(w, 3, "client.key");
	assert_int_equal(tls_open(&opened, &tls, &why), 0);
	buffer_reset(&why);
	fixture_node_open_with(&w->a, &w->base, opened, PORT_A, &options);
	join(w, "b.example", 0);
	assert_seen_as(w, "client.example");
}

/* Who is asked for a certificate and shows none, or one of an unknown CA, gets
 * no link. */
static void test_certificate_is_required(void **state)
{
	struct world *w = *state;
	struct sip_transport_stats stats;
	struct sip_transport_options options = { .locate = &locate };
	struct tls_options tls = { .loop = w->base.loop,
				   .work = w->base.work,
				   .ca_file = w->base.ca };
	struct tls *opened;
	struct buffer why;

	make_leaf(w, &(struct leaf){ "ca.pem", "ca.key", { "b.example" } });
	serve(w, "leaf.pem", "leaf.key");
	make_ca(w, "other.pem", "other.key", "Other CA");
	make_leaf(w,
		  &(struct leaf){ "other.pem", "other.key", { "a.example" } });
	fixture_node_close(&w->a);
	tls.certificate_file = path(w, 0, "leaf.pem");
	tls.key_file = path(w, 1, "leaf.key");
	buffer_init(&why, 256);
	assert_int_equal(tls_open(&opened, &tls, &why), 0);
	buffer_reset(&why);
	fixture_node_open_with(&w->a, &w->base, opened, PORT_A, &options);
	join(w, "b.example", 0);
	assert_null(w->a.connected);
	assert_int_equal(w->a.err, -EPROTO);
	assert_non_null(strstr(w->a.why, "unknown_ca: it does not trust the CA "
					 "of our certificate"));
	sip_transport_stats(w->b.transport, &stats);
	assert_int_equal(stats.links, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_certificates),
		T(test_self_signed),
		T(test_counter_counts),
		T(test_no_wildcards),
		T(test_ca_is_removed),
		T(test_certificate_of_a_trunk),
		T(test_certificates_are_bounded),
		T(test_bad_certificate_of_a_trunk),
		T(test_certificate_of_the_service),
		T(test_certificate_is_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

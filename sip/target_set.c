/* SPDX-License-Identifier: MIT */
#include "sip/target_set.h"
#include "core/mem.h"
#include "sip/header.h"

/* q of a Contact (20.10): "0.5" and the like; 1 without one. */
static unsigned q_of(struct slice params)
{
	unsigned q = 0, digit = 1000;
	struct slice value;

	if (!sip_param(params, "q", &value) || !value.len)
		return 1000;
	if (value.ptr[0] == '1')
		return 1000;
	for (size_t i = 2; i < value.len && i < 5; i++) {
		digit /= 10;
		if (value.ptr[i] >= '0' && value.ptr[i] <= '9')
			q += digit * (unsigned)(value.ptr[i] - '0');
	}
	return q;
}

static bool is_known(const struct target_set *set, struct slice uri)
{
	for (size_t i = 0; i < set->n; i++)
		if (slice_eq_nocase(slice_of(set->targets[i].uri), uri))
			return true;
	return false;
}

/* Its headers and method would make another request of it. */
static bool stays_at(const struct sip_target *trunk, const struct sip_uri *uri)
{
	struct slice method;

	return uri->scheme != SIP_SCHEME_TEL && !uri->headers.len &&
	       !sip_uri_param(uri, "method", &method) &&
	       slice_eq_nocase(uri->host, slice_of(trunk->host)) &&
	       (uri->port == 0 || uri->port == trunk->port);
}

static bool is_bare(struct slice uri)
{
	for (size_t i = 0; i < uri.len; i++)
		if ((unsigned char)uri.ptr[i] <= ' ' || uri.ptr[i] == 0x7f)
			return false;
	return uri.len > 0;
}

/* Behind all of the same q that are not tried yet. */
static void insert(struct target_set *set, struct slice uri, unsigned q)
{
	size_t at = set->n;

	while (at > set->tried && set->targets[at - 1].q < q) {
		set->targets[at] = set->targets[at - 1];
		at--;
	}
	set->targets[at].uri = slice_dup(uri);
	set->targets[at].q = q;
	set->n++;
}

void target_set_init(struct target_set *set, const char *first)
{
	*set = (struct target_set){ .n = 1, .tried = 1 };
	set->targets[0].uri = mem_dup_str(first);
}

void target_set_reset(struct target_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		mem_free(set->targets[i].uri);
	set->n = set->tried = 0;
}

void target_set_add(struct target_set *set, const struct sip_message *response,
		    const struct sip_target *trunk)
{
	const struct sip_header *header;
	struct sip_address contact;

	for (unsigned i = 0;
	     set->n < TARGET_SET_MAX &&
	     (header = sip_message_header(response, SIP_H_CONTACT, i));
	     i++)
		if (sip_address_parse(&contact, header->value) == 0 &&
		    stays_at(trunk, &contact.uri) &&
		    is_bare(contact.uri_text) &&
		    !is_known(set, contact.uri_text))
			insert(set, contact.uri_text, q_of(contact.params));
}

const char *target_set_next(struct target_set *set)
{
	return set->tried < set->n ? set->targets[set->tried++].uri : NULL;
}

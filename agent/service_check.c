/* SPDX-License-Identifier: MIT */
#include "agent/service_check.h"
#include <errno.h>
#include <stdio.h>
#include "core/config.h"
#include "core/tls.h"
#include "sip/lex.h"
#include "sip/ua.h"

enum { NAME_SIZE = 32 };

int service_check_certificate(const struct config *config, const char *section,
			      struct buffer *why)
{
	static const char *const names[] = { "certificate", "key" };
	char name[NAME_SIZE];

	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s.%s", section, names[i]);
		if (config_text(config, name)[0])
			continue;
		buffer_printf(why,
			      "%s is not set: %s.certificate names the PEM "
			      "file of the certificate chain and %s.key that "
			      "of its key; `parley init` makes both",
			      name, section, section);
		return -EINVAL;
	}
	return 0;
}

/* It goes into headers as it is: nothing but a name or an address may. */
static int check_host(const struct config *config, const char *name,
		      const char *meaning, struct buffer *why)
{
	struct slice host = slice_of(config_text(config, name));

	if (lex_is_host(host))
		return 0;
	buffer_printf(why, "%s: \"", name);
	for (size_t i = 0; i < host.len && i < 80; i++)
		buffer_add_char(why, host.ptr[i] > ' ' && host.ptr[i] < 0x7f
					     ? host.ptr[i]
					     : '?');
	buffer_printf(why, "\" is no host name and no IP address; wanted is %s",
		      meaning);
	return -EINVAL;
}

static int check_client(const struct config *config, struct buffer *why)
{
	bool has_chain = config_text(config, "sip.client_certificate")[0];
	bool has_key = config_text(config, "sip.client_key")[0];

	if (has_chain == has_key)
		return 0;
	buffer_printf(why,
		      "sip.%s is set and sip.%s is not: a client certificate "
		      "needs both",
		      has_chain ? "client_certificate" : "client_key",
		      has_chain ? "client_key" : "client_certificate");
	return -EINVAL;
}

int service_check_sip(const struct config *config, struct buffer *why)
{
	int err = service_check_certificate(config, "sip", why);

	if (!err)
		err = check_host(config, "sip.domain",
				 "the domain of this service's SIP addresses, "
				 "like voice.example.com",
				 why);
	if (!err && config_text(config, "sip.public_address")[0])
		err = check_host(config, "sip.public_address",
				 "what peers reach this service at, without "
				 "a port",
				 why);
	return err ? err : check_client(config, why);
}

void service_set_sip(struct tls_options *tls, struct ua_options *ua,
		     const struct config *config)
{
	const char *chain = config_text(config, "sip.client_certificate");
	struct listen_options *listen = &ua->transport.listen;

	tls->client_certificate_file = chain[0] ? chain : NULL;
	tls->client_key_file =
		chain[0] ? config_text(config, "sip.client_key") : NULL;
	tls->no_sip_wildcards = !config_bool(config, "sip.allow_wildcard");
	ua->transport.no_private_trunks =
		!config_bool(config, "sip.allow_private_trunks");
	listen->max_links =
		(unsigned)config_number(config, "sip.max_connections");
	listen->max_per_address = (unsigned)config_number(
		config, "sip.max_connections_per_address");
	ua->calls.per_s = (uint32_t)config_number(config, "sip.invites_per_s");
	ua->calls.burst = (uint32_t)config_number(config, "sip.invites_burst");
}

/* SPDX-License-Identifier: MIT */
/* agent/call/headers.h - a trunk's header mapping (specification 2.1): what the
 * pathway knows goes into headers of an outgoing INVITE, headers of an incoming
 * one become variables; User-to-User by RFC 7433. What fits no header or no
 * variable is left out with a line in the log: no call fails for it. */
#pragma once
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct call_row;
struct loop;
struct session_header;
struct sip_message;

struct headers_source {
	struct loop *loop; /* borrowed during the call */
	const struct call_row *row; /* the service variables */
	const json_t *variables; /* the pathway's; NULL: none */
	const char *timezone; /* of {{now}}; NULL: UTC */
};

struct headers_list {
	struct session_header *items; /* all in the arena */
	size_t n;
};

/* mapping: the trunk's headers as they are stored, JSON; NULL: none. */
void headers_write(struct headers_list *out, struct arena *arena,
		   const char *mapping, const struct headers_source *source);
/* Variables by name, for the caller to release; call_id is for the log. */
json_t *headers_read(const char *mapping, const struct sip_message *invite,
		     const char *call_id);

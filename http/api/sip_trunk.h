/* SPDX-License-Identifier: MIT */
/* http/api/sip_trunk.h - a checked direction object into a stored SIP
 * configuration, and that into what /v1/sip shows. */
#pragma once
#include <jansson.h>
#include "agent/service.h"
#include "http/api/sip_check.h"

/* Writes what was given over row; is_update keeps what was not. Texts are
 * copied into the arena, the password is sealed. A masked password keeps the
 * row's. */
void sip_trunk_apply(struct trunk_row *row, struct arena *arena,
		     const struct service *service,
		     const struct sip_direction *given, bool is_update);
/* The caller owns the reference; a NULL row is null. */
json_t *sip_trunk_json(const struct trunk_row *row);
const char *sip_direction_name(enum trunk_direction type);

/* SPDX-License-Identifier: MIT */
/* http/api/sip_mapping.h - the header mappings of a SIP configuration,
 * checked: what is stored can never change another header or add a line. */
#pragma once
#include "http/api/sip_check.h"

struct sip_place {
	char at[80]; /* "directions[0]" */
	struct sip_fault *fault;
};

/* Writes the fault at place.member; -EINVAL. */
int sip_fault_at(const struct sip_place *place, const char *member,
		 const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A string without control characters. */
bool sip_is_clean(const json_t *value);
/* value: {direction, headers[]} as it stands at place.headers. */
int sip_check_mapping(const struct sip_place *place, const json_t *value,
		      enum trunk_direction type);

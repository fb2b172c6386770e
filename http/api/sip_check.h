/* SPDX-License-Identifier: MIT */
/* http/api/sip_check.h - the direction objects of /v1/sip, checked before
 * anything is stored. */
#pragma once
#include <jansson.h>
#include "core/slice.h"
#include "store/trunks.h"

#define SIP_PASSWORD_MASK "********"

/* What is wrong, and where: "directions[0].sip_endpoint". */
struct sip_fault {
	char field[120];
	char message[200];
};

/* Members that were not given are NULL; all borrow from the checked value. */
struct sip_direction {
	enum trunk_direction type;
	const char *endpoint;
	struct slice host; /* of endpoint */
	uint16_t port; /* of endpoint; 0: none */
	const json_t *options; /* an object or null */
	const json_t *headers; /* an object or null */
};

/* at: the path of value, "directions[0]". An outbound direction that is not an
 * update needs its endpoint. 0 or -EINVAL. */
int sip_check_direction(struct sip_direction *out, const json_t *value,
			const char *at, bool is_update,
			struct sip_fault *fault);
/* "inbound" or "outbound". 0 or -EINVAL. */
int sip_check_type(enum trunk_direction *out, const json_t *value);

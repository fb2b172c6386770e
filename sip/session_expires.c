/* SPDX-License-Identifier: MIT */
#include "sip/session_expires.h"
#include <errno.h>
#include "sip/header.h"

/* delta-seconds before any parameter, which are left in *rest. */
static int seconds_parse(uint32_t *out, struct slice *rest)
{
	struct slice digits = *rest;
	ptrdiff_t end = slice_find(*rest, ';');
	uint64_t number = 0;
	int err;

	if (end >= 0)
		digits.len = (size_t)end;
	rest->ptr += digits.len;
	rest->len -= digits.len;
	err = slice_to_u64(&number, slice_trim(digits), UINT32_MAX);
	if (err && err != -ERANGE)
		return err;
	*out = err ? UINT32_MAX : (uint32_t)number;
	return 0;
}

static enum session_refresher refresher_parse(struct slice params)
{
	struct slice value;

	if (!sip_param(params, "refresher", &value))
		return REFRESHER_NONE;
	if (slice_eq_nocase(value, SLICE("uac")))
		return REFRESHER_UAC;
	return slice_eq_nocase(value, SLICE("uas")) ? REFRESHER_UAS
						    : REFRESHER_NONE;
}

static int interval_parse(struct session_expires *out,
			  const struct sip_message *message)
{
	const struct sip_header *header =
		sip_message_header(message, SIP_H_SESSION_EXPIRES, 0);
	struct slice rest;

	if (!header)
		return 0;
	rest = header->value;
	if (seconds_parse(&out->interval_s, &rest))
		return -EINVAL;
	out->has_interval = true;
	out->refresher = refresher_parse(rest);
	return 0;
}

static int min_parse(struct session_expires *out,
		     const struct sip_message *message)
{
	const struct sip_header *header =
		sip_message_header(message, SIP_H_MIN_SE, 0);
	struct slice rest;

	if (!header)
		return 0;
	rest = header->value;
	return seconds_parse(&out->min_s, &rest);
}

int session_expires_parse(struct session_expires *out,
			  const struct sip_message *message)
{
	int err, min_err;

	*out = (struct session_expires){
		.min_s = SESSION_EXPIRES_MIN_S,
		.is_supported = sip_message_has_token(message, SIP_H_SUPPORTED,
						      SLICE("timer")),
	};
	err = interval_parse(out, message);
	min_err = min_parse(out, message);
	return err ? err : min_err;
}

/* SPDX-License-Identifier: MIT */
#include "sip/reason.h"
#include "sip/header.h"
#include "sip/lex.h"

/* One "protocol;cause=17;text="..."". False: it adds nothing. */
static bool write_one(struct buffer *out, struct slice element,
		      struct slice phrase)
{
	struct slice protocol = lex_trim(slice_cut(&element, ';'));
	struct slice params, text, cause;

	if (!element.ptr)
		return false;
	params = slice_make(element.ptr - 1, element.len + 1);
	if (sip_param(params, "text", &text) && lex_trim(text).len) {
		if (slice_eq_nocase(text, phrase))
			return false;
		buffer_add_str(out, " (");
		sip_unquote(out, text);
		buffer_add_char(out, ')');
		return true;
	}
	if (!slice_eq_nocase(protocol, SLICE("Q.850")) ||
	    !sip_param(params, "cause", &cause) || !cause.len)
		return false;
	buffer_printf(out, " (Q.850 cause %.*s)", (int)cause.len, cause.ptr);
	return true;
}

void reason_write(struct buffer *out, const struct sip_message *response)
{
	struct slice phrase = response->start.reason;
	const struct sip_header *header;
	struct slice rest, element;
	bool is_done = false;

	buffer_add(out, phrase);
	for (unsigned i = 0;
	     !is_done &&
	     (header = sip_message_header(response, SIP_H_REASON, i));
	     i++) {
		rest = header->value;
		while (!is_done && lex_next_element(&rest, &element))
			is_done = write_one(out, element, phrase);
	}
}

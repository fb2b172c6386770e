/* SPDX-License-Identifier: MIT */
#include "agent/call/uui.h"

#include <errno.h>
#include <string.h>
#include "core/buffer.h"
#include "core/hex.h"
#include "core/json.h"
#include "sip/header.h"
#include "sip/lex.h"

/* What a header without purpose or content means (RFC 7433, 4.1; RFC 7434). */
static const char preset[] = "isdn-uui";

static bool is_ascii(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text > 0x7E)
			return false;
	}
	return true;
}

static bool wants_ascii(const json_t *entry)
{
	const char *encoding = json_str(entry, "encoding");

	return encoding && !strcmp(encoding, "ascii");
}

static void add_param(struct buffer *out, const json_t *entry, const char *name)
{
	const char *value = json_str(entry, name);

	if (value && lex_is_token(slice_of(value)))
		buffer_printf(out, ";%s=%s", name, value);
}

int uui_write(struct buffer *out, const json_t *entry, const char *text)
{
	bool is_plain = wants_ascii(entry);

	if (!text[0] || (is_plain && !is_ascii(text)))
		return -EINVAL;
	if (is_plain)
		sip_quote(out, slice_of(text));
	for (; !is_plain && *text; text++)
		buffer_printf(out, "%02x", (unsigned char)*text);
	buffer_add_str(out, is_plain ? ";encoding=ascii" : ";encoding=hex");
	add_param(out, entry, "purpose");
	add_param(out, entry, "content");
	return 0;
}

/* ---- in ---- */

struct uui {
	struct slice data; /* without quotes */
	struct slice params;
};

static int parse(struct uui *out, struct slice element)
{
	size_t at;

	if (lex_find(element, ";", &at))
		return -EINVAL;
	out->data = lex_trim(slice_make(element.ptr, at));
	out->params = slice_make(element.ptr + at, element.len - at);
	if (out->data.len > 1 && out->data.ptr[0] == '"')
		out->data = slice_make(out->data.ptr + 1, out->data.len - 2);
	return out->data.len ? 0 : -EINVAL;
}

static bool has_param(const struct uui *uui, const json_t *entry,
		      const char *name)
{
	const char *wanted = json_str(entry, name);
	struct slice value;

	if (!wanted || !wanted[0])
		return true;
	if (!sip_param(uui->params, name, &value))
		value = slice_of(preset);
	return slice_eq_nocase(value, slice_of(wanted));
}

static int decode_hex(struct buffer *out, struct slice data)
{
	if (data.len % 2)
		return -EINVAL;
	for (size_t i = 0; i < data.len; i += 2) {
		int high = hex_value(data.ptr[i]);
		int low = hex_value(data.ptr[i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		buffer_add_char(out, (char)(high << 4 | low));
	}
	return 0;
}

/* The header's own word on its encoding goes first. */
static int decode(struct buffer *out, const struct uui *uui,
		  const json_t *entry)
{
	struct slice encoding;

	if (!sip_param(uui->params, "encoding", &encoding))
		encoding = wants_ascii(entry) ? SLICE("ascii") : SLICE("hex");
	if (slice_eq_nocase(encoding, SLICE("hex")))
		return decode_hex(out, uui->data);
	if (!slice_eq_nocase(encoding, SLICE("ascii")))
		return -EINVAL;
	sip_unquote(out, uui->data);
	return 0;
}

/* One header may carry several, with commas between them. */
static int find_in(struct buffer *out, const json_t *entry, struct slice value)
{
	struct slice element;
	struct uui uui;

	while (lex_next_element(&value, &element)) {
		if (!parse(&uui, element) &&
		    has_param(&uui, entry, "purpose") &&
		    has_param(&uui, entry, "content"))
			return decode(out, &uui, entry);
	}
	return -ENOENT;
}

int uui_find(struct buffer *out, const json_t *entry,
	     const struct sip_message *invite)
{
	const struct sip_header *header;
	int err = -ENOENT;

	for (unsigned i = 0;
	     err == -ENOENT &&
	     (header = sip_message_header(invite, SIP_H_USER_TO_USER, i));
	     i++)
		err = find_in(out, entry, header->value);
	return err;
}

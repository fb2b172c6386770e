/* SPDX-License-Identifier: MIT */
#include "agent/pathway/preview.h"
#include <string.h>
#include "core/mem.h"

json_t *preview_text(const char *text, size_t max)
{
	static const char more[] = "\xE2\x80\xA6";
	size_t len = max;
	char *cut;
	json_t *out;

	if (strlen(text) <= max)
		return json_string(text);
	while (len && ((unsigned char)text[len] & 0xC0) == 0x80)
		len--;
	cut = mem_new(len + sizeof(more));
	memcpy(cut, text, len);
	memcpy(cut + len, more, sizeof(more));
	out = json_string(cut);
	mem_free(cut);
	return out;
}

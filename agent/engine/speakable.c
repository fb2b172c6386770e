/* SPDX-License-Identifier: MIT */
#include "agent/engine/speakable.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "core/mem.h"

enum { CLAUSE_MIN = 20, PIECE_MAX = 300 };

/* Code points outside ASCII, in rising order; ranges share their text. */
static const struct {
	uint32_t first, last;
	const char *text;
} plain[] = {
	{ 0xa0, 0xa0, " " },	       { 0xa3, 0xa3, " pounds " },
	{ 0xa5, 0xa5, " yen " },       { 0xab, 0xab, "\"" },
	{ 0xb0, 0xb0, " degrees " },   { 0xb4, 0xb4, "'" },
	{ 0xbb, 0xbb, "\"" },	       { 0xbc, 0xbc, " one quarter " },
	{ 0xbd, 0xbd, " one half " },  { 0xbe, 0xbe, " three quarters " },
	{ 0xc0, 0xc5, "A" },	       { 0xc6, 0xc6, "Ae" },
	{ 0xc7, 0xc7, "C" },	       { 0xc8, 0xcb, "E" },
	{ 0xcc, 0xcf, "I" },	       { 0xd1, 0xd1, "N" },
	{ 0xd2, 0xd6, "O" },	       { 0xd8, 0xd8, "O" },
	{ 0xd9, 0xdc, "U" },	       { 0xdd, 0xdd, "Y" },
	{ 0xdf, 0xdf, "ss" },	       { 0xe0, 0xe5, "a" },
	{ 0xe6, 0xe6, "ae" },	       { 0xe7, 0xe7, "c" },
	{ 0xe8, 0xeb, "e" },	       { 0xec, 0xef, "i" },
	{ 0xf1, 0xf1, "n" },	       { 0xf2, 0xf6, "o" },
	{ 0xf8, 0xf8, "o" },	       { 0xf9, 0xfc, "u" },
	{ 0xfd, 0xfd, "y" },	       { 0xff, 0xff, "y" },
	{ 0x100, 0x105, "a" },	       { 0x106, 0x10d, "c" },
	{ 0x10e, 0x111, "d" },	       { 0x112, 0x11b, "e" },
	{ 0x11c, 0x123, "g" },	       { 0x128, 0x131, "i" },
	{ 0x139, 0x142, "l" },	       { 0x143, 0x148, "n" },
	{ 0x14c, 0x151, "o" },	       { 0x152, 0x153, "oe" },
	{ 0x154, 0x159, "r" },	       { 0x15a, 0x161, "s" },
	{ 0x162, 0x167, "t" },	       { 0x168, 0x173, "u" },
	{ 0x174, 0x175, "w" },	       { 0x176, 0x178, "y" },
	{ 0x179, 0x17e, "z" },	       { 0x2010, 0x2011, "-" },
	{ 0x2012, 0x2015, ", " },      { 0x2018, 0x201b, "'" },
	{ 0x201c, 0x201f, "\"" },      { 0x2022, 0x2022, ", " },
	{ 0x2026, 0x2026, "... " },    { 0x2032, 0x2032, "'" },
	{ 0x20ac, 0x20ac, " euros " },
};

static const char *plain_ascii(unsigned char c)
{
	switch (c) {
	case '&':
		return " and ";
	case '@':
		return " at ";
	case '%':
		return " percent ";
	case '+':
		return " plus ";
	case '=':
		return " equals ";
	default:
		return strchr("*#_~^`|<>[]{}\\", c) ? " " : NULL;
	}
}

/* One code point at s, at most left bytes; bytes that are none count 1. */
static size_t decode(uint32_t *code, const unsigned char *s, size_t left)
{
	size_t n = *s < 0xc2 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

	*code = n == 1 ? *s : *s & (0x7fu >> n);
	if (*s >= 0xf5 || n > left || (n == 1 && *s >= 0x80)) {
		*code = 0xfffd;
		return 1;
	}
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2) {
			*code = 0xfffd;
			return 1;
		}
		*code = *code << 6 | (s[i] & 0x3f);
	}
	return n;
}

static const char *plain_of(uint32_t code)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (code >= plain[i].first && code <= plain[i].last)
			return plain[i].text;
	}
	return code >= 0x300 && code < 0x370 ? "" : " ";
}

struct writer {
	struct speakable *out;
	size_t size;
};

static void add(struct writer *writer, char c, size_t end)
{
	struct speakable *out = writer->out;

	if (c == ' ' && out->n && out->text[out->n - 1] == ' ') {
		out->end[out->n - 1] = end;
		return;
	}
	if (out->n + 1 >= writer->size) {
		writer->size = writer->size * 2 + 64;
		out->text = mem_resize(out->text, writer->size);
		out->end =
			mem_resize(out->end, writer->size * sizeof(*out->end));
	}
	out->text[out->n] = c;
	out->end[out->n++] = end;
}

void speakable_init(struct speakable *out, const char *source)
{
	const unsigned char *s = (const unsigned char *)source;
	size_t n = strlen(source);
	struct writer writer = { out, 0 };

	*out = (struct speakable){ .source_bytes = n };
	for (size_t i = 0; i < n;) {
		char one[2] = { ' ', '\0' };
		const char *text = one;
		uint32_t code;
		size_t step = decode(&code, s + i, n - i);

		if (code >= 0x80)
			text = plain_of(code);
		else if (plain_ascii(s[i]))
			text = plain_ascii(s[i]);
		else if (isgraph(s[i]))
			one[0] = (char)s[i];
		i += step;
		for (; *text; text++)
			add(&writer, *text, i);
	}
	add(&writer, ' ', n);
	out->text[out->n] = '\0';
}

void speakable_reset(struct speakable *speakable)
{
	mem_free(speakable->text);
	mem_free(speakable->end);
	*speakable = (struct speakable){ .text = NULL };
}

/* "Dr." and "J." end no sentence. */
static bool is_abbreviation(const char *text, size_t from, size_t dot)
{
	static const char *const list[] = { "dr", "mr", "mrs",	"ms", "st",
					    "no", "vs", "prof", "jr", "sr" };
	size_t begin = dot;

	while (begin > from && isalpha((unsigned char)text[begin - 1]))
		begin--;
	if (dot - begin == 1)
		return true;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (strlen(list[i]) == dot - begin &&
		    strncasecmp(text + begin, list[i], dot - begin) == 0)
			return true;
	}
	return false;
}

static bool ends_sentence(const char *text, size_t from, size_t i)
{
	size_t after = i + 1 + strspn(text + i + 1, "\"')");

	if (!strchr(".!?", text[i]) || (text[after] && text[after] != ' '))
		return false;
	return text[i] != '.' || !is_abbreviation(text, from, i);
}

static size_t past_spaces(const char *text, size_t i)
{
	i += strspn(text + i, "\"')");
	return i + strspn(text + i, " ");
}

size_t speakable_piece(const struct speakable *speakable, size_t from)
{
	const char *text = speakable->text;
	size_t space = 0;

	for (size_t i = from; i < speakable->n; i++) {
		bool is_clause = from == 0 && i >= CLAUSE_MIN &&
				 strchr(",;:", text[i]) && text[i + 1] == ' ';

		if (is_clause || ends_sentence(text, from, i))
			return past_spaces(text, i + 1);
		if (text[i] == ' ')
			space = i + 1;
		if (i - from >= PIECE_MAX)
			return space > from ? space : i;
	}
	return speakable->n;
}

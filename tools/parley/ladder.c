/* SPDX-License-Identifier: MIT */
#include "tools/parley/ladder.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "core/json.h"
#include "core/time.h"
#include "media/codec.h"
#include "media/sdp.h"

enum {
	WIDTH_PRESET = 80,
	INNER_MIN = 28, /* between the two lines */
	INNER_MAX = 72,
	LABEL_MAX_BYTES = 1024
};

#define RED   "\x1b[31m"
#define GREEN "\x1b[32m"
#define PLAIN "\x1b[0m"

struct drawing {
	FILE *to;
	const struct ladder_style *style;
	const json_t *messages;
	unsigned inner;
	bool has_legs; /* more than one */
	int64_t start_ms;
};

/* ---- text of a known width ---- */

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* At most max characters of text; *n is how many those are. */
static struct slice cut(struct slice text, unsigned max, unsigned *n)
{
	size_t i = 0;

	for (*n = 0; i < text.len && *n < max; ++*n)
		do
			i++;
		while (i < text.len && is_continuation(text.ptr[i]));
	return slice_make(text.ptr, i);
}

static void put(const struct drawing *d, struct slice text)
{
	fwrite(text.ptr ? text.ptr : "", 1, text.len, d->to);
}

static void put_many(const struct drawing *d, char c, unsigned n)
{
	while (n--)
		fputc(c, d->to);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_str(object, key);

	return text ? text : "";
}

static int64_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static int64_t time_of(const json_t *message)
{
	int64_t ms = 0;

	time_parse(&ms, slice_of(text_of(message, "at")));
	return ms;
}

static bool is_out(const json_t *message)
{
	return !strcmp(text_of(message, "direction"), "out");
}

static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* ---- SDP ---- */

/* Also out of a body of several parts; ptr NULL: there is none. */
static struct slice sdp_of(const json_t *message)
{
	const char *at = strstr(text_of(message, "text"), "\r\n\r\nv=0");
	const char *end;

	if (!at)
		return slice_of(NULL);
	end = strstr(at, "\r\n--");
	return end ? slice_make(at + 4, (size_t)(end - at) - 2)
		   : slice_of(at + 4);
}

/* What a response answers. */
static const json_t *request_of(const struct drawing *d, size_t i)
{
	const json_t *response = json_array_get(d->messages, i);

	while (i--) {
		const json_t *other = json_array_get(d->messages, i);

		if (!number_of(other, "status") &&
		    is_same(response, other, "leg") &&
		    is_same(response, other, "cseq") &&
		    is_out(response) != is_out(other))
			return other;
	}
	return NULL;
}

/* RFC 3264: the first SDP of a transaction offers, the second answers. */
static const char *role_of(const struct drawing *d, size_t i)
{
	const json_t *message = json_array_get(d->messages, i);
	const json_t *request;

	if (!number_of(message, "status"))
		return strcmp(text_of(message, "method"), "ACK") ? "offer"
								 : "answer";
	request = request_of(d, i);
	return request && sdp_of(request).ptr ? "answer" : "offer";
}

static void add_codecs(struct buffer *out, const struct sdp_media *media)
{
	for (size_t i = 0; i < media->n_formats; i++) {
		const struct sdp_format *format = &media->formats[i];
		enum media_codec codec =
			codec_find(format->name, 8000, format->pt);

		if (format->name.len) {
			buffer_add_char(out, ' ');
			buffer_add(out, format->name);
		} else if (codec != MEDIA_CODECS) {
			buffer_printf(out, " %s", codec_get(codec)->name);
		} else {
			buffer_printf(out, " %u", format->pt);
		}
	}
}

/* The direction first: a narrow terminal cuts the end off. */
static void add_media(struct buffer *out, const struct sdp_media *media)
{
	static const char *const directions[] = {
		[SDP_SENDRECV] = "sendrecv",
		[SDP_SENDONLY] = "sendonly (hold)",
		[SDP_RECVONLY] = "recvonly (hold)",
		[SDP_INACTIVE] = "inactive (hold)",
	};
	const char *direction = directions[media->direction];

	if (!media->port)
		direction = "rejected";
	else if (media->has_addr && addr_is_any(&media->addr))
		direction = "to no address (hold)";
	buffer_printf(out, "%s, ", direction);
	buffer_add(out, media->proto);
	add_codecs(out, media);
}

static const struct sdp_media *find_audio(const struct sdp *sdp)
{
	for (size_t i = 0; i < sdp->n_media; i++)
		if (slice_eq(sdp->media[i].type, SLICE("audio")))
			return &sdp->media[i];
	return NULL;
}

static void write_sdp(struct buffer *out, const char *role, struct slice text)
{
	struct sdp *sdp = malloc(sizeof(*sdp));
	const struct sdp_media *audio = NULL;

	if (sdp && !sdp_parse(sdp, text))
		audio = find_audio(sdp);
	buffer_printf(out, "%s: ", role);
	if (audio)
		add_media(out, audio);
	else
		buffer_add_str(out, "SDP without audio");
	free(sdp);
}

/* ---- lines ---- */

static void put_margin(const struct drawing *d, const json_t *message)
{
	if (!message) {
		put_many(d, ' ', d->has_legs ? 14 : 12);
		return;
	}
	fprintf(d->to, "%10.3f  ",
		(double)(time_of(message) - d->start_ms) / 1000.0);
	if (d->has_legs)
		fprintf(d->to, "%lld ", (long long)number_of(message, "leg"));
}

/* "|  text      |" */
static void put_between(const struct drawing *d, struct slice text)
{
	unsigned n;

	put_margin(d, NULL);
	fputs("|    ", d->to);
	put(d, cut(text, d->inner - 4, &n));
	put_many(d, ' ', d->inner - 4 - n);
	fputs("|\n", d->to);
}

static bool is_repeat(const struct drawing *d, size_t i)
{
	const json_t *message = json_array_get(d->messages, i);

	while (i--) {
		const json_t *other = json_array_get(d->messages, i);

		if (is_same(message, other, "leg") &&
		    is_same(message, other, "direction") &&
		    is_same(message, other, "text"))
			return true;
	}
	return false;
}

/* "INVITE (1)", "200 OK (1 INVITE)" */
static void write_label(struct buffer *out, const struct drawing *d, size_t i)
{
	const json_t *message = json_array_get(d->messages, i);
	const char *cseq = text_of(message, "cseq");
	const char *start = text_of(message, "start_line");

	if (number_of(message, "status"))
		buffer_printf(out, "%s (%s)",
			      strncmp(start, "SIP/2.0 ", 8) ? start : start + 8,
			      cseq);
	else
		buffer_printf(out, "%s (%llu)", text_of(message, "method"),
			      strtoull(cseq, NULL, 10));
	if (is_repeat(d, i))
		buffer_add_str(out, " again");
}

static const char *color_of(const struct drawing *d, int64_t status)
{
	if (!d->style->has_color || status < 200)
		return "";
	if (status < 300)
		return GREEN;
	return status < 400 ? "" : RED;
}

static void put_arrow(const struct drawing *d, const json_t *message,
		      struct slice label)
{
	const char *color = color_of(d, number_of(message, "status"));
	unsigned n;
	struct slice shown = cut(label, d->inner - 8, &n);
	unsigned rest = d->inner - 6 - n;

	put_margin(d, message);
	fputc('|', d->to);
	if (is_out(message)) {
		fputs("--- ", d->to);
	} else {
		fputc('<', d->to);
		put_many(d, '-', rest);
		fputc(' ', d->to);
	}
	fputs(color, d->to);
	put(d, shown);
	fputs(*color ? PLAIN : "", d->to);
	if (is_out(message)) {
		fputc(' ', d->to);
		put_many(d, '-', rest);
		fputs(">|\n", d->to);
	} else {
		fputs(" ---|\n", d->to);
	}
}

static void put_text(const struct drawing *d, const char *text)
{
	fputc('\n', d->to);
	for (; *text; text++)
		if (*text != '\r')
			fputc(*text, d->to);
	fputs("\n", d->to);
}

static void put_message(const struct drawing *d, size_t i)
{
	const json_t *message = json_array_get(d->messages, i);
	struct slice sdp = sdp_of(message);
	struct buffer label;

	buffer_init(&label, LABEL_MAX_BYTES);
	write_label(&label, d, i);
	put_arrow(d, message, buffer_slice(&label));
	buffer_clear(&label);
	if (sdp.ptr) {
		write_sdp(&label, role_of(d, i), sdp);
		put_between(d, buffer_slice(&label));
	}
	if (d->style->has_text)
		put_text(d, text_of(message, "text"));
	buffer_reset(&label);
}

/* Each leg once, with its peer. */
static void put_legs(const struct drawing *d)
{
	int64_t seen = 0;
	const json_t *message;
	size_t i;

	json_array_foreach(d->messages, i, message) {
		int64_t leg = number_of(message, "leg");

		if (leg <= seen)
			continue;
		seen = leg;
		fprintf(d->to, "leg %-10lld %s\n", (long long)leg,
			text_of(message, "peer"));
		fprintf(d->to, "%-14s %s\n", "Call-ID",
			text_of(message, "sip_call_id"));
	}
}

static void put_head(const struct drawing *d, const json_t *data)
{
	fprintf(d->to, "%-14s %s\n", "call_id", text_of(data, "call_id"));
	fprintf(d->to, "%-14s %s\n", "began",
		text_of(json_array_get(d->messages, 0), "at"));
	put_legs(d);
	fputc('\n', d->to);
	put_many(d, ' ', d->has_legs ? 11 : 9);
	fputs("Parley", d->to);
	put_many(d, ' ', d->inner - 5);
	fputs("peer\n", d->to);
	put_between(d, SLICE(""));
}

static void put_foot(const struct drawing *d, const json_t *data)
{
	int64_t dropped = number_of(data, "dropped");

	put_between(d, SLICE(""));
	if (dropped)
		fprintf(d->to, "\n%lld more were not kept.\n",
			(long long)dropped);
	else if (!json_is_true(json_object_get(data, "complete")))
		fputs("\nNot complete: more may follow, or some are missing.\n",
		      d->to);
}

static unsigned fit(unsigned width, bool has_legs)
{
	unsigned margin = has_legs ? 16 : 14;

	if (width < margin + INNER_MIN)
		return INNER_MIN;
	return width - margin < INNER_MAX ? width - margin : INNER_MAX;
}

/* ---- public ---- */

struct ladder_style ladder_style_of(FILE *to)
{
	struct ladder_style style = { .width = WIDTH_PRESET };
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (isatty(fileno(to))) {
		style.has_color = !getenv("NO_COLOR");
		if (!ioctl(fileno(to), TIOCGWINSZ, &size) && size.ws_col)
			style.width = size.ws_col;
	} else if (columns && atoi(columns) > 0) {
		style.width = (unsigned)atoi(columns);
	}
	return style;
}

void ladder_print(FILE *to, const json_t *data,
		  const struct ladder_style *style)
{
	struct drawing d = { .to = to,
			     .style = style,
			     .messages = json_object_get(data, "messages") };
	size_t n = json_array_size(d.messages);

	if (!n) {
		fputs("No SIP messages of this call are kept (see "
		      "sip.trace_days).\n",
		      to);
		return;
	}
	for (size_t i = 0; i < n; i++)
		d.has_legs |=
			number_of(json_array_get(d.messages, i), "leg") > 1;
	d.inner = fit(style->width, d.has_legs);
	d.start_ms = time_of(json_array_get(d.messages, 0));
	put_head(&d, data);
	for (size_t i = 0; i < n; i++)
		put_message(&d, i);
	put_foot(&d, data);
}

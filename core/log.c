/* SPDX-License-Identifier: MIT */
#include "core/log.h"
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "core/buffer.h"
#include "core/slice.h"
#include "core/time.h"

enum { TEXT_SIZE = 2048, LINE_MAX_BYTES = 16 * 1024 };

/* Set once at the start; tests set it again. */
static struct {
	atomic_int level;
	atomic_bool is_json;
	atomic_int fd;
} out = { LOG_INFO, false, STDERR_FILENO };

static const char *const names[] = {
	[LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn",
	[LOG_ERROR] = "error", [LOG_OFF] = "off",
};

void log_setup(const struct log_options *options)
{
	out.level = (int)options->level;
	out.is_json = options->json;
	out.fd = options->fd;
}

int log_level_parse(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return (int)i;
	return -1;
}

bool log_is_on(enum log_level level)
{
	return (int)level >= out.level && level != LOG_OFF;
}

/* Between quotes, so that no text can forge a line or a field. */
static void add_quoted(struct buffer *line, const char *text)
{
	/* JSON must be UTF-8; what is not is shown byte by byte. */
	bool is_utf8 = slice_is_utf8(slice_of(text));

	buffer_add_char(line, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			buffer_printf(line, "\\%c", c);
		else if (c == '\n')
			buffer_add_str(line, "\\n");
		else if (c < 0x20 || c == 0x7f || (c > 0x7f && !is_utf8))
			buffer_printf(line, "\\u%04x", c);
		else
			buffer_add_char(line, (char)c);
	}
	buffer_add_char(line, '"');
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text == '"' || *text == '=' ||
		    *text == '\\' || *text == 0x7f)
			return false;
	return true;
}

static void add_field(struct buffer *line, const char *key, const char *value)
{
	if (out.is_json) {
		buffer_add_str(line, line->len > 1 ? "," : "");
		buffer_printf(line, "\"%s\":", key);
		add_quoted(line, value);
		return;
	}
	buffer_printf(line, "%s%s=", line->len ? " " : "", key);
	if (strcmp(key, "msg") != 0 && is_plain(value))
		buffer_add_str(line, value);
	else
		add_quoted(line, value);
}

static void add_subject(struct buffer *line, const char *subject,
			const char *id)
{
	char key[48];

	if (!subject)
		return;
	if (!id) {
		add_field(line, "subject", subject);
		return;
	}
	snprintf(key, sizeof(key), "%s_id", subject);
	add_field(line, key, id);
}

/* One write(2), so that lines of several threads do not mix. */
static void put(struct slice line)
{
	while (line.len) {
		ssize_t n = write(out.fd, line.ptr, line.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		line = slice_make(line.ptr + n, line.len - (size_t)n);
	}
}

void log_write(enum log_level level, const char *subject, const char *id,
	       const char *fmt, ...)
{
	char text[TEXT_SIZE], stamp[TIME_TEXT_SIZE];
	struct timespec now;
	struct buffer line;
	va_list args;

	if (!log_is_on(level))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	clock_gettime(CLOCK_REALTIME, &now);
	time_write(stamp, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);

	buffer_init(&line, LINE_MAX_BYTES);
	if (out.is_json)
		buffer_add_char(&line, '{');
	add_field(&line, "time", stamp);
	add_field(&line, "level", names[level]);
	add_subject(&line, subject, id);
	add_field(&line, "msg", text);
	buffer_add_str(&line, out.is_json ? "}\n" : "\n");
	put(buffer_slice(&line));
	buffer_reset(&line);
}

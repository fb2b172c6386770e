/* SPDX-License-Identifier: MIT */
/* core/log.h - one line per thing that happened, key=value or JSON on stderr:
 *   time=2026-01-02T03:04:05.678Z level=info call_id=9f.. msg="answered ..."
 * State changes at debug, calls at info, error only when a human must act;
 * secrets never. Safe from every thread. */
#pragma once
#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

struct log_options {
	enum log_level level;
	bool json;
	int fd; /* borrowed; 2 unless a test says otherwise */
};

void log_setup(const struct log_options *options);
/* "debug", "info", "warn", "error", "off"; -1 for others. */
int log_level_parse(const char *name);
bool log_is_on(enum log_level level);
/* subject "call" with id X prints call_id=X; without id, subject=call. */
void log_write(enum log_level level, const char *subject, const char *id,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#define log_debug(subject, id, ...)                                            \
	do {                                                                   \
		if (log_is_on(LOG_DEBUG))                                      \
			log_write(LOG_DEBUG, subject, id, __VA_ARGS__);        \
	} while (0)
#define log_info(subject, id, ...) log_write(LOG_INFO, subject, id, __VA_ARGS__)
#define log_warn(subject, id, ...) log_write(LOG_WARN, subject, id, __VA_ARGS__)
#define log_error(subject, id, ...)                                            \
	log_write(LOG_ERROR, subject, id, __VA_ARGS__)

/* SPDX-License-Identifier: MIT */
/* core/config.h - settings: one table says each key's type, default, range and
 * meaning; a file "[section] key = value" and PARLEY_SECTION_KEY in the
 * environment change them, the environment last. Comments stand at line start.
 * A section may appear twice: the later value wins. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buffer.h"

struct config;

enum config_type { CONFIG_TEXT, CONFIG_NUMBER, CONFIG_BOOL, CONFIG_CHOICE };

struct config_key {
	const char *name; /* "http.port" */
	enum config_type type;
	const char *preset; /* default, as text */
	int64_t min, max; /* CONFIG_NUMBER */
	const char *choices; /* CONFIG_CHOICE: "a|b|c" */
	const char *doc;
	bool is_secret; /* never printed */
	bool is_path; /* relative: to the file's folder */
};

/* env is NULL-terminated "KEY=VALUE" strings. On failure why names file, line,
 * key and remedy; an unknown key names the nearest known one. */
int config_open(struct config **out, const char *file, char *const *env,
		struct buffer *why);
void config_close(struct config **config);
/* An unknown name is our own mistake: assert. Text is never NULL. */
const char *config_text(const struct config *config, const char *name);
int64_t config_number(const struct config *config, const char *name);
bool config_bool(const struct config *config, const char *name);
/* The whole table, for --help and documentation. */
const struct config_key *config_keys(size_t *n);

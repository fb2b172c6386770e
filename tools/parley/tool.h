/* SPDX-License-Identifier: MIT */
/* tools/parley/tool.h - what the commands of the admin tool share. */
#pragma once
#include <stdbool.h>
#include "core/buffer.h"
#include "store/store.h"

struct config;
struct loop;

struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the name */
	const char *usage;
};

extern const struct command command_init, command_org, command_key,
	command_call, command_backup, command_check;

/* Prints "parley: ..." on stderr; returns EXIT_FAILURE. */
int tool_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* An open data folder: settings, loop and store as a tool. */
struct tool {
	struct config *config;
	struct loop *loop;
	struct store *store;
};
/* config_file NULL: $PARLEY_CONFIG, ./parley.conf or ./parley-data/parley.conf.
 * EXIT_SUCCESS, or EXIT_FAILURE after saying why. */
int tool_open(struct tool *tool, const char *config_file);
/* Settings alone. */
int tool_open_config(struct config **out, const char *config_file);
void tool_close(struct tool *tool);
/* For a store write: pass the reply on, then wait for its result. */
struct tool_wait {
	struct loop *loop;
	bool is_done;
	int err;
};
struct store_reply tool_reply(struct tool_wait *wait, struct loop *loop);
int tool_wait(struct tool_wait *wait);

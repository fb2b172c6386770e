/* SPDX-License-Identifier: MIT */
/* tools/parley/main.c - the admin command: finds the sub-command. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/log.h"
#include "core/loop.h"
#include "tools/parley/tool.h"

extern char **environ;

static const struct command *const commands[] = {
	&command_init, &command_org,	&command_key,
	&command_call, &command_backup, &command_check,
};

int tool_fail(const char *fmt, ...)
{
	va_list args;

	fputs("parley: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

static const char *find_config(const char *given)
{
	static const char *const places[] = { "parley.conf",
					      "parley-data/parley.conf",
					      "/etc/parley/parley.conf" };

	if (!given)
		given = getenv("PARLEY_CONFIG");
	for (size_t i = 0; !given && i < 3; i++) {
		if (!access(places[i], R_OK))
			given = places[i];
	}
	return given;
}

int tool_open_config(struct config **out, const char *config_file)
{
	const char *file = find_config(config_file);
	struct buffer why;
	int status = EXIT_SUCCESS;

	if (!file)
		return tool_fail("no configuration found: name it with "
				 "--config FILE, or make one with "
				 "`parley init`");
	buffer_init(&why, 4096);
	if (config_open(out, file, environ, &why))
		status = tool_fail("%s", buffer_str(&why));
	buffer_reset(&why);
	return status;
}

int tool_open(struct tool *tool, const char *config_file)
{
	struct log_options quiet = { .level = LOG_WARN, .fd = 2 };
	struct store_options options = { .is_tool = true };
	struct buffer why;
	int status;

	*tool = (struct tool){ 0 };
	log_setup(&quiet);
	status = tool_open_config(&tool->config, config_file);
	if (status)
		return status;
	if (loop_open(&tool->loop))
		return tool_fail("cannot open the event loop");
	options.loop = tool->loop;
	options.folder = config_text(tool->config, "store.path");
	buffer_init(&why, 4096);
	if (store_open(&tool->store, &options, &why))
		status = tool_fail("%s", buffer_str(&why));
	buffer_reset(&why);
	return status;
}

void tool_close(struct tool *tool)
{
	if (tool->store)
		store_close(&tool->store);
	if (tool->loop)
		loop_close(&tool->loop);
	if (tool->config)
		config_close(&tool->config);
}

static void on_reply(void *owner, int err)
{
	struct tool_wait *wait = owner;

	wait->is_done = true;
	wait->err = err;
	loop_stop(wait->loop);
}

struct store_reply tool_reply(struct tool_wait *wait, struct loop *loop)
{
	*wait = (struct tool_wait){ .loop = loop };
	return (struct store_reply){ on_reply, wait };
}

int tool_wait(struct tool_wait *wait)
{
	while (!wait->is_done)
		loop_run(wait->loop);
	return wait->err;
}

static void print_help(FILE *to)
{
	fputs("usage: parley COMMAND [OPTIONS]\n\n"
	      "Administers a Parley data folder. Commands:\n\n",
	      to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(to, "%s\n", commands[i]->usage);
	fputs("The configuration is found by --config FILE, then "
	      "$PARLEY_CONFIG, ./parley.conf,\n./parley-data/parley.conf, "
	      "/etc/parley/parley.conf.\n",
	      to);
}

int main(int argc, char **argv)
{
	if (argc > 1 &&
	    (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
		print_help(stdout);
		return EXIT_SUCCESS;
	}
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("parley 0.1.0");
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands);
	     i++) {
		if (strcmp(argv[1], commands[i]->name))
			continue;
		if (argc > 2 && !strcmp(argv[2], "--help")) {
			printf("usage: parley %s", commands[i]->usage);
			return EXIT_SUCCESS;
		}
		return commands[i]->run(argc - 1, argv + 1);
	}
	if (argc > 1)
		return tool_fail("unknown command \"%s\"; see parley --help",
				 argv[1]);
	print_help(stderr);
	return EXIT_FAILURE;
}

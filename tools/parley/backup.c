/* SPDX-License-Identifier: MIT */
/* tools/parley/backup.c - parley backup: an online copy of the database. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "tools/parley/tool.h"

/* FILE.key beside the copy: without it sealed passwords cannot be read. */
static int copy_key(const struct tool *tool, const char *file)
{
	char from[4096], to[4096], bytes[256];
	int in, out, status = EXIT_FAILURE;
	ssize_t n;

	snprintf(from, sizeof(from), "%s/store.key",
		 config_text(tool->config, "store.path"));
	snprintf(to, sizeof(to), "%s.key", file);
	in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return tool_fail("%s: %s", from, strerror(errno));
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	n = read(in, bytes, sizeof(bytes));
	if (out >= 0 && n > 0 && write(out, bytes, (size_t)n) == n &&
	    !fsync(out))
		status = EXIT_SUCCESS;
	else
		tool_fail("%s: %s", to, strerror(errno));
	explicit_bzero(bytes, sizeof(bytes));
	if (out >= 0)
		close(out);
	close(in);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "with-key", no_argument, NULL, 'k' },
		{ 0 },
	};
	const char *config = NULL;
	bool with_key = false;
	struct tool tool;
	struct buffer why;
	int option, status;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option == 'c')
			config = optarg;
		else if (option == 'k')
			with_key = true;
		else
			return EXIT_FAILURE;
	}
	if (optind + 1 != argc)
		return tool_fail("usage: parley backup FILE [--with-key]");
	buffer_init(&why, 1024);
	status = tool_open(&tool, config);
	if (!status && store_backup(tool.store, argv[optind], &why))
		status = tool_fail("%s", buffer_str(&why));
	if (!status && with_key)
		status = copy_key(&tool, argv[optind]);
	if (!status)
		printf("%s is written%s\n", argv[optind],
		       with_key ? ", and its key beside it"
				: "; sealed passwords need store.key, which "
				  "is not in it");
	tool_close(&tool);
	buffer_reset(&why);
	return status;
}

const struct command command_backup = {
	"backup", run,
	"backup FILE [--with-key] [--config FILE]\n"
	"  Copies the database, also while the service runs. --with-key puts\n"
	"  store.key beside it, which sealed passwords need.\n"
};

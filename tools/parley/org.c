/* SPDX-License-Identifier: MIT */
/* tools/parley/org.c - parley org and parley key. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent/call/phone.h"
#include "core/loop.h"
#include "core/time.h"
#include "store/orgs.h"
#include "tools/parley/people.h"

struct words {
	const char *config;
	const char *name;
	char **rest; /* the words that are no options */
	int n;
};

static int read_words(struct words *out, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "name", required_argument, NULL, 'n' },
		{ 0 },
	};
	int option;

	*out = (struct words){ 0 };
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option == 'c')
			out->config = optarg;
		else if (option == 'n')
			out->name = optarg;
		else
			return EXIT_FAILURE;
	}
	out->rest = argv + optind;
	out->n = argc - optind;
	return EXIT_SUCCESS;
}

/* ---- organisations ---- */

static int org_add(struct tool *tool, const struct words *words)
{
	struct new_org org = { .name = words->name ? words->name
						   : "Organisation" };
	char key[KEY_SIZE];

	if (people_add_org(tool, &org) ||
	    people_add_key(tool, org.id, "first key", key))
		return tool_fail("the organisation could not be stored");
	printf("org_id          %s\napi_key         %s\nwebhook_secret  %s\n",
	       org.id, key, org.webhook_secret);
	return EXIT_SUCCESS;
}

static int org_list(struct tool *tool, const struct words *words)
{
	struct arena *arena = arena_open();
	struct org_row *rows = NULL;
	size_t n = 0;

	(void)words;
	orgs_list(tool->store, arena, &rows, &n);
	for (size_t i = 0; i < n; i++)
		printf("%s  %-12s  calls at once: %lld  sip: %s  %s\n",
		       rows[i].id, rows[i].plan,
		       (long long)rows[i].plan_limits.concurrency,
		       rows[i].plan_limits.sip ? "on" : "off", rows[i].name);
	arena_close(&arena);
	return EXIT_SUCCESS;
}

static int set_field(struct org_row *row, struct arena *arena,
		     const char *field, const char *value)
{
	char number[PHONE_SIZE];
	uint64_t n;

	if (!strcmp(field, "concurrency")) {
		if (slice_to_u64(&n, slice_of(value), 100000))
			return tool_fail("concurrency is a number from 0 to "
					 "100000");
		row->plan_limits.concurrency = (int64_t)n;
	} else if (!strcmp(field, "from")) {
		if (phone_parse(number, slice_of(value)))
			return tool_fail("from is a number such as "
					 "+14155550100");
		row->default_from = arena_dup_str(arena, number);
	} else if (!strcmp(field, "sip")) {
		row->plan_limits.sip = !strcmp(value, "on");
	} else if (!strcmp(field, "countries")) {
		row->plan_limits.countries = value;
	} else if (!strcmp(field, "name")) {
		row->name = value;
	} else {
		return tool_fail("unknown field \"%s\": concurrency, from, "
				 "sip, countries or name",
				 field);
	}
	return EXIT_SUCCESS;
}

static int org_set(struct tool *tool, const struct words *words)
{
	struct arena *arena = arena_open();
	struct tool_wait wait;
	struct org_row row;
	int status = EXIT_FAILURE;

	if (words->n != 4)
		tool_fail("usage: parley org set ORG_ID FIELD VALUE");
	else if (orgs_get(tool->store, arena, words->rest[1], &row))
		tool_fail("no organisation %s; see parley org list",
			  words->rest[1]);
	else
		status = set_field(&row, arena, words->rest[2], words->rest[3]);
	if (status == EXIT_SUCCESS) {
		orgs_put(tool->store, &row, tool_reply(&wait, tool->loop));
		if (tool_wait(&wait))
			status = tool_fail("could not be stored");
	}
	arena_close(&arena);
	return status;
}

/* ---- keys ---- */

static int key_add(struct tool *tool, const struct words *words)
{
	char key[KEY_SIZE];
	struct arena *arena;
	struct org_row row;
	int missing;

	if (words->n != 2)
		return tool_fail("usage: parley key add ORG_ID [--name NAME]");
	arena = arena_open();
	missing = orgs_get(tool->store, arena, words->rest[1], &row);
	arena_close(&arena);
	if (missing)
		return tool_fail("no organisation %s; see parley org list",
				 words->rest[1]);
	if (people_add_key(tool, words->rest[1],
			   words->name ? words->name : "key", key))
		return tool_fail("the key could not be stored");
	printf("api_key  %s\n", key);
	return EXIT_SUCCESS;
}

static int key_list(struct tool *tool, const struct words *words)
{
	struct arena *arena;
	struct key_row *rows = NULL;
	char when[TIME_TEXT_SIZE];
	size_t n = 0;

	if (words->n != 2)
		return tool_fail("usage: parley key list ORG_ID");
	arena = arena_open();
	keys_list(tool->store, arena, words->rest[1], &rows, &n);
	for (size_t i = 0; i < n; i++)
		printf("%s  %s...  %s  %s%s\n", rows[i].id, rows[i].hint,
		       time_write(when, rows[i].created_ms), rows[i].name,
		       rows[i].revoked_ms ? "  revoked" : "");
	arena_close(&arena);
	return EXIT_SUCCESS;
}

static int key_revoke(struct tool *tool, const struct words *words)
{
	struct tool_wait wait;

	if (words->n != 3)
		return tool_fail("usage: parley key revoke ORG_ID KEY_ID");
	keys_revoke(tool->store, words->rest[1], words->rest[2],
		    loop_wall_ms(tool->loop), tool_reply(&wait, tool->loop));
	if (tool_wait(&wait))
		return tool_fail("no such key; see parley key list ORG_ID");
	printf("revoked\n");
	return EXIT_SUCCESS;
}

static const struct {
	const char *command, *verb;
	int (*run)(struct tool *tool, const struct words *words);
} verbs[] = {
	{ "org", "add", org_add },   { "org", "list", org_list },
	{ "org", "set", org_set },   { "key", "add", key_add },
	{ "key", "list", key_list }, { "key", "revoke", key_revoke },
};

static int run(int argc, char **argv)
{
	struct words words;
	struct tool tool = { 0 };
	int status;

	if (read_words(&words, argc, argv))
		return EXIT_FAILURE;
	for (size_t i = 0; words.n && i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(verbs[i].command, argv[0]) ||
		    strcmp(verbs[i].verb, words.rest[0]))
			continue;
		status = tool_open(&tool, words.config);
		if (!status)
			status = verbs[i].run(&tool, &words);
		tool_close(&tool);
		return status;
	}
	return tool_fail("what shall %s do? See parley %s --help", argv[0],
			 argv[0]);
}

const struct command command_org = {
	"org", run,
	"org list | add [--name NAME] | set ORG_ID FIELD VALUE\n"
	"  Organisations. FIELD: name, concurrency, from, sip (on, off),\n"
	"  countries (\"US,CA\"; \"\" for all).\n"
};

const struct command command_key = {
	"key", run,
	"key list ORG_ID | add ORG_ID [--name NAME] | revoke ORG_ID KEY_ID\n"
	"  API keys. A new key is shown once.\n"
};

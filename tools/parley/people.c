/* SPDX-License-Identifier: MIT */
#include "tools/parley/people.h"

#include <stdio.h>
#include <string.h>
#include "core/config.h"
#include "core/loop.h"
#include "core/secret.h"
#include "store/orgs.h"

enum { PLAN_CONCURRENCY = 500 };

/* A key is made for the first organisation alone: a missing one beside others
 * is lost, and a new one would not open what they sealed. */
static bool is_first_org(struct tool *tool)
{
	struct arena *arena = arena_open();
	struct org_row *rows;
	size_t n = 0;
	int err = orgs_list(tool->store, arena, &rows, &n);

	arena_close(&arena);
	return !err && !n;
}

static int seal(struct tool *tool, struct buffer *out, const char *secret)
{
	struct secret_box *box = NULL;
	struct buffer why;
	char file[4096];
	int err;

	buffer_init(&why, 1024);
	snprintf(file, sizeof(file), "%s/store.key",
		 config_text(tool->config, "store.path"));
	err = secret_box_open(&box, file, is_first_org(tool), &why);
	if (err)
		tool_fail("%s", buffer_str(&why));
	else
		secret_seal(box, out, slice_of(secret));
	secret_box_close(&box);
	buffer_reset(&why);
	return err;
}

int people_add_org(struct tool *tool, struct new_org *org)
{
	struct tool_wait wait;
	struct buffer sealed;
	struct org_row row = {
		.id = org->id,
		.name = org->name,
		.plan = "enterprise",
		.timezone = "UTC",
		.plan_limits = { .concurrency = PLAN_CONCURRENCY,
				 .countries = "",
				 .sip = true },
		.created_ms = loop_wall_ms(tool->loop),
	};
	int err;

	id_uuid(org->id);
	id_token(org->webhook_secret, HOOK_SECRET_SIZE - 1);
	buffer_init(&sealed, 1024);
	err = seal(tool, &sealed, org->webhook_secret);
	row.webhook_secret = buffer_slice(&sealed);
	if (!err) {
		orgs_put(tool->store, &row, tool_reply(&wait, tool->loop));
		err = tool_wait(&wait);
	}
	buffer_reset(&sealed);
	return err;
}

int people_add_key(struct tool *tool, const char *org_id, const char *name,
		   char key[KEY_SIZE])
{
	struct tool_wait wait;
	char id[ID_UUID_SIZE], hint[9];
	struct key_row row = { .id = id,
			       .org_id = org_id,
			       .name = name,
			       .hint = hint,
			       .created_ms = loop_wall_ms(tool->loop) };

	memcpy(key, "org_", 4);
	id_token(key + 4, KEY_SIZE - 5);
	id_uuid(id);
	memcpy(hint, key, 8);
	hint[8] = 0;
	secret_hash_token(row.hash, slice_of(key));
	keys_put(tool->store, &row, tool_reply(&wait, tool->loop));
	return tool_wait(&wait);
}

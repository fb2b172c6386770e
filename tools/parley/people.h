/* SPDX-License-Identifier: MIT */
/* tools/parley/people.h - making organisations and keys, for init, org, key. */
#pragma once
#include "core/id.h"
#include "tools/parley/tool.h"

enum { KEY_SIZE = 45, HOOK_SECRET_SIZE = 41 };

struct new_org {
	const char *name;
	char id[ID_UUID_SIZE];
	char webhook_secret[HOOK_SECRET_SIZE]; /* shown once */
};

/* Stores an organisation on the enterprise plan. 0 or negative errno. */
int people_add_org(struct tool *tool, struct new_org *org);
/* Stores a key and writes its text, "org_" and 40 characters: shown once. */
int people_add_key(struct tool *tool, const char *org_id, const char *name,
		   char key[KEY_SIZE]);

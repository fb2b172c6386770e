/* SPDX-License-Identifier: MIT */
/* tests/unit/store/fixture.h - a store in memory on a simulated loop, or in a
 * folder of its own on either kind of loop, and the reply of the last write. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "core/arena.h"
#include "core/buffer.h"
#include "core/loop.h"
#include "store/store.h"

#define WALL_MS 1700000000000

struct fixture {
	struct loop *loop;
	struct store *store;
	struct arena *arena;
	struct buffer why;
	char folder[64];
	int replies;
	int wanted; /* the loop stops at so many replies */
	int err; /* of the last reply */
};

void fixture_open(struct fixture *f); /* in memory */
void fixture_open_folder(struct fixture *f, bool is_sim);
void fixture_close(struct fixture *f); /* with the folder */
/* For cmocka's setup and teardown: *state is the fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

struct store_reply fixture_reply(struct fixture *f);
/* Runs the loop until the replies to all writes so far came; the last error. */
int fixture_wait(struct fixture *f);
/* Opens once more in the same folder; 0 or errno, why in f->why. */
int fixture_reopen(struct fixture *f, bool is_tool, struct store **out);
/* Runs one statement on the writer's connection. */
void fixture_sql(struct fixture *f, const char *sql);

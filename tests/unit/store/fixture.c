/* SPDX-License-Identifier: MIT */
#include "fixture.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/mem.h"
#include "store/store_priv.h"

static void open_in(struct fixture *f, const char *folder)
{
	struct store_options options = { .loop = f->loop, .folder = folder };
	int err;

	f->arena = arena_open();
	buffer_init(&f->why, 4096);
	err = store_open(&f->store, &options, &f->why);
	if (err)
		fail_msg("%s", buffer_str(&f->why));
}

void fixture_open(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	loop_open_sim(&f->loop, WALL_MS);
	open_in(f, ":memory:");
}

void fixture_open_folder(struct fixture *f, bool is_sim)
{
	*f = (struct fixture){ .folder = "/tmp/parley-store-XXXXXX" };
	assert_non_null(mkdtemp(f->folder));
	if (is_sim)
		loop_open_sim(&f->loop, WALL_MS);
	else
		assert_int_equal(loop_open(&f->loop), 0);
	open_in(f, f->folder);
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	return remove(path);
}

void fixture_close(struct fixture *f)
{
	store_close(&f->store);
	loop_close(&f->loop);
	arena_close(&f->arena);
	buffer_reset(&f->why);
	if (f->folder[0])
		nftw(f->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int fixture_setup(void **state)
{
	*state = mem_new(sizeof(struct fixture));
	fixture_open(*state);
	return 0;
}

int fixture_teardown(void **state)
{
	fixture_close(*state);
	mem_free(*state);
	return 0;
}

static void on_reply(void *owner, int err)
{
	struct fixture *f = owner;

	f->replies++;
	f->err = err;
	if (f->replies == f->wanted && !loop_is_sim(f->loop))
		loop_stop(f->loop);
}

struct store_reply fixture_reply(struct fixture *f)
{
	f->wanted++;
	return (struct store_reply){ on_reply, f };
}

int fixture_wait(struct fixture *f)
{
	if (loop_is_sim(f->loop))
		loop_advance_ms(f->loop, 0);
	else if (f->replies < f->wanted)
		loop_run(f->loop);
	assert_int_equal(f->replies, f->wanted);
	return f->err;
}

int fixture_reopen(struct fixture *f, bool is_tool, struct store **out)
{
	struct store_options options = { .loop = f->loop,
					 .folder = f->folder,
					 .is_tool = is_tool };

	buffer_clear(&f->why);
	return store_open(out, &options, &f->why);
}

void fixture_sql(struct fixture *f, const char *sql)
{
	assert_int_equal(db_exec(f->store->main, sql), 0);
}

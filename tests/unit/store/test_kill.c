/* SPDX-License-Identifier: MIT */
/* What was replied is on the disk: a process that writes is killed at random
 * points, and each write whose reply it had reported before is there when the
 * store is opened again. */
#include "fixture.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "store/calls.h"

enum { ROUNDS = 20, IN_FLIGHT = 16, MOST = 400 };

/* The child: keeps IN_FLIGHT inserts going and reports each reply. */
struct child {
	struct store *store;
	struct loop *loop;
	int fd;
	int round;
	uint32_t next;
};

struct write {
	struct child *child;
	uint32_t number;
};

static void start(struct write *write);

static void name(char out[32], int round, uint32_t number)
{
	snprintf(out, 32, "call-%d-%u", round, (unsigned)number);
}

static void on_written(void *owner, int err)
{
	struct write *done = owner;

	if (err || write(done->child->fd, &done->number, 4) != 4)
		_exit(1);
	start(done);
}

static void start(struct write *write)
{
	struct call_row row = { .org_id = "a", .queue_status = "queued" };
	char id[32];

	write->number = write->child->next++;
	name(id, write->child->round, write->number);
	row.id = id;
	row.body = row.brief = row.request = "{}";
	calls_insert(write->child->store, &row,
		     (struct store_reply){ on_written, write });
}

static void run_child(const char *folder, int round, int fd)
{
	struct child child = { .fd = fd, .round = round };
	struct store_options options = { .folder = folder };
	struct write writes[IN_FLIGHT];
	struct buffer why;
	int i;

	buffer_init(&why, 1000);
	if (loop_open(&child.loop))
		_exit(2);
	options.loop = child.loop;
	if (store_open(&child.store, &options, &why))
		_exit(3);
	for (i = 0; i < IN_FLIGHT; i++) {
		writes[i].child = &child;
		start(&writes[i]);
	}
	loop_run(child.loop);
	_exit(4);
}

/* Reads reports until n came, kills, and reads what else was reported. */
static uint32_t kill_after(pid_t pid, int fd, uint32_t n, uint32_t *reported)
{
	uint32_t seen = 0;
	int status;

	while (seen < n && read(fd, &reported[seen], 4) == 4)
		seen++;
	assert_int_equal(kill(pid, SIGKILL), 0);
	while (seen < 10 * MOST && read(fd, &reported[seen], 4) == 4)
		seen++;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return seen;
}

static void check(struct fixture *f, int round, const uint32_t *reported,
		  uint32_t n)
{
	struct call_row out;
	char id[32];
	uint32_t i;

	for (i = 0; i < n; i++) {
		name(id, round, reported[i]);
		if (calls_get(f->store, f->arena, "a", id, &out))
			fail_msg("%s was acknowledged and is gone", id);
	}
}

static void one_round(struct fixture *f, int round)
{
	static uint32_t reported[10 * MOST];
	uint32_t n, wanted = 1 + (uint32_t)random() % MOST;
	int pipes[2];
	pid_t pid;

	store_close(&f->store);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		close(pipes[0]);
		run_child(f->folder, round, pipes[1]);
	}
	close(pipes[1]);
	n = kill_after(pid, pipes[0], wanted, reported);
	close(pipes[0]);
	assert_true(n >= wanted);
	assert_int_equal(fixture_reopen(f, false, &f->store), 0);
	check(f, round, reported, n);
	assert_true(calls_count(f->store, "a") >= (int64_t)n);
}

static void what_was_replied_survives(void **state)
{
	struct fixture f;
	int round;

	srandom(20261121);
	fixture_open_folder(&f, true);
	for (round = 0; round < ROUNDS; round++)
		one_round(&f, round);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_replied_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

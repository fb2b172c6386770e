/* SPDX-License-Identifier: MIT */
/* core/work.h - what leaves the loop thread: three classes of pool threads
 * with queues of their own, so speech never delays a disk write. CPU classes
 * run at nice 10 (four busy threads at nice 0 made audio 5 ms late). */
#pragma once
#include <stddef.h>

struct loop;
struct work;
struct job;

enum work_class { WORK_DISK, WORK_CPU, WORK_SPEECH, WORK_CLASSES };

int work_open(struct work **out, struct loop *loop);
void work_close(struct work **work); /* waits for running jobs */

typedef void work_run_fn(void *arg); /* on a pool thread */
typedef void work_done_fn(void *arg); /* on the loop, after run */

struct job_fns {
	work_run_fn *run;
	work_done_fn *done;
};

/* Queues a job. arg must live until done ran. *out may be NULL when the caller
 * never cancels; it is cleared (*out = NULL) before done runs. */
void work_queue(struct work *work, enum work_class class, struct job **out,
		const struct job_fns *fns, void *arg);
/* The loop side loses interest: done will be called from the loop later with
 * arg all the same, so that its owner can free it, but never inside this call.
 * A job that has not started is not run. */
void job_cancel(struct job **job);
size_t work_queued(const struct work *work, enum work_class class);

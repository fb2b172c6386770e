/* SPDX-License-Identifier: MIT */
#include "core/work.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <unistd.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "core/wake.h"

enum { NICE_CPU = 10, SPEECH_THREADS_MAX = 64, STACK_BYTES = 2 * 1024 * 1024 };

TAILQ_HEAD(jobs, job);

/* QUEUED --> RUNNING --> DONE; a cancelled job goes from QUEUED to DONE. */
enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE };

struct job {
	TAILQ_ENTRY(job) entry;
	struct work *work; /* borrowed: outlives us */
	struct job_fns fns;
	void *arg;
	struct job **handle; /* the owner's pointer to us, or NULL */
	struct timer *timer; /* owned; on a simulated loop only */
	enum work_class class;
	enum job_state state; /* under the lock */
	bool is_cancelled; /* under the lock */
};

/* One class: its queue and its threads. */
struct pool {
	struct work *work; /* borrowed: owns us */
	enum work_class class;
	struct jobs queue; /* under the lock */
	size_t n_queued; /* under the lock */
	pthread_cond_t wake;
	pthread_t *threads; /* owned */
	size_t n_threads;
};

struct work {
	struct loop *loop; /* borrowed: outlives us */
	pthread_mutex_t lock;
	struct pool pools[WORK_CLASSES];
	struct jobs done; /* under the lock: results not delivered yet */
	struct wake *wake; /* owned; NULL: simulated */
	bool is_closing; /* under the lock */
};

static const struct {
	const char *name;
	int nice;
} classes[WORK_CLASSES] = {
	[WORK_DISK] = { "disk", 0 },
	[WORK_CPU] = { "cpu", NICE_CPU },
	[WORK_SPEECH] = { "speech", NICE_CPU },
};

static void run(struct job *job)
{
	if (!job->is_cancelled && job->fns.run)
		job->fns.run(job->arg);
}

/* Last: the owner may close what it likes, even the work. */
static void deliver(struct job *job)
{
	struct job_fns fns = job->fns;
	void *arg = job->arg;

	if (job->handle)
		*job->handle = NULL;
	timer_close(&job->timer);
	mem_free(job);
	if (fns.done)
		fns.done(arg);
}

static struct job *take(struct pool *pool)
{
	struct job *job;

	while (!(job = TAILQ_FIRST(&pool->queue)) && !pool->work->is_closing)
		pthread_cond_wait(&pool->wake, &pool->work->lock);
	if (!job)
		return NULL;
	TAILQ_REMOVE(&pool->queue, job, entry);
	pool->n_queued--;
	job->state = JOB_RUNNING;
	return job;
}

static void *thread_main(void *arg)
{
	struct pool *pool = arg;
	struct work *work = pool->work;
	struct job *job;

	pthread_setname_np(pthread_self(), classes[pool->class].name);
	/* 0 means this thread, not the process, on Linux. */
	if (classes[pool->class].nice)
		setpriority(PRIO_PROCESS, 0, classes[pool->class].nice);
	pthread_mutex_lock(&work->lock);
	while ((job = take(pool))) {
		pthread_mutex_unlock(&work->lock);
		run(job);
		pthread_mutex_lock(&work->lock);
		job->state = JOB_DONE;
		TAILQ_INSERT_TAIL(&work->done, job, entry);
		wake_send(work->wake);
	}
	pthread_mutex_unlock(&work->lock);
	return NULL;
}

static struct job *take_done(struct work *work)
{
	struct job *job;

	pthread_mutex_lock(&work->lock);
	job = TAILQ_FIRST(&work->done);
	if (job)
		TAILQ_REMOVE(&work->done, job, entry);
	pthread_mutex_unlock(&work->lock);
	return job;
}

/* One result a turn: done may close the work, after which nothing of it may
 * be touched; the next one is asked for before. */
static void on_wake(void *owner)
{
	struct work *work = owner;
	struct job *job = take_done(work);

	if (!job)
		return;
	wake_send(work->wake);
	deliver(job);
}

static size_t count_threads(enum work_class class)
{
	long cores;

	if (class != WORK_SPEECH)
		return 1;
	cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < 1		    ? 1
	       : cores > SPEECH_THREADS_MAX ? SPEECH_THREADS_MAX
					    : (size_t)cores;
}

/* The loop may run under SCHED_RR: its threads must not inherit that, nor
 * take its signals. */
static int start_threads(struct pool *pool)
{
	size_t n = count_threads(pool->class);
	pthread_attr_t attr;
	sigset_t all, before;
	int err = 0;

	pool->threads = mem_new_array(n, sizeof(pool->threads[0]));
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!err && pool->n_threads < n) {
		err = pthread_create(&pool->threads[pool->n_threads], &attr,
				     thread_main, pool);
		pool->n_threads += !err;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

static void init_pool(struct work *work, enum work_class class)
{
	struct pool *pool = &work->pools[class];

	pool->work = work;
	pool->class = class;
	TAILQ_INIT(&pool->queue);
	pthread_cond_init(&pool->wake, NULL);
}

int work_open(struct work **out, struct loop *loop)
{
	struct work *work = mem_new(sizeof(*work));
	int err = 0;
	unsigned i;

	work->loop = loop;
	pthread_mutex_init(&work->lock, NULL);
	TAILQ_INIT(&work->done);
	for (i = 0; i < WORK_CLASSES; i++)
		init_pool(work, i);
	if (!loop_is_sim(loop)) {
		err = wake_open(&work->wake, loop, on_wake, work);
		assert(!err);
	}
	for (i = 0; work->wake && !err && i < WORK_CLASSES; i++)
		err = start_threads(&work->pools[i]);
	if (err)
		work_close(&work);
	*out = work;
	return err;
}

static void join_pool(struct pool *pool)
{
	size_t i;

	pthread_cond_broadcast(&pool->wake);
	for (i = 0; i < pool->n_threads; i++)
		pthread_join(pool->threads[i], NULL);
	mem_free(pool->threads);
	pool->threads = NULL;
	pool->n_threads = 0;
}

/* Simulated, or queued by a done callback after the threads have gone. */
static bool run_inline(struct work *work, enum work_class class)
{
	struct pool *pool = &work->pools[class];
	struct job *job = TAILQ_FIRST(&pool->queue);

	if (!job)
		return false;
	TAILQ_REMOVE(&pool->queue, job, entry);
	pool->n_queued--;
	job->state = JOB_RUNNING;
	run(job);
	deliver(job);
	return true;
}

static void drain(struct work *work)
{
	struct job *job;
	bool is_idle = false;

	while (!is_idle) {
		unsigned i;

		is_idle = true;
		while ((job = take_done(work))) {
			deliver(job);
			is_idle = false;
		}
		for (i = 0; i < WORK_CLASSES; i++)
			if (run_inline(work, i))
				is_idle = false;
	}
}

void work_close(struct work **work)
{
	struct work *old = *work;
	unsigned i;

	if (!old)
		return;
	*work = NULL;
	pthread_mutex_lock(&old->lock);
	old->is_closing = true;
	pthread_mutex_unlock(&old->lock);
	for (i = 0; i < WORK_CLASSES; i++)
		join_pool(&old->pools[i]);
	drain(old);
	for (i = 0; i < WORK_CLASSES; i++)
		pthread_cond_destroy(&old->pools[i].wake);
	wake_close(&old->wake);
	pthread_mutex_destroy(&old->lock);
	mem_free(old);
}

static void on_sim_turn(void *arg)
{
	struct job *job = arg;
	struct pool *pool = &job->work->pools[job->class];

	if (job->state == JOB_QUEUED) {
		TAILQ_REMOVE(&pool->queue, job, entry);
		pool->n_queued--;
	} else {
		TAILQ_REMOVE(&job->work->done, job, entry);
	}
	run(job);
	deliver(job);
}

void work_queue(struct work *work, enum work_class class, struct job **out,
		const struct job_fns *fns, void *arg)
{
	struct pool *pool = &work->pools[class];
	struct job *job = mem_new(sizeof(*job));

	*job = (struct job){ .work = work,
			     .fns = *fns,
			     .arg = arg,
			     .handle = out,
			     .class = class };
	if (out)
		*out = job;
	pthread_mutex_lock(&work->lock);
	TAILQ_INSERT_TAIL(&pool->queue, job, entry);
	pool->n_queued++;
	pthread_cond_signal(&pool->wake);
	pthread_mutex_unlock(&work->lock);
	if (loop_is_sim(work->loop)) {
		job->timer = timer_new(work->loop);
		timer_start(job->timer, 0, on_sim_turn, job);
	}
}

void job_cancel(struct job **job)
{
	struct job *old = *job;
	struct work *work;

	if (!old)
		return;
	*job = NULL;
	work = old->work;
	old->handle = NULL;
	pthread_mutex_lock(&work->lock);
	if (old->state == JOB_QUEUED) {
		old->is_cancelled = true;
		old->state = JOB_DONE;
		TAILQ_REMOVE(&work->pools[old->class].queue, old, entry);
		work->pools[old->class].n_queued--;
		TAILQ_INSERT_TAIL(&work->done, old, entry);
		if (work->wake)
			wake_send(work->wake);
	}
	pthread_mutex_unlock(&work->lock);
}

size_t work_queued(const struct work *work, enum work_class class)
{
	struct work *mine = (struct work *)work; /* for its lock alone */
	size_t n;

	pthread_mutex_lock(&mine->lock);
	n = mine->pools[class].n_queued;
	pthread_mutex_unlock(&mine->lock);
	return n;
}

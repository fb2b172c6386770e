/* SPDX-License-Identifier: MIT */
/* core/work: run in the pool, done on the loop, in order within a class of one
 * thread; cancelling; closing with work in hand. Simulated: on the next turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include "core/buffer.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "core/work.h"

struct fixture {
	struct loop *loop;
	struct work *work;
	pthread_t loop_thread;
	struct buffer order;
	int wanted; /* results to stop the real loop after */
};

struct task {
	struct fixture *f;
	struct job *job;
	char letter;
	int ran;
	int nice;
	bool was_elsewhere;
	pthread_mutex_t *gate; /* run waits for it */
};

static int setup(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));

	loop_open_sim(&f->loop, 0);
	assert_int_equal(work_open(&f->work, f->loop), 0);
	f->loop_thread = pthread_self();
	buffer_init(&f->order, 1000);
	*state = f;
	return 0;
}

static int setup_real(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));

	assert_int_equal(loop_open(&f->loop), 0);
	assert_int_equal(work_open(&f->work, f->loop), 0);
	f->loop_thread = pthread_self();
	buffer_init(&f->order, 1000);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	work_close(&f->work);
	loop_close(&f->loop);
	buffer_reset(&f->order);
	mem_free(f);
	return 0;
}

static void on_run(void *arg)
{
	struct task *task = arg;

	if (task->gate) {
		pthread_mutex_lock(task->gate);
		pthread_mutex_unlock(task->gate);
	}
	task->ran++;
	task->nice = getpriority(PRIO_PROCESS, 0);
	task->was_elsewhere =
		!pthread_equal(pthread_self(), task->f->loop_thread);
}

static void on_done(void *arg)
{
	struct task *task = arg;
	struct fixture *f = task->f;

	assert_null(task->job);
	assert_true(pthread_equal(pthread_self(), f->loop_thread));
	buffer_add_char(&f->order, task->letter);
	if (f->wanted && (int)f->order.len == f->wanted)
		loop_stop(f->loop);
}

static const struct job_fns fns = { on_run, on_done };

static void queue(struct task *task, enum work_class class)
{
	work_queue(task->f->work, class, &task->job, &fns, task);
	assert_non_null(task->job);
}

static void test_sim(void **state)
{
	struct fixture *f = *state;
	struct task a = { .f = f, .letter = 'a' };
	struct task b = { .f = f, .letter = 'b' };

	queue(&a, WORK_SPEECH);
	queue(&b, WORK_DISK);
	assert_int_equal(work_queued(f->work, WORK_SPEECH), 1);
	assert_int_equal(a.ran, 0);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->order), "ab");
	assert_int_equal(a.ran + b.ran, 2);
	assert_false(a.was_elsewhere);
	assert_int_equal(work_queued(f->work, WORK_SPEECH), 0);
}

static void test_sim_cancel(void **state)
{
	struct fixture *f = *state;
	struct task a = { .f = f, .letter = 'a' };

	queue(&a, WORK_CPU);
	job_cancel(&a.job);
	assert_null(a.job);
	assert_int_equal(f->order.len, 0);
	job_cancel(&a.job);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->order), "a");
	assert_int_equal(a.ran, 0);
}

static void test_sim_close(void **state)
{
	struct fixture *f = *state;
	struct task a = { .f = f, .letter = 'a' };
	struct task b = { .f = f, .letter = 'b' };

	queue(&a, WORK_DISK);
	queue(&b, WORK_DISK);
	job_cancel(&b.job);
	work_close(&f->work);
	assert_int_equal(f->order.len, 2);
	assert_int_equal(a.ran, 1);
	assert_int_equal(b.ran, 0);
}

static void test_real(void **state)
{
	struct fixture *f = *state;
	struct task tasks[5];
	int i;

	f->wanted = 5;
	for (i = 0; i < 5; i++) {
		tasks[i] = (struct task){ .f = f, .letter = (char)('a' + i) };
		queue(&tasks[i], i == 4 ? WORK_SPEECH : WORK_DISK);
	}
	while ((int)f->order.len < f->wanted)
		loop_run(f->loop);
	for (i = 0; i < 5; i++) {
		assert_int_equal(tasks[i].ran, 1);
		assert_true(tasks[i].was_elsewhere);
	}
	assert_int_equal(tasks[4].nice, 10);
	assert_int_equal(tasks[0].nice, getpriority(PRIO_PROCESS, 0));
}

static void test_real_cancel(void **state)
{
	struct fixture *f = *state;
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct task a = { .f = f, .letter = 'a', .gate = &gate };
	struct task b = { .f = f, .letter = 'b' };

	f->wanted = 2;
	pthread_mutex_lock(&gate);
	queue(&a, WORK_CPU);
	while (work_queued(f->work, WORK_CPU))
		sched_yield(); /* until it runs, held at the gate */
	queue(&b, WORK_CPU);
	assert_int_equal(work_queued(f->work, WORK_CPU), 1);
	job_cancel(&b.job);
	job_cancel(&a.job); /* runs already: is let end */
	assert_int_equal(work_queued(f->work, WORK_CPU), 0);
	pthread_mutex_unlock(&gate);
	while ((int)f->order.len < f->wanted)
		loop_run(f->loop);
	assert_int_equal(a.ran, 1);
	assert_int_equal(b.ran, 0);
}

static void test_real_close_finishes(void **state)
{
	struct fixture *f = *state;
	struct task tasks[20];
	int i;

	for (i = 0; i < 20; i++) {
		tasks[i] = (struct task){ .f = f, .letter = 'x' };
		queue(&tasks[i], i % WORK_CLASSES);
	}
	work_close(&f->work);
	assert_int_equal(f->order.len, 20);
	for (i = 0; i < 20; i++)
		assert_int_equal(tasks[i].ran, 1);
}

static void on_done_close(void *arg)
{
	struct task *task = arg;

	work_close(&task->f->work);
	loop_stop(task->f->loop);
}

static void test_real_close_in_done(void **state)
{
	struct fixture *f = *state;
	const struct job_fns closing = { on_run, on_done_close };
	struct task a = { .f = f, .letter = 'a' };
	struct task b = { .f = f, .letter = 'b' };

	work_queue(f->work, WORK_DISK, NULL, &closing, &a);
	queue(&b, WORK_DISK);
	loop_run(f->loop);
	assert_null(f->work);
	assert_string_equal(buffer_str(&f->order), "b");
}

static void on_done_again(void *arg)
{
	struct task *task = arg;

	buffer_add_char(&task->f->order, task->letter);
	if (task->ran < 2)
		work_queue(task->f->work, WORK_CPU, NULL,
			   &(struct job_fns){ on_run, on_done_again }, task);
}

static void test_queue_in_done(void **state)
{
	struct fixture *f = *state;
	struct task a = { .f = f, .letter = 'a' };

	work_queue(f->work, WORK_CPU, NULL,
		   &(struct job_fns){ on_run, on_done_again }, &a);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->order), "aa");
	assert_int_equal(a.ran, 2);
}

#define SIM(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)
#define REAL(f) cmocka_unit_test_setup_teardown(f, setup_real, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIM(test_sim),
		SIM(test_sim_cancel),
		SIM(test_sim_close),
		SIM(test_queue_in_done),
		REAL(test_real),
		REAL(test_real_cancel),
		REAL(test_real_close_finishes),
		REAL(test_real_close_in_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

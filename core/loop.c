/* SPDX-License-Identifier: MIT */
#include "core/loop.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>
#include "core/log.h"
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/sim_priv.h"

enum { SIGNALS = 3 };

/* libuv's own timers count milliseconds; media is paced in microseconds, so
 * one timerfd stands for the earliest timer. */
struct loop_real {
	uv_loop_t uv;
	uv_prepare_t prepare; /* arms the driver before each poll */
	uv_check_t check; /* runs what is due after it */
	uv_idle_t no_wait; /* active while something is due */
	uv_poll_t driver;
	int driver_fd; /* owned timerfd */
	uint64_t armed_us; /* UINT64_MAX: disarmed */
	uv_signal_t signals[SIGNALS];
	loop_signal_fn *on_signal;
	void *signal_owner;
};

static uint64_t clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* being active is all it does */
}

static void arm_driver(struct loop_real *real, uint64_t at_us)
{
	struct itimerspec spec = { 0 };
	int err;

	spec.it_value.tv_sec = (time_t)(at_us / 1000000);
	/* A time of 0 would disarm it. */
	spec.it_value.tv_nsec = (long)(at_us % 1000000) * 1000 + 1;
	err = timerfd_settime(real->driver_fd, TFD_TIMER_ABSTIME, &spec, NULL);
	assert(!err);
	real->armed_us = at_us;
}

/* Arms the driver only for an earlier time than it stands at: one that fires
 * too early costs less than a system call each turn. What is due already needs
 * no driver: an idle handle keeps the poll from waiting. */
static void on_prepare(uv_prepare_t *prepare)
{
	struct loop *loop = prepare->data;
	struct loop_real *real = loop->real;
	uint64_t next_us = timer_heap_next_us(&loop->timers);

	loop->stats.turns++;
	if (next_us <= clock_us(CLOCK_MONOTONIC)) {
		uv_idle_start(&real->no_wait, on_idle);
		return;
	}
	uv_idle_stop(&real->no_wait);
	if (next_us < real->armed_us)
		arm_driver(real, next_us);
}

static void on_driver(uv_poll_t *driver, int status, int events)
{
	struct loop *loop = driver->data;
	uint64_t count;
	ssize_t n = read(loop->real->driver_fd, &count, sizeof(count));

	(void)n;
	loop->real->armed_us = UINT64_MAX;
}

/* After the poll. Timers that these callbacks arm wait for the next turn, even
 * if due. */
static void on_check(uv_check_t *check)
{
	struct loop *loop = check->data;
	uint64_t order = loop->timers.next_order;
	uint64_t now_us = clock_us(CLOCK_MONOTONIC);

	while (timer_heap_run_one(loop, now_us, order))
		;
}

static void open_handles(struct loop *loop)
{
	struct loop_real *real = loop->real;
	int err;

	real->armed_us = UINT64_MAX;
	uv_prepare_init(&real->uv, &real->prepare);
	real->prepare.data = loop;
	uv_prepare_start(&real->prepare, on_prepare);
	uv_check_init(&real->uv, &real->check);
	real->check.data = loop;
	uv_check_start(&real->check, on_check);
	uv_idle_init(&real->uv, &real->no_wait);
	err = uv_poll_init(&real->uv, &real->driver, real->driver_fd);
	assert(!err); /* a fresh descriptor that epoll knows */
	real->driver.data = loop;
	uv_poll_start(&real->driver, UV_READABLE, on_driver);
}

static int open_real(struct loop *loop)
{
	struct loop_real *real = mem_new(sizeof(*real));
	int err = uv_loop_init(&real->uv);

	if (err) {
		mem_free(real);
		return err;
	}
	real->driver_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (real->driver_fd < 0) {
		err = -errno;
		uv_loop_close(&real->uv);
		mem_free(real);
		return err;
	}
	/* Writing to a connection that was reset is an error code, not the
	 * end of the process. */
	signal(SIGPIPE, SIG_IGN);
	loop->real = real;
	open_handles(loop);
	return 0;
}

int loop_open(struct loop **out)
{
	struct loop *loop = mem_new(sizeof(*loop));
	int err = open_real(loop);

	if (err) {
		mem_free(loop);
		return err;
	}
	loop->scratch = mem_new(LOOP_SCRATCH_BYTES);
	*out = loop;
	return 0;
}

void loop_open_sim(struct loop **out, int64_t wall_ms)
{
	*out = mem_new(sizeof(**out));
	(*out)->scratch = mem_new(LOOP_SCRATCH_BYTES);
	sim_open(*out, wall_ms);
}

static void close_real(struct loop_real *real)
{
	size_t i;
	int err;

	uv_close((uv_handle_t *)&real->prepare, NULL);
	uv_close((uv_handle_t *)&real->check, NULL);
	uv_close((uv_handle_t *)&real->no_wait, NULL);
	uv_close((uv_handle_t *)&real->driver, NULL);
	for (i = 0; real->on_signal && i < SIGNALS; i++)
		uv_close((uv_handle_t *)&real->signals[i], NULL);
	uv_run(&real->uv, UV_RUN_DEFAULT);
	err = uv_loop_close(&real->uv);
	assert(!err); /* a wrapper was not closed */
	close(real->driver_fd);
	mem_free(real);
}

void loop_close(struct loop **loop)
{
	if (!*loop)
		return;
	if ((*loop)->real)
		close_real((*loop)->real);
	else
		sim_close(*loop);
	assert(!(*loop)->timers.open); /* a timer was not closed */
	mem_free((*loop)->timers.at);
	mem_free((*loop)->scratch);
	mem_free(*loop);
	*loop = NULL;
}

void loop_run(struct loop *loop)
{
	assert(loop->real);
	uv_run(&loop->real->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
	assert(loop->real);
	uv_stop(&loop->real->uv);
}

void loop_advance_ms(struct loop *loop, uint64_t ms)
{
	assert(loop->sim);
	sim_advance_us(loop, ms * 1000);
}

uint64_t loop_now_us(const struct loop *loop)
{
	return loop->sim ? loop->sim->now_us : clock_us(CLOCK_MONOTONIC);
}

int64_t loop_wall_ms(const struct loop *loop)
{
	if (loop->sim)
		return loop->sim->wall_start_ms +
		       (int64_t)(loop->sim->now_us / 1000);
	return (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
}

bool loop_is_sim(const struct loop *loop)
{
	return loop->sim != NULL;
}

static void on_signal(uv_signal_t *handle, int signum)
{
	struct loop *loop = handle->data;

	loop->real->on_signal(loop->real->signal_owner, signum);
}

/* A simulated loop has no signals. */
void loop_on_signals(struct loop *loop, loop_signal_fn *fn, void *owner)
{
	static const int wanted[SIGNALS] = { SIGTERM, SIGINT, SIGHUP };
	struct loop_real *real = loop->real;
	size_t i;

	if (!real)
		return;
	for (i = 0; !real->on_signal && i < SIGNALS; i++) {
		uv_signal_init(&real->uv, &real->signals[i]);
		real->signals[i].data = loop;
		uv_signal_start(&real->signals[i], on_signal, wanted[i]);
	}
	real->on_signal = fn;
	real->signal_owner = owner;
}

void loop_stats(const struct loop *loop, struct loop_stats *out)
{
	*out = loop->stats;
	out->timers = loop->timers.open;
}

struct uv_loop_s *loop_uv(const struct loop *loop)
{
	assert(loop->real);
	return &loop->real->uv;
}

/* A simulated loop measures nothing, so that it repeats exactly. */
uint64_t loop_begin(const struct loop *loop)
{
	return loop->real ? clock_us(CLOCK_MONOTONIC) : 0;
}

void loop_end(struct loop *loop, uint64_t begin_us)
{
	uint64_t us;

	if (!loop->real)
		return;
	us = clock_us(CLOCK_MONOTONIC) - begin_us;
	if (us > loop->stats.longest_us)
		loop->stats.longest_us = us;
	if (us <= LOOP_SLOW_US)
		return;
	loop->stats.slow_callbacks++;
	log_debug("loop", NULL, "a callback took %llu us",
		  (unsigned long long)us);
}

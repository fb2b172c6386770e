/* SPDX-License-Identifier: MIT */
#include "store/writer.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "core/wake.h"
#include "store/query.h"

enum { BATCH_MAX = 512, WAL_MAX_BYTES = 64 * 1024 * 1024 };

struct op_list {
	struct op *first; /* owned, as are those behind it */
	struct op *last;
	size_t n;
};

/* Replies being run; deliver() owns it. A reply may close the writer, which
 * then drops the rest. */
struct delivery {
	struct op_list ops;
	bool is_closed;
};

struct writer {
	struct loop *loop; /* borrowed: outlives us */
	struct db *db; /* borrowed: outlives us */
	struct wake *wake; /* owned; NULL on a simulated loop */
	struct timer *timer; /* owned; NULL on a real loop */
	struct delivery *delivery; /* borrowed; NULL outside of deliver() */
	pthread_t thread;
	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t has_work;
	struct op_list waiting;
	struct op_list done;
	struct store_stats stats;
	bool is_closing;
	bool limit_wal;
	bool is_failing; /* the writing thread's alone */
};

struct op *op_open(op_fn *run, struct store_reply reply)
{
	struct op *op = mem_new(sizeof(*op));

	op->arena = arena_open();
	op->run = run;
	op->reply = reply;
	return op;
}

static void op_close(struct op *op)
{
	arena_close(&op->arena);
	mem_free(op);
}

static void list_add(struct op_list *list, struct op *op)
{
	op->next = NULL;
	if (list->last)
		list->last->next = op;
	else
		list->first = op;
	list->last = op;
	list->n++;
}

static struct op *list_take(struct op_list *list)
{
	struct op *op = list->first;

	if (!op)
		return NULL;
	list->first = op->next;
	if (!list->first)
		list->last = NULL;
	list->n--;
	return op;
}

static struct op_list list_take_some(struct op_list *list, size_t max)
{
	struct op_list some = { 0 };

	while (some.n < max && list->first)
		list_add(&some, list_take(list));
	return some;
}

static void list_drop(struct op_list *list)
{
	struct op *op;

	while ((op = list_take(list)))
		op_close(op);
}

static int run_sql(struct db *db, const char *literal)
{
	struct query query = query_open(db, literal);

	return query_run(&query);
}

/* 0: the batch goes on, whatever became of op. */
static int run_op(struct db *db, struct op *op)
{
	int err = run_sql(db, "SAVEPOINT op");

	if (err)
		return err;
	op->err = op->run(db, op->data);
	if (op->err == -ENOSPC || op->err == -EIO)
		return op->err;
	if (op->err)
		err = run_sql(db, "ROLLBACK TO op");
	return err ? err : run_sql(db, "RELEASE op");
}

/* Once per outage, not per write. */
static void note_outcome(struct writer *writer, int err)
{
	sqlite3 *handle = db_handle(writer->db);

	if (err && !writer->is_failing)
		log_error("store", NULL,
			  "writes fail and are refused until this is mended: "
			  "%s (%s)",
			  sqlite3_errmsg(handle), strerror(-err));
	if (!err && writer->is_failing)
		log_info("store", NULL, "writes work again");
	writer->is_failing = err != 0;
}

static void count(struct writer *writer, const struct op_list *batch, int err,
		  uint64_t commit_us)
{
	const struct op *op;

	pthread_mutex_lock(&writer->mutex);
	for (op = batch->first; op; op = op->next) {
		if (op->err)
			writer->stats.failures++;
		else
			writer->stats.writes++;
	}
	if (!err)
		writer->stats.commits++;
	writer->stats.commit_us_total += commit_us;
	pthread_mutex_unlock(&writer->mutex);
}

static void run_batch(struct writer *writer, struct op_list *batch)
{
	uint64_t begin_us = 0;
	struct op *op;
	int err = run_sql(writer->db, "BEGIN IMMEDIATE");

	for (op = batch->first; op && !err; op = op->next)
		err = run_op(writer->db, op);
	if (!err) {
		begin_us = loop_now_us(writer->loop);
		err = run_sql(writer->db, "COMMIT");
	}
	note_outcome(writer, err);
	if (err) {
		for (op = batch->first; op; op = op->next)
			op->err = err;
		if (!sqlite3_get_autocommit(db_handle(writer->db)))
			db_exec(writer->db, "ROLLBACK");
	}
	count(writer, batch, err,
	      begin_us ? loop_now_us(writer->loop) - begin_us : 0);
}

/* A reader that is in the middle of something makes this fail at once: the
 * next idle moment tries again. */
static void limit_wal(struct writer *writer)
{
	sqlite3 *handle = db_handle(writer->db);
	const char *file = sqlite3_db_filename(handle, "main");
	struct stat st;

	if (!file || stat(sqlite3_filename_wal(file), &st) ||
	    st.st_size < WAL_MAX_BYTES)
		return;
	sqlite3_busy_timeout(handle, 0);
	sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE,
				  NULL, NULL);
	sqlite3_busy_timeout(handle, DB_BUSY_MS);
}

/* False: closing, and nothing waits any more. */
static bool take_batch(struct writer *writer, struct op_list *batch)
{
	pthread_mutex_lock(&writer->mutex);
	while (!writer->waiting.first && !writer->is_closing)
		pthread_cond_wait(&writer->has_work, &writer->mutex);
	*batch = list_take_some(&writer->waiting, BATCH_MAX);
	pthread_mutex_unlock(&writer->mutex);
	return batch->first != NULL;
}

/* True when nothing else waits. */
static bool hand_over(struct writer *writer, struct op_list *batch)
{
	struct op *op;
	bool is_idle;

	pthread_mutex_lock(&writer->mutex);
	while ((op = list_take(batch)))
		list_add(&writer->done, op);
	is_idle = !writer->waiting.first;
	pthread_mutex_unlock(&writer->mutex);
	wake_send(writer->wake);
	return is_idle;
}

static void *run_thread(void *arg)
{
	struct writer *writer = arg;
	struct op_list batch;

	while (take_batch(writer, &batch)) {
		run_batch(writer, &batch);
		if (hand_over(writer, &batch) && writer->limit_wal)
			limit_wal(writer);
	}
	return NULL;
}

static void deliver(void *arg)
{
	struct writer *writer = arg;
	struct delivery *delivery = mem_new(sizeof(*delivery));
	struct store_reply reply;
	struct op *op;
	int err;

	pthread_mutex_lock(&writer->mutex);
	delivery->ops = writer->done;
	writer->done = (struct op_list){ 0 };
	pthread_mutex_unlock(&writer->mutex);
	writer->delivery = delivery;
	while ((op = list_take(&delivery->ops))) {
		reply = op->reply;
		err = op->err;
		op_close(op);
		if (reply.done)
			reply.done(reply.owner, err);
	}
	if (!delivery->is_closed)
		writer->delivery = NULL;
	mem_free(delivery);
}

/* Signals are the loop's. */
static int start_thread(struct writer *writer)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&writer->thread, NULL, run_thread, writer);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

static void free_writer(struct writer *writer)
{
	wake_close(&writer->wake);
	timer_close(&writer->timer);
	pthread_cond_destroy(&writer->has_work);
	pthread_mutex_destroy(&writer->mutex);
	mem_free(writer);
}

int writer_open(struct writer **out, struct loop *loop, struct db *db,
		bool limit)
{
	struct writer *writer = mem_new(sizeof(*writer));
	int err = 0;

	writer->loop = loop;
	writer->db = db;
	writer->limit_wal = limit;
	pthread_mutex_init(&writer->mutex, NULL);
	pthread_cond_init(&writer->has_work, NULL);
	if (loop_is_sim(loop))
		writer->timer = timer_new(loop);
	else
		err = wake_open(&writer->wake, loop, deliver, writer);
	if (!err && writer->wake)
		err = start_thread(writer);
	if (err) {
		free_writer(writer);
		return err;
	}
	*out = writer;
	return 0;
}

static void run_inline(struct writer *writer, struct op *op)
{
	struct op_list batch = { 0 };

	list_add(&batch, op);
	run_batch(writer, &batch);
	list_add(&writer->done, list_take(&batch));
	if (!timer_is_armed(writer->timer))
		timer_start(writer->timer, 0, deliver, writer);
}

void writer_add(struct writer *writer, struct op *op)
{
	if (writer->timer) {
		run_inline(writer, op);
		return;
	}
	pthread_mutex_lock(&writer->mutex);
	list_add(&writer->waiting, op);
	pthread_cond_signal(&writer->has_work);
	pthread_mutex_unlock(&writer->mutex);
}

void writer_close(struct writer **out)
{
	struct writer *writer = *out;
	int err;

	if (!writer)
		return;
	*out = NULL;
	if (writer->wake) {
		pthread_mutex_lock(&writer->mutex);
		writer->is_closing = true;
		pthread_cond_signal(&writer->has_work);
		pthread_mutex_unlock(&writer->mutex);
		err = pthread_join(writer->thread, NULL);
		assert(!err);
	}
	list_drop(&writer->done);
	if (writer->delivery) {
		writer->delivery->is_closed = true;
		list_drop(&writer->delivery->ops);
	}
	free_writer(writer);
}

void writer_stats(struct writer *writer, struct store_stats *out)
{
	pthread_mutex_lock(&writer->mutex);
	*out = writer->stats;
	out->queued = writer->waiting.n;
	pthread_mutex_unlock(&writer->mutex);
}

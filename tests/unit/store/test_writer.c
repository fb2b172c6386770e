/* SPDX-License-Identifier: MIT */
/* Group commit: replies in order and after the commit, many writes in few
 * commits, a failed write undone alone, a full disk failing its whole batch
 * and nothing after it; closing commits what waits and drops the replies. */
#include "fixture.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/log.h"
#include "store/events.h"
#include "store/store_priv.h"

enum { MANY = 300 };

struct order {
	struct fixture *f;
	int next;
	bool is_broken;
};

struct ticket {
	struct order *order;
	int number;
	int err;
};

static void on_ticket(void *owner, int err)
{
	struct ticket *ticket = owner;
	struct order *order = ticket->order;

	ticket->err = err;
	order->is_broken |= order->next != ticket->number;
	if (++order->next == MANY && !loop_is_sim(order->f->loop))
		loop_stop(order->f->loop);
}

static void append(struct fixture *f, int64_t sequence, const char *payload,
		   struct store_reply reply)
{
	struct event_row row = { .sequence = sequence,
				 .type = "x",
				 .payload = payload };

	events_append(f->store, "c", &row, reply);
}

static size_t stored(struct fixture *f)
{
	struct event_list list;

	assert_int_equal(events_list(f->store, f->arena, "c", -1, &list), 0);
	return list.n;
}

/* Every tenth is written twice: it fails alone. */
static void write_many(struct fixture *f)
{
	struct order order = { .f = f };
	struct ticket tickets[MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		tickets[i] = (struct ticket){ &order, i, 1 };
		append(f, i % 10 == 9 ? i - 1 : i, "{}",
		       (struct store_reply){ on_ticket, &tickets[i] });
	}
	assert_int_equal(order.next, 0);
	if (loop_is_sim(f->loop))
		loop_advance_ms(f->loop, 0);
	else
		loop_run(f->loop);
	assert_int_equal(order.next, MANY);
	assert_false(order.is_broken);
	for (i = 0; i < MANY; i++)
		assert_int_equal(tickets[i].err, i % 10 == 9 ? -EEXIST : 0);
	assert_int_equal(stored(f), MANY - MANY / 10);
}

static void replies_in_order_on_a_simulated_loop(void **state)
{
	struct fixture f;

	fixture_open(&f);
	append(&f, 0, NULL, fixture_reply(&f));
	fixture_wait(&f);
	fixture_sql(&f, "DELETE FROM events");
	append(&f, -1, NULL, (struct store_reply){ NULL, NULL });
	fixture_sql(&f, "DELETE FROM events");
	write_many(&f);
	fixture_close(&f);
}

static void commits_many_at_once(void **state)
{
	struct store_stats stats;
	struct fixture f;

	fixture_open_folder(&f, false);
	write_many(&f);
	store_stats(f.store, &stats);
	assert_int_equal(stats.writes, MANY - MANY / 10);
	assert_int_equal(stats.failures, MANY / 10);
	assert_in_range(stats.commits, 1, MANY / 3);
	assert_int_equal(stats.queued, 0);
	assert_true(stats.commit_us_total > 0);
	assert_true(stats.wal_bytes > 0);
	fixture_close(&f);
}

/* Fills the database up to a ceiling of pages. */
static void set_room(struct fixture *f, int pages)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %d", pages);
	fixture_sql(f, sql);
}

static char *megabyte(void)
{
	char *text = test_malloc(1000001);

	memset(text, 'x', 1000000);
	text[1000000] = '\0';
	return text;
}

static void full_disk_fails_and_is_mended(void **state)
{
	struct fixture f;
	char *large = megabyte();

	fixture_open(&f);
	append(&f, 1, "{}", fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), 0);
	set_room(&f, 100);
	append(&f, 2, large, fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), -ENOSPC);
	append(&f, 3, large, fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), -ENOSPC);
	append(&f, 4, "{}", fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), 0);
	set_room(&f, 100000);
	append(&f, 2, large, fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), 0);
	assert_int_equal(stored(&f), 3);
	fixture_close(&f);
	test_free(large);
}

/* While another process holds the lock the writer has taken the first
 * operation alone, so that all behind it become one batch. */
static struct db *hold(struct fixture *f)
{
	struct store_stats stats;
	struct db *other;

	assert_int_equal(db_open(&other, f->store->file, DB_WRITE, &f->why), 0);
	assert_int_equal(db_exec(other, "BEGIN IMMEDIATE"), 0);
	append(f, 100, "{}", fixture_reply(f));
	do {
		sched_yield();
		store_stats(f->store, &stats);
	} while (stats.queued);
	return other;
}

static void let_go(struct db **other)
{
	assert_int_equal(db_exec(*other, "COMMIT"), 0);
	db_close(other);
}

static void full_disk_fails_the_batch(void **state)
{
	struct ticket tickets[4];
	struct order order = { .next = MANY - 4 };
	struct fixture f;
	struct db *other;
	char *large = megabyte();
	int i;

	fixture_open_folder(&f, false);
	order.f = &f;
	f.wanted = 1000; /* the last ticket stops the loop */
	set_room(&f, 100);
	other = hold(&f);
	for (i = 0; i < 4; i++) {
		tickets[i] = (struct ticket){ &order, MANY - 4 + i, 1 };
		append(&f, i, i == 2 ? large : "{}",
		       (struct store_reply){ on_ticket, &tickets[i] });
	}
	let_go(&other);
	loop_run(f.loop);
	assert_false(order.is_broken);
	assert_int_equal(f.err, 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(tickets[i].err, -ENOSPC);
	assert_int_equal(stored(&f), 1);
	f.wanted = f.replies;
	append(&f, 9, "{}", fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), 0);
	fixture_close(&f);
	test_free(large);
}

static void says_an_outage_once(void **state)
{
	char file[] = "/tmp/parley-log-XXXXXX", text[4096];
	struct log_options options = { LOG_INFO, false, mkstemp(file) };
	struct fixture f;
	const char *at;
	ssize_t n;
	int i;

	fixture_open(&f);
	log_setup(&options);
	set_room(&f, 1);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < 60; i++)
		append(&f, i, text, fixture_reply(&f));
	fixture_wait(&f);
	set_room(&f, 100000);
	append(&f, 99, "{}", fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), 0);
	log_setup(&(struct log_options){ LOG_INFO, false, 2 });
	n = pread(options.fd, text, sizeof(text) - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	at = strstr(text, "writes fail");
	assert_non_null(at);
	assert_null(strstr(at + 1, "writes fail"));
	assert_non_null(strstr(at, "writes work again"));
	close(options.fd);
	unlink(file);
	fixture_close(&f);
}

static void on_close(void *owner, int err)
{
	struct fixture *f = owner;

	f->replies++;
	store_close(&f->store);
	if (!loop_is_sim(f->loop))
		loop_stop(f->loop);
}

static void may_be_closed_in_a_reply(void **state)
{
	static const bool kinds[] = { true, false };
	struct fixture f;
	int i, k;

	for (k = 0; k < 2; k++) {
		fixture_open_folder(&f, kinds[k]);
		for (i = 0; i < 20; i++)
			append(&f, i, "{}",
			       (struct store_reply){ on_close, &f });
		if (kinds[k])
			loop_advance_ms(f.loop, 0);
		else
			loop_run(f.loop);
		assert_int_equal(f.replies, 1);
		assert_null(f.store);
		assert_int_equal(fixture_reopen(&f, false, &f.store), 0);
		assert_int_equal(stored(&f), 20);
		fixture_close(&f);
	}
}

static void closing_commits_what_waits(void **state)
{
	struct fixture f;
	int i;

	fixture_open_folder(&f, false);
	for (i = 0; i < MANY; i++)
		append(&f, i, "{}", fixture_reply(&f));
	store_close(&f.store);
	assert_int_equal(fixture_reopen(&f, false, &f.store), 0);
	assert_int_equal(f.replies, 0);
	assert_int_equal(stored(&f), MANY);
	fixture_close(&f);
}

/* Without that the log keeps its largest size: it is written over. */
static void truncates_a_large_log_when_idle(void **state)
{
	struct store_stats stats;
	struct fixture f;
	struct db *other;
	char *large = megabyte();
	int i;

	fixture_open_folder(&f, false);
	other = hold(&f);
	for (i = 0; i < 72; i++)
		append(&f, i, large, fixture_reply(&f));
	let_go(&other);
	assert_int_equal(fixture_wait(&f), 0);
	append(&f, 99, "{}", fixture_reply(&f));
	assert_int_equal(fixture_wait(&f), 0);
	store_stats(f.store, &stats);
	assert_in_range(stats.wal_bytes, 0, 1000000);
	fixture_close(&f);
	test_free(large);
}

static void copies_texts_before_it_returns(void **state)
{
	char type[] = "first", payload[] = "{\"a\":1}";
	struct event_row row = { .sequence = 1, .type = type };
	struct event_list list;
	struct fixture f;

	row.payload = payload;
	fixture_open_folder(&f, false);
	events_append(f.store, "c", &row, fixture_reply(&f));
	memset(type, 'z', sizeof(type) - 1);
	memset(payload, 'z', sizeof(payload) - 1);
	assert_int_equal(fixture_wait(&f), 0);
	events_list(f.store, f.arena, "c", 0, &list);
	assert_string_equal(list.rows[0].type, "first");
	assert_string_equal(list.rows[0].payload, "{\"a\":1}");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_in_order_on_a_simulated_loop),
		cmocka_unit_test(commits_many_at_once),
		cmocka_unit_test(full_disk_fails_and_is_mended),
		cmocka_unit_test(full_disk_fails_the_batch),
		cmocka_unit_test(says_an_outage_once),
		cmocka_unit_test(may_be_closed_in_a_reply),
		cmocka_unit_test(closing_commits_what_waits),
		cmocka_unit_test(truncates_a_large_log_when_idle),
		cmocka_unit_test(copies_texts_before_it_returns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

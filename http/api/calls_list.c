/* SPDX-License-Identifier: MIT */
#include "http/api/calls_list.h"

#include <errno.h>
#include <string.h>
#include "agent/call/phone.h"
#include "agent/service.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/time.h"
#include "core/work.h"
#include "http/problem.h"
#include "store/calls.h"

enum {
	LIMIT_MAX = 1000,
	OFFSET_MAX = 1000 * 1000 * 1000,
	DAY_MS = 24 * 3600 * 1000,
	TEXT_MAX_BYTES = 48 * 1024 * 1024
};

/* One list on its way through the pool. */
struct listing {
	struct request *request; /* borrowed: lives until answered */
	struct store *store; /* borrowed: outlives us */
	struct arena *arena; /* owned: the loop keeps off it meanwhile */
	struct calls_query query;
	struct buffer text; /* owned */
	int64_t last; /* first position after the wanted ones, or -1 */
	int err;
};

/* ---- filters ---- */

/* 1: given, 0: not, -EINVAL. Reads text, of which there is some. */
typedef int filter_fn(struct listing *listing, const char *text);

static int take_count(uint64_t *out, const char *text)
{
	return slice_to_u64(out, slice_of(text), OFFSET_MAX);
}

static int filter_first(struct listing *listing, const char *text)
{
	uint64_t n;

	if (take_count(&n, text))
		return -EINVAL;
	listing->query.offset = (size_t)n;
	return 0;
}

static int filter_last(struct listing *listing, const char *text)
{
	uint64_t n;

	if (take_count(&n, text))
		return -EINVAL;
	listing->last = (int64_t)n;
	return 0;
}

static int filter_limit(struct listing *listing, const char *text)
{
	uint64_t n;

	if (take_count(&n, text))
		return -EINVAL;
	listing->query.limit = n < LIMIT_MAX ? (size_t)n : LIMIT_MAX;
	return 0;
}

static int take_bool(bool *out, const char *text)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return -EINVAL;
	*out = !strcmp(text, "true");
	return 0;
}

static int filter_ascending(struct listing *listing, const char *text)
{
	bool is_on;

	if (take_bool(&is_on, text))
		return -EINVAL;
	listing->query.descending = !is_on;
	return 0;
}

static int filter_sort(struct listing *listing, const char *text)
{
	return strcmp(text, "created_at") ? -EINVAL : 0;
}

/* A day alone means its beginning or, as an end, all of it. */
static int take_time(int64_t *out, const char *text, bool is_end)
{
	char day[32];
	size_t len = strlen(text);

	if (!time_parse(out, slice_of(text))) {
		*out += is_end;
		return 0;
	}
	if (len != 10)
		return -EINVAL;
	memcpy(day, text, len);
	memcpy(day + len, " 00:00:00", 10);
	if (time_parse(out, slice_of(day)))
		return -EINVAL;
	*out += is_end ? DAY_MS : 0;
	return 0;
}

static int filter_start(struct listing *listing, const char *text)
{
	return take_time(&listing->query.start_ms, text, false);
}

static int filter_end(struct listing *listing, const char *text)
{
	return take_time(&listing->query.end_ms, text, true);
}

static const char *number_of(struct listing *listing, const char *text)
{
	char number[PHONE_SIZE];

	if (text[0] == ' ' && !strchr(text + 1, ' '))
		text = arena_printf(listing->arena, "+%s", text + 1);
	return arena_dup_str(listing->arena, phone_parse(number, slice_of(text))
						     ? text
						     : number);
}

static int filter_to(struct listing *listing, const char *text)
{
	listing->query.to = number_of(listing, text);
	return 0;
}

static int filter_from(struct listing *listing, const char *text)
{
	listing->query.from = number_of(listing, text);
	return 0;
}

static int filter_completed(struct listing *listing, const char *text)
{
	bool is_on;

	if (take_bool(&is_on, text))
		return -EINVAL;
	listing->query.completed = is_on;
	return 0;
}

static int filter_inbound(struct listing *listing, const char *text)
{
	bool is_on;

	if (take_bool(&is_on, text))
		return -EINVAL;
	listing->query.inbound = is_on;
	return 0;
}

/* No call is part of a batch here. */
static int filter_batch(struct listing *listing, const char *text)
{
	(void)text;
	listing->query.to = "";
	return 0;
}

static int filter_answered(struct listing *listing, const char *text)
{
	listing->query.answered_by = arena_dup_str(listing->arena, text);
	return 0;
}

static int take_seconds(double *out, const char *text)
{
	json_t *value = json_string(text);
	int err = json_to_real(out, value);

	json_decref(value);
	return err || *out < 0 ? -EINVAL : 0;
}

static int filter_longer(struct listing *listing, const char *text)
{
	return take_seconds(&listing->query.longer_s, text);
}

static int filter_shorter(struct listing *listing, const char *text)
{
	return take_seconds(&listing->query.shorter_s, text);
}

static const struct {
	const char *name;
	filter_fn *read;
	const char *wrong;
} filters[] = {
	{ "from", filter_first, "from must be a position in the list." },
	{ "to", filter_last, "to must be a position in the list." },
	{ "limit", filter_limit, "limit must be a number." },
	{ "ascending", filter_ascending, "ascending must be a boolean." },
	{ "sort_by", filter_sort, "sort_by must be created_at." },
	{ "start_date", filter_start, "start_date must be a date." },
	{ "end_date", filter_end, "end_date must be a date." },
	{ "from_number", filter_from, "" },
	{ "to_number", filter_to, "" },
	{ "completed", filter_completed, "completed must be a boolean." },
	{ "inbound", filter_inbound, "inbound must be a boolean." },
	{ "batch_id", filter_batch, "" },
	{ "answered_by", filter_answered, "" },
	{ "duration_gt", filter_longer,
	  "duration_gt must be a number of seconds." },
	{ "duration_lt", filter_shorter,
	  "duration_lt must be a number of seconds." },
};

static int read_filters(struct listing *listing)
{
	struct request *request = listing->request;

	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		const char *text = request_query(request, filters[i].name);

		if (!text || !text[0] || !filters[i].read(listing, text))
			continue;
		problem_invalid(request, filters[i].name, filters[i].wrong);
		return -EINVAL;
	}
	return 0;
}

/* "to" is the position after the last that is wanted. */
static void limit_to_last(struct listing *listing)
{
	struct calls_query *query = &listing->query;
	int64_t left = listing->last - (int64_t)query->offset;

	if (listing->last < 0)
		return;
	left = left < 0 ? 0 : left;
	if ((size_t)left < query->limit)
		query->limit = (size_t)left;
}

/* ---- in the pool ---- */

static void run(void *arg)
{
	struct listing *listing = arg;
	struct buffer *text = &listing->text;
	struct call_list list;

	listing->err = calls_list(listing->store, listing->arena,
				  &listing->query, &list);
	if (listing->err)
		return;
	buffer_printf(text, "{\"total_count\":%lld,\"count\":%zu,\"calls\":[",
		      (long long)list.total, list.n);
	for (size_t i = 0; i < list.n; i++) {
		if (i)
			buffer_add_char(text, ',');
		buffer_add_str(text, list.rows[i].brief);
	}
	buffer_add_str(text, "]}");
	listing->err = buffer_error(text);
}

static void close_listing(struct listing *listing)
{
	arena_close(&listing->arena);
	buffer_reset(&listing->text);
	mem_free(listing);
}

static void on_done(void *arg)
{
	struct listing *listing = arg;

	if (listing->err)
		request_fail_internal(listing->request, listing->err);
	else
		request_reply_text(listing->request, 200,
				   buffer_slice(&listing->text));
	close_listing(listing);
}

void calls_list_reply(struct request *request)
{
	static const struct job_fns fns = { run, on_done };
	const struct request_view *view = request_view(request);
	struct listing *listing = mem_new(sizeof(*listing));

	*listing = (struct listing){ .request = request,
				     .store = view->service->store,
				     .arena = arena_open(),
				     .last = -1 };
	buffer_init(&listing->text, TEXT_MAX_BYTES);
	listing->query = (struct calls_query){ .completed = -1,
					       .inbound = -1,
					       .longer_s = -1,
					       .shorter_s = -1,
					       .limit = LIMIT_MAX,
					       .descending = true };
	listing->query.org_id = arena_dup_str(listing->arena, view->org_id);
	if (read_filters(listing)) {
		close_listing(listing);
		return;
	}
	limit_to_last(listing);
	work_queue(view->service->work, WORK_CPU, NULL, &fns, listing);
}

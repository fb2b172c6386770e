/* SPDX-License-Identifier: MIT */
/* TCP of the simulated network. A connection is shared by its two ends and by
 * the parcels under way between them; each holds one count, the last frees. */
#include "core/sim_priv.h"
#include <assert.h>
#include <errno.h>
#include "core/link_priv.h"
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/sim_tcp_priv.h"
#include "core/tcp_priv.h"
#include "core/timer.h"

static void flush(struct sim_end *end);

static struct sim_end *end_of(struct link *link)
{
	return (struct sim_end *)link;
}

static void conn_release(struct sim_conn *conn)
{
	if (--conn->count)
		return;
	LIST_REMOVE(conn, entry);
	mem_free(conn);
}

static void drop_parcel(struct loop *loop, void *arg)
{
	struct sim_tcp_parcel *parcel = arg;

	conn_release(parcel->conn);
	mem_free(parcel);
}

void sim_parcel_send(struct sim_conn *conn, enum sim_kind kind, int to,
		     struct slice bytes)
{
	struct sim_tcp_parcel *parcel = mem_new(sizeof(*parcel) + bytes.len);
	uint64_t at_us = conn->loop->sim->now_us + conn->loop->sim->delay_us;

	if (at_us < conn->last_us[to])
		at_us = conn->last_us[to]; /* the delay was shortened */
	conn->last_us[to] = at_us;
	conn->count++;
	parcel->conn = conn;
	parcel->kind = kind;
	parcel->to = to;
	parcel->len = bytes.len;
	if (bytes.len)
		memcpy(parcel->bytes, bytes.ptr, bytes.len);
	sim_post(conn->loop, at_us, sim_parcel_arrive, drop_parcel, parcel);
}

static void on_drained(void *arg)
{
	struct sim_end *end = arg;

	if (!end->queued && end->link.state == LINK_OPEN)
		link_emit_drain(&end->link);
}

/* The other end has taken n bytes, or never will. */
static void on_consumed(struct sim_conn *conn, int from, size_t n)
{
	struct sim_end *end = conn->ends[from];

	if (!end || !n)
		return;
	end->queued -= n;
	if (!end->queued && end->link.state == LINK_OPEN && !end->why)
		timer_start(end->drain, 0, on_drained, end);
}

void sim_parcel_free(struct sim_tcp_parcel *parcel)
{
	struct sim_conn *conn = parcel->conn;

	on_consumed(conn, !parcel->to, parcel->len);
	mem_free(parcel);
	conn_release(conn);
}

static void on_flush(void *arg)
{
	flush(arg);
}

static void post_flush(struct sim_end *end)
{
	if (!timer_is_armed(end->flush))
		timer_start(end->flush, 0, on_flush, end);
}

/* Last: the owner may close the link. */
static void finish(struct sim_end *end, int err, const char *why)
{
	timer_stop(end->timer);
	timer_stop(end->flush);
	link_emit_close(&end->link, err, why);
}

static void discard(struct sim_end *end)
{
	struct sim_tcp_parcel *parcel;

	while ((parcel = STAILQ_FIRST(&end->arrived))) {
		STAILQ_REMOVE_HEAD(&end->arrived, entry);
		sim_parcel_free(parcel);
	}
}

/* Hands over one piece; what remains comes on a turn of its own. */
static void emit_first(struct sim_end *end)
{
	struct sim_tcp_parcel *parcel = STAILQ_FIRST(&end->arrived);
	struct loop *loop = end->link.loop;
	char *scratch = loop->scratch;
	size_t len = parcel->len;

	assert(len <= LOOP_SCRATCH_BYTES);
	memcpy(scratch, parcel->bytes, len);
	STAILQ_REMOVE_HEAD(&end->arrived, entry);
	sim_parcel_free(parcel);
	if (!STAILQ_EMPTY(&end->arrived) || end->has_peer_ended)
		post_flush(end);
	link_emit_data(&end->link, slice_make(scratch, len));
}

static void flush(struct sim_end *end)
{
	if (end->why || end->link.state == LINK_ENDED)
		return;
	if (end->link.state == LINK_ENDING) {
		discard(end);
		if (end->has_peer_ended)
			finish(end, 0, TCP_WHY_HERE);
		return;
	}
	if (end->is_paused || !end->link.is_attached)
		return;
	if (!STAILQ_EMPTY(&end->arrived))
		emit_first(end);
	else if (end->has_peer_ended)
		finish(end, 0, TCP_WHY_PEER);
}

static void on_connect_late(void *arg)
{
	finish(arg, -ETIMEDOUT, TCP_WHY_TIMEOUT);
}

void sim_end_await(struct sim_end *end)
{
	end->is_unanswered = true;
	timer_start(end->timer, TCP_CONNECT_MS, on_connect_late, end);
}

void sim_end_on_open(struct sim_end *end)
{
	end->is_unanswered = false;
	if (end->link.state != LINK_CONNECTING)
		return;
	timer_stop(end->timer);
	link_emit_open(&end->link);
}

void sim_end_on_bytes(struct sim_end *end, struct sim_tcp_parcel *parcel)
{
	STAILQ_INSERT_TAIL(&end->arrived, parcel, entry);
	flush(end);
}

void sim_end_on_fin(struct sim_end *end)
{
	end->has_peer_ended = true;
	flush(end);
}

static int send_bytes(struct link *link, struct slice bytes)
{
	struct sim_end *end = end_of(link);
	struct sim_conn *conn = end->conn;
	struct sim_packet packet = { .is_tcp = true,
				     .from = conn->addrs[end->side],
				     .to = conn->addrs[!end->side],
				     .bytes = bytes };

	if (conn->is_cut || end->why)
		return -EPIPE;
	if (sim_judge(conn->loop, &packet) == SIM_DROP) {
		sim_conn_cut(conn);
		return 0;
	}
	while (bytes.len) {
		size_t n = bytes.len < LOOP_SCRATCH_BYTES ? bytes.len
							  : LOOP_SCRATCH_BYTES;

		end->queued += n;
		sim_parcel_send(conn, SIM_BYTES, !end->side,
				slice_make(bytes.ptr, n));
		bytes = slice_make(bytes.ptr + n, bytes.len - n);
	}
	return 0;
}

static size_t queued_bytes(const struct link *link)
{
	return ((const struct sim_end *)link)->queued;
}

static void pause_reading(struct link *link)
{
	end_of(link)->is_paused = true;
}

static void resume_reading(struct link *link)
{
	end_of(link)->is_paused = false;
	post_flush(end_of(link));
}

static void on_failed(void *arg)
{
	struct sim_end *end = arg;

	finish(end, end->err, end->why);
}

static void fail(struct link *link, int err, const char *why)
{
	struct sim_end *end = end_of(link);

	if (end->why)
		return;
	link->state = LINK_ENDING;
	end->err = err;
	end->why = why;
	timer_start(end->timer, 0, on_failed, end);
}

void sim_conn_cut(struct sim_conn *conn)
{
	int side;

	conn->is_cut = true;
	for (side = 0; side < 2; side++)
		if (conn->ends[side])
			link_fail(&conn->ends[side]->link, -ECONNRESET,
				  "connection reset");
}

static void on_lingered(void *arg)
{
	finish(arg, 0, TCP_WHY_HERE);
}

static void send_fin(struct sim_end *end)
{
	if (!end->has_sent_fin && !end->conn->is_cut)
		sim_parcel_send(end->conn, SIM_FIN, !end->side,
				slice_make(NULL, 0));
	end->has_sent_fin = true;
}

static void shut_down(struct link *link)
{
	struct sim_end *end = end_of(link);

	if (end->is_unanswered) {
		fail(link, 0, TCP_WHY_HERE);
		return;
	}
	send_fin(end);
	timer_start(end->timer, TCP_LINGER_MS, on_lingered, end);
	post_flush(end);
}

static void close_link(struct link *link)
{
	struct sim_end *end = end_of(link);
	struct sim_conn *conn = end->conn;

	conn->ends[end->side] = NULL;
	send_fin(end);
	discard(end);
	timer_close(&end->timer);
	timer_close(&end->flush);
	timer_close(&end->drain);
	link_reset(link);
	mem_free(end);
	conn_release(conn);
}

static void attach(struct link *link)
{
	post_flush(end_of(link));
}

static const struct link_ops ops = {
	.send = send_bytes,
	.queued_bytes = queued_bytes,
	.pause = pause_reading,
	.resume = resume_reading,
	.shutdown = shut_down,
	.fail = fail,
	.close = close_link,
	.attach = attach,
};

struct sim_end *sim_end_open(struct sim_conn *conn, int side,
			     const struct link_events *events, void *owner)
{
	struct sim_end *end = mem_new(sizeof(*end));

	link_init(&end->link, &ops, conn->loop, events, owner);
	link_set_addrs(&end->link, &conn->addrs[side], &conn->addrs[!side]);
	end->conn = conn;
	end->side = side;
	end->timer = timer_new(conn->loop);
	end->flush = timer_new(conn->loop);
	end->drain = timer_new(conn->loop);
	STAILQ_INIT(&end->arrived);
	conn->ends[side] = end;
	conn->count++;
	return end;
}

/* SPDX-License-Identifier: MIT */
#include "http/sender.h"

#include <assert.h>
#include <unistd.h>
#include "core/link.h"
#include "core/mem.h"
#include "core/work.h"

enum { PIECE_BYTES = 256 * 1024, QUEUE_LOW_BYTES = 512 * 1024 };

/* A piece of a file being read in the pool; frees itself when orphaned. */
struct piece {
	struct sender *sender; /* borrowed; NULL: it is gone */
	char *bytes; /* owned */
	int fd; /* owned only when orphaned */
	uint64_t at;
	size_t want;
	ssize_t n;
};

struct sender {
	struct sender_options options;
	struct answer answer; /* owned while is_busy */
	size_t sent; /* of answer.text */
	struct piece *piece; /* being read; NULL: none */
	uint64_t handed; /* bytes given to the link so far */
	bool is_busy;
};

static void pump(struct sender *sender);

struct sender *sender_open(const struct sender_options *options)
{
	struct sender *sender = mem_new(sizeof(*sender));

	sender->options = *options;
	sender->answer.fd = -1;
	return sender;
}

static void drop_answer(struct sender *sender)
{
	struct answer *answer = &sender->answer;

	buffer_reset(&answer->text);
	if (sender->piece) {
		sender->piece->sender = NULL;
		sender->piece->fd = answer->fd;
	} else if (answer->fd >= 0) {
		close(answer->fd);
	}
	sender->piece = NULL;
	answer->fd = -1;
	sender->is_busy = false;
}

void sender_close(struct sender **sender)
{
	if (!*sender)
		return;
	drop_answer(*sender);
	mem_free(*sender);
	*sender = NULL;
}

static int hand_over(struct sender *sender, struct slice bytes)
{
	int err = link_send(sender->options.link, bytes);

	if (err)
		return err;
	sender->handed += bytes.len;
	*sender->options.bytes_out += bytes.len;
	return 0;
}

/* ---- files ---- */

static void read_piece(void *arg)
{
	struct piece *piece = arg;

	piece->n =
		pread(piece->fd, piece->bytes, piece->want, (off_t)piece->at);
}

static void free_piece(struct piece *piece)
{
	mem_free(piece->bytes);
	mem_free(piece);
}

static void on_piece(void *arg)
{
	struct piece *piece = arg;
	struct sender *sender = piece->sender;
	int err = -1;

	if (!sender) {
		close(piece->fd);
		free_piece(piece);
		return;
	}
	sender->piece = NULL;
	if (piece->n > 0) {
		sender->answer.at += (uint64_t)piece->n;
		sender->answer.size -= (uint64_t)piece->n;
		err = hand_over(sender,
				slice_make(piece->bytes, (size_t)piece->n));
	}
	free_piece(piece);
	if (err)
		sender->options.events->on_broken(sender->options.owner);
	else
		pump(sender);
}

static void start_piece(struct sender *sender)
{
	static const struct job_fns fns = { read_piece, on_piece };
	const struct answer *answer = &sender->answer;
	struct piece *piece = mem_new(sizeof(*piece));

	*piece = (struct piece){ .sender = sender,
				 .bytes = mem_new(PIECE_BYTES),
				 .fd = answer->fd,
				 .at = answer->at,
				 .want = answer->size < PIECE_BYTES
						 ? (size_t)answer->size
						 : PIECE_BYTES };
	sender->piece = piece;
	work_queue(sender->options.work, WORK_DISK, NULL, &fns, piece);
}

/* ---- the whole ---- */

static bool has_room(const struct sender *sender)
{
	return link_queued_bytes(sender->options.link) < QUEUE_LOW_BYTES;
}

/* Where it returns early something calls it again: a queue that is not low is
 * not empty, so its emptying follows, or the link's end. */
static void pump(struct sender *sender)
{
	const struct buffer *text = &sender->answer.text;

	while (sender->sent < text->len && has_room(sender)) {
		size_t n = text->len - sender->sent;

		n = n < PIECE_BYTES ? n : PIECE_BYTES;
		if (hand_over(sender, slice_make(text->ptr + sender->sent, n)))
			return;
		sender->sent += n;
	}
	if (sender->sent < text->len || sender->piece || !has_room(sender))
		return;
	if (sender->answer.size) {
		start_piece(sender);
		return;
	}
	drop_answer(sender);
	sender->options.events->on_sent(sender->options.owner);
}

void sender_send(struct sender *sender, const struct answer *answer)
{
	assert(!sender->is_busy);
	sender->answer = *answer;
	sender->sent = 0;
	sender->is_busy = true;
	pump(sender);
}

void sender_go_on(struct sender *sender)
{
	if (sender->is_busy)
		pump(sender);
}

uint64_t sender_taken(const struct sender *sender)
{
	return sender->handed - link_queued_bytes(sender->options.link);
}

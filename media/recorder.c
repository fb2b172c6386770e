/* SPDX-License-Identifier: MIT */
#include "media/recorder.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/work.h"

enum {
	FRAME_US = 20000,
	CHUNK_FRAMES = 50,
	CHUNK_SAMPLES = CHUNK_FRAMES * RECORDER_FRAME * 2,
	SAMPLE_BYTES = 2,
	RATE_HZ = 8000,
	CHANNELS = 2,
};

static const uint32_t data_bytes_max = 0xffffff00u;

/* What the disk thread works on; one job at a time touches it. */
struct file {
	char *name; /* owned */
	int fd;
	int error; /* the first; then nothing is written any more */
	uint32_t data_bytes;
};

struct chunk {
	struct recorder *recorder; /* borrowed: lives until its last job */
	bool is_last;
	int error; /* of its job */
	uint64_t gap; /* samples of silence before, left as a hole */
	size_t n; /* samples of both channels */
	int16_t samples[CHUNK_SAMPLES];
};

/* Jobs run in order, so the one that closes the file is the last: after it the
 * recorder frees itself. */
struct recorder {
	struct work *work; /* borrowed: outlives us */
	struct file file;
	struct chunk *chunk; /* owned, being filled */
	uint64_t start_us;
	uint64_t frames;
	unsigned waiting; /* jobs */
	bool has_failed;
	recorder_failed_fn *on_failed; /* NULL after close */
	void *owner;
};

static struct chunk *new_chunk(struct recorder *recorder)
{
	struct chunk *chunk = mem_new(sizeof(*chunk));

	chunk->recorder = recorder;
	return chunk;
}

static int write_all(int fd, const void *bytes, size_t n, off_t offset)
{
	while (n) {
		ssize_t done = pwrite(fd, bytes, n, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		bytes = (const char *)bytes + done;
		n -= (size_t)done;
		offset += done;
	}
	return 0;
}

static void put_le32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void put_le16(uint8_t *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
}

static int write_header(const struct file *file)
{
	uint8_t at[RECORDER_HEADER_BYTES];

	memcpy(at, "RIFF", 4);
	put_le32(at + 4, RECORDER_HEADER_BYTES - 8 + file->data_bytes);
	memcpy(at + 8, "WAVEfmt ", 8);
	put_le32(at + 16, 16);
	put_le16(at + 20, 1); /* PCM */
	put_le16(at + 22, CHANNELS);
	put_le32(at + 24, RATE_HZ);
	put_le32(at + 28, RATE_HZ * CHANNELS * SAMPLE_BYTES);
	put_le16(at + 32, CHANNELS * SAMPLE_BYTES);
	put_le16(at + 34, 8 * SAMPLE_BYTES);
	memcpy(at + 36, "data", 4);
	put_le32(at + 40, file->data_bytes);
	return write_all(file->fd, at, sizeof(at), 0);
}

static int write_chunk(struct file *file, const struct chunk *chunk)
{
	uint64_t gap = chunk->gap * SAMPLE_BYTES;
	size_t n = chunk->n * SAMPLE_BYTES;
	int err;

	if (file->fd < 0)
		file->fd = open(file->name,
				O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	if (file->fd < 0)
		return -errno;
	if (gap + n > data_bytes_max - file->data_bytes)
		return -EFBIG;
	file->data_bytes += (uint32_t)gap;
	if (gap && ftruncate(file->fd,
			     RECORDER_HEADER_BYTES + (off_t)file->data_bytes))
		return -errno;
	err = write_all(file->fd, chunk->samples, n,
			RECORDER_HEADER_BYTES + (off_t)file->data_bytes);
	if (err)
		return err;
	file->data_bytes += (uint32_t)n;
	return write_header(file);
}

static void run_job(void *arg)
{
	struct chunk *chunk = arg;
	struct file *file = &chunk->recorder->file;

	if (!file->error)
		file->error = write_chunk(file, chunk);
	chunk->error = file->error;
	if (chunk->is_last && file->fd >= 0)
		close(file->fd);
}

/* Last: its owner may close the recorder. */
static void fail(struct recorder *recorder, const char *why)
{
	if (recorder->has_failed)
		return;
	recorder->has_failed = true;
	log_error("recording", recorder->file.name, "given up: %s", why);
	if (recorder->on_failed)
		recorder->on_failed(recorder->owner, why);
}

static void on_done(void *arg)
{
	struct chunk *chunk = arg;
	struct recorder *recorder = chunk->recorder;
	int err = chunk->error;
	bool is_last = chunk->is_last;

	mem_free(chunk);
	recorder->waiting--;
	if (err)
		fail(recorder, strerror(-err));
	if (is_last) {
		mem_free(recorder->file.name);
		mem_free(recorder->chunk);
		mem_free(recorder);
	}
}

static void queue_chunk(struct recorder *recorder, struct chunk *chunk)
{
	static const struct job_fns fns = { run_job, on_done };

	recorder->waiting++;
	work_queue(recorder->work, WORK_DISK, NULL, &fns, chunk);
}

void recorder_open(struct recorder **out,
		   const struct recorder_options *options)
{
	struct recorder *recorder = mem_new(sizeof(*recorder));

	recorder->work = options->work;
	recorder->file.name = mem_dup_str(options->file);
	recorder->file.fd = -1;
	recorder->start_us = options->now_us;
	recorder->on_failed = options->on_failed;
	recorder->owner = options->owner;
	recorder->chunk = new_chunk(recorder);
	queue_chunk(recorder, new_chunk(recorder)); /* an empty file */
	*out = recorder;
}

static void flush(struct recorder *recorder)
{
	if (recorder->waiting > RECORDER_QUEUE) {
		recorder->chunk->n = 0;
		fail(recorder, "the disk is too slow");
		return;
	}
	queue_chunk(recorder, recorder->chunk);
	recorder->chunk = new_chunk(recorder);
}

static void add_frame(struct recorder *recorder, const int16_t *left,
		      const int16_t *right)
{
	struct chunk *chunk = recorder->chunk;
	int16_t *out = chunk->samples + chunk->n;

	for (size_t i = 0; i < RECORDER_FRAME; i++) {
		out[2 * i] = left ? (int16_t)htole16((uint16_t)left[i]) : 0;
		out[2 * i + 1] =
			right ? (int16_t)htole16((uint16_t)right[i]) : 0;
	}
	chunk->n += 2 * RECORDER_FRAME;
	recorder->frames++;
	if (chunk->n == CHUNK_SAMPLES)
		flush(recorder);
}

/* Frames that should be there before the one due at at_us. A long gap, as
 * before the answer, is no work for the disk. */
static void fill(struct recorder *recorder, uint64_t at_us)
{
	uint64_t due = at_us > recorder->start_us
			       ? (at_us - recorder->start_us) / FRAME_US
			       : 0;

	while (recorder->frames < due && recorder->chunk->n)
		add_frame(recorder, NULL, NULL);
	if (recorder->frames < due) {
		recorder->chunk->gap +=
			(due - recorder->frames) * RECORDER_FRAME * CHANNELS;
		recorder->frames = due;
	}
}

void recorder_add(struct recorder *recorder, uint64_t at_us,
		  const int16_t *left, const int16_t *right)
{
	if (recorder->has_failed)
		return;
	fill(recorder, at_us);
	add_frame(recorder, left, right);
}

void recorder_give(struct recorder *recorder, void *owner)
{
	recorder->owner = owner;
}

int64_t recorder_ms(const struct recorder *recorder)
{
	return (int64_t)(recorder->frames * (FRAME_US / 1000));
}

void recorder_close(struct recorder **recorder, uint64_t now_us)
{
	struct recorder *old = *recorder;

	if (!old)
		return;
	*recorder = NULL;
	old->on_failed = NULL;
	if (!old->has_failed)
		fill(old, now_us);
	old->chunk->is_last = true;
	queue_chunk(old, old->chunk);
	old->chunk = NULL;
}

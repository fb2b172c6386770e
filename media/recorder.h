/* SPDX-License-Identifier: MIT */
/* media/recorder.h - a stereo WAV of one call, 16 bit at 8 kHz, on wall time:
 * what was not heard is silence. Written a second at a time by jobs on the disk
 * thread; each patches the header, so the file can be read at any moment. A
 * full or slow disk ends the recording, never the call. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct recorder;
struct work;

enum {
	RECORDER_FRAME = 160,
	RECORDER_QUEUE = 8, /* seconds that may wait for the disk */
	RECORDER_HEADER_BYTES = 44,
};

/* Once, also inside recorder_add(); the recorder stays to be closed. */
typedef void recorder_failed_fn(void *owner, const char *why);

struct recorder_options {
	struct work *work; /* borrowed: outlives us */
	const char *file; /* copied; replaced if it is there */
	uint64_t now_us; /* the first sample */
	recorder_failed_fn *on_failed;
	void *owner;
};

void recorder_open(struct recorder **out,
		   const struct recorder_options *options);
/* The frame that is due at at_us; NULL is silence. Frames since the last one
 * that did not come are filled with silence. */
void recorder_add(struct recorder *recorder, uint64_t at_us,
		  const int16_t *left, const int16_t *right);
/* on_failed is told to somebody else from now on. */
void recorder_give(struct recorder *recorder, void *owner);
int64_t recorder_ms(const struct recorder *recorder);
/* Queues the rest at once, so that a disk job queued after this call finds the
 * file complete; no callback after. */
void recorder_close(struct recorder **recorder, uint64_t now_us);

/* SPDX-License-Identifier: MIT */
/* tools/benches/media_host.c - what is measured: as many streams of media/ as
 * offers come, each with a prompt playing over and over, until the other side
 * hangs up. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/buffer.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/work.h"
#include "media/media.h"
#include "media/playout.h"
#include "media/stream.h"
#include "tools/benches/bench.h"
#include "tools/benches/media_child.h"

enum { PROMPT_SAMPLES = 3 * 8000, REFILL_SAMPLES = 8000 };

struct call {
	struct host *host; /* borrowed */
	struct stream *stream; /* owned */
	uint64_t frames, voiced;
};

struct host {
	struct loop *loop;
	struct work *work;
	struct media *media;
	struct call *calls; /* owned */
	size_t n_calls;
	const char *record; /* folder; NULL: no recording */
	int16_t prompt[PROMPT_SAMPLES];
};

static void on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct call *call = owner;
	struct playout *playout = stream_playout(call->stream);

	(void)samples;
	call->frames++;
	call->voiced += is_voice;
	if (playout_queued(playout) < REFILL_SAMPLES)
		playout_queue(playout, call->host->prompt, PROMPT_SAMPLES);
}

static void on_digit(void *owner, char digit)
{
	(void)owner;
	(void)digit;
}

static void on_timeout(void *owner)
{
	(void)owner;
	fputs("media-host: a stream hears nothing\n", stderr);
}

static void on_recording_failed(void *owner, const char *why)
{
	(void)owner;
	fprintf(stderr, "media-host: %s\n", why);
}

static int take_call(struct host *host, struct call *call, size_t index)
{
	static const struct stream_events events = {
		.on_frame = on_frame,
		.on_digit = on_digit,
		.on_timeout = on_timeout,
		.on_recording_failed = on_recording_failed,
	};
	struct buffer offer, answer;
	char file[4096];
	int err;

	buffer_init(&offer, CHILD_TEXT_MAX);
	buffer_init(&answer, CHILD_TEXT_MAX);
	call->host = host;
	err = child_receive(CHILD_FD, &offer);
	if (!err)
		err = stream_open(&call->stream, host->media, &events, call);
	if (!err)
		err = stream_take_offer(call->stream, buffer_slice(&offer),
					&answer);
	if (!err && host->record) {
		snprintf(file, sizeof(file), "%s/%zu.wav", host->record, index);
		err = stream_record(call->stream, file);
	}
	if (!err)
		err = child_send(CHILD_FD, buffer_slice(&answer));
	buffer_reset(&offer);
	buffer_reset(&answer);
	return err;
}

static int open_host(struct host *host)
{
	struct media_options media = {
		.port_min = 16384,
		.port_max = 32767,
		.codecs = { MEDIA_PCMU, MEDIA_PCMA },
		.n_codecs = 2,
		.timeout_ms = 5000,
	};
	int err = loop_open(&host->loop);

	if (!err)
		err = work_open(&host->work, host->loop);
	if (err)
		return err;
	media.loop = host->loop;
	media.work = host->work;
	addr_parse(&media.bind, SLICE("127.0.0.1"), 0);
	return media_open(&host->media, &media);
}

static void on_signal(void *owner, int signum)
{
	struct host *host = owner;

	(void)signum;
	loop_stop(host->loop);
}

static void report(const struct host *host)
{
	struct media_stats stats;
	struct loop_stats loop;
	struct buffer text;
	uint64_t frames = 0, voiced = 0;

	for (size_t i = 0; i < host->n_calls; i++) {
		frames += host->calls[i].frames;
		voiced += host->calls[i].voiced;
	}
	media_stats(host->media, &stats);
	loop_stats(host->loop, &loop);
	buffer_init(&text, CHILD_TEXT_MAX);
	buffer_printf(
		&text,
		"\"frames\": %llu, \"voiced\": %llu, \"auth_failures\": %llu, "
		"\"late_slots\": %llu, \"slot_late_us_max\": %llu, "
		"\"longest_callback_us\": %llu, \"slow_callbacks\": %llu",
		(unsigned long long)frames, (unsigned long long)voiced,
		(unsigned long long)stats.auth_failures,
		(unsigned long long)stats.late_slots,
		(unsigned long long)stats.slot_late_us_max,
		(unsigned long long)loop.longest_us,
		(unsigned long long)loop.slow_callbacks);
	child_send(CHILD_FD, buffer_slice(&text));
	buffer_reset(&text);
}

int bench_media_host(int argc, char **argv)
{
	struct host *host = mem_new(sizeof(*host));
	int err = open_host(host);

	(void)argc;
	host->n_calls = bench_number(argv, "--calls", 100);
	host->record = bench_text(argv, "--record", NULL);
	host->calls = mem_new_array(host->n_calls, sizeof(*host->calls));
	child_voice(host->prompt, PROMPT_SAMPLES);
	if (!err)
		err = child_send(CHILD_FD, SLICE("ready"));
	for (size_t i = 0; !err && i < host->n_calls; i++)
		err = take_call(host, &host->calls[i], i);
	if (err) {
		fprintf(stderr, "media-host: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	loop_on_signals(host->loop, on_signal, host);
	loop_run(host->loop);
	report(host);
	for (size_t i = 0; i < host->n_calls; i++)
		stream_close(&host->calls[i].stream);
	media_close(&host->media);
	work_close(&host->work);
	loop_close(&host->loop);
	mem_free(host->calls);
	mem_free(host);
	return EXIT_SUCCESS;
}

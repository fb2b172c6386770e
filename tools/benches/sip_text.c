/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_text.c - how long a typical INVITE takes to be read, and to
 * be written; beside each the least that such work is: a copy and one pass over
 * its lines, and a copy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/arena.h"
#include "core/mem.h"
#include "sip/dialog.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"
#include "tools/benches/media_child.h"
#include "tools/benches/meter.h"

enum { BATCH = 1000 };

struct text {
	struct dialog *dialog; /* owned */
	struct buffer sdp;
	struct buffer invite; /* what is read: as it was written */
};

/* Done once; adds to sum what the compiler may not leave out. */
typedef void work_fn(const struct text *text, uint64_t *sum);

static void write_into(const struct text *text, struct buffer *out)
{
	struct dialog_request request = {
		.method = SIP_INVITE,
		.cseq = 1,
		.branch = "z9hG4bKhq3yV2mF7p9x",
		.sent_by = "203.0.113.7:5061",
		.user_agent = "Parley-bench",
		.headers = SLICE("Session-Expires: 1800;refresher=uac\r\n"
				 "Min-SE: 90\r\n"),
		.body = buffer_slice(&text->sdp),
	};

	dialog_write(text->dialog, out, &request);
}

static void write_one(const struct text *text, uint64_t *sum)
{
	struct buffer out;

	buffer_init(&out, SIP_MESSAGE_MAX_BYTES);
	write_into(text, &out);
	*sum += out.len;
	buffer_reset(&out);
}

static void copy_one(const struct text *text, uint64_t *sum)
{
	char *copy = mem_dup_bytes(text->invite.ptr, text->invite.len);

	*sum += (unsigned char)copy[text->invite.len / 2];
	mem_free(copy);
}

static void read_one(const struct text *text, uint64_t *sum)
{
	struct slice whole = buffer_slice(&text->invite);
	struct sip_message *message;
	ssize_t len = sip_message_frame(whole);

	if (len <= 0 ||
	    sip_message_parse(&message, slice_make(whole.ptr, (size_t)len),
			      NULL))
		abort();
	*sum += message->n_headers;
	sip_message_unref(&message);
}

static void pass_one(const struct text *text, uint64_t *sum)
{
	struct arena *arena = arena_open();
	struct slice rest =
		slice_make(arena_dup(arena, buffer_slice(&text->invite)),
			   text->invite.len);

	while (rest.len) {
		slice_cut(&rest, '\n');
		++*sum;
	}
	arena_close(&arena);
}

static const struct {
	const char *name;
	work_fn *work;
} works[] = {
	{ "read", read_one },
	{ "read floor", pass_one },
	{ "write", write_one },
	{ "write floor", copy_one },
};

/* Nanoseconds of CPU for one, over a window. */
static double measure(const struct text *text, work_fn *work,
		      uint64_t window_ns, uint64_t *sum)
{
	uint64_t begin = meter_cpu_ns(), now, n = 0;

	do {
		for (int i = 0; i < BATCH; i++)
			work(text, sum);
		n += BATCH;
		now = meter_cpu_ns();
	} while (now - begin < window_ns);
	return (double)(now - begin) / (double)n;
}

static bool open_text(struct text *text)
{
	struct sip_target trunk = { .host = "sip.carrier.example" };
	struct dialog_out out = { .trunk = &trunk,
				  .target = "sip:+14155550123@"
					    "sip.carrier.example",
				  .domain = "parley.example",
				  .user = "+14155550100" };
	uint8_t key[SRTP_KEY_BYTES] = { 1 };

	buffer_init(&text->sdp, CHILD_TEXT_MAX);
	buffer_init(&text->invite, SIP_MESSAGE_MAX_BYTES);
	far_side_write(&text->sdp, 16384, 0, key);
	text->dialog = dialog_open_out(&out);
	if (text->dialog)
		write_into(text, &text->invite);
	return text->dialog && !buffer_error(&text->invite);
}

int bench_sip_text(int argc, char **argv)
{
	uint64_t windows = bench_number(argv, "--windows", 5);
	uint64_t window_ns = bench_number(argv, "--ms", 200) * 1000000;
	uint64_t sum = 0;
	struct text text = { 0 };

	(void)argc;
	if (!open_text(&text)) {
		fputs("sip-text: no INVITE was made\n", stderr);
		return EXIT_FAILURE;
	}
	for (uint64_t i = 0; i < windows; i++)
		for (size_t j = 0; j < sizeof(works) / sizeof(*works); j++)
			printf("{\"what\": \"%s\", \"ns\": %.1f}\n",
			       works[j].name,
			       measure(&text, works[j].work, window_ns, &sum));
	printf("{\"bytes\": %zu, \"sum\": %llu}\n", text.invite.len,
	       (unsigned long long)sum);
	dialog_close(&text.dialog, NULL);
	buffer_reset(&text.sdp);
	buffer_reset(&text.invite);
	return EXIT_SUCCESS;
}

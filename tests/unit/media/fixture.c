/* SPDX-License-Identifier: MIT */
#include "tests/unit/media/fixture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/loop_priv.h"
#include "core/sim_priv.h"

static void on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct end *end = owner;
	size_t n = STREAM_FRAME_SAMPLES;

	end->frames++;
	end->voiced += is_voice;
	if (end->n_heard + n <= FIXTURE_HEARD_MAX) {
		memcpy(end->heard + end->n_heard, samples, n * 2);
		end->n_heard += n;
	}
	if (end->stall_ms) {
		unsigned ms = end->stall_ms;

		end->stall_ms = 0;
		end->loop->sim->now_us += ms * 1000;
	}
	if (end->closes_in_frame)
		stream_close(&end->stream);
}

static void on_digit(void *owner, char digit)
{
	struct end *end = owner;

	if (end->n_digits < sizeof(end->digits) - 1)
		end->digits[end->n_digits++] = digit;
	if (end->closes_in_digit)
		stream_close(&end->stream);
}

static void on_timeout(void *owner)
{
	((struct end *)owner)->timeouts++;
}

static void on_recording_failed(void *owner, const char *why)
{
	struct end *end = owner;

	end->failures++;
	strncpy(end->why, why, sizeof(end->why) - 1);
}

static void on_started(void *owner)
{
	((struct end *)owner)->started++;
}

static void on_drained(void *owner)
{
	((struct end *)owner)->drained++;
}

static const struct stream_events stream_events = {
	.on_frame = on_frame,
	.on_digit = on_digit,
	.on_timeout = on_timeout,
	.on_recording_failed = on_recording_failed,
};

static const struct playout_events playout_events = {
	.on_drained = on_drained,
	.on_started = on_started,
};

struct media_options fixture_options(const struct fixture *fixture)
{
	struct media_options options = {
		.loop = fixture->loop,
		.work = fixture->work,
		.port_min = 20000,
		.port_max = 20199,
		.codecs = { MEDIA_PCMU, MEDIA_PCMA },
		.n_codecs = 2,
		.timeout_ms = 30000,
	};

	addr_parse(&options.bind, SLICE("192.0.2.1"), 0);
	return options;
}

int fixture_setup(void **state)
{
	struct fixture *fixture = mem_new(sizeof(*fixture));
	struct media_options options;

	loop_open_sim(&fixture->loop, 1767225600000);
	assert_int_equal(work_open(&fixture->work, fixture->loop), 0);
	options = fixture_options(fixture);
	assert_int_equal(media_open(&fixture->media, &options), 0);
	fixture->a = mem_new(sizeof(struct end));
	fixture->b = mem_new(sizeof(struct end));
	*state = fixture;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;
	struct media_stats stats;

	stream_close(&fixture->a->stream);
	stream_close(&fixture->b->stream);
	media_stats(fixture->media, &stats);
	assert_int_equal(stats.ports_used, 0);
	assert_int_equal(stats.streams, 0);
	assert_int_equal(sim_udp_sockets(fixture->loop), 0);
	media_close(&fixture->media);
	work_close(&fixture->work);
	mem_free(fixture->a);
	mem_free(fixture->b);
	loop_close(&fixture->loop);
	mem_free(fixture);
	return 0;
}

void end_open(struct fixture *fixture, struct end *end)
{
	assert_int_equal(
		stream_open(&end->stream, fixture->media, &stream_events, end),
		0);
	playout_attach(stream_playout(end->stream), &playout_events, end);
	end->loop = fixture->loop;
}

static void replace(struct buffer *text, const char *edit, const char *with)
{
	const char *at = strstr(text->ptr, edit);
	struct buffer out;

	assert_non_null(at);
	buffer_init(&out, 4096);
	buffer_add(&out, slice_make(text->ptr, (size_t)(at - text->ptr)));
	buffer_add_str(&out, with);
	buffer_add_str(&out, at + strlen(edit));
	buffer_reset(text);
	*text = out;
}

int fixture_agree(struct end *from, struct end *to, const char *edit,
		  const char *with)
{
	struct buffer offer, answer;
	int err;

	buffer_init(&offer, 4096);
	buffer_init(&answer, 4096);
	stream_offer(from->stream, &offer);
	if (edit)
		replace(&offer, edit, with);
	err = stream_take_offer(to->stream, buffer_slice(&offer), &answer);
	if (!err)
		assert_int_equal(
			stream_take_answer(from->stream, buffer_slice(&answer)),
			0);
	buffer_reset(&offer);
	buffer_reset(&answer);
	return err;
}

void fixture_join(struct fixture *fixture)
{
	end_open(fixture, fixture->a);
	end_open(fixture, fixture->b);
	assert_int_equal(fixture_agree(fixture->a, fixture->b, NULL, NULL), 0);
}

/* near_a speaks with a and is where b's packets come out, and the other way. */
struct relay {
	struct udp *near_a, *near_b;
	struct addr a, b;
	relay_fn *fn;
	void *arg;
};

static void forward(struct relay *relay, bool to_b)
{
	struct udp *in = to_b ? relay->near_a : relay->near_b;
	struct udp *out = to_b ? relay->near_b : relay->near_a;
	uint8_t packet[2048];
	size_t len;
	ssize_t n;

	while ((n = udp_recv(in, packet, sizeof(packet), NULL)) >= 0) {
		unsigned times;

		len = (size_t)n;
		times = relay->fn ? relay->fn(relay->arg, to_b, packet, &len)
				  : 1;
		while (times--)
			udp_send(out, slice_make(packet, len),
				 to_b ? &relay->b : &relay->a);
	}
}

static void on_near_a(void *owner)
{
	forward(owner, true);
}

static void on_near_b(void *owner)
{
	forward(owner, false);
}

/* The same description with the port of its audio replaced. */
static void rewrite(struct buffer *sdp, uint16_t *old, uint16_t port)
{
	struct buffer out;
	const char *at = strstr(sdp->ptr, "m=audio ");
	char *end;

	assert_non_null(at);
	at += strlen("m=audio ");
	*old = (uint16_t)strtoul(at, &end, 10);
	buffer_init(&out, 4096);
	buffer_add(&out, slice_make(sdp->ptr, (size_t)(at - sdp->ptr)));
	buffer_printf(&out, "%u%s", port, end);
	buffer_reset(sdp);
	*sdp = out;
}

/* Its RTCP port has nobody behind it. */
static uint16_t open_near(struct fixture *fixture, struct udp **out,
			  uint16_t port)
{
	struct media_options options = fixture_options(fixture);

	addr_set_port(&options.bind, port);
	assert_int_equal(udp_open(out, fixture->loop, &options.bind), 0);
	return port;
}

struct relay *fixture_join_by_relay(struct fixture *fixture, relay_fn *fn,
				    void *arg)
{
	struct relay *relay = mem_new(sizeof(*relay));
	struct buffer offer, answer;
	uint16_t port_a, port_b;

	relay->fn = fn;
	relay->arg = arg;
	relay->a = relay->b = fixture_options(fixture).bind;
	buffer_init(&offer, 4096);
	buffer_init(&answer, 4096);
	end_open(fixture, fixture->a);
	end_open(fixture, fixture->b);
	stream_offer(fixture->a->stream, &offer);
	rewrite(&offer, &port_a, open_near(fixture, &relay->near_b, 50000));
	assert_int_equal(stream_take_offer(fixture->b->stream,
					   buffer_slice(&offer), &answer),
			 0);
	rewrite(&answer, &port_b, open_near(fixture, &relay->near_a, 50010));
	assert_int_equal(
		stream_take_answer(fixture->a->stream, buffer_slice(&answer)),
		0);
	addr_set_port(&relay->a, port_a);
	addr_set_port(&relay->b, port_b);
	udp_watch(relay->near_a, on_near_a, relay);
	udp_watch(relay->near_b, on_near_b, relay);
	buffer_reset(&offer);
	buffer_reset(&answer);
	return relay;
}

void relay_close(struct relay **relay)
{
	udp_close(&(*relay)->near_a);
	udp_close(&(*relay)->near_b);
	mem_free(*relay);
	*relay = NULL;
}

void fixture_tone(int16_t *out, size_t n, double hz)
{
	for (size_t i = 0; i < n; i++)
		out[i] =
			(int16_t)(8000 * sin(2 * M_PI * hz * (double)i / 8000));
}

void fixture_speech(int16_t *out, size_t n, unsigned seed)
{
	double low = 0, level = 0, phase = 0, pitch = 120;

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		low += 0.2 * ((double)(seed >> 16 & 0x7fff) - 16384 - low);
		if (i % 400 == 0) {
			pitch = 100 + (seed >> 20) % 60;
			level = 0.3 + (double)((seed >> 12) % 100) / 150;
		}
		phase += 2 * M_PI * pitch / 8000;
		out[i] = (int16_t)(level * (5000 * sin(phase) +
					    3000 * sin(3 * phase) + 0.2 * low));
	}
}

static double correlate(const int16_t *x, const int16_t *y, size_t n)
{
	double xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		xy += (double)x[i] * y[i];
		xx += (double)x[i] * x[i];
		yy += (double)y[i] * y[i];
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

double fixture_correlation(const int16_t *heard, size_t n_heard,
			   const int16_t *sent, size_t n_sent)
{
	double best = 0;

	for (size_t at = 0; at + n_sent <= n_heard; at += 8) {
		double now = correlate(heard + at, sent, n_sent);

		if (now > best)
			best = now;
	}
	return best;
}

struct stream_report fixture_report(const struct end *end)
{
	struct stream_report report;

	stream_report(end->stream, &report);
	return report;
}

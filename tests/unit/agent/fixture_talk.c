/* SPDX-License-Identifier: MIT */
#include "tests/unit/agent/fixture_talk.h"
#include <string.h>
#include "core/json.h"
#include "core/log.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_pathway.h"

static void on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct talk *talk = owner;

	if (talk->dialogue)
		dialogue_frame(talk->dialogue, samples, is_voice);
}

static void on_digit(void *owner, char digit)
{
	struct talk *talk = owner;

	if (talk->dialogue)
		dialogue_digit(talk->dialogue, digit);
}

static void on_caller_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct talk *talk = owner;

	talk->caller_frames++;
	talk->caller_voiced += is_voice;
}

static void join(struct talk *talk)
{
	static const struct stream_events ours = { .on_frame = on_frame,
						   .on_digit = on_digit };
	static const struct stream_events theirs = { .on_frame =
							     on_caller_frame };
	struct buffer offer, answer;

	buffer_init(&offer, 8192);
	buffer_init(&answer, 8192);
	assert_int_equal(stream_open(&talk->stream, talk->media, &ours, talk),
			 0);
	assert_int_equal(stream_open(&talk->caller, talk->media, &theirs, talk),
			 0);
	stream_offer(talk->caller, &offer);
	assert_int_equal(
		stream_take_offer(talk->stream, buffer_slice(&offer), &answer),
		0);
	assert_int_equal(
		stream_take_answer(talk->caller, buffer_slice(&answer)), 0);
	buffer_reset(&offer);
	buffer_reset(&answer);
}

int talk_setup(void **state)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	struct talk *talk = mem_new(sizeof(*talk));
	struct media_options options = { .port_min = 20000,
					 .port_max = 20099,
					 .codecs = { MEDIA_PCMU },
					 .n_codecs = 1,
					 .timeout_ms = 30000 };

	log_setup(&quiet);
	loop_open_sim(&talk->loop, 1767312000000);
	assert_int_equal(work_open(&talk->work, talk->loop), 0);
	options.loop = talk->loop;
	options.work = talk->work;
	addr_parse(&options.bind, SLICE("127.0.0.1"), 0);
	assert_int_equal(media_open(&talk->media, &options), 0);
	actor_open(&talk->actor, talk->loop);
	buffer_init(&talk->events, 1 << 20);
	join(talk);
	*state = talk;
	return 0;
}

int talk_teardown(void **state)
{
	struct talk *talk = *state;

	dialogue_close(&talk->dialogue);
	timeline_close(&talk->timeline);
	fetch_close(&talk->fetch);
	model_close(&talk->model);
	actor_close(&talk->actor);
	stream_close(&talk->stream);
	stream_close(&talk->caller);
	media_close(&talk->media);
	talk_run(talk, 0);
	work_close(&talk->work);
	loop_close(&talk->loop);
	buffer_reset(&talk->events);
	mem_free(talk);
	return 0;
}

void talk_run(struct talk *talk, uint64_t ms)
{
	loop_advance_ms(talk->loop, ms);
}

void talk_speak(struct talk *talk, unsigned ms)
{
	size_t n = ms * 8;
	int16_t *samples = mem_new_array(n, sizeof(*samples));

	actor_speech(samples, n);
	assert_int_equal(
		playout_queue(stream_playout(talk->caller), samples, n), 0);
	mem_free(samples);
}

void talk_press(struct talk *talk, const char *digits)
{
	assert_int_equal(stream_send_digits(talk->caller, digits), 0);
}

static void on_event(void *owner, const struct timeline_event *event)
{
	struct talk *talk = owner;
	char *payload = json_text(event->payload);

	for (char *c = payload; c && *c; c++)
		if (*c == '"')
			*c = '\'';
	buffer_printf(&talk->events, "%s %s\n", event->type,
		      payload ? payload : "-");
	mem_free(payload);
}

static void on_end(void *owner, const char *why)
{
	struct talk *talk = owner;

	assert_null(talk->ended);
	talk->ended = why;
}

void talk_open(struct talk *talk, const struct talk_settings *settings)
{
	struct fetch_options fetch = { .loop = talk->loop };
	struct dialogue_options options = {
		.loop = talk->loop,
		.speech = &talk->actor.base,
		.stream = talk->stream,
		.call_id = "call-1",
		.settings = settings->dialogue,
		.pathway = { .loop = talk->loop,
			     .call_id = "call-1",
			     .ignore_digits = settings->ignore_digits },
	};
	json_t *nodes = rig_json(settings->nodes);
	json_t *edges = rig_json(settings->edges ? settings->edges : "[]");
	struct graph_problem problem;

	assert_int_equal(model_open_rules(&talk->model, talk->loop), 0);
	assert_int_equal(fetch_open(&talk->fetch, &fetch), 0);
	talk->timeline = timeline_open(talk->loop, on_event, talk);
	if (graph_open(&options.pathway.graph, nodes, edges, false, &problem))
		fail_msg("%s: %s", problem.field, problem.message);
	options.pathway.model = talk->model;
	options.pathway.fetch = talk->fetch;
	options.pathway.timeline = talk->timeline;
	assert_int_equal(dialogue_open(&talk->dialogue, &options, on_end, talk),
			 0);
	json_decref(nodes);
	json_decref(edges);
}

void talk_until(struct talk *talk, const char *type, const char *text)
{
	char line[160];

	snprintf(line, sizeof(line), "%s {", type);
	for (unsigned ms = 0; ms < 30000; ms += 10) {
		const char *at = strstr(buffer_str(&talk->events), line);

		while (at && text && !strstr(at, text))
			at = strstr(at + 1, line);
		if (at)
			return;
		talk_run(talk, 10);
	}
	fail_msg("no %s %s within\n%s%s", type, text ? text : "",
		 buffer_str(&talk->events), buffer_str(&talk->actor.log));
}

unsigned talk_count(const struct talk *talk, const char *what)
{
	const char *at = buffer_str(&talk->events);
	unsigned n = 0;

	while ((at = strstr(at, what))) {
		at++;
		n++;
	}
	return n;
}

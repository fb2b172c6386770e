/* SPDX-License-Identifier: MIT */
/* One job at a time for each utterance, the next piece starting as soon as one
 * is ready; results are delivered by a timer, one callback a turn. */
#include "agent/engine/speech_flite.h"
#include <ctype.h>
#include <string.h>
#include <sys/queue.h>
#include "agent/engine/flite_piece.h"
#include "agent/engine/speakable.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "core/work.h"

/* flite ships no header for these. */
cst_voice *register_cmu_us_slt(const char *voxdir);
cst_voice *register_cmu_us_kal(const char *voxdir);
cst_lexicon *cmu_lex_init(void);

struct engine {
	struct speech base;
	struct loop *loop; /* borrowed: outlives us */
	struct work *work; /* borrowed: outlives us */
	cst_voice *slt, *kal; /* borrowed: static in flite */
	size_t in_flight; /* jobs that still point here */
	bool is_shut; /* frees itself with the last job */
};

struct piece {
	STAILQ_ENTRY(piece) entry;
	struct engine *engine; /* borrowed: waits for us */
	struct say *say; /* borrowed; NULL once cancelled */
	struct job *job;
	cst_voice *voice;
	char *text; /* owned */
	size_t *end; /* owned */
	struct flite_piece speech; /* owned */
	int err;
	bool is_last;
};

STAILQ_HEAD(pieces, piece);

struct say {
	struct synthesis base;
	struct engine *engine; /* borrowed: outlives us */
	const struct synthesis_events *events;
	void *owner;
	struct timer *timer; /* owned */
	cst_voice *voice;
	struct speakable text; /* owned */
	size_t at; /* of text: what was not given to a job */
	struct piece *working; /* owned by its job */
	struct pieces ready; /* owned */
	uint64_t samples; /* delivered */
	int err;
};

static void on_timer(void *arg);

static void free_piece(struct piece *piece)
{
	flite_piece_reset(&piece->speech);
	mem_free(piece->text);
	mem_free(piece->end);
	mem_free(piece);
}

static void release_engine(struct engine *engine)
{
	if (engine->is_shut && engine->in_flight == 0)
		mem_free(engine);
}

static void run_piece(void *arg)
{
	struct piece *piece = arg;

	piece->err = flite_piece_speak(&piece->speech, piece->voice);
}

static void start_piece(struct say *say);

static void on_piece(void *arg)
{
	struct piece *piece = arg;
	struct engine *engine = piece->engine;
	struct say *say = piece->say;

	engine->in_flight--;
	if (!say) {
		free_piece(piece);
		release_engine(engine);
		return;
	}
	say->working = NULL;
	STAILQ_INSERT_TAIL(&say->ready, piece, entry);
	if (piece->err)
		say->err = piece->err;
	else
		start_piece(say);
	timer_start(say->timer, 0, on_timer, say);
}

static void start_piece(struct say *say)
{
	static const struct job_fns fns = { run_piece, on_piece };
	size_t to = speakable_piece(&say->text, say->at);
	size_t n = to - say->at;
	struct piece *piece;

	if (n == 0)
		return;
	piece = mem_new(sizeof(*piece));
	*piece = (struct piece){
		.engine = say->engine,
		.say = say,
		.voice = say->voice,
		.text = mem_dup_bytes(say->text.text + say->at, n),
		.end = mem_new_array(n, sizeof(*piece->end)),
		.is_last = to == say->text.n,
	};
	memcpy(piece->end, say->text.end + say->at, n * sizeof(*piece->end));
	piece->speech.text = piece->text;
	piece->speech.end = piece->end;
	say->at = to;
	say->working = piece;
	say->engine->in_flight++;
	work_queue(say->engine->work, WORK_SPEECH, &piece->job, &fns, piece);
}

/* Marks count from the utterance's start; the last one covers what follows
 * the last word, too. */
static void place_marks(const struct say *say, struct piece *piece)
{
	struct flite_piece *speech = &piece->speech;

	if (piece->is_last && speech->n_marks == 0) {
		mem_free(speech->marks);
		speech->marks = mem_new(sizeof(*speech->marks));
		speech->n_marks = 1;
	}
	for (size_t i = 0; i < speech->n_marks; i++)
		speech->marks[i].samples += say->samples;
	if (piece->is_last)
		speech->marks[speech->n_marks - 1].text_bytes =
			say->text.source_bytes;
}

/* Last: the owner may cancel. What it is given lives until it returns. */
static void deliver_marks(struct say *say, struct flite_piece *speech)
{
	struct speech_mark *marks = speech->marks;
	size_t n = speech->n_marks;

	speech->marks = NULL;
	speech->n_marks = 0;
	say->events->on_marks(say->owner, marks, n);
	mem_free(marks);
}

static void deliver_audio(struct say *say, struct piece *piece)
{
	STAILQ_REMOVE_HEAD(&say->ready, entry);
	say->samples += piece->speech.n_samples;
	if (piece->speech.n_samples)
		say->events->on_audio(say->owner, piece->speech.samples,
				      piece->speech.n_samples);
	free_piece(piece);
}

static void on_timer(void *arg)
{
	struct say *say = arg;
	struct piece *piece = STAILQ_FIRST(&say->ready);

	if (!piece) {
		if (!say->working)
			say->events->on_done(say->owner, say->err);
		return;
	}
	timer_start(say->timer, 0, on_timer, say);
	if (piece->say) {
		piece->say = NULL; /* placed */
		place_marks(say, piece);
	}
	if (piece->speech.n_marks)
		deliver_marks(say, &piece->speech);
	else
		deliver_audio(say, piece);
}

static cst_voice *find_voice(const struct engine *engine, const char *name)
{
	static const char *const slt[] = { "cmu_us_slt", "slt", "default", "" };
	static const char *const kal[] = { "cmu_us_kal", "kal" };

	for (size_t i = 0; name && i < sizeof(kal) / sizeof(kal[0]); i++) {
		if (strcasecmp(name, kal[i]) == 0)
			return engine->kal;
	}
	for (size_t i = 0; name && i < sizeof(slt) / sizeof(slt[0]); i++) {
		if (strcasecmp(name, slt[i]) == 0)
			return engine->slt;
	}
	if (name)
		log_warn("speech", NULL,
			 "voice %.40s is unknown: cmu_us_slt speaks", name);
	return engine->slt;
}

static int flite_say(struct synthesis **out, struct speech *speech,
		     const struct speech_say *request, void *owner)
{
	struct engine *engine = (struct engine *)speech;
	struct say *say = mem_new(sizeof(*say));

	*say = (struct say){ .base.speech = speech,
			     .engine = engine,
			     .events = request->events,
			     .owner = owner,
			     .timer = timer_new(engine->loop),
			     .voice = find_voice(engine, request->voice) };
	STAILQ_INIT(&say->ready);
	speakable_init(&say->text, request->text);
	*out = &say->base;
	start_piece(say);
	return 0;
}

static void flite_cancel(struct synthesis **synthesis)
{
	struct say *say = (struct say *)*synthesis;
	struct piece *piece;

	*synthesis = NULL;
	if (say->working) {
		say->working->say = NULL;
		job_cancel(&say->working->job);
	}
	while ((piece = STAILQ_FIRST(&say->ready)) != NULL) {
		STAILQ_REMOVE_HEAD(&say->ready, entry);
		free_piece(piece);
	}
	timer_close(&say->timer);
	speakable_reset(&say->text);
	mem_free(say);
}

static void flite_shut(struct speech *speech)
{
	struct engine *engine = (struct engine *)speech;

	engine->is_shut = true;
	release_engine(engine);
}

void speech_open_flite(struct speech **out, struct loop *loop,
		       struct work *work)
{
	static const struct speech_ops ops = { .say = flite_say,
					       .cancel = flite_cancel,
					       .shut = flite_shut };
	struct engine *engine = mem_new(sizeof(*engine));

	*engine =
		(struct engine){ .base.ops = &ops, .loop = loop, .work = work };
	/* Static in the library, made once: before any job runs. */
	flite_init();
	engine->slt = register_cmu_us_slt(NULL);
	engine->kal = register_cmu_us_kal(NULL);
	*out = &engine->base;
}

/* flite's phones are CMU's but for the schwa; vowels carry their stress. */
static bool add_phone(char *out, size_t size, const char *phone)
{
	size_t used = strlen(out), n = strcspn(phone, "012");
	const char *name = phone;

	if (n == 2 && strncmp(phone, "ax", n) == 0)
		name = "ah";
	if (n < 1 || n > 2 || used + n + 2 > size) /* 3: "pau" */
		return false;
	if (used)
		out[used++] = ' ';
	for (size_t i = 0; i < n; i++)
		out[used++] = (char)toupper((unsigned char)name[i]);
	out[used] = '\0';
	return true;
}

bool speech_pronounce(char *out, size_t size, const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz'");
	bool is_good = n > 0 && n < 40 && !word[n];
	cst_val *phones;

	out[0] = '\0';
	if (!is_good)
		return false;
	phones = lex_lookup(cmu_lex_init(), word, NULL, NULL);
	for (const cst_val *at = phones; at && is_good; at = val_cdr(at))
		is_good = add_phone(out, size, val_string(val_car(at)));
	delete_val(phones);
	return is_good && *out;
}

/* SPDX-License-Identifier: MIT */
/* A hearing is a queue of turns. The first one borrows decoders, and its audio
 * goes through them in jobs, one at a time, each with all that has come. */
#include "agent/engine/speech_sphinx.h"
#include <assert.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>
#include "agent/engine/sphinx_utterance.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "core/work.h"

enum {
	RATE_HZ = 8000,
	CHUNK_SAMPLES = RATE_HZ / 10, /* the least that is worth a job */
	TURN_SAMPLES_MAX = 60 * RATE_HZ,
	PATIENCE_MS = 1500 /* for an open decoder, once the turn is over */
};

struct engine {
	struct speech base;
	struct loop *loop; /* borrowed: outlives us */
	struct work *work; /* borrowed: outlives us */
	struct sphinx_pool *pool; /* owned */
	size_t in_flight; /* jobs that still point here */
	bool is_shut; /* frees itself with the last job */
	bool is_broken; /* said once: no model */
};

struct turn {
	TAILQ_ENTRY(turn) entry;
	struct sphinx_grammar grammar; /* owned */
	int16_t *samples; /* owned */
	size_t n, size;
	size_t taken; /* given to jobs */
	bool is_finished;
};

/* One job: a piece of a turn. Holds the utterance while it is in flight. */
struct chunk {
	struct engine *engine; /* borrowed: waits for us */
	struct ear *ear; /* borrowed; NULL once closed */
	struct job *job;
	struct sphinx_utterance *utterance; /* owned */
	int16_t *samples; /* owned */
	size_t n;
	bool is_last;
};

/* RESTING --audio--> WAITING --decoder--> HEARING --last job--> RESTING;
 * RESTING --finished without audio--> EMPTY --timer--> RESTING */
enum state { RESTING, WAITING, HEARING, EMPTY };

static const struct {
	const char *name;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[RESTING] = { "resting", 1 << WAITING | 1 << EMPTY },
	[WAITING] = { "waiting", 1 << HEARING },
	[HEARING] = { "hearing", 1 << RESTING },
	[EMPTY] = { "empty", 1 << RESTING },
};

struct ear {
	struct hearing base;
	struct engine *engine; /* borrowed: outlives us */
	const struct hearing_events *events;
	void *owner;
	struct timer *timer; /* owned */
	enum state state;
	struct sphinx_grammar hint; /* owned: for turns to come */
	struct sphinx_mean mean; /* of this caller's line */
	TAILQ_HEAD(turns, turn) turns; /* owned */
	struct sphinx_waiter waiter;
	struct sphinx_utterance *utterance; /* owned while no job holds it */
	struct chunk *working; /* owned by its job */
	char *partial; /* owned: last one told */
};

static void start_turn(struct ear *ear);
static void start_chunk(struct ear *ear);

static void enter(struct ear *ear, enum state next)
{
	assert(states[ear->state].next & 1u << next);
	log_debug("hearing", NULL, "%s -> %s", states[ear->state].name,
		  states[next].name);
	ear->state = next;
}

static void release_engine(struct engine *engine)
{
	if (!engine->is_shut || engine->in_flight)
		return;
	sphinx_pool_close(&engine->pool);
	mem_free(engine);
}

static void free_turn(struct turn *turn)
{
	sphinx_grammar_reset(&turn->grammar);
	mem_free(turn->samples);
	mem_free(turn);
}

static void free_utterance(struct engine *engine,
			   struct sphinx_utterance *utterance)
{
	if (!utterance)
		return;
	sphinx_pool_return(engine->pool, &utterance->lease);
	sphinx_utterance_reset(utterance);
	mem_free(utterance);
}

/* Jobs */

static void run_chunk(void *arg)
{
	struct chunk *chunk = arg;

	sphinx_utterance_run(chunk->utterance, chunk->samples, chunk->n,
			     chunk->is_last);
}

static void note_error(struct engine *engine, int err)
{
	if (!err || engine->is_broken)
		return;
	engine->is_broken = true;
	log_error("speech", NULL,
		  "recognition does not work (%s): is the package "
		  "pocketsphinx-en-us installed?",
		  strerror(-err));
}

static void drop_turn(struct ear *ear)
{
	struct turn *turn = TAILQ_FIRST(&ear->turns);

	TAILQ_REMOVE(&ear->turns, turn, entry);
	free_turn(turn);
	mem_free(ear->partial);
	ear->partial = NULL;
	enter(ear, RESTING);
}

/* Last: the owner may close us. */
static void end_turn(struct ear *ear)
{
	struct sphinx_utterance *utterance = ear->utterance;
	double confidence = utterance->confidence;
	char *text = mem_dup_str(utterance->text);

	ear->utterance = NULL;
	ear->mean = utterance->mean;
	note_error(ear->engine, utterance->err);
	drop_turn(ear);
	free_utterance(ear->engine, utterance);
	start_turn(ear);
	ear->events->on_final(ear->owner, text, confidence);
	mem_free(text);
}

/* Last, as above. */
static void tell_partial(struct ear *ear, const char *text)
{
	char *copy;

	if (!*text || (ear->partial && strcmp(text, ear->partial) == 0))
		return;
	mem_free(ear->partial);
	ear->partial = mem_dup_str(text);
	copy = mem_dup_str(text);
	ear->events->on_partial(ear->owner, copy);
	mem_free(copy);
}

static void on_chunk(void *arg)
{
	struct chunk chunk = *(struct chunk *)arg;
	struct engine *engine = chunk.engine;
	char *partial;

	mem_free(chunk.samples);
	mem_free(arg);
	engine->in_flight--;
	if (!chunk.ear) {
		free_utterance(engine, chunk.utterance);
		release_engine(engine);
		return;
	}
	chunk.ear->working = NULL;
	chunk.ear->utterance = chunk.utterance;
	if (chunk.utterance->is_ended) {
		end_turn(chunk.ear);
		return;
	}
	partial = mem_dup_str(chunk.utterance->text);
	start_chunk(chunk.ear);
	tell_partial(chunk.ear, partial);
	mem_free(partial);
}

static void start_chunk(struct ear *ear)
{
	static const struct job_fns fns = { run_chunk, on_chunk };
	struct turn *turn = TAILQ_FIRST(&ear->turns);
	size_t n = turn->n - turn->taken;
	struct chunk *chunk;

	if (ear->working || (n < CHUNK_SAMPLES && !turn->is_finished))
		return;
	chunk = mem_new(sizeof(*chunk));
	*chunk = (struct chunk){ .engine = ear->engine,
				 .ear = ear,
				 .utterance = ear->utterance,
				 .samples =
					 mem_new_array(n + 1, sizeof(int16_t)),
				 .n = n,
				 .is_last = turn->is_finished };
	if (n > 0)
		memcpy(chunk->samples, turn->samples + turn->taken,
		       n * sizeof(int16_t));
	turn->taken = turn->n;
	ear->utterance = NULL;
	ear->working = chunk;
	ear->engine->in_flight++;
	work_queue(ear->engine->work, WORK_SPEECH, &chunk->job, &fns, chunk);
}

/* Turns */

static void on_lease(void *arg, const struct sphinx_lease *lease)
{
	struct ear *ear = arg;
	struct turn *turn = TAILQ_FIRST(&ear->turns);

	timer_stop(ear->timer);
	enter(ear, HEARING);
	ear->utterance = mem_new(sizeof(*ear->utterance));
	sphinx_utterance_init(ear->utterance, lease, &ear->mean,
			      &turn->grammar);
	start_chunk(ear);
}

static void on_impatient(void *arg)
{
	struct ear *ear = arg;
	struct sphinx_lease lease;

	if (!ear->waiter.wants_grammar ||
	    !sphinx_pool_take_grammar(ear->engine->pool, &lease)) {
		timer_start(ear->timer, PATIENCE_MS, on_impatient, ear);
		return;
	}
	log_warn("speech", NULL,
		 "all recognisers are busy: a turn is matched against the "
		 "expected phrases alone");
	sphinx_pool_forget(ear->engine->pool, &ear->waiter);
	on_lease(ear, &lease);
}

/* Last: the owner may close us. */
static void on_empty(void *arg)
{
	struct ear *ear = arg;

	drop_turn(ear);
	start_turn(ear);
	ear->events->on_final(ear->owner, "", 0);
}

static void start_patience(struct ear *ear)
{
	if (ear->state == WAITING && TAILQ_FIRST(&ear->turns)->is_finished &&
	    !timer_is_armed(ear->timer))
		timer_start(ear->timer, PATIENCE_MS, on_impatient, ear);
}

static void start_turn(struct ear *ear)
{
	struct turn *turn = TAILQ_FIRST(&ear->turns);

	if (!turn || ear->state != RESTING)
		return;
	if (turn->n == 0) {
		if (!turn->is_finished)
			return;
		enter(ear, EMPTY);
		timer_start(ear->timer, 0, on_empty, ear);
		return;
	}
	enter(ear, WAITING);
	ear->waiter.wants_grammar = sphinx_grammar_is_useful(&turn->grammar);
	sphinx_pool_ask(ear->engine->pool, &ear->waiter);
	start_patience(ear);
}

/* The turn that audio belongs to: a new one after hearing_finish(). */
static struct turn *last_turn(struct ear *ear)
{
	struct turn *turn = TAILQ_LAST(&ear->turns, turns);

	if (turn && !turn->is_finished)
		return turn;
	turn = mem_new(sizeof(*turn));
	sphinx_grammar_copy(&turn->grammar, &ear->hint);
	TAILQ_INSERT_TAIL(&ear->turns, turn, entry);
	return turn;
}

static void add_samples(struct turn *turn, const int16_t *samples, size_t n)
{
	if (n > TURN_SAMPLES_MAX - turn->n)
		n = TURN_SAMPLES_MAX - turn->n; /* nobody talks that long */
	if (n == 0)
		return;
	if (turn->n + n > turn->size) {
		turn->size = 2 * (turn->n + n) + RATE_HZ;
		turn->samples = mem_resize(turn->samples,
					   turn->size * sizeof(*samples));
	}
	memcpy(turn->samples + turn->n, samples, n * sizeof(*samples));
	turn->n += n;
}

/* The back end's functions, in the order of speech.h */

static int sphinx_open(struct hearing **out, struct speech *speech,
		       const struct hearing_events *events, void *owner)
{
	struct engine *engine = (struct engine *)speech;
	struct ear *ear = mem_new(sizeof(*ear));

	*ear = (struct ear){ .base.speech = speech,
			     .engine = engine,
			     .events = events,
			     .owner = owner,
			     .timer = timer_new(engine->loop),
			     .waiter = { .on_lease = on_lease } };
	ear->waiter.owner = ear;
	TAILQ_INIT(&ear->turns);
	sphinx_mean_init(&ear->mean);
	*out = &ear->base;
	return 0;
}

static void sphinx_hint(struct hearing *hearing, const struct speech_hint *hint)
{
	struct ear *ear = (struct ear *)hearing;

	sphinx_grammar_reset(&ear->hint);
	sphinx_grammar_init(&ear->hint, hint);
}

static void sphinx_feed(struct hearing *hearing, const int16_t *samples,
			size_t n)
{
	struct ear *ear = (struct ear *)hearing;

	add_samples(last_turn(ear), samples, n);
	if (ear->state == RESTING)
		start_turn(ear);
	else if (ear->state == HEARING)
		start_chunk(ear);
}

static void sphinx_finish(struct hearing *hearing)
{
	struct ear *ear = (struct ear *)hearing;

	last_turn(ear)->is_finished = true;
	if (ear->state == RESTING)
		start_turn(ear);
	else if (ear->state == HEARING)
		start_chunk(ear);
	start_patience(ear);
}

static void sphinx_close(struct hearing **hearing)
{
	struct ear *ear = (struct ear *)*hearing;
	struct turn *turn;

	*hearing = NULL;
	if (ear->working) {
		ear->working->ear = NULL;
		job_cancel(&ear->working->job);
	}
	sphinx_pool_forget(ear->engine->pool, &ear->waiter);
	free_utterance(ear->engine, ear->utterance);
	while ((turn = TAILQ_FIRST(&ear->turns)) != NULL) {
		TAILQ_REMOVE(&ear->turns, turn, entry);
		free_turn(turn);
	}
	timer_close(&ear->timer);
	sphinx_grammar_reset(&ear->hint);
	mem_free(ear->partial);
	mem_free(ear);
}

static void sphinx_shut(struct speech *speech)
{
	struct engine *engine = (struct engine *)speech;

	engine->is_shut = true;
	release_engine(engine);
}

void speech_open_sphinx(struct speech **out, struct loop *loop,
			struct work *work, unsigned recognisers)
{
	static const struct speech_ops ops = { .open = sphinx_open,
					       .hint = sphinx_hint,
					       .feed = sphinx_feed,
					       .finish = sphinx_finish,
					       .close = sphinx_close,
					       .shut = sphinx_shut };
	struct engine *engine = mem_new(sizeof(*engine));
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (recognisers == 0)
		recognisers = (cores > 0 ? (unsigned)cores : 1) + 1;
	*engine = (struct engine){ .base.ops = &ops,
				   .loop = loop,
				   .work = work,
				   .pool = sphinx_pool_open(recognisers) };
	*out = &engine->base;
}

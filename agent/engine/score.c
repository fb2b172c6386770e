/* SPDX-License-Identifier: MIT */
#include "agent/engine/score.h"
#include <ctype.h>
#include <math.h>
#include "agent/engine/extract.h"
#include "agent/engine/numbers.h"
#include "agent/engine/vocabulary.h"
#include "core/mem.h"

/* Found by the table of tests/unit/agent/test_model_rules.c. */
static const double route_min = 0.4;
static const double global_min = 0.6;
static const double tie = 0.02;

/* A route's texts as words. */
struct candidate {
	const struct model_route *route; /* borrowed */
	struct words label, description; /* owned */
	struct words *examples; /* owned */
	size_t n_examples;
	enum polarity polarity;
	char key;
	double score;
};

static const char catch_all[] =
	"next continue continues default always anything any else other "
	"otherwise everything fallback done proceed proceeds respond responds "
	"responded response reply replies replied answer answers answered "
	"speaks spoke success complete completed finished true call connected";

/* Keys */

/* The key that word i of a label names, or NUL. */
static char key_at(const struct words *label, size_t i)
{
	static const char verbs[] = "press pressed presses pressing dial dials "
				    "dialed key option button hit digit enter "
				    "enters entered number choose";
	const struct word *word = &label->word[i];
	bool is_led = i > 0 && word_in(word[-1].text, verbs);

	if (isdigit((unsigned char)word->root[0]) && !word->root[1]) {
		bool is_first =
			i == 0 && isdigit((unsigned char)word->text[0]) &&
			label->n > 1 && word_in(word[1].text, "for to is");

		return is_led || is_first || label->n == 1 ? word->root[0]
							   : '\0';
	}
	if (is_led && word_in(word->text, "star asterisk"))
		return '*';
	return is_led && word_in(word->text, "pound hash") ? '#' : '\0';
}

/* The key a label names, "press 1 for sales", or '\0'. */
static char label_key(const char *label)
{
	struct words words;
	char key = '\0';

	words_init(&words, label);
	for (size_t i = 0; i < words.n && !key; i++)
		key = key_at(&words, i);
	if (words.n == 0 && *label && strchr("*#", *label))
		key = *label;
	words_reset(&words);
	return key;
}

/* A key pressed, or a single number said: "one", "option one". */
static char spoken_key(const char *text, const struct words *said)
{
	char key = '\0';

	while (isspace((unsigned char)*text))
		text++;
	if (*text && strchr("*#", *text))
		return *text;
	if (said->n > 5)
		return '\0';
	for (size_t i = 0; i < said->n; i++) {
		const char *root = said->word[i].root;

		if (isdigit((unsigned char)root[0]) && root[1])
			return '\0';
		if (isdigit((unsigned char)root[0])) {
			if (key)
				return '\0';
			key = root[0];
		}
	}
	return key;
}

/* Words */

static bool is_catch_all(const struct words *label)
{
	for (size_t i = 0; i < label->n; i++) {
		const struct word *word = &label->word[i];

		if (!word->is_stop && !word_in(word->text, catch_all))
			return false;
	}
	return true;
}

/* Yes and no are judged by polarity, not as words in common. */
static bool has_meaning(const struct word *word)
{
	return !word->is_stop &&
	       !word_in(word->text, "yes yeah yep no nope not okay ok sure "
				    "never don't without agrees declines");
}

struct pool {
	struct candidate *all; /* owned */
	size_t n;
	const struct words *said; /* borrowed */
	struct vocabulary vocabulary; /* owned; borrows from all and said */
	double said_weight;
	bool is_negated;
	enum polarity answer;
	char key; /* pressed or said; NUL: none */
};

/* Cosine of the two weighted word sets; wording that differs in "not" is
 * about something else. */
static double similarity(const struct pool *pool, const struct words *text)
{
	double common = 0, own = 0, score;

	for (size_t i = 0; i < text->n; i++) {
		const struct word *word = &text->word[i];
		double weight;

		if (!has_meaning(word))
			continue;
		weight = vocabulary_weight(&pool->vocabulary, word->root);
		own += weight;
		if (vocabulary_is_said(&pool->vocabulary, word->root))
			common += weight;
	}
	if (common <= 0)
		return 0;
	score = common / sqrt(own * fmax(pool->said_weight, common));
	score = fmin(score, 1);
	return words_are_negated(text) == pool->is_negated ? score
							   : score * 0.3;
}

static double text_score(const struct pool *pool, const struct candidate *c)
{
	double best = similarity(pool, &c->label);

	best = fmax(best, 0.9 * similarity(pool, &c->description));
	for (size_t i = 0; i < c->n_examples; i++)
		best = fmax(best, similarity(pool, &c->examples[i]));
	return best;
}

/* "over 18", "at least two", "less than 5" against a number that was said:
 * -1 when the label compares nothing. */
static double compare_score(const struct words *label, const struct words *said)
{
	static const struct {
		const char *words;
		int sign;
		bool is_equal_good;
	} table[] = {
		{ "more than", 1, false },     { "greater than", 1, false },
		{ "older than", 1, false },    { "at least", 1, true },
		{ "over", 1, false },	       { "above", 1, false },
		{ "less than", -1, false },    { "fewer than", -1, false },
		{ "younger than", -1, false }, { "at most", -1, true },
		{ "under", -1, false },	       { "below", -1, false },
	};
	struct number limit, value;

	if (!number_find(&limit, label, 0) || limit.first == 0 ||
	    !number_find(&value, said, 0))
		return -1;
	for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
		size_t back = strchr(table[k].words, ' ') ? 2 : 1;
		double distance = (value.value - limit.value) * table[k].sign;

		if (limit.first < back ||
		    !words_match(label, limit.first - back, table[k].words))
			continue;
		return distance > 0 || (table[k].is_equal_good && distance >= 0)
			       ? 0.95
			       : 0;
	}
	return -1;
}

/* The label speaks of a variable that this turn supplied. */
static bool names_extracted(const struct words *label, const json_t *extracted)
{
	const char *key;
	const json_t *value;

	if (words_are_negated(label))
		return false;
	json_object_foreach((json_t *)extracted, key, value) {
		char text[256];
		struct words name;
		bool is_there = false;

		extract_name_text(text, sizeof(text), key);
		words_init(&name, text);
		for (size_t i = 0; i < name.n; i++)
			is_there |= !name.word[i].is_stop &&
				    words_have_root(label, name.word[i].root);
		words_reset(&name);
		if (is_there)
			return true;
	}
	return false;
}

/* "yes" beside one edge that means no: the other edge is meant. */
static bool is_only_opposite(const struct pool *pool, const struct candidate *c,
			     enum polarity answer)
{
	size_t opposite = 0, plain = 0;

	for (size_t i = 0; i < pool->n; i++) {
		enum polarity polarity = pool->all[i].polarity;

		if (polarity == answer)
			return false;
		opposite += polarity != POLARITY_NONE;
		plain += polarity == POLARITY_NONE &&
			 !is_catch_all(&pool->all[i].label);
	}
	return opposite > 0 && plain == 1 && c->polarity == POLARITY_NONE;
}

static double answer_score(const struct pool *pool, const struct candidate *c,
			   double score)
{
	enum polarity answer = pool->answer;

	if (answer == POLARITY_NONE)
		return score;
	if (c->polarity == answer)
		return fmax(score, 0.85);
	if (c->polarity != POLARITY_NONE)
		return 0;
	if (!is_catch_all(&c->label) && is_only_opposite(pool, c, answer))
		return fmax(score, 0.5);
	return score;
}

static double route_score(const struct score_question *q,
			  const struct pool *pool, const struct candidate *c)
{
	double score = text_score(pool, c), compared;

	if (pool->key && c->key)
		return pool->key == c->key ? 1 : 0;
	compared = compare_score(&c->label, pool->said);
	if (compared >= 0)
		return compared;
	if (q->extracted && names_extracted(&c->label, q->extracted))
		score = fmax(score, 0.8);
	return answer_score(pool, c, score);
}

/* Candidates */

static void open_candidate(struct candidate *c, const struct model_route *route)
{
	const json_t *example;
	size_t i, n = json_array_size(route->examples);

	c->route = route;
	words_init(&c->label, route->label);
	words_init(&c->description, route->description);
	c->polarity = words_polarity(&c->label);
	c->key = label_key(route->label ? route->label : "");
	c->examples = mem_new_array(n + 1, sizeof(*c->examples));
	json_array_foreach(route->examples, i, example) {
		const char *text = json_string_value(example);

		words_init(&c->examples[c->n_examples++], text);
	}
}

static void add_words(struct vocabulary *vocabulary, const struct words *words,
		      size_t route)
{
	for (size_t i = 0; i < words->n; i++) {
		if (has_meaning(&words->word[i]))
			vocabulary_add(vocabulary, words->word[i].root, route);
	}
}

static void add_candidate(struct vocabulary *vocabulary,
			  const struct candidate *c, size_t route)
{
	add_words(vocabulary, &c->label, route);
	add_words(vocabulary, &c->description, route);
	for (size_t i = 0; i < c->n_examples; i++)
		add_words(vocabulary, &c->examples[i], route);
}

static void open_pool(struct pool *pool, const struct score_question *q)
{
	*pool = (struct pool){ .n = q->n, .said = q->said };
	pool->all = mem_new_array(q->n + 1, sizeof(*pool->all));
	for (size_t i = 0; i < q->n; i++)
		open_candidate(&pool->all[i], &q->routes[i]);
	vocabulary_init(&pool->vocabulary);
	for (size_t i = 0; i < q->n; i++)
		add_candidate(&pool->vocabulary, &pool->all[i], i);
	for (size_t i = 0; i < q->said->n; i++) {
		const struct word *word = &q->said->word[i];

		if (!has_meaning(word))
			continue;
		vocabulary_say(&pool->vocabulary, word->root);
		pool->said_weight +=
			vocabulary_weight(&pool->vocabulary, word->root);
	}
	pool->is_negated = words_are_negated(q->said);
	pool->answer = words_answer(q->said);
	pool->key = spoken_key(q->text, q->said);
}

static void close_pool(struct pool *pool)
{
	for (size_t i = 0; i < pool->n; i++) {
		struct candidate *c = &pool->all[i];

		words_reset(&c->label);
		words_reset(&c->description);
		for (size_t k = 0; k < c->n_examples; k++)
			words_reset(&c->examples[k]);
		mem_free(c->examples);
	}
	mem_free(pool->all);
	vocabulary_reset(&pool->vocabulary);
}

static bool same_label(const struct candidate *a, const struct candidate *b)
{
	return slice_eq_nocase(slice_trim(slice_of(a->route->label)),
			       slice_trim(slice_of(b->route->label)));
}

/* The best of all, or -1 when it is too weak or another is as good. */
static int pick(const struct pool *pool, double least, double *score)
{
	int best = -1;

	for (size_t i = 0; i < pool->n; i++) {
		if (pool->all[i].score >= least &&
		    (best < 0 ||
		     pool->all[i].score > pool->all[best].score + 1e-9))
			best = (int)i;
	}
	for (size_t i = 0; best >= 0 && i < pool->n; i++) {
		const struct candidate *c = &pool->all[i];

		if ((int)i != best && !same_label(c, &pool->all[best]) &&
		    c->score > pool->all[best].score - tie)
			return -1;
	}
	*score = best < 0 ? 0 : pool->all[best].score;
	return best;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

static int pick_catch_all(const struct pool *pool)
{
	for (size_t i = 0; i < pool->n; i++) {
		const struct candidate *c = &pool->all[i];

		if (c->polarity == POLARITY_NONE && !c->key &&
		    is_catch_all(&c->label))
			return (int)i;
	}
	return -1;
}

int score_route(const struct score_question *question, double *score)
{
	struct pool pool;
	int best;

	*score = 0;
	open_pool(&pool, question);
	for (size_t i = 0; i < pool.n; i++)
		pool.all[i].score = route_score(question, &pool, &pool.all[i]);
	best = pick(&pool, route_min, score);
	if (best < 0 && !is_blank(question->text))
		best = pick_catch_all(&pool);
	close_pool(&pool);
	return best;
}

int score_global(const struct score_question *question, double *score)
{
	struct pool pool;
	int best;

	*score = 0;
	open_pool(&pool, question);
	for (size_t i = 0; i < pool.n; i++) {
		struct candidate *c = &pool.all[i];

		if (pool.key && c->key)
			c->score = pool.key == c->key;
		else
			c->score = text_score(&pool, c);
	}
	best = pick(&pool, global_min, score);
	close_pool(&pool);
	return best;
}

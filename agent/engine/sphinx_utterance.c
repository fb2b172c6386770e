/* SPDX-License-Identifier: MIT */
#include "agent/engine/sphinx_utterance.h"
#include <math.h>
#include "core/mem.h"

/* A grammar always matches something, so its acoustic cost is held against
 * that of open decoding. Measured over mu-law and white noise with synthetic
 * voices, gains of 0.2 to 2, each line's mean known or not:
 *   any, 24 phrases and yes/no: right ones 1.05 to 1.55, of the hardest voice
 *     to 1.7; other sentences 1.7 to 2.8, with a louder noise from 1.57
 *   yes/no alone: right ones to 1.5, a bare "yes" to 1.91; others from 1.99
 *   digits, which can match much: right ones to 1.43, others 1.39 to 1.94 */
static const double cost_ratio_max[] = {
	[SPEECH_ANY] = 1.6,
	[SPEECH_DIGITS] = 1.5,
	[SPEECH_YES_NO] = 1.95,
};
static const double confidence_open = 0.5;
static const double confidence_unchecked = 0.4;

void sphinx_utterance_init(struct sphinx_utterance *utterance,
			   const struct sphinx_lease *lease,
			   const struct sphinx_mean *mean,
			   struct sphinx_grammar *grammar)
{
	*utterance = (struct sphinx_utterance){ .lease = *lease,
						.grammar = *grammar,
						.mean = *mean,
						.text = mem_dup_str("") };
	*grammar = (struct sphinx_grammar){ .expect = SPEECH_ANY };
	telephone_band_init(&utterance->band);
}

void sphinx_utterance_reset(struct sphinx_utterance *utterance)
{
	sphinx_grammar_reset(&utterance->grammar);
	mem_free(utterance->text);
	utterance->text = NULL;
}

/* A grammar that does not compile is done without; an open decoder is not. */
static void begin(struct sphinx_utterance *utterance)
{
	struct sphinx_lease *lease = &utterance->lease;
	int grammar_err = -1;

	if (lease->open)
		utterance->err = sphinx_decoder_begin(lease->open,
						      &utterance->mean, NULL);
	if (lease->grammar && !utterance->err)
		grammar_err = sphinx_decoder_begin(
			lease->grammar, &utterance->mean, &utterance->grammar);
	if (!lease->open)
		utterance->err = grammar_err;
	utterance->is_begun = true;
}

static void set_text(struct sphinx_utterance *utterance, const char *text,
		     double confidence)
{
	char *copy = mem_dup_str(text);

	mem_free(utterance->text);
	utterance->text = copy;
	utterance->confidence = *copy ? confidence : 0;
}

static void judge(struct sphinx_utterance *utterance,
		  const struct sphinx_result *open,
		  const struct sphinx_result *grammar)
{
	double ratio = open->cost > 0 ? grammar->cost / open->cost : 0;

	if (!utterance->lease.open)
		set_text(utterance, grammar->text, confidence_unchecked);
	else if (open->words && grammar->words && ratio > 0 &&
		 ratio < cost_ratio_max[utterance->grammar.expect])
		set_text(utterance, grammar->text, fmin(1, 1.8 - 0.8 * ratio));
	else
		set_text(utterance, open->words ? open->text : "",
			 confidence_open);
}

static void end(struct sphinx_utterance *utterance)
{
	struct sphinx_lease *lease = &utterance->lease;
	struct sphinx_result open = { 0 }, grammar = { 0 };

	if (lease->grammar)
		sphinx_decoder_end(lease->grammar, &grammar, &utterance->mean);
	if (lease->open)
		sphinx_decoder_end(lease->open, &open, &utterance->mean);
	if (utterance->err)
		set_text(utterance, "", 0);
	else
		judge(utterance, &open, &grammar);
	mem_free(open.text);
	mem_free(grammar.text);
	utterance->is_ended = true;
}

void sphinx_utterance_run(struct sphinx_utterance *utterance,
			  const int16_t *samples, size_t n, bool is_last)
{
	struct sphinx_lease *lease = &utterance->lease;
	int16_t *wide = mem_new_array(2 * n + 1, sizeof(*wide));

	if (!utterance->is_begun)
		begin(utterance);
	telephone_band_widen(&utterance->band, wide, samples, n);
	if (!utterance->err && lease->open)
		sphinx_decoder_feed(lease->open, wide, 2 * n);
	if (!utterance->err && lease->grammar)
		sphinx_decoder_feed(lease->grammar, wide, 2 * n);
	mem_free(wide);
	if (is_last)
		end(utterance);
	else if (!utterance->err && lease->open)
		set_text(utterance, sphinx_decoder_partial(lease->open),
			 confidence_open);
}

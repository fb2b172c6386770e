/* SPDX-License-Identifier: MIT */
#include "agent/engine/sphinx_decoder.h"
#include <errno.h>
#include <pocketsphinx.h>
#include <sphinxbase/cmn.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>
#include "agent/engine/speech_flite.h"
#include "agent/engine/sphinx_fsg.h"
#include "core/mem.h"

/* Words that were added make the dictionary grow; past this it starts anew. */
enum { ADDED_WORDS_MAX = 500 };

struct sphinx_decoder {
	enum sphinx_kind kind;
	ps_decoder_t *ps; /* owned; NULL until loaded */
	unsigned added_words;
	bool is_in_utterance;
};

/* Mean of synthetic speech over mu-law and the widened band. */
static const struct sphinx_mean telephone = {
	{ 51.47f, 3.36f, 1.57f, 13.91f, 1.44f, -5.74f, 7.94f, -7.77f, -1.39f,
	  1.86f, -1.81f, 6.39f, -0.64f },
};

void sphinx_mean_init(struct sphinx_mean *mean)
{
	*mean = telephone;
}

struct sphinx_decoder *sphinx_decoder_new(enum sphinx_kind kind)
{
	struct sphinx_decoder *decoder = mem_new(sizeof(*decoder));

	decoder->kind = kind;
	return decoder;
}

/* Without -hmm and the like the library finds its own installed model. */
static int load(struct sphinx_decoder *decoder)
{
	cmd_ln_t *config;

	err_set_logfp(NULL);
	config = cmd_ln_init(NULL, ps_args(), TRUE, "-fwdflat", "no",
			     "-bestpath", "no", "-compallsen", "yes", NULL);
	if (!config)
		return -ENOENT;
	ps_default_search_args(config);
	if (decoder->kind == SPHINX_GRAMMAR)
		cmd_ln_set_str_r(config, "-lm", NULL);
	if (cmd_ln_str_r(config, "-hmm") && cmd_ln_str_r(config, "-dict"))
		decoder->ps = ps_init(config);
	cmd_ln_free_r(config);
	decoder->added_words = 0;
	return decoder->ps ? 0 : -ENOENT;
}

static void leave_utterance(struct sphinx_decoder *decoder)
{
	if (decoder->is_in_utterance)
		ps_end_utt(decoder->ps);
	decoder->is_in_utterance = false;
}

void sphinx_decoder_free(struct sphinx_decoder **decoder)
{
	if (!*decoder)
		return;
	leave_utterance(*decoder); /* else its lists leak */
	if ((*decoder)->ps)
		ps_free((*decoder)->ps);
	mem_free(*decoder);
	*decoder = NULL;
}

/* In the dictionary, or put there with flite's pronunciation. */
static bool knows_word(void *owner, const char *word)
{
	struct sphinx_decoder *decoder = owner;
	char phones[200];
	char *known = ps_lookup_word(decoder->ps, word);

	if (known) {
		ckd_free(known);
		return true;
	}
	if (!speech_pronounce(phones, sizeof(phones), word))
		return false;
	decoder->added_words++;
	return ps_add_word(decoder->ps, word, phones, FALSE) >= 0;
}

static int set_grammar(struct sphinx_decoder *decoder,
		       const struct sphinx_grammar *grammar)
{
	const struct sphinx_words words = { knows_word, decoder };
	fsg_model_t *fsg = sphinx_fsg_build(grammar, decoder->ps, &words);
	int err = -EINVAL;

	if (!fsg)
		return -EINVAL;
	if (ps_set_fsg(decoder->ps, "turn", fsg) == 0 &&
	    ps_set_search(decoder->ps, "turn") == 0)
		err = 0;
	fsg_model_free(fsg);
	return err;
}

int sphinx_decoder_begin(struct sphinx_decoder *decoder,
			 const struct sphinx_mean *mean,
			 const struct sphinx_grammar *grammar)
{
	int err = 0;

	leave_utterance(decoder); /* of a caller who has gone */
	if (decoder->added_words > ADDED_WORDS_MAX) {
		ps_free(decoder->ps);
		decoder->ps = NULL;
	}
	if (!decoder->ps)
		err = load(decoder);
	if (!err && grammar)
		err = set_grammar(decoder, grammar);
	if (err)
		return err;
	cmn_live_set(ps_get_feat(decoder->ps)->cmn_struct, mean->at);
	if (ps_start_utt(decoder->ps) < 0)
		return -EINVAL;
	decoder->is_in_utterance = true;
	return 0;
}

void sphinx_decoder_feed(struct sphinx_decoder *decoder, const int16_t *samples,
			 size_t n)
{
	if (decoder->is_in_utterance && n > 0)
		ps_process_raw(decoder->ps, samples, n, FALSE, FALSE);
}

const char *sphinx_decoder_partial(struct sphinx_decoder *decoder)
{
	const char *text = NULL;

	if (decoder->is_in_utterance)
		text = ps_get_hyp(decoder->ps, NULL);
	return text ? text : "";
}

static void read_cost(struct sphinx_decoder *decoder, struct sphinx_result *out)
{
	ps_seg_t *segment = ps_seg_iter(decoder->ps);

	for (; segment; segment = ps_seg_next(segment)) {
		int32 acoustic = 0, language, back;
		const char *word = ps_seg_word(segment);

		ps_seg_prob(segment, &acoustic, &language, &back);
		out->cost -= acoustic;
		out->words +=
			word && *word != '<' && *word != '[' && *word != '+';
	}
}

void sphinx_decoder_end(struct sphinx_decoder *decoder,
			struct sphinx_result *out, struct sphinx_mean *mean)
{
	const char *text = NULL;

	*out = (struct sphinx_result){ .cost = 0 };
	if (decoder->is_in_utterance) {
		leave_utterance(decoder);
		text = ps_get_hyp(decoder->ps, NULL);
		if (text)
			read_cost(decoder, out);
		cmn_live_get(ps_get_feat(decoder->ps)->cmn_struct, mean->at);
	}
	out->text = mem_dup_str(text ? text : "");
}

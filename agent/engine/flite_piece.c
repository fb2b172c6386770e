/* SPDX-License-Identifier: MIT */
#include "agent/engine/flite_piece.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <speex/speex_resampler.h>
#include <stdlib.h>
#include <string.h>
#include "core/mem.h"

enum { RATE_HZ = 8000, RESAMPLER_QUALITY = 5, QUIET = 200, LEAD_SAMPLES = 160 };

/* Seconds at which the last sound of a token ends; below 0: it has none. */
static double token_end(const cst_item *token)
{
	double end = -1;

	for (const cst_item *word = item_daughter(token); word;
	     word = item_next(word)) {
		const cst_item *syllables = item_as(word, "SylStructure");
		const cst_item *sounds =
			syllables ? item_last_daughter(syllables) : NULL;
		const cst_item *last =
			sounds ? item_last_daughter(sounds) : NULL;

		if (last && item_feat_present(last, "end"))
			end = fmax(end, item_feat_float(last, "end"));
	}
	return end;
}

/* Where a token's text ends, with the punctuation that follows it. flite drops
 * some ("Dr."), so its own lengths do not add up. */
static size_t token_text_end(const char *text, size_t from, const char *name)
{
	const char *found = strstr(text + from, name);
	size_t at = found ? (size_t)(found - text) + strlen(name) : from;

	while (text[at] && text[at] != ' ')
		at++;
	return at;
}

static void read_marks(struct flite_piece *piece, cst_utterance *utterance)
{
	const cst_item *token = relation_head(utt_relation(utterance, "Token"));
	size_t at = 0, size = 0;

	for (; token; token = item_next(token)) {
		size_t end = token_text_end(piece->text, at,
					    item_feat_string(token, "name"));
		double seconds = token_end(token);
		struct speech_mark mark;

		if (end == at)
			continue;
		at = end;
		mark.text_bytes = piece->end[end - 1];
		mark.samples = (uint64_t)ceil(fmax(seconds, 0) * RATE_HZ);
		if (piece->n_marks &&
		    mark.samples < piece->marks[piece->n_marks - 1].samples)
			mark.samples = piece->marks[piece->n_marks - 1].samples;
		if (mark.samples > piece->n_samples)
			mark.samples = piece->n_samples;
		if (piece->n_marks == size) {
			size = size ? size * 2 : 16;
			piece->marks =
				mem_resize(piece->marks, size * sizeof(mark));
		}
		piece->marks[piece->n_marks++] = mark;
	}
}

/* speexdsp without its delay, so that marks stay true. */
static int resample(struct flite_piece *piece, const cst_wave *wave)
{
	spx_uint32_t n_in = (spx_uint32_t)wave->num_samples;
	spx_uint32_t n_out = (spx_uint32_t)((uint64_t)n_in * RATE_HZ /
					    (unsigned)wave->sample_rate);
	spx_uint32_t used = n_in, made = n_out, rest;
	static const int16_t silence[512];
	SpeexResamplerState *state;
	int err;

	state = speex_resampler_init(1, (spx_uint32_t)wave->sample_rate,
				     RATE_HZ, RESAMPLER_QUALITY, &err);
	if (!state)
		return -EIO;
	speex_resampler_skip_zeros(state);
	piece->samples = mem_new_array(n_out + 1, sizeof(int16_t));
	speex_resampler_process_int(state, 0, wave->samples, &used,
				    piece->samples, &made);
	rest = n_out - made;
	used = sizeof(silence) / sizeof(silence[0]);
	speex_resampler_process_int(state, 0, silence, &used,
				    piece->samples + made, &rest);
	speex_resampler_destroy(state);
	piece->n_samples = made + rest;
	return 0;
}

static int read_wave(struct flite_piece *piece, const cst_wave *wave)
{
	if (!wave || wave->num_samples <= 0 || wave->num_channels != 1)
		return -EIO;
	if (wave->sample_rate != RATE_HZ)
		return resample(piece, wave);
	piece->n_samples = (size_t)wave->num_samples;
	piece->samples = mem_new_array(piece->n_samples, sizeof(int16_t));
	memcpy(piece->samples, wave->samples,
	       piece->n_samples * sizeof(int16_t));
	return 0;
}

/* flite begins with a fifth of a second of pause: the caller would wait for
 * it at the start of each answer. Some of it stays, so that no onset is cut. */
static void trim_lead(struct flite_piece *piece)
{
	size_t lead = 0;

	while (lead < piece->n_samples && abs(piece->samples[lead]) < QUIET)
		lead++;
	if (lead <= LEAD_SAMPLES || lead == piece->n_samples)
		return;
	lead -= LEAD_SAMPLES;
	piece->n_samples -= lead;
	memmove(piece->samples, piece->samples + lead,
		piece->n_samples * sizeof(int16_t));
	for (size_t i = 0; i < piece->n_marks; i++) {
		uint64_t *at = &piece->marks[i].samples;

		*at = *at > lead ? *at - lead : 0;
	}
}

/* flite's voices need a letter or digit to speak of. */
static bool has_sound(const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || *text == '$')
			return true;
	}
	return false;
}

int flite_piece_speak(struct flite_piece *piece, cst_voice *voice)
{
	cst_utterance *utterance;
	int err;

	if (!has_sound(piece->text))
		return 0;
	utterance = flite_synth_text(piece->text, voice);
	if (!utterance)
		return -EIO;
	err = read_wave(piece, utt_wave(utterance));
	if (!err) {
		read_marks(piece, utterance);
		trim_lead(piece);
	}
	delete_utterance(utterance);
	return err;
}

void flite_piece_reset(struct flite_piece *piece)
{
	mem_free(piece->samples);
	mem_free(piece->marks);
	*piece = (struct flite_piece){ .text = NULL };
}

/* SPDX-License-Identifier: MIT */
/* agent/engine/vocabulary.h - in how many routes each root occurs, and whether
 * the caller said it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct vocabulary_term;

struct vocabulary {
	struct vocabulary_term *term; /* owned: a hash table */
	size_t n, size;
};

void vocabulary_init(struct vocabulary *vocabulary);
void vocabulary_reset(struct vocabulary *vocabulary);
/* Routes are added one after the other: rising numbers. */
void vocabulary_add(struct vocabulary *vocabulary, const char *root,
		    size_t route);
void vocabulary_say(struct vocabulary *vocabulary, const char *root);
/* A word that many routes share tells little; one that none has, less. */
double vocabulary_weight(const struct vocabulary *vocabulary, const char *root);
bool vocabulary_is_said(const struct vocabulary *vocabulary, const char *root);

/* SPDX-License-Identifier: MIT */
#include "agent/engine/vocabulary.h"
#include <stdint.h>
#include <string.h>
#include "core/mem.h"

enum { SIZE_FIRST = 256 };

struct vocabulary_term {
	const char *root; /* borrowed; NULL: free */
	size_t holders;
	size_t last_route;
	bool is_said;
};

/* FNV-1a */
static size_t hash(const char *root)
{
	uint64_t value = 14695981039346656037ull;

	for (; *root; root++)
		value = (value ^ (unsigned char)*root) * 1099511628211ull;
	return (size_t)(value ^ value >> 32);
}

/* Its place, or the free one where it would stand. */
static struct vocabulary_term *find(const struct vocabulary *vocabulary,
				    const char *root)
{
	size_t at = hash(root) & (vocabulary->size - 1);

	while (vocabulary->term[at].root &&
	       strcmp(vocabulary->term[at].root, root) != 0)
		at = (at + 1) & (vocabulary->size - 1);
	return &vocabulary->term[at];
}

static void grow(struct vocabulary *vocabulary)
{
	struct vocabulary old = *vocabulary;

	vocabulary->size = old.size * 2;
	vocabulary->term = mem_new_array(vocabulary->size, sizeof(*old.term));
	for (size_t i = 0; i < old.size; i++) {
		if (old.term[i].root)
			*find(vocabulary, old.term[i].root) = old.term[i];
	}
	mem_free(old.term);
}

static struct vocabulary_term *place(struct vocabulary *vocabulary,
				     const char *root)
{
	struct vocabulary_term *term;

	if (vocabulary->n * 2 >= vocabulary->size)
		grow(vocabulary);
	term = find(vocabulary, root);
	if (!term->root) {
		term->root = root;
		vocabulary->n++;
	}
	return term;
}

void vocabulary_init(struct vocabulary *vocabulary)
{
	*vocabulary = (struct vocabulary){ .size = SIZE_FIRST };
	vocabulary->term = mem_new_array(SIZE_FIRST, sizeof(*vocabulary->term));
}

void vocabulary_reset(struct vocabulary *vocabulary)
{
	mem_free(vocabulary->term);
	*vocabulary = (struct vocabulary){ .term = NULL };
}

void vocabulary_add(struct vocabulary *vocabulary, const char *root,
		    size_t route)
{
	struct vocabulary_term *term = place(vocabulary, root);

	if (term->holders && term->last_route == route)
		return;
	term->holders++;
	term->last_route = route;
}

void vocabulary_say(struct vocabulary *vocabulary, const char *root)
{
	place(vocabulary, root)->is_said = true;
}

double vocabulary_weight(const struct vocabulary *vocabulary, const char *root)
{
	const struct vocabulary_term *term = find(vocabulary, root);

	return term->root && term->holders ? 1.0 / (double)term->holders : 0.25;
}

bool vocabulary_is_said(const struct vocabulary *vocabulary, const char *root)
{
	const struct vocabulary_term *term = find(vocabulary, root);

	return term->root && term->is_said;
}

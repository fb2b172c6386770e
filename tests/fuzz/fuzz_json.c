/* SPDX-License-Identifier: MIT */
/* JSON from clients, over heap memory of exactly its size: what is read is
 * written, read again and written the same; a refusal says where. Seeds:
 * corpus/json. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_scalars(const json_t *value)
{
	double real;
	bool flag;

	json_to_real(&real, value);
	json_to_bool(&flag, value);
}

/* The text as a path into a value. */
static void read_path(const json_t *root, struct slice text)
{
	int err = 0;
	json_t *found = json_path(root, text, &err);

	assert(!found || !err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_problem problem = { .line = -5 };
	char *copy = malloc(size ? size : 1);
	json_t *value, *again;
	char *first, *second;

	if (size)
		memcpy(copy, data, size);
	value = json_parse(slice_make(copy, size), &problem);
	if (!value) {
		assert(problem.line != -5 && problem.text[0]);
		value = json_object();
	}
	first = json_text(value);
	again = json_parse(slice_of(first), &problem);
	assert(again);
	second = json_text(again);
	assert(!strcmp(first, second));
	read_scalars(value);
	read_path(value, slice_make(copy, size));
	mem_free(first);
	mem_free(second);
	json_decref(value);
	json_decref(again);
	free(copy);
	return 0;
}

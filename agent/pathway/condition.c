/* SPDX-License-Identifier: MIT */
#include "agent/pathway/condition.h"
#include <errno.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"
#include "core/slice.h"

static const char *const names[] = {
	[CONDITION_EQ] = "==",
	[CONDITION_NE] = "!=",
	[CONDITION_GT] = ">",
	[CONDITION_LT] = "<",
	[CONDITION_GE] = ">=",
	[CONDITION_LE] = "<=",
	[CONDITION_CONTAINS] = "contains",
	[CONDITION_IS_NULL] = "is null",
	[CONDITION_IS_NOT_NULL] = "is not null",
};

int condition_parse(enum condition_op *out, const char *text)
{
	struct slice given = slice_trim(slice_of(text));
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_eq_nocase(given, slice_of(names[i]))) {
			*out = (enum condition_op)i;
			return 0;
		}
	return -EINVAL;
}

const char *condition_list(void)
{
	return "==, !=, >, <, >=, <=, contains, is null, is not null";
}

/* Less than, equal to or more than 0, as strcmp() does. */
static int compare(const json_t *value, const char *compared)
{
	json_t *other = json_string(compared);
	char *text = NULL;
	double a, b;
	int order;

	if (!json_is_boolean(value) && json_to_real(&a, value) == 0 && other &&
	    json_to_real(&b, other) == 0) {
		order = a < b ? -1 : a > b;
	} else if (json_is_string(value)) {
		order = strcmp(json_string_value(value), compared);
	} else {
		text = json_text(value);
		order = strcmp(text, compared);
	}
	mem_free(text);
	json_decref(other);
	return order;
}

static bool contains(const json_t *value, const char *compared)
{
	const json_t *element;
	size_t i;

	if (json_is_string(value))
		return strstr(json_string_value(value), compared) != NULL;
	if (json_is_object(value))
		return json_object_get(value, compared) != NULL;
	if (!json_is_array(value))
		return compare(value, compared) == 0;
	json_array_foreach((json_t *)value, i, element)
		if (compare(element, compared) == 0)
			return true;
	return false;
}

bool condition_holds(const json_t *value, enum condition_op op,
		     const char *compared)
{
	bool is_null = !value || json_is_null(value);

	if (is_null)
		return op == CONDITION_IS_NULL || op == CONDITION_NE;
	switch (op) {
	case CONDITION_EQ:
		return compare(value, compared) == 0;
	case CONDITION_NE:
		return compare(value, compared) != 0;
	case CONDITION_GT:
		return compare(value, compared) > 0;
	case CONDITION_LT:
		return compare(value, compared) < 0;
	case CONDITION_GE:
		return compare(value, compared) >= 0;
	case CONDITION_LE:
		return compare(value, compared) <= 0;
	case CONDITION_CONTAINS:
		return contains(value, compared);
	case CONDITION_IS_NULL:
		return false;
	case CONDITION_IS_NOT_NULL:
		return true;
	}
	return false;
}

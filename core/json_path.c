/* SPDX-License-Identifier: MIT */
/* Paths into a tree: "$.a.b[0]['c d']". */
#include "core/json.h"
#include <errno.h>
#include "core/mem.h"

enum { INDEX_MAX = 1000 * 1000 };

/* A step is a member's name or, when name.ptr is NULL, an index. */
struct step {
	struct slice name;
	uint64_t index;
};

static bool take_char(struct slice *rest, char c)
{
	if (!rest->len || rest->ptr[0] != c)
		return false;
	*rest = slice_make(rest->ptr + 1, rest->len - 1);
	return true;
}

/* A bare name ends at a point or a bracket. */
static bool take_name(struct step *out, struct slice *rest)
{
	size_t n = 0;

	while (n < rest->len && rest->ptr[n] != '.' && rest->ptr[n] != '[' &&
	       rest->ptr[n] != ']')
		n++;
	if (!n)
		return false;
	out->name = slice_make(rest->ptr, n);
	*rest = slice_make(rest->ptr + n, rest->len - n);
	return true;
}

/* Behind "[": 0] or 'c d'] or "c d"]. */
static bool take_bracket(struct step *out, struct slice *rest)
{
	char quote = rest->len ? rest->ptr[0] : '\0';
	ptrdiff_t n;

	if (quote == '\'' || quote == '"') {
		take_char(rest, quote);
		n = slice_find(*rest, quote);
		if (n < 0)
			return false;
		out->name = slice_make(rest->ptr, (size_t)n);
		n++;
	} else {
		n = slice_find(*rest, ']');
		if (n < 0 ||
		    slice_to_u64(&out->index, slice_make(rest->ptr, (size_t)n),
				 INDEX_MAX))
			return false;
	}
	*rest = slice_make(rest->ptr + n, rest->len - (size_t)n);
	return take_char(rest, ']');
}

static bool take_step(struct step *out, struct slice *rest, bool is_first)
{
	*out = (struct step){ 0 };
	if (take_char(rest, '['))
		return take_bracket(out, rest);
	if (!is_first && !take_char(rest, '.'))
		return false;
	return take_name(out, rest);
}

static json_t *walk(const json_t *at, const struct step *step)
{
	char *key;
	json_t *next;

	if (!step->name.ptr)
		return json_array_get(at, step->index);
	key = slice_dup(step->name);
	next = json_object_get(at, key);
	mem_free(key);
	return next;
}

json_t *json_path(const json_t *root, struct slice path, int *err)
{
	json_t *at = (json_t *)root; /* borrowed by the caller all the same */
	struct slice rest = path;
	bool is_first = true;
	struct step step;

	*err = 0;
	if (rest.len && rest.ptr[0] == '$' &&
	    (rest.len == 1 || rest.ptr[1] == '.' || rest.ptr[1] == '[')) {
		take_char(&rest, '$');
		is_first = false;
	} else if (!rest.len) {
		*err = -EINVAL;
		return NULL;
	}
	while (rest.len) {
		if (!take_step(&step, &rest, is_first)) {
			*err = -EINVAL;
			return NULL;
		}
		at = at ? walk(at, &step) : NULL;
		is_first = false;
	}
	return at;
}

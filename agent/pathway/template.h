/* SPDX-License-Identifier: MIT */
/* agent/pathway/template.h - "Hello {{name}}": names without regard to case and
 * spaces, {{a.b}} reaches in, an unknown one stays as written. What is put in
 * is not looked at again. */
#pragma once
#include <jansson.h>
#include "agent/pathway/variables.h"

enum template_style {
	TEMPLATE_TEXT, /* as it stands; null is nothing, others are JSON */
	TEMPLATE_JSON, /* into JSON: escaped between quotes, JSON elsewhere */
	TEMPLATE_URL /* percent-encoded, unless the URL begins with it */
};

/* Heap text of up to 256 KiB for mem_free(); "" past it. text may be NULL. */
char *template_text(const char *text, enum template_style style,
		    const struct variables *variables);
/* A copy in which all strings are filled in; the caller owns it. A string that
 * is one placeholder alone becomes the variable with its type. */
json_t *template_json(const json_t *value, const struct variables *variables);

/* SPDX-License-Identifier: MIT */
#include "http/api/sip_body.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "http/problem.h"

enum { NUMBERS_MAX = 100, FIELD_SIZE = 40 };

static int refuse(struct sip_fault *fault, const char *field,
		  const char *message)
{
	snprintf(fault->field, sizeof(fault->field), "%s", field);
	snprintf(fault->message, sizeof(fault->message), "%s", message);
	return -EINVAL;
}

static bool is_given(const json_t *value)
{
	return value && !json_is_null(value);
}

/* ---- numbers ---- */

static void add_number(struct sip_body *out, struct arena *arena,
		       const char *number)
{
	for (size_t i = 0; i < out->n_numbers; i++) {
		if (!strcmp(out->numbers[i], number))
			return;
	}
	out->numbers[out->n_numbers++] = arena_dup_str(arena, number);
}

static int take_number(struct sip_body *out, struct arena *arena,
		       const json_t *value, const char *field,
		       struct sip_fault *fault)
{
	const char *text = json_string_value(value);
	char number[PHONE_SIZE];

	if (!text || phone_parse(number, slice_of(text)))
		return refuse(fault, field,
			      "phone numbers must be strings such as "
			      "+14155550100");
	add_number(out, arena, number);
	return 0;
}

static int take_list(struct sip_body *out, struct arena *arena,
		     const json_t *list, struct sip_fault *fault)
{
	int err = 0;
	size_t i;
	json_t *value;

	if (!json_is_array(list) || !json_array_size(list) ||
	    json_array_size(list) > NUMBERS_MAX)
		return refuse(fault, "phone_numbers",
			      "phone_numbers must be an array of 1 to 100 "
			      "numbers");
	json_array_foreach(list, i, value) {
		char field[FIELD_SIZE + 8];

		snprintf(field, sizeof(field), "phone_numbers[%zu]", i);
		err = take_number(out, arena, value, field, fault);
		if (err)
			break;
	}
	return err;
}

/* phone_number, and where it is allowed phone_numbers. */
static int take_numbers(struct sip_body *out, struct arena *arena,
			const json_t *body, bool takes_list,
			struct sip_fault *fault)
{
	const json_t *list = json_object_get(body, "phone_numbers");
	const json_t *one = json_object_get(body, "phone_number");
	int err = 0;

	*out = (struct sip_body){ 0 };
	out->numbers =
		arena_new(arena, (NUMBERS_MAX + 1) * sizeof(*out->numbers));
	if (takes_list && is_given(list))
		err = take_list(out, arena, list, fault);
	else if (!is_given(one))
		return refuse(fault, "phone_number",
			      "phone_number is required");
	if (!err && is_given(one))
		err = take_number(out, arena, one, "phone_number", fault);
	return err;
}

static int check_service(const json_t *body, struct sip_fault *fault)
{
	const json_t *service = json_object_get(body, "service");

	if (!is_given(service) ||
	    slice_eq(slice_of(json_string_value(service)), SLICE("sip")))
		return 0;
	return refuse(fault, "service", "service must be sip");
}

/* ---- directions ---- */

static int check_repeat(const struct sip_body *out, const char *at,
			struct sip_fault *fault)
{
	char field[FIELD_SIZE + 8];

	if (out->n_directions < 2 ||
	    out->directions[0].type != out->directions[1].type)
		return 0;
	snprintf(field, sizeof(field), "%s.type", at);
	return refuse(fault, field, "a direction may be given only once");
}

static int take_type(struct sip_direction *out, const json_t *value,
		     const char *at, struct sip_fault *fault)
{
	char field[FIELD_SIZE + 8];

	*out = (struct sip_direction){ 0 };
	if (!sip_check_type(&out->type, json_object_get(value, "type")))
		return 0;
	snprintf(field, sizeof(field), "%s.type", at);
	return refuse(fault, field, "type must be inbound or outbound");
}

static int take_directions(struct sip_body *out, const json_t *list,
			   bool is_detach, struct sip_fault *fault)
{
	int err = 0;
	size_t i;
	json_t *value;

	if (!json_is_array(list) || !json_array_size(list))
		return refuse(fault, "directions",
			      "directions must be an array of at least one "
			      "direction");
	json_array_foreach(list, i, value) {
		char at[FIELD_SIZE];

		snprintf(at, sizeof(at), "directions[%zu]", i);
		if (i == 2)
			return refuse(fault, at,
				      "a direction may be given only once");
		err = is_detach
			      ? take_type(&out->directions[i], value, at, fault)
			      : sip_check_direction(&out->directions[i], value,
						    at, false, fault);
		out->n_directions++;
		if (!err)
			err = check_repeat(out, at, fault);
		if (err)
			break;
	}
	return err;
}

/* {phone_number, direction}: what one published client sends. */
static int take_short(struct sip_body *out, const json_t *direction,
		      struct sip_fault *fault)
{
	if (sip_check_type(&out->directions[0].type, direction))
		return refuse(fault, "direction",
			      "direction must be inbound or outbound");
	out->n_directions = 1;
	return 0;
}

int sip_body_attach(struct sip_body *out, const json_t *body,
		    struct arena *arena, struct sip_fault *fault)
{
	const json_t *list = json_object_get(body, "directions");
	const json_t *direction = json_object_get(body, "direction");
	int err = take_numbers(out, arena, body, true, fault);

	if (!err)
		err = check_service(body, fault);
	if (err)
		return err;
	if (is_given(list) || !is_given(direction))
		return take_directions(out, list, false, fault);
	err = take_short(out, direction, fault);
	if (!err && out->directions[0].type == TRUNK_OUTBOUND)
		return refuse(fault, "sip_endpoint",
			      "outbound needs directions with a sip_endpoint");
	return err;
}

int sip_body_update(struct sip_body *out, const json_t *body,
		    struct arena *arena, struct sip_fault *fault)
{
	const json_t *updates = json_object_get(body, "updates");
	int err = take_numbers(out, arena, body, false, fault);

	if (!err)
		err = check_service(body, fault);
	if (!err)
		err = sip_check_direction(&out->directions[0], updates,
					  "updates", true, fault);
	out->n_directions = 1;
	return err;
}

int sip_body_detach(struct sip_body *out, const json_t *body,
		    struct arena *arena, struct sip_fault *fault)
{
	const json_t *list = json_object_get(body, "directions");
	const json_t *direction = json_object_get(body, "direction");
	int err = take_numbers(out, arena, body, false, fault);

	if (!err)
		err = check_service(body, fault);
	if (err)
		return err;
	if (is_given(list))
		return take_directions(out, list, true, fault);
	if (is_given(direction))
		return take_short(out, direction, fault);
	out->directions[0].type = TRUNK_INBOUND;
	out->directions[1].type = TRUNK_OUTBOUND;
	out->n_directions = 2;
	return 0;
}

/* ---- queries ---- */

int sip_query_number(char out[PHONE_SIZE], struct request *request)
{
	const char *text = request_query(request, "phone_number");

	if (text && text[0] == ' ') /* a '+' that was not encoded */
		text = arena_printf(request_view(request)->arena, "+%s",
				    text + 1);
	if (text && !phone_parse(out, slice_of(text)))
		return 0;
	problem_invalid(request, "phone_number",
			text ? "phone_number must be a phone number such as "
			       "+14155550100"
			     : "phone_number is required");
	return -EINVAL;
}

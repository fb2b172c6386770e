/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/settings_priv.h"
#include "core/json.h"

static bool is_empty(const json_t *value)
{
	return !value || json_is_null(value) ||
	       (json_is_string(value) && !json_string_length(value));
}

/* Every field of the table that the body has, into out; what is empty goes or,
 * with keep_empty, becomes null. */
static int read_fields(json_t *out, const json_t *body,
		       enum setting_where where,
		       struct settings_problem *problem)
{
	size_t n;
	const struct setting_rule *rules = setting_rules(&n);

	for (size_t i = 0; i < n; i++) {
		struct setting_check check = { &rules[i], problem };
		const json_t *value = json_object_get(body, rules[i].name);
		json_t *read;

		if (!value || !(rules[i].where & where))
			continue;
		if (is_empty(value) && where == IN_CALL) {
			json_object_del(out, rules[i].name);
			continue;
		}
		read = is_empty(value) ? json_null()
				       : rules[i].read(&check, value);
		if (!read)
			return -EINVAL;
		json_put(out, rules[i].name, read);
	}
	return 0;
}

/* ---- what holds between fields ---- */

static int refuse_whole(struct settings_problem *problem, const char *field,
			const char *message)
{
	*problem = (struct settings_problem){ .status = 400 };
	snprintf(problem->error, sizeof(problem->error), "VALIDATION_ERROR");
	snprintf(problem->message, sizeof(problem->message), "%s", message);
	snprintf(problem->field, sizeof(problem->field), "%s", field);
	return -EINVAL;
}

static int check_required(const json_t *body, struct settings_problem *problem)
{
	static const char *const scripts[] = { "task", "pathway_id",
					       "persona_id", "agent_id" };
	size_t i = 0;

	if (is_empty(json_object_get(body, "phone_number")))
		return refuse_whole(problem, "phone_number",
				    "Missing required parameter: "
				    "phone_number.");
	while (i < 4 && is_empty(json_object_get(body, scripts[i])))
		i++;
	if (i == 4)
		return refuse_whole(problem, "task",
				    "Missing required parameter: task.");
	return 0;
}

/* There are no personas on this node: whatever is named is unknown. */
static int check_persona(const json_t *out, struct settings_problem *problem)
{
	static const char *const keys[] = { "persona_id", "agent_id" };
	static const char *const nouns[] = { "Persona", "Agent" };

	for (size_t i = 0; i < 2; i++) {
		const char *id = json_str(out, keys[i]);

		if (!id)
			continue;
		refuse_whole(problem, keys[i], "");
		problem->status = 404;
		snprintf(problem->error, sizeof(problem->error), "NOT_FOUND");
		snprintf(problem->message, sizeof(problem->message),
			 "%s with ID \"%.100s\" not found", nouns[i], id);
		return -ENOENT;
	}
	return 0;
}

static int check_transfer(const json_t *out, struct settings_problem *problem)
{
	const char *to = json_str(out, "phone_number");
	const char *transfer = json_str(out, "transfer_phone_number");

	if (!to || !transfer || strcmp(to, transfer) != 0)
		return 0;
	return refuse_whole(problem, "transfer_phone_number",
			    "Transfer phone number cannot be the same as the "
			    "phone number.");
}

/* The old names of what is now one object. */
static void map_voicemail(json_t *out)
{
	json_t *message = json_object_get(out, "voicemail_message");
	json_t *action = json_object_get(out, "voicemail_action");
	json_t *voicemail = json_object_get(out, "voicemail");

	if (!is_empty(voicemail) || (is_empty(message) && is_empty(action)))
		return;
	voicemail = json_object();
	if (!is_empty(message))
		json_object_set(voicemail, "message", message);
	if (!is_empty(action))
		json_object_set(voicemail, "action", action);
	else
		json_put_str(voicemail, "action", "leave_message");
	json_put(out, "voicemail", voicemail);
	json_object_del(out, "voicemail_message");
	json_object_del(out, "voicemail_action");
}

static void fill_presets(json_t *out)
{
	size_t n;
	const struct setting_rule *rules = setting_rules(&n);

	for (size_t i = 0; i < n; i++) {
		if (rules[i].preset && !json_object_get(out, rules[i].name))
			json_put(out, rules[i].name,
				 json_parse(slice_of(rules[i].preset), NULL));
	}
}

static json_t *take_object(const json_t *body, struct settings_problem *problem)
{
	*problem = (struct settings_problem){ 0 };
	if (!body)
		return json_object();
	if (json_is_object(body))
		return json_deep_copy(body);
	refuse_whole(problem, "", "The body must be a JSON object.");
	return NULL;
}

json_t *settings_check_call(const json_t *body,
			    struct settings_problem *problem)
{
	json_t *out = take_object(body, problem);
	int err;

	if (!out)
		return NULL;
	err = check_required(body, problem);
	if (!err)
		err = read_fields(out, body, IN_CALL, problem);
	if (!err)
		err = check_persona(out, problem);
	if (!err)
		err = check_transfer(out, problem);
	if (err) {
		json_decref(out);
		return NULL;
	}
	map_voicemail(out);
	fill_presets(out);
	return out;
}

json_t *settings_check_inbound(const json_t *body,
			       struct settings_problem *problem)
{
	json_t *out = take_object(body, problem);

	if (!out)
		return NULL;
	if (read_fields(out, body, IN_NUMBER, problem) ||
	    check_persona(out, problem)) {
		json_decref(out);
		return NULL;
	}
	map_voicemail(out);
	return out;
}

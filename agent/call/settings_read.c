/* SPDX-License-Identifier: MIT */
/* What each setting may be, and in which form it is kept. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/phone.h"
#include "agent/call/settings_priv.h"
#include "agent/pathway/zone.h"
#include "core/json.h"
#include "core/time.h"

enum {
	KEYWORDS_MAX = 20,
	SUMMARY_PROMPT_MAX = 2000, /* code points */
	DURATION_MAX_MINUTES = 720
};

/* ---- refusing ---- */

static json_t *refuse(const struct setting_check *check, const char *member,
		      const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static json_t *refuse(const struct setting_check *check, const char *member,
		      const char *fmt, ...)
{
	struct settings_problem *problem = check->problem;
	va_list args;

	problem->status = 400;
	snprintf(problem->error, sizeof(problem->error), "VALIDATION_ERROR");
	snprintf(problem->field, sizeof(problem->field), "%s%s%s",
		 check->rule->name, member ? "." : "", member ? member : "");
	va_start(args, fmt);
	vsnprintf(problem->message, sizeof(problem->message), fmt, args);
	va_end(args);
	return NULL;
}

static json_t *refuse_kind(const struct setting_check *check, const char *kind)
{
	if (check->rule->wrong)
		return refuse(check, NULL, "%s", check->rule->wrong);
	return refuse(check, NULL, "%s must be %s.", check->rule->name, kind);
}

/* ---- values of a kind ---- */

static json_t *read_text(const struct setting_check *check, const json_t *value)
{
	if (!json_is_string(value))
		return refuse_kind(check, "a string");
	return json_copy((json_t *)value);
}

static json_t *read_bool(const struct setting_check *check, const json_t *value)
{
	bool is_on;

	if (json_to_bool(&is_on, value))
		return refuse_kind(check, "a boolean");
	return json_boolean(is_on);
}

static json_t *read_number(const struct setting_check *check,
			   const json_t *value)
{
	const struct setting_rule *rule = check->rule;
	bool has_range = rule->min < rule->max;
	double real;

	if (json_to_real(&real, value))
		return refuse_kind(check, "a number");
	if (has_range && (real < rule->min || real > rule->max))
		return refuse(check, NULL, "%s must be between %g and %g.",
			      rule->name, rule->min, rule->max);
	if (rule->is_whole)
		return json_integer((json_int_t)round(real));
	return json_real(real);
}

static json_t *read_object(const struct setting_check *check,
			   const json_t *value)
{
	if (!json_is_object(value))
		return refuse_kind(check, "an object");
	return json_deep_copy(value);
}

static json_t *read_array(const struct setting_check *check,
			  const json_t *value)
{
	if (!json_is_array(value))
		return refuse_kind(check, "an array");
	return json_deep_copy(value);
}

static json_t *read_texts(const struct setting_check *check,
			  const json_t *value)
{
	size_t i;
	json_t *item;

	if (json_is_string(value))
		return json_pack("[O]", value);
	if (!json_is_array(value))
		return refuse_kind(check, "an array of strings");
	json_array_foreach(value, i, item) {
		if (!json_is_string(item))
			return refuse_kind(check, "an array of strings");
	}
	return json_deep_copy(value);
}

/* Numbers come as text or, from some clients, as a JSON number. */
static bool parse_phone(char out[PHONE_SIZE], const json_t *value)
{
	char digits[32];

	if (json_is_string(value))
		return !phone_parse(out, slice_make(json_string_value(value),
						    json_string_length(value)));
	if (!json_is_number(value) || json_number_value(value) < 0 ||
	    json_number_value(value) > 1e15)
		return false;
	snprintf(digits, sizeof(digits), "%.0f", json_number_value(value));
	return !phone_parse(out, slice_of(digits));
}

static json_t *read_phone(const struct setting_check *check,
			  const json_t *value)
{
	char number[PHONE_SIZE];

	if (!parse_phone(number, value))
		return refuse_kind(check, "a phone number");
	return json_string(number);
}

static json_t *read_phones(const struct setting_check *check,
			   const json_t *value)
{
	json_t *out;
	char number[PHONE_SIZE];
	const char *key;
	json_t *item;

	if (!json_is_object(value))
		return refuse_kind(check, "an object");
	out = json_object();
	json_object_foreach((json_t *)value, key, item) {
		if (!parse_phone(number, item)) {
			json_decref(out);
			return refuse(check, key,
				      "Invalid transfer phone "
				      "number.");
		}
		json_put_str(out, key, number);
	}
	return out;
}

/* ---- fields with rules of their own ---- */

static json_t *read_callee(const struct setting_check *check,
			   const json_t *value)
{
	char number[PHONE_SIZE];

	if (!json_is_string(value) && !json_is_number(value))
		return refuse(check, NULL,
			      "Phone number must be a string or number.");
	if (!parse_phone(number, value))
		return refuse(check, NULL,
			      "Invalid phone number. Please include a country "
			      "code if outside the US.");
	return json_string(number);
}

static json_t *read_duration(const struct setting_check *check,
			     const json_t *value)
{
	double minutes;

	if (json_to_real(&minutes, value))
		return refuse(check, NULL, "max_duration must be a number.");
	if (!(minutes > 0))
		return refuse(check, NULL,
			      "max_duration must be a positive number.");
	if (minutes > DURATION_MAX_MINUTES)
		return refuse(check, NULL,
			      "max_duration must be at most 12 hours.");
	return json_real(minutes);
}

/* "production" is what an absent version means. */
static json_t *read_version(const struct setting_check *check,
			    const json_t *value)
{
	const char *text = json_string_value(value);
	double real;

	if (text && !strcmp(text, "production"))
		return json_null();
	if (json_to_real(&real, value) || real != floor(real) || real < 0 ||
	    real > INT32_MAX)
		return refuse(check, NULL,
			      "pathway_version must be a version number or "
			      "production.");
	return json_integer((json_int_t)real);
}

static json_t *read_zone(const struct setting_check *check, const json_t *value)
{
	struct zone *zone = NULL;
	const char *name = json_string_value(value);

	if (!name)
		return refuse_kind(check, "a string");
	if (zone_open(&zone, name))
		return refuse(check, NULL, "Invalid timezone: %.120s", name);
	zone_close(&zone);
	return json_string(name);
}

static json_t *read_start_time(const struct setting_check *check,
			       const json_t *value)
{
	int64_t at_ms;

	if (!json_is_string(value) ||
	    time_parse(&at_ms, slice_of(json_string_value(value))))
		return refuse(check, NULL, "Invalid start_time.");
	return json_copy((json_t *)value);
}

/* Neither spaces nor control characters: none is in a URL. */
static bool is_visible(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c <= ' ' || c == 0x7f)
			return false;
	}
	return true;
}

/* Whether http is allowed is a matter of the node's settings. */
static json_t *read_webhook(const struct setting_check *check,
			    const json_t *value)
{
	struct slice url = slice_of(json_string_value(value));
	struct slice host = url;

	slice_cut(&host, ':');
	if ((slice_has_prefix(url, SLICE("https://")) ||
	     slice_has_prefix(url, SLICE("http://"))) &&
	    host.len > 2 && is_visible(url))
		return json_copy((json_t *)value);
	return refuse(check, NULL,
		      "webhook must be a string that starts with https://.");
}

static json_t *read_summary_prompt(const struct setting_check *check,
				   const json_t *value)
{
	struct slice text = slice_of(json_string_value(value));
	size_t points = 0;

	if (!json_is_string(value))
		return refuse_kind(check, "a string");
	for (size_t i = 0; i < text.len; i++)
		points += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
	if (points > SUMMARY_PROMPT_MAX)
		return refuse(check, NULL,
			      "Summary prompt must be less than 2000 "
			      "characters.");
	return json_copy((json_t *)value);
}

static json_t *read_keywords(const struct setting_check *check,
			     const json_t *value)
{
	if (json_array_size(value) > KEYWORDS_MAX)
		return refuse(check, NULL, "At most 20 keywords can be added.");
	return read_texts(check, value);
}

static json_t *read_dynamic_data(const struct setting_check *check,
				 const json_t *value)
{
	if (!json_is_object(value) && !json_is_array(value))
		return refuse_kind(check, "an object or an array");
	return json_deep_copy(value);
}

static bool is_action(const json_t *value)
{
	static const char *const known[] = { "hangup", "leave_message",
					     "ignore" };
	const char *text = json_string_value(value);

	for (size_t i = 0; text && i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(text, known[i]))
			return true;
	}
	return false;
}

static json_t *read_action(const struct setting_check *check,
			   const json_t *value)
{
	if (!is_action(value))
		return refuse(check, NULL,
			      "voicemail_action must be hangup, leave_message "
			      "or ignore.");
	return json_copy((json_t *)value);
}

static json_t *read_voicemail(const struct setting_check *check,
			      const json_t *value)
{
	const json_t *action = json_object_get(value, "action");
	const json_t *message = json_object_get(value, "message");

	if (!json_is_object(value))
		return refuse_kind(check, "an object");
	if (action && !json_is_null(action) && !is_action(action))
		return refuse(check, "action",
			      "voicemail.action must be hangup, leave_message "
			      "or ignore.");
	if (message && !json_is_null(message) && !json_is_string(message))
		return refuse(check, "message",
			      "voicemail.message must be a string.");
	return json_deep_copy(value);
}

static json_t *read_tones(const struct setting_check *check,
			  const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text || text[strspn(text, "0123456789*#w")])
		return refuse(check, NULL,
			      "precall_dtmf_sequence must be a string of 0-9, "
			      "*, # and w.");
	return json_copy((json_t *)value);
}

/* ---- the table ---- */

static const struct setting_rule rules[] = {
	{ "phone_number", read_callee, IN_CALL },
	{ "task", read_text, IN_BOTH, .wrong = "Task must be a string." },
	{ "prompt", read_text, IN_BOTH },
	{ "pathway_id", read_text, IN_BOTH },
	{ "pathway_version", read_version, IN_BOTH },
	{ "start_node_id", read_text, IN_BOTH },
	{ "persona_id", read_text, IN_BOTH },
	{ "agent_id", read_text, IN_BOTH },
	{ "from", read_phone, IN_CALL, .wrong = "Invalid from phone number." },
	{ "voice", read_text, IN_BOTH, .preset = "\"cmu_us_slt\"" },
	{ "language", read_text, IN_BOTH, .preset = "\"en\"" },
	{ "model", read_text, IN_BOTH },
	{ "temperature", read_number, IN_BOTH, .min = 0, .max = 2 },
	{ "first_sentence", read_text, IN_BOTH },
	{ "wait_for_greeting", read_bool, IN_BOTH, .preset = "false" },
	{ "block_interruptions", read_bool, IN_BOTH, .preset = "false" },
	{ "interruption_threshold", read_number, IN_BOTH, .preset = "500",
	  .min = 0, .max = 60000, .is_whole = true },
	{ "timezone", read_zone, IN_BOTH },
	{ "start_time", read_start_time, IN_CALL },
	{ "transfer_phone_number", read_phone, IN_BOTH,
	  .wrong = "Invalid transfer phone number." },
	{ "transfer_list", read_phones, IN_BOTH },
	{ "fallback_number", read_phone, IN_NUMBER,
	  .wrong = "Invalid fallback phone number." },
	{ "max_duration", read_duration, IN_BOTH, .preset = "30" },
	{ "record", read_bool, IN_BOTH, .preset = "false" },
	{ "voicemail", read_voicemail, IN_BOTH },
	{ "voicemail_message", read_text, IN_BOTH },
	{ "voicemail_action", read_action, IN_BOTH },
	{ "answered_by_enabled", read_bool, IN_BOTH },
	{ "amd", read_bool, IN_BOTH },
	{ "request_data", read_object, IN_BOTH, .preset = "{}" },
	{ "metadata", read_object, IN_BOTH, .preset = "{}" },
	{ "webhook", read_webhook, IN_BOTH },
	{ "webhook_events", read_texts, IN_BOTH },
	{ "dynamic_data", read_dynamic_data, IN_BOTH },
	{ "tools", read_array, IN_BOTH },
	{ "keywords", read_keywords, IN_BOTH },
	{ "summary_prompt", read_summary_prompt, IN_BOTH },
	{ "retry", read_object, IN_CALL },
	{ "dispositions", read_array, IN_BOTH },
	{ "ignore_button_press", read_bool, IN_BOTH, .preset = "false" },
	{ "precall_dtmf_sequence", read_tones, IN_CALL },
	{ "background_track", read_text, IN_BOTH },
	{ "noise_cancellation", read_bool, IN_BOTH },
};

const struct setting_rule *setting_rules(size_t *n)
{
	*n = sizeof(rules) / sizeof(*rules);
	return rules;
}

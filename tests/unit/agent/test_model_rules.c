/* SPDX-License-Identifier: MIT */
/* The rules model: choosing edges and globals, judging conditions, extracting
 * by type, phrasing, summarising; answers come on a later turn of the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "agent/engine/model.h"
#include "core/loop.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* 2026-11-21T12:00:00Z */
static const int64_t wall_ms = 1795262400000;

struct bench {
	struct loop *loop;
	struct model *model;
	struct model_call *call;
	unsigned answers;
	int route, global;
	bool is_condition_met;
	char extracted[600];
	char text[4096];
};

static void on_done(void *owner, const struct model_answer *answer)
{
	struct bench *bench = owner;
	char *text = json_dumps(answer->extracted,
				JSON_COMPACT | JSON_PRESERVE_ORDER);

	assert_null(bench->call);
	assert_int_equal(answer->error, 0);
	assert_int_equal(answer->output_chars, strlen(answer->text));
	bench->answers++;
	bench->route = answer->route;
	bench->global = answer->global;
	bench->is_condition_met = answer->is_condition_met;
	snprintf(bench->extracted, sizeof(bench->extracted), "%s",
		 text ? text : "");
	snprintf(bench->text, sizeof(bench->text), "%s", answer->text);
	free(text);
}

static int open_bench(void **state)
{
	static struct bench bench;

	bench = (struct bench){ 0 };
	loop_open_sim(&bench.loop, wall_ms);
	assert_int_equal(model_open_rules(&bench.model, bench.loop), 0);
	*state = &bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	model_cancel(&bench->call);
	model_close(&bench->model);
	loop_close(&bench->loop);
	return 0;
}

static void ask(struct bench *bench, const struct model_question *question)
{
	unsigned before = bench->answers;

	assert_int_equal(
		model_ask(&bench->call, bench->model, question, on_done, bench),
		0);
	assert_int_equal(bench->answers, before);
	assert_non_null(bench->call);
	loop_advance_ms(bench->loop, 0);
	assert_int_equal(bench->answers, before + 1);
}

/* labels: "a;b;c", each "label" or "label/description". */
static size_t read_routes(struct model_route *routes, char *labels)
{
	size_t n = 0;
	char *at = labels;

	while (at) {
		char *next = strchr(at, ';');
		char *slash;

		if (next)
			*next++ = '\0';
		slash = strchr(at, '/');
		if (slash)
			*slash++ = '\0';
		routes[n++] = (struct model_route){
			.id = at, .label = at, .description = slash ? slash : ""
		};
		at = next;
	}
	return n;
}

static void test_routes(void **state)
{
	static const struct {
		const char *labels, *said;
		int route;
	} rows[] = {
		/* yes and no */
		{ "User says yes;User says no", "yes", 0 },
		{ "User says yes;User says no", "yeah sure", 0 },
		{ "User says yes;User says no", "no thank you", 1 },
		{ "User says yes;User says no", "not really", 1 },
		{ "User says yes;User says no", "I'm not sure", -1 },
		{ "User says yes;User says no", "what", -1 },
		{ "Interested;Not interested", "I am interested", 0 },
		{ "Interested;Not interested", "I'm not interested", 1 },
		{ "Interested;Not interested", "yes please", 0 },
		{ "Interested;Not interested", "no", 1 },
		{ "User confirms the appointment;User declines",
		  "that's correct", 0 },
		{ "User has an account;User does not have an account", "yes",
		  0 },
		{ "User has an account;User does not have an account", "no",
		  1 },
		/* words, stems, synonyms */
		{ "Wants sales;Wants support;Wants billing",
		  "I'd like to talk to sales please", 0 },
		{ "Wants sales;Wants support;Wants billing",
		  "can you help me with something", 1 },
		{ "Wants sales;Wants support;Wants billing",
		  "I have a question about my invoice", 2 },
		{ "Wants sales;Wants support;Wants billing", "a pizza", -1 },
		{ "Wants sales;Wants support;Wants billing", "sales or support",
		  -1 },
		{ "Schedule an appointment;Cancel an appointment",
		  "I need to book a meeting", 0 },
		{ "Schedule an appointment;Cancel an appointment",
		  "cancel my appointment", 1 },
		{ "Schedule an appointment;Cancel an appointment",
		  "appointment", -1 },
		{ "Schedule an appointment;Cancel an appointment",
		  "I don't want to cancel", -1 },
		{ "Talk to a human;Hear opening hours",
		  "let me speak with a representative", 0 },
		{ "a/The caller asks about prices and fees;b/Opening hours",
		  "how much does it cost", 0 },
		{ "a/The caller asks about prices;b/The opening hours",
		  "when are you open what hours", 1 },
		/* keys */
		{ "press 1;press 2", "1", 0 },
		{ "press 1;press 2", "2", 1 },
		{ "press 1;press 2", "3", -1 },
		{ "pressed 1 for sales;pressed 2 for support", "two", 1 },
		{ "pressed 1 for sales;pressed 2 for support", "support please",
		  1 },
		{ "1;2", "option one", 0 },
		{ "1 for sales;2 for support", "2", 1 },
		{ "Press star;Press pound", "*", 0 },
		{ "Press star;Press pound", "#", 1 },
		{ "Press 1;Press 2;Anything else", "9", 2 },
		/* comparisons */
		{ "User is over 18;User is under 18", "I am twenty five", 0 },
		{ "User is over 18;User is under 18", "I'm 12", 1 },
		{ "at least 3 people;less than 3 people", "three", 0 },
		{ "at least 3 people;less than 3 people", "two of us", 1 },
		/* what is taken anyway */
		{ "", "hello there", 0 },
		{ "next", "whatever", 0 },
		{ "User responded", "well let me think", 0 },
		{ "default", "", -1 },
		{ "User says yes", "no", -1 },
		{ "User says yes", "maybe", -1 },
		{ "Wants sales;otherwise", "the weather is nice", 1 },
		{ "Wants sales;otherwise", "sales", 0 },
		/* any bytes */
		{ "User says yes;User says no", "\xff\xfe\x80", -1 },
		{ "\xe3\x81\xaf\xe3\x81\x84;"
		  "\xe3\x81\x84\xe3\x81\x84\xe3\x81\x88",
		  "\xe3\x81\xaf\xe3\x81\x84", 0 },
		{ "User says yes;User says no", "\xf0\x9f\x91\x8d", -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *bench = *state;
		struct model_question question = { .task = MODEL_DECIDE };
		struct model_route routes[8];
		char labels[200];

		snprintf(labels, sizeof(labels), "%s", rows[i].labels);
		question.user_text = rows[i].said;
		question.decide.routes = routes;
		question.decide.n_routes = read_routes(routes, labels);
		question.decide.condition = "";
		ask(bench, &question);
		if (bench->route != rows[i].route)
			fail_msg("\"%s\" on %s: %d", rows[i].said,
				 rows[i].labels, bench->route);
		assert_true(bench->is_condition_met);
		assert_int_equal(bench->global, -1);
	}
}

static void test_examples_decide(void **state)
{
	struct bench *bench = *state;
	json_t *broken = json_pack("[s,s]", "it does not turn on any more",
				   "the screen is black");
	json_t *other = json_pack("[s,i]", "where is my parcel", 7);
	struct model_route routes[] = {
		{ .id = "a",
		  .label = "repair",
		  .description = "",
		  .examples = broken },
		{ .id = "b",
		  .label = "delivery",
		  .description = "",
		  .examples = other },
	};
	struct model_question question = { .task = MODEL_DECIDE };

	question.decide.routes = routes;
	question.decide.n_routes = 2;
	question.decide.condition = "";
	question.user_text = "my screen stays black";
	ask(bench, &question);
	assert_int_equal(bench->route, 0);
	question.user_text = "where is the parcel I ordered";
	ask(bench, &question);
	assert_int_equal(bench->route, 1);
	json_decref(broken);
	json_decref(other);
}

static void test_globals(void **state)
{
	static const struct {
		const char *said;
		int route, global;
	} rows[] = {
		{ "sales", 0, -1 },
		{ "I want to speak to a human", -1, 0 },
		{ "goodbye", -1, 1 },
		{ "yes", -1, -1 },
		{ "what do you sell", -1, -1 },
	};
	struct model_route routes[] = { { "s", "Wants sales", "", NULL } };
	struct model_route globals[] = {
		{ "h", "Caller wants to talk to a human", "", NULL },
		{ "b", "Caller says goodbye", "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *bench = *state;
		struct model_question question = { .task = MODEL_DECIDE };

		question.user_text = rows[i].said;
		question.decide.routes = routes;
		question.decide.n_routes = 1;
		question.decide.globals = globals;
		question.decide.n_globals = 2;
		question.decide.condition = "";
		ask(bench, &question);
		if (bench->route != rows[i].route ||
		    bench->global != rows[i].global)
			fail_msg("%s: %d, %d", rows[i].said, bench->route,
				 bench->global);
	}
}

static void test_conditions(void **state)
{
	static const struct {
		const char *condition, *extract, *variables, *said;
		bool is_met;
	} rows[] = {
		{ "", "[]", "{}", "", true },
		{ "You must get the user's name",
		  "[{\"name\":\"user_name\",\"type\":\"string\"}]", "{}",
		  "what do you mean by that", false },
		{ "You must get the user's name",
		  "[{\"name\":\"name\",\"type\":\"string\"}]", "{}",
		  "my name is ann", true },
		{ "You must get the name",
		  "[{\"name\":\"name\",\"type\":\"string\"}]",
		  "{\"name\":\"Ann\"}", "well", true },
		{ "Have age and zip code",
		  "[{\"name\":\"age\",\"type\":\"integer\"},"
		  "{\"name\":\"zip_code\",\"type\":\"string\"}]",
		  "{\"age\":5}", "hm", false },
		{ "Have the age",
		  "[{\"name\":\"age\",\"type\":\"integer\"},"
		  "{\"name\":\"zip_code\",\"type\":\"string\"}]",
		  "{}", "I am thirty", true },
		{ "All details are collected",
		  "[{\"name\":\"age\",\"type\":\"integer\"}]", "{}", "no",
		  false },
		{ "All details are collected",
		  "[{\"name\":\"age\",\"type\":\"integer\"}]", "{}", "six",
		  true },
		{ "Order number is known", "[]", "{\"orderNumber\":\"\"}", "hm",
		  false },
		{ "Order number is known", "[]", "{\"orderNumber\":\"7\"}",
		  "hm", true },
		{ "User agrees to go on", "[]", "{}", "yes", true },
		{ "User agrees to go on", "[]", "{}", "no", false },
		{ "User has answered", "[]", "{}", "blue", true },
		{ "User has answered", "[]", "{}", "", false },
		{ "Transfer to the right person", "[]",
		  "{\"to\":\"+1415\",\"from\":\"+1416\"}", "", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *bench = *state;
		json_t *extract = json_loads(rows[i].extract, 0, NULL);
		json_t *variables = json_loads(rows[i].variables, 0, NULL);
		struct model_question question = { .task = MODEL_DECIDE,
						   .user_text = rows[i].said,
						   .variables = variables };

		question.decide.condition = rows[i].condition;
		question.decide.extract = extract;
		ask(bench, &question);
		if (bench->is_condition_met != rows[i].is_met)
			fail_msg("%s: \"%s\"", rows[i].condition, rows[i].said);
		json_decref(extract);
		json_decref(variables);
	}
}

/* wanted: "name:type:description,..." */
static json_t *read_wanted(const char *wanted)
{
	json_t *list = json_array();
	char text[300], *at = text;

	snprintf(text, sizeof(text), "%s", wanted);
	while (at && *at) {
		char *next = strchr(at, ','), *type, *about;

		if (next)
			*next++ = '\0';
		type = strchr(at, ':');
		*type++ = '\0';
		about = strchr(type, ':');
		if (about)
			*about++ = '\0';
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s}", "name", at,
						"type", type, "description",
						about ? about : ""));
		at = next;
	}
	return list;
}

static void test_extraction(void **state)
{
	static const struct {
		const char *wanted, *known, *said, *found;
	} rows[] = {
		{ "name:string", "{}", "my name is john smith",
		  "{\"name\":\"John Smith\"}" },
		{ "first_name:string,last_name:string", "{}", "john smith",
		  "{\"first_name\":\"John\",\"last_name\":\"Smith\"}" },
		{ "age:integer", "{}", "I am forty two", "{\"age\":42}" },
		{ "age:integer", "{}", "I am 42", "{\"age\":42}" },
		{ "amount:number", "{}", "three point five",
		  "{\"amount\":3.5}" },
		{ "age:integer", "{}", "three point five", "{}" },
		{ "age:integer", "{}", "not telling", "{}" },
		{ "adults:integer,children:integer", "{}",
		  "three children and two adults",
		  "{\"adults\":2,\"children\":3}" },
		{ "adults:integer,children:integer", "{}", "two and three",
		  "{\"adults\":2,\"children\":3}" },
		{ "confirmed:boolean", "{}", "yes", "{\"confirmed\":true}" },
		{ "confirmed:boolean", "{}", "no thanks",
		  "{\"confirmed\":false}" },
		{ "confirmed:boolean", "{}", "I don't know", "{}" },
		{ "wants_refund:boolean", "{}", "I want a refund",
		  "{\"wants_refund\":true}" },
		{ "wants_refund:boolean", "{}", "I do not want a refund",
		  "{\"wants_refund\":false}" },
		{ "email:string", "{}", "it's jo at example dot com",
		  "{\"email\":\"jo@example.com\"}" },
		{ "phone:string", "{}", "five five five one two three four",
		  "{\"phone\":\"5551234\"}" },
		{ "callback_number:string", "{}", "415 555 1234",
		  "{\"callback_number\":\"4155551234\"}" },
		{ "phone:string", "{}", "I have two", "{}" },
		{ "zip:string:ZIP code", "{}", "nine four oh one six",
		  "{\"zip\":\"94016\"}" },
		{ "visit:date", "{}", "tomorrow",
		  "{\"visit\":\"2026-11-22\"}" },
		{ "visit:date",
		  "{\"now\":\"Friday, September 12, 2025 1:39 PM\"}",
		  "tomorrow", "{\"visit\":\"2025-09-13\"}" },
		{ "visit:date", "{}", "let me see", "{}" },
		{ "time:string", "{}", "at half past three in the afternoon",
		  "{\"time\":\"15:30\"}" },
		{ "city:string", "{}", "um boston please",
		  "{\"city\":\"boston\"}" },
		{ "city:string", "{}", "my city is new york and I hurry",
		  "{\"city\":\"new york\"}" },
		{ "city:string", "{\"city\":\"Boston\"}", "what about it",
		  "{}" },
		{ "reason:string", "{}", "yes", "{}" },
		{ "team:string:one of sales or support", "{}",
		  "the support people please", "{\"team\":\"support\"}" },
		{ "name:string,age:integer", "{}", "I'm bob and I am six",
		  "{\"age\":6,\"name\":\"Bob\"}" },
		{ "a:integer,b:integer", "{\"a\":1}", "five", "{\"b\":5}" },
		{ "a:integer", "{\"a\":1}", "five", "{\"a\":5}" },
		{ "name:string", "{\"name\":\"Ann\"}", "billing", "{}" },
		{ "name:string", "{}", "\xff\xfe", "{}" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *bench = *state;
		json_t *wanted = read_wanted(rows[i].wanted);
		json_t *known = json_loads(rows[i].known, 0, NULL);
		json_t *want = json_loads(rows[i].found, 0, NULL), *got;
		struct model_question question = { .task = MODEL_DECIDE,
						   .user_text = rows[i].said,
						   .variables = known };

		question.decide.condition = "";
		question.decide.extract = wanted;
		ask(bench, &question);
		got = json_loads(bench->extracted, 0, NULL);
		if (!json_equal(want, got))
			fail_msg("%s \"%s\": %s", rows[i].wanted, rows[i].said,
				 bench->extracted);
		json_decref(got);
		json_decref(want);
		json_decref(wanted);
		json_decref(known);
	}
}

static void test_extracted_name_takes_edge(void **state)
{
	struct bench *bench = *state;
	json_t *wanted = read_wanted("customer_name:string");
	struct model_route routes[] = {
		{ "a", "User provides their name", "", NULL },
		{ "b", "User refuses", "", NULL },
	};
	struct model_question question = { .task = MODEL_DECIDE,
					   .user_text = "I'm Bob" };

	question.decide.routes = routes;
	question.decide.n_routes = 2;
	question.decide.condition = "";
	question.decide.extract = wanted;
	ask(bench, &question);
	assert_int_equal(bench->route, 0);
	json_decref(wanted);
}

static void test_speak(void **state)
{
	static const struct {
		const char *prompt, *examples, *said, *text;
	} rows[] = {
		{ "Welcome to Parley.", NULL, "", "Welcome to Parley." },
		{ "Say \"Hello, how can I help?\" and wait.", NULL, "",
		  "Hello, how can I help?" },
		{ "Ask \xe2\x80\x9cWhat is your name?\xe2\x80\x9d", NULL, "",
		  "What is your name?" },
		{ "If the user says \"no thanks\" say \"Have a nice day.\"",
		  NULL, "", "Have a nice day." },
		{ "Press \"1\" for sales.", NULL, "",
		  "Press \"1\" for sales." },
		{ "Say: we are open.", NULL, "", "we are open." },
		{ "An \"unclosed quote", NULL, "", "An \"unclosed quote" },
		{ "", NULL, "", "" },
		{ "Answer politely.",
		  "[[\"what are your hours\",\"Nine to five.\"],"
		  "[\"where are you located\",\"In Oslo.\"]]",
		  "where is your office located", "In Oslo." },
		{ "Answer politely.",
		  "[{\"user\":\"what are your hours\","
		  "\"assistant\":\"Nine to five.\"}]",
		  "your hours please", "Nine to five." },
		{ "Answer politely.",
		  "[{\"Conversation History\":\"assistant: hi\\nuser: what are "
		  "your hours\",\"Dialogue Response\":\"Nine to five.\"}]",
		  "tell me the hours", "Nine to five." },
		{ "Answer politely.",
		  "[{\"user\":\"what are your hours\","
		  "\"assistant\":\"Nine to five.\"}]",
		  "do you sell bread", "Answer politely." },
		{ "Answer politely.", "[7,null,\"x\",{\"a\":[]}]", "hours",
		  "Answer politely." },
		{ "Answer politely.", "{\"a\":1}", "hours",
		  "Answer politely." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *bench = *state;
		struct model_question question = { .task = MODEL_SPEAK,
						   .user_text = rows[i].said };
		json_t *examples = NULL;

		if (rows[i].examples)
			examples = json_loads(rows[i].examples, 0, NULL);
		question.speak.prompt = rows[i].prompt;
		question.speak.examples = examples;
		ask(bench, &question);
		assert_string_equal(bench->text, rows[i].text);
		json_decref(examples);
	}
}

static void test_summary(void **state)
{
	static const struct {
		const char *history, *variables, *outcome, *text;
	} rows[] = {
		{ "[{\"role\":\"user\",\"content\":\"<Call Connected>\"},"
		  "{\"role\":\"assistant\",\"content\":\"Hi\"},"
		  "{\"role\":\"user\",\"content\":\"I want a refund\"},"
		  "{\"role\":\"user\",\"content\":\"bye\"}]",
		  "{\"now\":\"x\",\"user_name\":\"Ann\",\"age\":7,\"ok\":true}",
		  "completed",
		  "The call was completed after 2 turns of the caller. They "
		  "began with \"I want a refund\" and last said \"bye\". "
		  "Collected: user name: Ann, age: 7, ok: yes." },
		{ "[{\"role\":\"user\",\"content\":\"hello\"}]", "{}",
		  "voicemail",
		  "The call ended as voicemail after 1 turn of the caller. "
		  "They "
		  "began with \"hello\"." },
		{ "[]", "{}", "no-answer",
		  "The call ended as no-answer; the caller said nothing." },
		{ "null", "null", "",
		  "The call was completed; the caller said nothing." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *bench = *state;
		json_t *history =
			json_loads(rows[i].history, JSON_DECODE_ANY, NULL);
		json_t *variables =
			json_loads(rows[i].variables, JSON_DECODE_ANY, NULL);
		struct model_question question = { .task = MODEL_SUMMARISE,
						   .history = history,
						   .variables = variables };

		question.summarise.outcome = rows[i].outcome;
		question.summarise.prompt = "";
		ask(bench, &question);
		assert_string_equal(bench->text, rows[i].text);
		json_decref(history);
		json_decref(variables);
	}
}

static void test_cancel(void **state)
{
	struct bench *bench = *state;
	struct model_question question = { .task = MODEL_SPEAK,
					   .user_text = "" };

	question.speak.prompt = "Hello";
	model_cancel(&bench->call);
	assert_int_equal(model_ask(&bench->call, bench->model, &question,
				   on_done, bench),
			 0);
	model_cancel(&bench->call);
	assert_null(bench->call);
	loop_advance_ms(bench->loop, 1000);
	assert_int_equal(bench->answers, 0);
}

int main(void)
{
#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
	const struct CMUnitTest tests[] = {
		CASE(test_routes),     CASE(test_examples_decide),
		CASE(test_globals),    CASE(test_conditions),
		CASE(test_extraction), CASE(test_extracted_name_takes_edge),
		CASE(test_speak),      CASE(test_summary),
		CASE(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

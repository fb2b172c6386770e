/* SPDX-License-Identifier: MIT */
/* The interpreter: order of extraction, condition, global nodes and edges; what
 * is said and when the caller is waited for; keys, silence, loops and the whole
 * timeline of a conversation (specification 2.5 and 6.3). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent/pathway/pathway.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_pathway.h"

static const char greeting_nodes[] =
	"[{'id':'hi','type':'Default','data':{'name':'Greeting','isStart':true,"
	"'text':'Hello {{name}}. Shall we book?'}},"
	"{'id':'book','type':'Default','data':{'name':'Book','prompt':'Ask for "
	"the day.','tag':{'name':'booking','color':'red'},"
	"'condition':'{{name}} named a day',"
	"'extractVars':[['day','string','the day']]}},"
	"{'id':'bye','type':'End Call','data':{'name':'Bye','text':'See you on "
	"{{day}}.'}}]";
static const char greeting_edges[] =
	"[{'id':'e1','source':'hi','target':'book','label':'wants to book'},"
	"{'id':'e2','source':'hi','target':'bye','label':'does not'},"
	"{'id':'e3','source':'book','target':'bye','label':'day is known'}]";
static const struct rig_setup greeting = {
	.nodes = greeting_nodes,
	.edges = greeting_edges,
	.variables = "{'name':'Ann'}",
	.init = "{'pathway_id':'p1','version':3,'metadata':{'a':1}}",
};

static void whole_conversation(void **state)
{
	struct rig rig;

	rig_open(&rig, &greeting);
	RIG_SCRIPT(&rig,
		   { .route = 1,
		     .asked = "user=yes please route=wants to book route=does "
			      "not" },
		   { .is_unmet = true,
		     .asked = "user=dunno route=day is known "
			      "condition=Ann named a day extract=[{\"name\":"
			      "\"day\",\"type\":\"string\",\"description\":"
			      "\"the day\"}]" },
		   { .route = 1, .extracted = "{'day':'Monday'}" });
	rig_start(&rig);
	rig_hear(&rig, "yes please");
	rig_hear(&rig, "dunno");
	rig_hear(&rig, "Monday");
	rig_expect(&rig, "agent: Hello Ann. Shall we book?\n"
			 "listen|wants to book|does not\n"
			 "agent: Ask for the day.\n"
			 "listen|day is known\n"
			 "agent: Ask for the day.\n"
			 "listen|day is known\n"
			 "agent last: See you on Monday.\n"
			 "end end_call\n");
	rig_expect_events(
		&rig,
		"1 - conversation.init {'pathway_id':'p1','start_node_id':'hi',"
		"'initial_variables':{'name':'Ann'},'version':3,'metadata':{'a'"
		":1}}\n"
		"2 hi transcript.assistant {'text':'Hello Ann. Shall we "
		"book?'}\n"
		"3 hi transcript.user {'text':'yes please'}\n"
		"4 hi llm.action {'action':'choose_path','output_chars':7}\n"
		"5 hi node.transition {'chosen_node_id':'book','chosen_label':"
		"'wants to book','previous_node_id':'hi'}\n"
		"6 book node.tag {'name':'booking','color':'red'}\n"
		"7 book llm.action {'action':'speak','output_chars':7}\n"
		"8 book transcript.assistant {'text':'Ask for the day.'}\n"
		"9 book transcript.user {'text':'dunno'}\n"
		"10 book var_extraction.invoke "
		"{'variables_requested':['day']}\n"
		"11 book loop_condition.invoke {'type':'condition'}\n"
		"12 book llm.action {'action':'stay','output_chars':7}\n"
		"13 book var_extraction.result(10) {'variables_extracted':{},"
		"'duration_ms':0}\n"
		"14 book loop_condition.result(11) {'conditions_met':false,"
		"'condition_prompt':'Ann named a day'}\n"
		"15 book node.transition {'chosen_node_id':'book',"
		"'previous_node_id':'book','failures':['The condition is not "
		"met.']}\n"
		"16 book llm.action {'action':'speak','output_chars':7}\n"
		"17 book transcript.assistant {'text':'Ask for the day.'}\n"
		"18 book transcript.user {'text':'Monday'}\n"
		"19 book var_extraction.invoke "
		"{'variables_requested':['day']}\n"
		"20 book loop_condition.invoke {'type':'condition'}\n"
		"21 book llm.action {'action':'choose_path','output_chars':7}\n"
		"22 book var_extraction.result(19) {'variables_extracted':"
		"{'day':'Monday'},'duration_ms':0}\n"
		"23 book loop_condition.result(20) {'conditions_met':true,"
		"'target_node':'bye','condition_prompt':'Ann named a day'}\n"
		"24 book node.transition {'chosen_node_id':'bye','chosen_label'"
		":'day is known','previous_node_id':'book','variable_changes':"
		"{'added':{'day':'Monday'}}}\n"
		"25 bye transcript.assistant {'text':'See you on Monday.'}\n");
	rig_close(&rig);
}

static void history_holds_what_was_heard(void **state)
{
	struct rig rig;
	char *text;

	rig_open(&rig, &greeting);
	rig.is_held = true;
	rig_start(&rig);
	mem_free(rig.said);
	rig.said = NULL;
	pathway_spoken(rig.pathway, "Hello Ann.");
	pathway_hear(rig.pathway, "wait"); /* cut: before on_listen */
	text = json_text(pathway_history(rig.pathway));
	assert_string_equal(
		text, "[{\"role\":\"user\",\"content\":\"<Call Connected>\"},"
		      "{\"role\":\"assistant\",\"content\":\"Hello Ann.\"},"
		      "{\"role\":\"user\",\"content\":\"wait\"}]");
	mem_free(text);
	rig_expect_within(&rig,
			  "2 hi transcript.assistant {'text':'Hello Ann.',"
			  "'generated_response':'Hello Ann. Shall we "
			  "book?'}\n3 hi transcript.user {'text':'wait'}");
	rig_close(&rig);
}

static void a_line_never_heard_is_null(void **state)
{
	struct rig rig;

	rig_open(&rig, &greeting);
	rig.is_held = true;
	rig_start(&rig);
	mem_free(rig.said);
	rig.said = NULL;
	pathway_spoken(rig.pathway, "");
	rig_expect_within(&rig, "{'text':null,'generated_response':'Hello");
	assert_int_equal(json_array_size(pathway_history(rig.pathway)), 1);
	rig_close(&rig);
}

static void nothing_fits_asks_again(void **state)
{
	struct rig rig;

	rig_open(&rig, &greeting);
	RIG_SCRIPT(&rig, { 0 }, { .route = 1 }, { .error = -EIO }, { 0 });
	rig_start(&rig);
	rig_hear(&rig, "blue");
	rig_hear(&rig, "yes");
	rig_hear(&rig, "hm"); /* the model fails */
	rig_expect(&rig, "agent: Hello Ann. Shall we book?\n"
			 "listen|wants to book|does not\n"
			 "agent: Sorry, I did not catch that. Hello Ann. Shall "
			 "we book?\n"
			 "listen|wants to book|does not\n"
			 "agent: Ask for the day.\n"
			 "listen|day is known\n"
			 "agent: Sorry, I did not catch that. Ask for the "
			 "day.\n"
			 "listen|day is known\n");
	rig_expect_within(&rig,
			  "tool.error {'message':'The model failed: Input/"
			  "output error.','tool_name':'model'}");
	rig_expect_within(&rig, "'failures':['No path fits what the caller "
				"said.']");
	rig_close(&rig);
}

static void another_phrase_needs_no_apology(void **state)
{
	static const struct rig_setup setup = {
		.nodes = "[{'id':'day','type':'Default','data':{'isStart':true,"
			 "'prompt':'Ask for the day.'}},"
			 "{'id':'end','type':'End Call','data':{}}]",
		.edges = "[{'source':'day','target':'end','label':'known'}]",
	};
	struct rig rig;

	rig_open(&rig, &setup);
	rig_start(&rig);
	buffer_clear(&rig.log);
	rig.script.speak = "We are open all week; which day?";
	rig_hear(&rig, "when are you open");
	rig_expect(&rig, "agent: We are open all week; which day?\n"
			 "listen|known\n");
	rig_hear(&rig, "mumble");
	rig_expect(&rig, "agent: Sorry, I did not catch that. We are open all "
			 "week; which day?\nlisten|known\n");
	rig.script.speak_error = -ETIMEDOUT;
	rig_hear(&rig, "mumble");
	rig_expect(&rig, "agent: I am sorry, could you say that again?\n"
			 "listen|known\n");
	rig.script.speak_error = 0;
	rig.script.speak = "";
	rig_hear(&rig, "mumble"); /* no phrase at all */
	rig_expect(&rig, "agent: Sorry, I did not catch that.\nlisten|known\n");
	rig_close(&rig);
}

static void silence_asks_twice_then_ends(void **state)
{
	struct rig rig;
	int i;

	rig_open(&rig, &greeting);
	rig_start(&rig);
	buffer_clear(&rig.log);
	for (i = 0; i < 3; i++) {
		pathway_silence(rig.pathway);
		rig_run(&rig, 0);
	}
	rig_expect(&rig, "agent: Are you still there?\n"
			 "listen|wants to book|does not\n"
			 "agent: Are you still there?\n"
			 "listen|wants to book|does not\n"
			 "agent last: Goodbye.\n"
			 "end silence\n");
	rig_hear(&rig, "hello?"); /* too late */
	rig_press(&rig, "1");
	pathway_silence(rig.pathway);
	rig_run(&rig, 0);
	rig_expect(&rig, "");
	rig_close(&rig);
}

static void a_word_resets_the_silence(void **state)
{
	struct rig rig;
	int i;

	rig_open(&rig, &greeting);
	rig_start(&rig);
	for (i = 0; i < 6; i++) {
		if (i % 2 == 0)
			rig_hear(&rig, "blue");
		buffer_clear(&rig.log);
		pathway_silence(rig.pathway);
		rig_run(&rig, 0);
		rig_expect(&rig, "agent: Are you still there?\n"
				 "listen|wants to book|does not\n");
	}
	rig_close(&rig);
}

static const char global_nodes[] =
	"[{'id':'ask','type':'Default','data':{'isStart':'true','text':'What "
	"size?','condition':'size is known'}},"
	"{'id':'hours','type':'Default','data':{'isGlobal':true,'globalLabel':"
	"'opening hours','text':'Until six.'}},"
	"{'id':'human','type':'Default','data':{'isGlobal':true,'globalLabel':"
	"'a person','globalDescription':'wants a human','text':'About what?',"
	"'enableGlobalAutoReturn':false}},"
	"{'id':'end','type':'End Call','data':{}}]";
static const char global_edges[] =
	"[{'source':'ask','target':'end','data':{'label':'size'}},"
	"{'source':'human','target':'end','label':'topic'}]";

static void global_node_answers_and_returns(void **state)
{
	static const struct rig_setup setup = { .nodes = global_nodes,
						.edges = global_edges };
	struct rig rig;

	rig_open(&rig, &setup);
	rig.hide = "llm.action";
	RIG_SCRIPT(&rig,
		   { .global = 1,
		     .is_unmet = true,
		     .asked = "user=how long route=size global=opening hours "
			      "global=a person condition=size is known" },
		   { .route = 1 });
	rig_start(&rig);
	buffer_clear(&rig.events);
	rig_hear(&rig, "how long");
	rig_hear(&rig, "large");
	rig_expect(&rig, "agent: What size?\n"
			 "listen|size|opening hours|a person\n"
			 "agent: Until six.\n"
			 "agent: What size?\n"
			 "listen|size|opening hours|a person\n"
			 "end end_call\n");
	rig_expect_events(
		&rig,
		"3 ask transcript.user {'text':'how long'}\n"
		"4 ask loop_condition.invoke {'type':'condition'}\n"
		"6 ask loop_condition.result(4) {'conditions_met':false,"
		"'condition_prompt':'size is known'}\n"
		"7 ask node.transition {'chosen_node_id':'hours','chosen_label'"
		":'opening hours','previous_node_id':'ask'}\n"
		"8 hours transcript.assistant {'text':'Until six.'}\n"
		"9 hours node.transition {'chosen_node_id':'ask',"
		"'previous_node_id':'hours'}\n"
		"10 ask transcript.assistant {'text':'What size?'}\n"
		"11 ask transcript.user {'text':'large'}\n"
		"12 ask loop_condition.invoke {'type':'condition'}\n"
		"14 ask loop_condition.result(12) {'conditions_met':true,"
		"'target_node':'end','condition_prompt':'size is known'}\n"
		"15 ask node.transition {'chosen_node_id':'end','chosen_label':"
		"'size','previous_node_id':'ask'}\n");
	rig_close(&rig);
}

static void global_node_may_stay(void **state)
{
	static const struct rig_setup setup = { .nodes = global_nodes,
						.edges = global_edges };
	struct rig rig;

	rig_open(&rig, &setup);
	RIG_SCRIPT(&rig, { .global = 2 },
		   { .route = 1,
		     .asked = "user=billing route=topic global=opening "
			      "hours" });
	rig_start(&rig);
	rig_hear(&rig, "a human");
	rig_hear(&rig, "billing");
	rig_expect(&rig, "agent: What size?\n"
			 "listen|size|opening hours|a person\n"
			 "agent: About what?\n"
			 "listen|topic|opening hours|a person\n"
			 "end end_call\n");
	rig_close(&rig);
}

static void skip_and_always_need_no_model(void **state)
{
	static const struct rig_setup setup = {
		.nodes =
			"[{'id':'a','type':'Default','data':{'isStart':true,"
			"'text':'One.','modelOptions':{'skipUserResponse':true,"
			"'block_interruptions':true}}},"
			"{'id':'b','type':'Default','data':{'text':'Two.',"
			"'modelOptions':{'interruptionThreshold':900}}},"
			"{'id':'c','type':'Default','data':{'text':'Three: "
			"{{lastUserMessage}}, {{prevNodePrompt}}'}}]",
		.edges = "[{'source':'a','target':'b','label':'next'},"
			 "{'source':'b','target':'a','label':'again'},"
			 "{'source':'b','target':'c','alwaysPick':true}]",
	};
	struct rig rig;

	rig_open(&rig, &setup);
	rig_start(&rig);
	rig_hear(&rig, "whatever");
	rig_hear(&rig, "more");
	rig_expect(&rig, "agent blocked: One.\n"
			 "agent: Two.\n"
			 "listen 900 ms|again\n"
			 "agent: Three: whatever, Two.\n"
			 "listen\n"
			 "agent: Three: more, Two.\n"
			 "listen\n");
	assert_null(strstr(buffer_str(&rig.events), "llm.action"));
	rig_close(&rig);
}

static void a_met_condition_takes_the_only_edge(void **state)
{
	static const struct rig_setup setup = { .nodes = global_nodes,
						.edges = global_edges };
	struct rig rig;

	rig_open(&rig, &setup);
	RIG_SCRIPT(&rig, { 0 });
	rig_start(&rig);
	rig_hear(&rig, "forty two");
	assert_non_null(strstr(buffer_str(&rig.log), "end end_call"));
	rig_close(&rig);
}

static void endless_loop_is_stopped(void **state)
{
	static const struct rig_setup setup = {
		.nodes = "[{'id':'a','type':'Default','data':{'isStart':true,"
			 "'text':'Tick.','skipUserResponse':true}},"
			 "{'id':'b','type':'Default','data':{'text':'Tock.',"
			 "'skipUserResponse':true}}]",
		.edges = "[{'source':'a','target':'b'},{'source':'b',"
			 "'target':'a'}]",
	};
	const char *log, *at;
	struct rig rig;
	int lines = 0;

	rig_open(&rig, &setup);
	rig_start(&rig);
	log = buffer_str(&rig.log);
	for (at = log; (at = strstr(at, "agent: T")); at++)
		lines++;
	assert_int_equal(lines, 50);
	assert_non_null(strstr(log, "agent last: I am sorry, something went "
				    "wrong. Goodbye.\nend loop\n"));
	rig_expect_within(&rig,
			  "'failures':['The pathway was stopped: 50 steps "
			  "without waiting for the caller.']");
	rig_close(&rig);
}

static void unknown_types_act_as_default(void **state)
{
	static const struct rig_setup setup = {
		.nodes = "[{'id':'a','type':'Route','data':{'isStart':true}},"
			 "{'id':'b','type':'Wait for Response','data':{'text':"
			 "'Yes?'}}]",
		.edges = "[{'source':'a','target':'b','label':'x'}]",
	};
	struct rig rig;

	rig_open(&rig, &setup);
	rig_start(&rig);
	rig_expect(&rig, "agent: Yes?\nlisten\n");
	rig_expect_within(&rig,
			  "2 a tool.error {'message':'This node has the "
			  "type 'Route', which is not known here: it acts "
			  "as Default.','type':'Route'}");
	rig_close(&rig);
}

/* A node that reads a number, one that has a menu. */
static const struct rig_setup keys_setup = {
	.nodes = "[{'id':'pin','type':'Default','data':{'isStart':true,'text':"
		 "'Your code?','extractVars':[['pin','integer','a four-digit "
		 "PIN']]}},"
		 "{'id':'menu','type':'Default','data':{'text':'Menu?'}},"
		 "{'id':'acct','type':'Default','data':{'text':'Account?',"
		 "'extractVars':[['n','number','the account']]}},"
		 "{'id':'end','type':'End Call','data':{}}]",
	.edges = "[{'source':'pin','target':'menu','label':'code'},"
		 "{'source':'menu','target':'acct','label':'press 1'},"
		 "{'source':'menu','target':'end','label':'press 2'},"
		 "{'source':'acct','target':'end','label':'given'}]",
};

static void keys_are_gathered_when_expected(void **state)
{
	struct rig rig;

	rig_open(&rig, &keys_setup);
	RIG_SCRIPT(
		&rig, { .route = 1, .extracted = "{'pin':1234}" },
		{ .route = 1, .asked = "user=1 route=press 1 route=press 2" },
		{ .route = 1,
		  .asked = "user=77 route=given extract=[{\"name\":\"n\","
			   "\"type\":\"number\",\"description\":\"the "
			   "account\"}]" });
	rig_start(&rig);
	rig_press(&rig, "123");
	rig_run(&rig, 2000);
	rig_press(&rig, "4");
	rig_press(&rig, "1");
	rig_press(&rig, "77");
	rig_run(&rig, 2499);
	rig_expect(&rig, "agent: Your code?\nlisten digits 4|code\n"
			 "agent: Menu?\nlisten digits 1|press 1|press 2\n"
			 "agent: Account?\nlisten digits|given\n");
	rig_run(&rig, 1);
	rig_expect(&rig, "end end_call\n");
	rig_close(&rig);
}

static void keys_end_with_a_hash_or_words(void **state)
{
	struct rig_setup setup = keys_setup;
	struct rig rig;

	setup.start_node_id = "acct";
	rig_open(&rig, &setup);
	RIG_SCRIPT(&rig, { 0 }, { 0 });
	rig_start(&rig);
	rig_press(&rig, "12#");
	rig_press(&rig, "5");
	rig_hear(&rig, "six");
	assert_string_equal(
		json_str(json_array_get(pathway_history(rig.pathway), 2),
			 "content"),
		"12");
	rig_run(&rig, 5000);
	rig_expect_within(&rig, "acct button.press {'button':'#'}");
	rig_close(&rig);
}

static void keys_before_the_question_count(void **state)
{
	struct rig_setup setup = keys_setup;
	struct rig rig;

	setup.start_node_id = "menu";
	rig_open(&rig, &setup);
	RIG_SCRIPT(&rig, { .route = 2,
			   .asked = "user=2 route=press 1 "
				    "route=press 2" });
	rig.is_held = true;
	rig_start(&rig);
	rig_press(&rig, "2");
	rig.is_held = false;
	rig_run(&rig, 0);
	rig_expect(&rig, "agent: Menu?\nend end_call\n");
	rig_close(&rig);
}

static void keys_may_be_ignored(void **state)
{
	struct rig_setup setup = keys_setup;
	struct rig rig;

	setup.start_node_id = "menu";
	setup.ignore_digits = true;
	rig_open(&rig, &setup);
	rig_start(&rig);
	rig_press(&rig, "2");
	rig_expect(&rig, "agent: Menu?\nlisten digits 1|press 1|press 2\n"
			 "listen digits 1|press 1|press 2\n");
	rig_expect_within(&rig, "button.press {'button':'2'}");
	rig_close(&rig);
}

static void hints_come_from_the_node(void **state)
{
	static const struct rig_setup setup = {
		.nodes = "[{'id':'a','type':'Default','data':{'isStart':true,"
			 "'text':'Sure?','keywords':['Parley'],"
			 "'pathwayExamples':[['that is fine','Yes'],{'Chosen "
			 "Pathway':'b','Example':[{'role':'user','content':"
			 "'rather not'}]}]}},"
			 "{'id':'b','type':'End Call','data':{}}]",
		.edges = "[{'source':'a','target':'a','label':'Yes',"
			 "'description':'agrees'},{'source':'a','target':'b',"
			 "'label':'No'}]",
	};
	struct rig rig;

	rig_open(&rig, &setup);
	rig_start(&rig);
	rig_expect(&rig, "agent: Sure?\nlisten yes_no|Yes|agrees|that is fine|"
			 "No|rather not|Parley\n");
	rig_close(&rig);
}

static void more_words_extend_the_turn(void **state)
{
	struct rig rig;

	rig_open(&rig, &greeting);
	RIG_SCRIPT(&rig, { 0 },
		   { .route = 1,
		     .asked = "user=yes please route=wants to book "
			      "route=does not" });
	rig_start(&rig);
	pathway_hear(rig.pathway, "yes");
	rig_hear(&rig, "please");
	assert_non_null(strstr(buffer_str(&rig.log), "Ask for the day."));
	rig_close(&rig);
}

static void words_while_busy_are_on_record_only(void **state)
{
	struct rig rig;

	rig_open(&rig, &greeting);
	rig.is_held = true;
	rig_start(&rig);
	rig_hear(&rig, "over you");
	rig_hear(&rig, "");
	rig_expect_within(&rig, "transcript.user {'text':'over you'}");
	rig.is_held = false;
	rig_run(&rig, 0);
	rig_expect(&rig, "agent: Hello Ann. Shall we book?\n"
			 "listen|wants to book|does not\n");
	rig_hear(&rig, ""); /* nothing understood: waited for again */
	rig_expect(&rig, "listen|wants to book|does not\n");
	rig_close(&rig);
}

/* The whole of it offline, as a first user would try it. */
static void talks_with_the_rules_model(void **state)
{
	static const struct rig_setup setup = {
		.nodes =
			"[{'id':'hi','type':'Default','data':{'isStart':true,"
			"'prompt':'Ask \\'Would you like to book a table?\\''"
			"}},"
			"{'id':'size','type':'Default','data':{'text':'For how "
			"many people?','condition':'guests is known',"
			"'extractVars':[['guests','integer','how many people']]"
			"}},"
			"{'id':'done','type':'End Call','data':{'text':'A table"
			" for {{guests}}. Goodbye.'}},"
			"{'id':'no','type':'End Call','data':{'text':'Goodbye.'"
			"}},"
			"{'id':'hours','type':'Default','data':{'isGlobal':true"
			",'globalLabel':'opening hours','text':'We are open "
			"until ten.'}}]",
		.edges = "[{'source':'hi','target':'size','label':'yes'},"
			 "{'source':'hi','target':'no','label':'no'},"
			 "{'source':'size','target':'done','label':'number "
			 "given'}]",
		.use_rules = true,
	};
	struct rig rig;

	rig_open(&rig, &setup);
	rig_start(&rig);
	rig_hear(&rig, "yes please");
	rig_hear(&rig, "what are your opening hours");
	rig_hear(&rig, "uh");
	rig_hear(&rig, "we are four");
	rig_expect(&rig, "agent: Would you like to book a table?\n"
			 "listen yes_no|yes|no|opening hours\n"
			 "agent: For how many people?\n"
			 "listen digits|number given|opening hours\n"
			 "agent: We are open until ten.\n"
			 "agent: For how many people?\n"
			 "listen digits|number given|opening hours\n"
			 "agent: For how many people?\n"
			 "listen digits|number given|opening hours\n"
			 "agent last: A table for 4. Goodbye.\n"
			 "end end_call\n");
	rig_close(&rig);
}

static void closes_at_any_moment(void **state)
{
	struct rig rig;

	rig_open(&rig, &greeting);
	rig_close(&rig); /* never started */
	rig_open(&rig, &greeting);
	pathway_start(rig.pathway);
	rig_close(&rig); /* a step is posted */
	rig_open(&rig, &greeting);
	rig.close_on_say = true;
	rig_start(&rig);
	rig_close(&rig);
	rig_open(&rig, &greeting);
	rig_start(&rig);
	pathway_hear(rig.pathway, "yes");
	rig_close(&rig); /* the model is asked */
	rig_open(&rig, &keys_setup);
	rig_start(&rig);
	rig_press(&rig, "12");
	rig_close(&rig); /* keys are gathered */
}

static void unknown_start_node(void **state)
{
	struct graph_problem problem;
	json_t *nodes = rig_json("[]");
	struct pathway_options options = { 0 };
	struct pathway *pathway;

	options.graph = graph_of_task("Talk.", NULL);
	options.start_node_id = "nowhere";
	assert_int_equal(pathway_open(&pathway, &options, NULL, NULL), -ENOENT);
	assert_null(pathway);
	assert_int_equal(
		graph_open(&options.graph, nodes, NULL, true, &problem), 0);
	options.start_node_id = NULL;
	assert_int_equal(pathway_open(&pathway, &options, NULL, NULL), -ENOENT);
	json_decref(nodes);
}

/* Where nobody can be called the agent comes back at once. */
static void comes_back_from_a_transfer(void **state)
{
	struct rig rig;

	rig_open(&rig, &(struct rig_setup){
			       .nodes = "[{'id':'t','type':'Transfer Call',"
					"'data':{'isStart':true,'text':'I "
					"connect you.','transferNumber':"
					"'+14155550177'}}]",
			       .edges = "[]" });
	rig_start(&rig);
	rig_expect(&rig, "agent: I connect you.\n"
			 "agent last: I am sorry, I could not transfer you. "
			 "Goodbye.\n"
			 "end transfer\n");
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_conversation),
		cmocka_unit_test(history_holds_what_was_heard),
		cmocka_unit_test(a_line_never_heard_is_null),
		cmocka_unit_test(nothing_fits_asks_again),
		cmocka_unit_test(another_phrase_needs_no_apology),
		cmocka_unit_test(silence_asks_twice_then_ends),
		cmocka_unit_test(a_word_resets_the_silence),
		cmocka_unit_test(global_node_answers_and_returns),
		cmocka_unit_test(global_node_may_stay),
		cmocka_unit_test(comes_back_from_a_transfer),
		cmocka_unit_test(skip_and_always_need_no_model),
		cmocka_unit_test(a_met_condition_takes_the_only_edge),
		cmocka_unit_test(endless_loop_is_stopped),
		cmocka_unit_test(unknown_types_act_as_default),
		cmocka_unit_test(keys_are_gathered_when_expected),
		cmocka_unit_test(keys_end_with_a_hash_or_words),
		cmocka_unit_test(keys_before_the_question_count),
		cmocka_unit_test(keys_may_be_ignored),
		cmocka_unit_test(hints_come_from_the_node),
		cmocka_unit_test(more_words_extend_the_turn),
		cmocka_unit_test(words_while_busy_are_on_record_only),
		cmocka_unit_test(talks_with_the_rules_model),
		cmocka_unit_test(closes_at_any_moment),
		cmocka_unit_test(unknown_start_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

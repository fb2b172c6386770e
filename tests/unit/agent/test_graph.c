/* SPDX-License-Identifier: MIT */
/* Checking a pathway's nodes and edges: each message names the node and the
 * field; nothing that clients may keep is refused (specification 2.5). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "agent/pathway/graph.h"
#include "tests/unit/agent/fixture_pathway.h"

#define START "{'id':'s','type':'Default','data':{'isStart':true,'text':'Hi'}}"
#define HOOK(data)                                                             \
	"[" START ",{'id':'w','type':'Webhook','data':{'name':'Look'," data    \
	"}}]"

static int open_text(struct graph **out, const char *nodes, const char *edges,
		     bool allow_empty, struct graph_problem *problem)
{
	json_t *n = rig_json(nodes), *e = rig_json(edges);
	int err = graph_open(out, n, e, allow_empty, problem);

	json_decref(n);
	json_decref(e);
	return err;
}

static void refused(void **state)
{
	static const struct {
		const char *nodes, *edges, *field, *message;
	} cases[] = {
		{ "[]", "[]", "nodes",
		  "A pathway needs exactly one start node: none has isStart" },
		{ "[{'id':'a','type':'Default','data':{'text':'x',"
		  "'isStart':false}}]",
		  "[]", "nodes",
		  "A pathway needs exactly one start node: none has isStart" },
		{ "[{'id':'a','type':'Default','data':{'name':'Greeting',"
		  "'isStart':true,'text':'x'}},{'globalConfig':{}},"
		  "{'id':'X','type':'End Call','data':{'isStart':'true'}}]",
		  "[]", "nodes[2].data.isStart",
		  "A pathway needs exactly one start node: nodes[0] 'Greeting' "
		  "and nodes[2] 'X' both have isStart" },
		{ "{}", "[]", "nodes", "nodes must be an array" },
		{ "[1]", "[]", "nodes[0]", "nodes[0] must be an object" },
		{ "[]", "'x'", "edges", "edges must be an array" },
		{ "[" START "," START "]", "[]", "nodes[1].id",
		  "nodes[0] and nodes[1] have the same id 's': ids must be "
		  "unique" },
		{ "[" START "]", "[{'source':'s','target':'t','label':'go'}]",
		  "edges[0].target",
		  "edges[0] 'go' leads to 't', but no node has that id" },
		{ "[" START "]", "[{'source':'q','target':'s'}]",
		  "edges[0].source",
		  "edges[0] '' leaves from 'q', but no node has that id" },
		{ "[" START "]", "[{'source':'s'}]", "edges[0].target",
		  "edges[0] has no target: it must name a node" },
		{ "[" START ",{'id':'d','type':'Default','data':{'text':' '}}]",
		  "[]", "nodes[1].data.prompt",
		  "nodes[1] 'd' says nothing: a Default node needs text or "
		  "prompt" },
		{ HOOK("'method':'GET'"), "[]", "nodes[1].data.url",
		  "nodes[1] 'Look' has no url: a Webhook node needs one" },
		{ HOOK("'url':'ftp://x'"), "[]", "nodes[1].data.url",
		  "nodes[1] 'Look' has the url 'ftp://x': it must start with "
		  "https:// or http://" },
		{ HOOK("'url':'{{u}}','method':'FETCH'"), "[]",
		  "nodes[1].data.method",
		  "nodes[1] 'Look' has the method 'FETCH': use GET, POST, "
		  "PUT, PATCH, DELETE or HEAD" },
		{ HOOK("'url':'{{u}}','method':5"), "[]",
		  "nodes[1].data.method",
		  "nodes[1] 'Look' has the method '(not text)': use GET, "
		  "POST, PUT, PATCH, DELETE or HEAD" },
		{ HOOK("'url':'{{u}}','responsePathways':[['a','=~','',{'id':"
		       "'s'}]]"),
		  "[]", "nodes[1].data.responsePathways[0]",
		  "nodes[1] 'Look': responsePathways[0] has the unknown "
		  "operator '=~': use one of ==, !=, >, <, >=, <=, contains, "
		  "is null, is not null" },
		{ HOOK("'url':'{{u}}','responsePathways':[['a','==','',{'id':"
		       "'s'}],['a','==','',{'id':'z'}]]"),
		  "[]", "nodes[1].data.responsePathways[1]",
		  "nodes[1] 'Look': responsePathways[1] leads to 'z', but no "
		  "node has that id" },
		{ HOOK("'url':'{{u}}','responsePathways':[['a','==','']]"),
		  "[]", "nodes[1].data.responsePathways[0]",
		  "nodes[1] 'Look': responsePathways[0] must be [variable, "
		  "operator, value, {id, name}]" },
		{ HOOK("'url':'{{u}}','responsePathways':{}"), "[]",
		  "nodes[1].data.responsePathways",
		  "nodes[1] 'Look': responsePathways must be an array" },
		{ HOOK("'url':'{{u}}','responseData':{}"), "[]",
		  "nodes[1].data.responseData",
		  "nodes[1] 'Look': responseData must be an array" },
		{ HOOK("'url':'{{u}}','extractVars':[['a'],[]]"), "[]",
		  "nodes[1].data.extractVars[1]",
		  "nodes[1] 'Look': extractVars[1] must be [name, type, "
		  "description]" },
		{ HOOK("'url':'{{u}}','extractVars':'a'"), "[]",
		  "nodes[1].data.extractVars",
		  "nodes[1] 'Look': extractVars must be an array" },
		{ "[" START ",{'id':'t','type':'Transfer Node','data':{"
		  "'transferNumber':5}}]",
		  "[]", "nodes[1].data.transferNumber",
		  "nodes[1] 't': transferNumber must be a text" },
		{ HOOK("'url':'{{u}}','isGlobal':true"), "[]",
		  "nodes[1].data.globalLabel",
		  "nodes[1] 'Look' is global but has no globalLabel that says "
		  "when to use it" },
	};
	struct graph_problem problem;
	struct graph *graph;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(open_text(&graph, cases[i].nodes,
					   cases[i].edges, false, &problem),
				 -EINVAL);
		assert_null(graph);
		assert_string_equal(problem.message, cases[i].message);
		assert_string_equal(problem.field, cases[i].field);
	}
}

static void accepted(void **state)
{
	static const char *const cases[] = {
		"[" START "]",
		/* kept as given: without type, without id, of other types */
		"[" START
		",{'id':'x'},{'type':'y'},{'data':5},{'id':'z','type':"
		"'Route','data':{'text':5}}]",
		"[" START ",{'id':'e','type':'End Call'}]",
		HOOK("'url':'https://h/','method':'post','headers':null,"
		     "'responseData':[{}],'responsePathways':[['API Request "
		     "Completion (Default)','','',{'id':'s'}],['a','IS NULL',"
		     "null,{'id':'s'}]],'extractVars':[{'name':'a'}]"),
	};
	struct graph_problem problem;
	struct graph *graph;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (open_text(&graph, cases[i], "[]", false, &problem))
			fail_msg("%s: %s", cases[i], problem.message);
		assert_string_equal(graph_start(graph)->id, "s");
		assert_string_equal(graph_global_prompt(graph), "");
		graph_close(&graph);
		assert_null(graph);
		graph_close(&graph);
	}
}

static void empty_only_when_allowed(void **state)
{
	struct graph_problem problem;
	struct graph *graph;

	assert_int_equal(graph_open(&graph, NULL, NULL, false, &problem),
			 -EINVAL);
	assert_int_equal(graph_open(&graph, NULL, NULL, true, &problem), 0);
	assert_null(graph_start(graph));
	assert_null(graph_find(graph, "s"));
	graph_close(&graph);
}

static void indexed(void **state)
{
	struct graph_problem problem;
	const struct graph_node *const *globals;
	const struct graph_node *node;
	struct graph *graph;
	size_t n;

	assert_int_equal(
		open_text(&graph,
			  "[{'globalConfig':{'globalPrompt':'Be kind.'}}," START
			  ",{'id':'g','type':'Default','data':{'text':'x',"
			  "'isGlobal':true,'globalLabel':'l'}},{'id':'o'}]",
			  "[{'id':'1','source':'g','target':'s'},{'id':'2',"
			  "'source':'s','target':'g','data':{'label':'in',"
			  "'description':'deep','alwaysPick':'true'}},{'id':'3'"
			  ",'source':'g','target':'o','label':'top','data':{"
			  "'label':'in'},'alwaysPick':true}]",
			  false, &problem),
		0);
	node = graph_start(graph);
	assert_int_equal(node->n_edges, 1);
	assert_string_equal(node->edges[0].label, "in");
	assert_string_equal(node->edges[0].description, "deep");
	assert_true(node->edges[0].is_always);
	globals = graph_globals(graph, &n);
	assert_int_equal(n, 1);
	assert_ptr_equal(globals[0], graph_find(graph, "g"));
	assert_int_equal(globals[0]->n_edges, 2);
	assert_string_equal(globals[0]->edges[0].id, "1");
	assert_false(globals[0]->edges[0].is_always);
	assert_string_equal(globals[0]->edges[1].label, "top");
	assert_string_equal(globals[0]->edges[1].target, "o");
	assert_string_equal(graph_global_prompt(graph), "Be kind.");
	node = graph_find(graph, "o");
	assert_int_equal(node->type, NODE_OTHER);
	assert_true(json_is_object(node->data));
	graph_close(&graph);
}

/* Warm transfers are not done: such a node acts as Default and says so. */
static void transfer_nodes(void **state)
{
	static const struct {
		const char *type, *data;
		enum node_type as;
	} rows[] = {
		{ "Transfer Node", "", NODE_TRANSFER },
		{ "Transfer Call", "'transferNumber':'+1'", NODE_TRANSFER },
		{ "Transfer Number", "'transferNumber':null", NODE_TRANSFER },
		{ "Transfer Call", "'warmTransferFields':{'isEnabled':false}",
		  NODE_TRANSFER },
		{ "Transfer Call", "'warmTransferFields':{'isEnabled':true}",
		  NODE_OTHER },
		{ "Transfer Call", "'warmTransferFields':{'isEnabled':'true'}",
		  NODE_OTHER },
		{ "transfer call", "", NODE_OTHER },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct graph_problem problem;
		struct graph *graph;
		char text[256];
		json_t *nodes;

		snprintf(text, sizeof(text),
			 "[{'id':'a','type':'%s','data':{'isStart':true%s%s}}]",
			 rows[i].type, rows[i].data[0] ? "," : "",
			 rows[i].data);
		nodes = rig_json(text);
		assert_int_equal(
			graph_open(&graph, nodes, NULL, false, &problem), 0);
		assert_int_equal(graph_start(graph)->type, rows[i].as);
		graph_close(&graph);
		json_decref(nodes);
	}
}

static void of_a_task(void **state)
{
	struct graph *graph = graph_of_task("Sell it.", NULL);

	assert_string_equal(json_string_value(json_object_get(
				    graph_start(graph)->data, "prompt")),
			    "Sell it.");
	assert_int_equal(graph_start(graph)->n_edges, 0);
	graph_close(&graph);
	graph = graph_of_task("Sell it.", "Hello!");
	assert_string_equal(json_string_value(json_object_get(
				    graph_start(graph)->data, "text")),
			    "Hello!");
	assert_true(graph_start(graph)->edges[0].is_always);
	graph_close(&graph);
	graph = graph_of_task("", NULL);
	assert_non_null(graph_start(graph));
	graph_close(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(accepted),
		cmocka_unit_test(empty_only_when_allowed),
		cmocka_unit_test(indexed),
		cmocka_unit_test(transfer_nodes),
		cmocka_unit_test(of_a_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

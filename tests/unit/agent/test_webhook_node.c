/* SPDX-License-Identifier: MIT */
/* Webhook nodes inside a pathway: request, retries, mappings, routing and every
 * payload of their events (specification 2.5 and 6.3). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "agent/pathway/webhook_request.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_pathway.h"

/* What the network answers, one after the other, the last again and again. */
struct answers {
	struct {
		int error, status;
		const char *body, *retry_after;
		uint32_t duration_ms;
	} list[4];
	size_t n, asked;
	char request[512]; /* the last one */
};

static void answer(void *arg, const struct fetch_request *request,
		   struct fetch_result *result)
{
	struct answers *answers = arg;
	size_t i =
		answers->asked < answers->n ? answers->asked : answers->n - 1;
	int len;

	answers->asked++;
	len = snprintf(answers->request, sizeof(answers->request), "%s %s %u ",
		       request->method, request->url, request->timeout_ms);
	for (size_t k = 0; k < request->n_headers; k++)
		len += snprintf(answers->request + len,
				sizeof(answers->request) - (size_t)len,
				"%s=%s;", request->headers[k].name,
				request->headers[k].value);
	snprintf(answers->request + len, sizeof(answers->request) - (size_t)len,
		 " %.*s", (int)request->body.len, request->body.ptr);
	result->error = answers->list[i].error;
	result->reason = result->error ? "connection refused" : "";
	result->status = answers->list[i].status;
	result->body = slice_of(answers->list[i].body);
	result->retry_after = slice_of(answers->list[i].retry_after);
	result->duration_ms = answers->list[i].duration_ms;
}

#define HOOK(data)                                                             \
	"[{'id':'ask','type':'Default','data':{'isStart':true,'text':'Who?'}}" \
	","                                                                    \
	"{'id':'hook','type':'Webhook','data':{" data "}},"                    \
	"{'id':'good','type':'End Call','data':{'text':'Good "                 \
	"{{order.id}}.'}},"                                                    \
	"{'id':'bad','type':'End Call','data':{'text':'Bad.'}}]"

static const char edges[] =
	"[{'source':'ask','target':'hook'},"
	"{'source':'hook','target':'good','label':'fine'},"
	"{'source':'hook','target':'bad','label':'not fine'}]";

/* Runs one such pathway up to its end. */
static void run(struct rig *rig, const char *nodes, struct answers *answers)
{
	struct rig_setup setup = { .nodes = nodes,
				   .edges = edges,
				   .variables = "{'who':'Ann \\\\ Bo'}" };

	rig_open(rig, &setup);
	rig->network.answer = answer;
	rig->network.arg = answers;
	rig_start(rig);
	buffer_clear(&rig->log);
	buffer_clear(&rig->events);
	rig_hear(rig, "me");
}

static void mapped_answer_routes(void **state)
{
	static const char nodes[] = HOOK(
		"'url':'https://x.test/o/{{who}}','method':'post','max_retries'"
		":'2','timeoutValue':5,'text':'One moment.',"
		"'headers':{'X-Api-Key':'k1','X-Who':'a'},"
		"'auth':{'type':'bearer','token':'t1'},"
		"'body':{'who':'{{who}}'},"
		"'extractVars':[['who','string','the name']],"
		"'responseData':[{'data':'$.order','name':'order'},"
		"{'data':'$.none','name':'none'},{'data':'$.[','name':'odd'},"
		"{'name':'pathless'}],"
		"'responsePathways':[['order.id','==','7',{'id':'bad','name':"
		"'first'}],['order.id','>','6.5',{'id':'good','name':'last'}],"
		"['none','is not null','',{'id':'bad'}]]");
	struct answers answers = { .list = { { .status = 200,
					       .body = "{\"order\":{\"id\":7}}",
					       .duration_ms = 40 } },
				   .n = 1 };
	struct rig rig;

	run(&rig, nodes, &answers);
	rig_run(&rig, 40);
	rig_expect(&rig, "agent: One moment.\nagent last: Good 7.\n"
			 "end end_call\n");
	assert_string_equal(answers.request,
			    "POST https://x.test/o/Ann%20%5C%20Bo 5000 "
			    "X-Api-Key=k1;X-Who=a;Authorization=Bearer t1;"
			    "Content-Type=application/json; "
			    "{\"who\":\"Ann \\\\ Bo\"}");
	rig_expect_events(
		&rig,
		"3 ask transcript.user {'text':'me'}\n"
		"4 ask node.transition {'chosen_node_id':'hook',"
		"'previous_node_id':'ask'}\n"
		"5 hook var_extraction.invoke {'variables_requested':['who']}\n"
		"6 hook llm.action {'action':'extract_variables','output_chars'"
		":7}\n"
		"7 hook var_extraction.result(5) {'variables_extracted':{},"
		"'duration_ms':0}\n"
		"8 hook webhook.invoke {'url':'https://x.test/o/Ann%20%5C%20Bo'"
		",'method':'POST','headers':{'X-Api-Key':'[redacted]','X-Who':"
		"'a','Authorization':'[redacted]','Content-Type':'application/"
		"json'},'body':'{\\'who\\':\\'Ann \\\\\\\\ Bo\\'}','timeout_ms'"
		":5000,'max_retries':2,'response_mappings':[{'name':'order',"
		"'path':'$.order'},{'name':'none','path':'$.none'},{'name':"
		"'odd','path':'$.['},{'name':'pathless','path':null}]}\n"
		"9 hook transcript.assistant {'text':'One moment.'}\n"
		"10 hook webhook.result(8) {'url':'https://x.test/o/Ann%20%5C%"
		"20Bo','status':200,'body':'{\\'order\\':{\\'id\\':7}}',"
		"'duration_ms':40,'retries':0}\n"
		"11 hook webhook.mapping(8) {'url':'https://x.test/o/Ann%20%5C%"
		"20Bo','mappings':[{'name':'order','path':'$.order','outcome':"
		"'set','value_preview':'{\\'id\\':7}'},{'name':'none','path':"
		"'$.none','outcome':'empty','detail':'The path matched nothing."
		"'},{'name':'odd','path':'$.[','outcome':'error','detail':'This"
		" is not a JSON path.'},{'name':'pathless','path':null,"
		"'outcome':'skipped_invalid','detail':'The mapping has no path."
		"'}]}\n"
		"12 hook node.transition {'chosen_node_id':'good',"
		"'chosen_label':'last','previous_node_id':'hook',"
		"'variable_changes':{'added':{'order':{'id':7},'none':null,"
		"'odd':null}}}\n"
		"13 good transcript.assistant {'text':'Good 7.'}\n");
	rig_close(&rig);
}

static const char retried[] =
	HOOK("'url':'https://x.test/','max_retries':2,'responseData':[{'data':"
	     "'$.a','name':'a'}],'responsePathways':[['a','is null','',{'id':"
	     "'bad'}],['a','!=','x',{'id':'good'}]]");

static void retries_then_succeeds(void **state)
{
	struct answers answers = {
		.list = { { .error = -ECONNREFUSED },
			  { .status = 429, .retry_after = "2" },
			  { .status = 200, .body = "{\"a\":\"y\"}" } },
		.n = 3
	};
	struct rig rig;

	run(&rig, retried, &answers);
	rig_run(&rig, 499);
	assert_int_equal(answers.asked, 1);
	rig_run(&rig, 1);
	assert_int_equal(answers.asked, 2);
	rig_run(&rig, 1999);
	assert_int_equal(answers.asked, 2);
	rig_run(&rig, 1);
	rig_expect(&rig, "agent last: Good {{order.id}}.\nend end_call\n");
	rig_expect_within(
		&rig,
		"6 hook webhook.warning(5) {'message':'connection refused',"
		"'url':'https://x.test/','retry':1,'retry_in_ms':500}\n"
		"7 hook webhook.warning(5) {'message':'The server answered 429."
		"','url':'https://x.test/','status':429,'retry':2,'retry_in_ms'"
		":2000}\n"
		"8 hook webhook.result(5) {'url':'https://x.test/','status':"
		"200,'body':'{\\'a\\':\\'y\\'}','duration_ms':2500,'retries':2}"
		"\n");
	rig_close(&rig);
}

static void gives_up_with_an_error(void **state)
{
	struct answers answers = { .list = { { .error = -ECONNREFUSED } },
				   .n = 1 };
	struct rig rig;

	run(&rig, retried, &answers);
	rig_run(&rig, 500);
	rig_run(&rig, 1000);
	assert_int_equal(answers.asked, 3);
	/* a is null: != holds too, and is the last */
	rig_expect(&rig, "agent last: Good {{order.id}}.\nend end_call\n");
	rig_expect_within(
		&rig,
		"webhook.error(5) {'message':'connection refused','url':'https:"
		"//x.test/','duration_ms':1500,'retries':2}\n"
		"9 hook webhook.mapping(5) {'url':'https://x.test/','mappings':"
		"[{'name':'a','path':'$.a','outcome':'error','detail':"
		"'connection refused'}]}\n");
	rig_close(&rig);
}

static void a_refusal_is_an_error_and_not_retried(void **state)
{
	struct answers answers = {
		.list = { { .status = 404, .body = "<html>" } }, .n = 1
	};
	struct rig rig;

	run(&rig, retried, &answers);
	assert_int_equal(answers.asked, 1);
	rig_expect_within(&rig, "'status':404,'body':'<html>'");
	rig_expect_within(&rig,
			  "webhook.error(5) {'message':'The server "
			  "answered 404.','url':'https://x.test/','status'"
			  ":404}");
	rig_expect_within(&rig, "'outcome':'error','detail':'The answer is not "
				"JSON.'");
	rig_close(&rig);
}

static void fire_and_forget_goes_on_at_once(void **state)
{
	static const char nodes[] =
		HOOK("'url':'https://x.test/','responsePathways':[['API Request"
		     " Completion (Default)','','',{'id':'bad','name':'done'}],"
		     "['who','is not null','',{'id':'good'}]]");
	struct answers answers = {
		.list = { { .status = 204, .duration_ms = 3000 } }, .n = 1
	};
	struct rig rig;

	run(&rig, nodes, &answers);
	rig_expect(&rig, "agent last: Bad.\nend end_call\n");
	rig_run(&rig, 3000);
	rig_expect_within(&rig,
			  "bad webhook.result(5) {'url':'https://x.test/',"
			  "'status':204,'duration_ms':3000,'retries':0,"
			  "'fire_and_forget':true}");
	rig_close(&rig);
}

static void without_response_path_the_edges_count(void **state)
{
	static const char nodes[] =
		HOOK("'url':'https://x.test/','responseData':[{'data':'$.a',"
		     "'name':'a'}]");
	struct answers answers = {
		.list = { { .status = 200, .body = "{\"a\":1}" } }, .n = 1
	};
	struct rig rig;

	run(&rig, nodes, &answers); /* the model finds no edge: it listens */
	rig_expect(&rig, "listen|fine|not fine\n");
	RIG_SCRIPT(&rig, { .route = 2,
			   .asked = "user=hm route=fine route=not fine" });
	rig_hear(&rig, "hm");
	rig_expect(&rig, "agent last: Bad.\nend end_call\n");
	assert_int_equal(answers.asked, 1);
	rig_close(&rig);
}

static void bad_header_is_an_error(void **state)
{
	static const char nodes[] =
		HOOK("'url':'https://x.test/','headers':[{'key':'A','value':"
		     "'x\\r\\ny'}],'responseData':[{'data':'$.a','name':'a'}],"
		     "'responsePathways':[['a','is null','',{'id':'bad'}]]");
	struct answers answers = { .n = 1 };
	struct rig rig;

	run(&rig, nodes, &answers);
	assert_int_equal(answers.asked, 0);
	rig_expect(&rig, "agent last: Bad.\nend end_call\n");
	rig_expect_within(&rig, "webhook.error(5) {'message':'The url or a "
				"header is not valid.'");
	rig_close(&rig);
}

static void closes_while_requests_run(void **state)
{
	static const char both[] =
		"[{'id':'a','type':'Webhook','data':{'isStart':true,'url':"
		"'https://x.test/'}},{'id':'b','type':'Webhook','data':{'url':"
		"'https://x.test/','max_retries':1,'responseData':[{'data':'a',"
		"'name':'b'}]}}]";
	struct rig_setup setup = { .nodes = both,
				   .edges = "[{'source':'a','target':'b'}]" };
	struct answers answers = { .list = { { .status = 200,
					       .duration_ms = 500 },
					     { .status = 500 } },
				   .n = 2 };
	struct rig rig;

	rig_open(&rig, &setup);
	rig.network.answer = answer;
	rig.network.arg = &answers;
	rig_start(&rig);
	assert_int_equal(answers.asked, 2);
	rig_close(&rig); /* one under way, one before its retry */
}

static void requests_are_built(void **state)
{
	static const struct {
		const char *data, *method, *url, *headers, *body;
		unsigned timeout_ms;
	} cases[] = {
		{ "{'url':' http://h/ '}", "GET", "http://h/", "{}", NULL,
		  10000 },
		{ "{'url':'http://h/?q={{q}}','timeoutValue':1500}", "GET",
		  "http://h/?q=a%26b%20%C3%A9", "{}", NULL, 1500 },
		{ "{'url':'{{base}}/x','timeoutValue':'3'}", "GET",
		  "https://b.test/v1/x", "{}", NULL, 3000 },
		{ "{'url':'h','body':'{{q}}','timeoutValue':999}", "POST", "h",
		  "{\"Content-Type\":\"text/plain; charset=utf-8\"}",
		  "a&b \xC3\xA9", 60000 },
		{ "{'url':'h','method':'GET','body':'x'}", "GET", "h", "{}",
		  NULL, 10000 },
		{ "{'url':'h','headers':[{'key':'content-type','value':'a/b'},"
		  "{'name':'N','value':5}],'body':['{{n}}',true]}",
		  "POST", "h", "{\"content-type\":\"a/b\",\"N\":\"5\"}",
		  "[7,true]", 10000 },
		{ "{'url':'h','auth':{'type':'Basic','token':'u:p'}}", "GET",
		  "h", "{\"Authorization\":\"Basic dTpw\"}", NULL, 10000 },
		{ "{'url':'h','auth':{'type':'basic','token':'dTpw'}}", "GET",
		  "h", "{\"Authorization\":\"Basic dTpw\"}", NULL, 10000 },
	};
	json_t *known = rig_json("{'q':'a&b \xC3\xA9','base':'https://b.test/"
				 "v1','n':7}");
	struct variables_options options = { .initial = known };
	struct variables *variables = variables_open(&options);
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *data = rig_json(cases[i].data);
		struct webhook_request request;
		char *headers;

		webhook_request_init(&request, data, variables);
		headers = json_text(request.headers);
		assert_string_equal(request.method, cases[i].method);
		assert_string_equal(request.url, cases[i].url);
		assert_string_equal(headers, cases[i].headers);
		assert_int_equal(request.timeout_ms, cases[i].timeout_ms);
		assert_string_equal(request.body ? request.body : "(none)",
				    cases[i].body ? cases[i].body : "(none)");
		mem_free(headers);
		webhook_request_reset(&request);
		json_decref(data);
	}
	variables_close(&variables);
	json_decref(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped_answer_routes),
		cmocka_unit_test(retries_then_succeeds),
		cmocka_unit_test(gives_up_with_an_error),
		cmocka_unit_test(a_refusal_is_an_error_and_not_retried),
		cmocka_unit_test(fire_and_forget_goes_on_at_once),
		cmocka_unit_test(without_response_path_the_edges_count),
		cmocka_unit_test(bad_header_is_an_error),
		cmocka_unit_test(closes_while_requests_run),
		cmocka_unit_test(requests_are_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

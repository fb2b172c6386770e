/* SPDX-License-Identifier: MIT */
/* The header mapping of a trunk, both ways, in a whole call: custom and uui,
 * passthrough on and off, service variables, and all that no header can carry
 * (specification 2.1, decisions "Header mapping"). JSON is written with ' for "
 * here. */
#include <stdio.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_house.h"

static const char *dial(struct house *house, const char *mapping,
			const char *settings)
{
	const char *id;

	house_put_mapping(house, true, mapping);
	house->manners.hangs_up_ms = 500;
	id = house_queue(house, settings);
	house_finish(house, id, 5000);
	return id;
}

static void expect_header(struct house *house, const char *name,
			  const char *value)
{
	const struct far_leg *leg = &house->legs[house->n_legs - 1];
	const char *found = far_header(house, leg, name);

	if (strcmp(found, value) != 0)
		fail_msg("%s is \"%s\", wanted \"%s\"", name, found, value);
}

static void sends_variables_in_headers(void **state)
{
	struct house *house = *state;
	const char *id = dial(
		house,
		"{'direction':'outbound','headers':["
		"{'type':'custom','key':'customer','value':'X-Customer'},"
		"{'type':'custom','key':'CUSTOMER','value':'X-Again'},"
		"{'type':'custom','key':'order.items[1]','value':'X-Item'},"
		"{'type':'custom','key':'order','value':'X-Order'},"
		"{'type':'custom','key':'vip','value':'X-Vip'},"
		"{'type':'custom','key':'empty','value':'X-Empty'},"
		"{'type':'custom','key':'nothing','value':'X-Nothing'},"
		"{'type':'custom','key':'unknown','value':'X-Unknown'},"
		"{'type':'custom','key':'city','value':'X-City'}]}",
		"{'task':'Talk.','request_data':{'customer':'Ann','vip':true,"
		"'order':{'items':[7,8]},'nothing':null,'empty':'',"
		"'city':'K\xc3\xb6ln'}}");

	assert_true(house_call(house, id).completed);
	expect_header(house, "X-Customer", "Ann");
	expect_header(house, "X-Again", "Ann");
	expect_header(house, "X-Item", "8");
	expect_header(house, "X-Order", "{\"items\":[7,8]}");
	expect_header(house, "X-Vip", "true");
	expect_header(house, "X-Empty", "");
	expect_header(house, "X-Nothing", "-");
	expect_header(house, "X-Unknown", "-");
	expect_header(house, "X-City", "K\xc3\xb6ln");
}

static void sends_service_variables(void **state)
{
	struct house *house = *state;
	const char *id = dial(
		house,
		"{'headers':["
		"{'type':'custom','key':'call_id','value':'X-Id'},"
		"{'type':'custom','key':'caller_id','value':'X-Caller'},"
		"{'type':'custom','key':'destination_number','value':'X-To'},"
		"{'type':'custom','key':'call_duration','value':'X-Duration'},"
		"{'type':'custom','key':'call_status','value':'X-Status'},"
		"{'type':'custom','key':'X-All','value':'{{call_id}} of "
		"{{ Caller_ID }} {{nobody}}','passthrough':true},"
		"{'type':'custom','key':'X-Plain','value':'as it stands',"
		"'passthrough':'true'}]}",
		"{'task':'Talk.'}");

	expect_header(house, "X-Id", id);
	expect_header(house, "X-Caller", HOUSE_NUMBER);
	expect_header(house, "X-To", HOUSE_CALLEE);
	expect_header(house, "X-Duration", "0");
	expect_header(house, "X-Status", "started");
	expect_header(house, "X-All",
		      arena_printf(house->arena, "%s of %s {{nobody}}", id,
				   HOUSE_NUMBER));
	expect_header(house, "X-Plain", "as it stands");
}

static void sends_user_to_user(void **state)
{
	struct house *house = *state;

	dial(house,
	     "{'headers':["
	     "{'type':'uui','target':'none','purpose':'a'},"
	     "{'type':'uui','target':'ref','purpose':'isdn-uui',"
	     "'encoding':'hex','content':'isdn-uui'},"
	     "{'type':'uui','target':'city','encoding':'ascii'}]}",
	     "{'task':'Talk.','request_data':{'ref':'A1','city':'"
	     "K\xc3\xb6ln'}}");
	expect_header(house, "User-to-User",
		      "4131;encoding=hex;purpose=isdn-uui;content=isdn-uui");
}

/* Nothing that a tenant's data holds may forge a line, or cost the call. */
static void leaves_out_what_is_no_header(void **state)
{
	struct house *house = *state;
	struct buffer settings;
	const char *id;

	buffer_init(&settings, 100000);
	buffer_add_str(&settings,
		       "{'task':'Talk.','request_data':{'ok':'fine',"
		       "'cr':'a\\r\\nX-Forged: 1','lf':'a\\nX-Forged: 1',"
		       "'bell':'a\\u0007','long':'");
	for (int i = 0; i < 5000; i++)
		buffer_add_char(&settings, 'x');
	buffer_add_str(&settings, "'}}");
	id = dial(house,
		  "{'headers':["
		  "{'type':'custom','key':'cr','value':'X-Cr'},"
		  "{'type':'custom','key':'lf','value':'X-Lf'},"
		  "{'type':'custom','key':'bell','value':'X-Bell'},"
		  "{'type':'custom','key':'long','value':'X-Long'},"
		  "{'type':'uui','target':'cr','encoding':'ascii'},"
		  "{'type':'uui','target':'lf'},"
		  "{'type':'uui','target':'long'},"
		  "{'type':'custom','key':'ok','value':'Via'},"
		  "{'type':'custom','key':'ok','value':'i'},"
		  "{'type':'custom','key':'ok','value':'X Bad'},"
		  "{'type':'custom','key':'X-Pass','value':'{{cr}}',"
		  "'passthrough':true},"
		  "{'type':'custom','key':'ok'},{'type':'custom'},"
		  "{'type':'uui'},{'type':'what'},7,null,"
		  "{'type':'custom','key':'ok','value':'X-Ok'}]}",
		  buffer_str(&settings));
	buffer_reset(&settings);
	assert_string_equal(house_call(house, id).status, "completed");
	expect_header(house, "X-Ok", "fine");
	expect_header(house, "X-Cr", "-");
	expect_header(house, "X-Lf", "-");
	expect_header(house, "X-Bell", "-");
	expect_header(house, "X-Long", "-");
	expect_header(house, "X-Pass", "-");
	expect_header(house, "X-Forged", "-");
	expect_header(house, "User-to-User", "-");
}

static void bounds_all_headers_together(void **state)
{
	struct house *house = *state;
	struct buffer mapping, settings;
	unsigned there = 0;

	buffer_init(&mapping, 100000);
	buffer_init(&settings, 100000);
	buffer_add_str(&settings, "{'task':'Talk.','request_data':{'big':'");
	for (int i = 0; i < 2000; i++)
		buffer_add_char(&settings, 'x');
	buffer_add_str(&settings, "'}}");
	buffer_add_str(&mapping, "{'headers':[");
	for (int i = 0; i < 64; i++)
		buffer_printf(&mapping,
			      "%s{'type':'custom','key':'big',"
			      "'value':'X-Big-%d'}",
			      i ? "," : "", i);
	buffer_add_str(&mapping, "]}");
	dial(house, buffer_str(&mapping), buffer_str(&settings));
	for (int i = 0; i < 64; i++) {
		char name[16];

		snprintf(name, sizeof(name), "X-Big-%d", i);
		there += far_header(house, &house->legs[0], name)[0] == 'x';
	}
	assert_int_equal(there, 4);
	buffer_reset(&mapping);
	buffer_reset(&settings);
}

static void survives_a_damaged_mapping(void **state)
{
	static const char *const mappings[] = { "[]", "{'headers':7}",
						"{'headers':[[]]}", "7" };
	struct house *house = *state;

	for (size_t i = 0; i < 4; i++)
		assert_string_equal(house_call(house, dial(house, mappings[i],
							   "{'task':'x'}"))
					    .status,
				    "completed");
	house_sql(house, "UPDATE trunks SET headers = 'garbage'");
	house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_true(house->legs[4].is_up);
}

/* ---- in ---- */

static const json_t *variables(struct house *house)
{
	struct calls_query query = { .org_id = HOUSE_ORG,
				     .completed = 0,
				     .inbound = 1,
				     .longer_s = -1,
				     .shorter_s = -1,
				     .limit = 1 };
	struct call_list list = { 0 };
	const json_t *found;

	house_run(house, 1000);
	assert_int_equal(
		calls_list(house->service.store, house->arena, &query, &list),
		0);
	assert_int_equal(list.n, 1);
	found = dispatch_variables(house->service.dispatch, list.rows[0].id);
	assert_non_null(found);
	return found;
}

#define HEADER(name_, value_)                                                  \
	{                                                                      \
		.name = SLICE(name_), .value = SLICE(value_)                   \
	}
#define DIAL_WITH(house, ...)                                                  \
	do {                                                                   \
		const struct session_header headers_[] = { __VA_ARGS__ };      \
		struct session_call call_ = {                                  \
			.to_number = HOUSE_NUMBER,                             \
			.headers = headers_,                                   \
			.n_headers = sizeof(headers_) / sizeof(headers_[0]),   \
		};                                                             \
		house_dial_with(house, &call_);                                \
	} while (0)

static void takes_headers_for_variables(void **state)
{
	struct house *house = *state;
	const json_t *found;

	house_put_number(house, "{'task':'Talk.','request_data':"
				"{'customer':'nobody','kept':1}}");
	house_put_mapping(
		house, false,
		"{'direction':'inbound','headers':["
		"{'type':'custom','key':'x-customer','value':'customer'},"
		"{'type':'custom','key':'Subject','value':'topic'},"
		"{'type':'custom','key':'X-None','value':'none'},"
		"{'type':'custom','key':'greeting','value':'hi {{call_id}}',"
		"'passthrough':true},"
		"{'type':'uui','target':'ref','purpose':'crm'},"
		"{'type':'uui','target':'other','purpose':'other'},"
		"{'type':'custom','key':'X-Customer','value':'call_id'},"
		"{'type':'custom','key':'P-Asserted-Identity',"
		"'value':'identity'}]}");
	DIAL_WITH(house, HEADER("X-Customer", "K\xc3\xb6ln, \"7\""),
		  HEADER("s", "A question"),
		  HEADER("P-Asserted-Identity", "<sip:+14155550177@a.test>"),
		  HEADER("User-to-User", "6f6e65;purpose=crm"));
	found = variables(house);
	assert_string_equal(json_str(found, "customer"), "K\xc3\xb6ln, \"7\"");
	assert_string_equal(json_str(found, "topic"), "A question");
	assert_string_equal(json_str(found, "greeting"), "hi {{call_id}}");
	assert_string_equal(json_str(found, "ref"), "one");
	assert_string_equal(json_str(found, "identity"),
			    "<sip:+14155550177@a.test>");
	assert_null(json_object_get(found, "none"));
	assert_null(json_object_get(found, "other"));
	assert_int_equal(json_integer_value(json_object_get(found, "kept")), 1);
	assert_int_equal(strlen(json_str(found, "call_id")), 36);
}

static void takes_no_variable_that_is_no_text(void **state)
{
	struct house *house = *state;
	char big[5000];
	struct session_header headers[] = {
		HEADER("User-to-User", "610a62;purpose=lf"),
		HEADER("User-to-User", "6100;purpose=nul"),
		HEADER("User-to-User", "ff;purpose=bytes"),
		HEADER("User-to-User", "6;purpose=odd"),
		HEADER("User-to-User", "61;purpose=ok"),
		{ SLICE("X-Big"), { big, sizeof(big) } },
	};
	struct session_call call = { .to_number = HOUSE_NUMBER,
				     .headers = headers,
				     .n_headers = 6 };
	const json_t *found;

	memset(big, 'x', sizeof(big));
	house_put_number(house, "{'task':'Talk.'}");
	house_put_mapping(house, false,
			  "{'headers':["
			  "{'type':'uui','target':'lf','purpose':'lf'},"
			  "{'type':'uui','target':'nul','purpose':'nul'},"
			  "{'type':'uui','target':'bytes','purpose':'bytes'},"
			  "{'type':'uui','target':'odd','purpose':'odd'},"
			  "{'type':'custom','key':'X-Big','value':'big'},"
			  "{'type':'uui','target':'','purpose':'ok'},"
			  "{'type':'uui','target':'ok','purpose':'ok'}]}");
	house_dial_with(house, &call);
	found = variables(house);
	assert_string_equal(json_str(found, "ok"), "a");
	assert_null(json_object_get(found, "lf"));
	assert_null(json_object_get(found, "nul"));
	assert_null(json_object_get(found, "bytes"));
	assert_null(json_object_get(found, "odd"));
	assert_null(json_object_get(found, "big"));
	assert_null(json_object_get(found, ""));
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(sends_variables_in_headers),
		CASE(sends_service_variables),
		CASE(sends_user_to_user),
		CASE(leaves_out_what_is_no_header),
		CASE(bounds_all_headers_together),
		CASE(survives_a_damaged_mapping),
		CASE(takes_headers_for_variables),
		CASE(takes_no_variable_that_is_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

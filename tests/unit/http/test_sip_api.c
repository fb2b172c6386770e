/* SPDX-License-Identifier: MIT */
/* http/api/sip: attach, update, detach and reading of SIP configurations. Every
 * refusal names its field; passwords are sealed, masked and kept when the mask
 * comes back; a number belongs to one organisation; the entitlement. */
#include "core/loop.h"
#include "core/secret.h"
#include "fixture_api.h"

#define NUMBER "+14155550100"
#define OUTBOUND                                                               \
	"{\"phone_number\":\"" NUMBER "\",\"service\":\"sip\",\"directions\":" \
	"[{\"type\":\"outbound\",\"sip_endpoint\":"                            \
	"\"sip:carrier.example\"%s}]}"
#define DONE                                                                   \
	"{\"data\":{\"configured\":[\"" NUMBER "\"],\"failed\":[]},"           \
	"\"errors\":null}"

static void attach(struct api *api, const char *body)
{
	api_ask(api, "POST", "/v1/sip/attach", body);
}

static void read_number(struct api *api)
{
	api_ask(api, "GET", "/v1/sip?phone_number=%2B14155550100", NULL);
	assert_int_equal(api->status, 200);
}

/* "" when none is stored. */
static const char *stored_password(struct api *api)
{
	struct trunk_row key = { .number = NUMBER,
				 .direction = TRUNK_OUTBOUND };
	struct trunk_row row;
	struct buffer plain;
	const char *copy;

	assert_int_equal(trunks_get(api->service.store, api->arena, &key, &row),
			 0);
	if (!row.password.len)
		return "";
	buffer_init(&plain, 1024);
	assert_int_equal(secret_unseal(api->service.box, &plain, row.password),
			 0);
	copy = arena_dup(api->arena, buffer_slice(&plain));
	buffer_reset(&plain);
	return copy;
}

/* ---- attach ---- */

static void test_attach(void **state)
{
	struct api *api = *state;

	attach(api,
	       "{\"phone_number\":\"4155550100\",\"service\":\"sip\","
	       "\"directions\":[{\"type\":\"inbound\",\"options\":"
	       "{\"allowed_ips\":[\"192.0.2.0/24\",\"2001:db8::1\"]}},"
	       "{\"type\":\"outbound\",\"sip_endpoint\":"
	       "\"sip:carrier.example:5070;transport=tls\",\"options\":"
	       "{\"port\":\"5080\",\"transport\":\"tls\",\"secure_media\":"
	       "\"true\",\"sip_username\":\"u\",\"sip_password\":\"p\"}}]}");
	api_expect(api, 200, DONE);
	read_number(api);
	api_expect_at(api, "data.outbound.number", "\"" NUMBER "\"");
	api_expect_at(api, "data.outbound.org_id", "\"" API_ORG "\"");
	api_expect_at(api, "data.outbound.direction", "\"outbound\"");
	api_expect_at(api, "data.outbound.sip_endpoint",
		      "\"sip:carrier.example:5070;transport=tls\"");
	api_expect_at(api, "data.outbound.options",
		      "{\"port\":5080,\"transport\":\"tls\",\"secure_media\":"
		      "true,\"sip_username\":\"u\",\"sip_password\":"
		      "\"********\"}");
	api_expect_at(api, "data.outbound.headers", "null");
	api_expect_at(api, "data.outbound.inbound_id", "null");
	api_expect_at(api, "data.inbound.sip_endpoint", "null");
	api_expect_at(api, "data.inbound.options",
		      "{\"allowed_ips\":[\"192.0.2.0/24\",\"2001:db8::1\"]}");
	assert_string_equal(stored_password(api), "p");
}

static void test_stored_port(void **state)
{
	struct api *api = *state;
	static const struct {
		const char *endpoint, *options;
		uint16_t port;
	} cases[] = {
		{ "sip:carrier.example", "{}", 0 },
		{ "sip:carrier.example:5070", "{}", 5070 },
		{ "sip:carrier.example:5070", "{\"port\":5080}", 5080 },
		{ "sip:localhost", "{\"port\":65535}", 65535 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trunk_row key = { .number = NUMBER,
					 .direction = TRUNK_OUTBOUND };
		struct trunk_row row;

		attach(api, arena_printf(api->arena,
					 "{\"phone_number\":\"" NUMBER
					 "\",\"directions\":[{\"type\":"
					 "\"outbound\",\"sip_endpoint\":\"%s\","
					 "\"options\":%s}]}",
					 cases[i].endpoint, cases[i].options));
		api_expect(api, 200, DONE);
		assert_int_equal(
			trunks_get(api->service.store, api->arena, &key, &row),
			0);
		assert_int_equal(row.port, cases[i].port);
	}
}

static void test_attach_many(void **state)
{
	struct api *api = *state;

	api_put_trunk(api, API_OTHER, "+14155550101", TRUNK_OUTBOUND);
	attach(api, "{\"phone_numbers\":[\"+14155550100\",\"+14155550101\","
		    "\"4155550100\"],\"directions\":[{\"type\":\"inbound\"}],"
		    "\"service\":\"sip\"}");
	api_expect(api, 200,
		   "{\"data\":{\"configured\":[\"+14155550100\"],\"failed\":"
		   "[{\"phone_number\":\"+14155550101\",\"error\":"
		   "\"NUMBER_IN_USE\",\"message\":\"This number is attached "
		   "by another organization\"}]},\"errors\":null}");
}

static void test_short_forms(void **state)
{
	struct api *api = *state;

	attach(api, "{\"phone_number\":\"" NUMBER "\",\"direction\":"
		    "\"inbound\"}");
	api_expect(api, 200, DONE);
	attach(api, "{\"phone_number\":\"" NUMBER "\",\"direction\":"
		    "\"outbound\"}");
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "outbound needs directions with a sip_endpoint",
			 "sip_endpoint");
	api_ask(api, "POST", "/v1/sip/detach",
		"{\"phone_number\":\"" NUMBER "\",\"direction\":\"inbound\"}");
	api_expect(api, 200,
		   "{\"data\":{\"detached\":[\"inbound\"]},\"errors\":null}");
}

/* Replacing moves updated_at and keeps id and created_at. */
static void test_attach_again(void **state)
{
	struct api *api = *state;
	const char *id;

	attach(api, arena_printf(api->arena, OUTBOUND,
				 ",\"options\":{\"sip_username\":\"u\","
				 "\"sip_password\":\"p\"}"));
	read_number(api);
	id = arena_dup_str(
		api->arena,
		json_str(json_object_get(json_object_get(api->body, "data"),
					 "outbound"),
			 "id"));
	loop_advance_ms(api->service.loop, 5000);
	attach(api, arena_printf(api->arena, OUTBOUND,
				 ",\"options\":{\"sip_password\":"
				 "\"********\"}"));
	api_expect(api, 200, DONE);
	read_number(api);
	api_expect_at(api, "data.outbound.id",
		      arena_printf(api->arena, "\"%s\"", id));
	api_expect_at(api, "data.outbound.created_at",
		      "\"2026-01-01T00:00:00.000Z\"");
	api_expect_at(api, "data.outbound.updated_at",
		      "\"2026-01-01T00:00:05.000Z\"");
	api_expect_at(api, "data.outbound.options",
		      "{\"sip_password\":\"********\"}");
	assert_string_equal(stored_password(api), "p");
	attach(api, arena_printf(api->arena, OUTBOUND, ""));
	assert_string_equal(stored_password(api), "");
}

/* ---- what is refused ---- */

#define AT "directions[0]"
#define FQDN                                                                   \
	"sip_endpoint must name a host by its fully qualified domain name, "   \
	"not an IP address"
#define PORT "port must be between 1 and 65535"
#define SHAPE                                                                  \
	"sip_endpoint is not sip:HOST or sip:HOST:PORT with a port between 1 " \
	"and 65535"

static const struct {
	const char *direction;
	const char *field, *message;
} refusals[] = {
	{ "7", AT, "directions[0] must be an object" },
	{ "{}", AT ".type", "type must be inbound or outbound" },
	{ "{\"type\":\"both\"}", AT ".type",
	  "type must be inbound or outbound" },
	{ "{\"type\":\"outbound\"}", AT ".sip_endpoint",
	  "sip_endpoint is required for outbound" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":null}", AT ".sip_endpoint",
	  "sip_endpoint is required for outbound" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":7}", AT ".sip_endpoint",
	  "sip_endpoint must be a string" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"carrier.example\"}",
	  AT ".sip_endpoint", "sip_endpoint must start with sip:" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sips:a.example\"}",
	  AT ".sip_endpoint", "sip_endpoint must start with sip:" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sip:192.0.2.1\"}",
	  AT ".sip_endpoint", FQDN },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sip:[2001:db8::1]:5061\"}",
	  AT ".sip_endpoint", FQDN },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sip:carrier\"}",
	  AT ".sip_endpoint", FQDN },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sip:me@a.example\"}",
	  AT ".sip_endpoint", "sip_endpoint must not have a user part" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sip:a.example?Via=x\"}",
	  AT ".sip_endpoint", "sip_endpoint must not have headers" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":"
	  "\"sip:a.example;transport=udp\"}",
	  AT ".sip_endpoint", "the transport of sip_endpoint must be tls" },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sip:a.example:70000\"}",
	  AT ".sip_endpoint", SHAPE },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":\"sip:a b.example\"}",
	  AT ".sip_endpoint", SHAPE },
	{ "{\"type\":\"outbound\",\"sip_endpoint\":"
	  "\"sip:a.example\\r\\nVia: x\"}",
	  AT ".sip_endpoint", SHAPE },
};

static const struct {
	const char *more; /* of an outbound direction that is fine */
	const char *field, *message;
} option_refusals[] = {
	{ "\"options\":7", AT ".options", "options must be an object" },
	{ "\"options\":{\"port\":0}", AT ".options.port", PORT },
	{ "\"options\":{\"port\":65536}", AT ".options.port", PORT },
	{ "\"options\":{\"port\":50.5}", AT ".options.port", PORT },
	{ "\"options\":{\"port\":\"x\"}", AT ".options.port", PORT },
	{ "\"options\":{\"transport\":\"udp\"}", AT ".options.transport",
	  "transport must be tls" },
	{ "\"options\":{\"transport\":\"tcp\"}", AT ".options.transport",
	  "transport must be tls" },
	{ "\"options\":{\"secure_media\":false}", AT ".options.secure_media",
	  "secure_media must be true: media is always encrypted" },
	{ "\"options\":{\"secure_media\":\"no\"}", AT ".options.secure_media",
	  "secure_media must be a boolean" },
	{ "\"options\":{\"sip_username\":\"a\\r\\nb\"}",
	  AT ".options.sip_username",
	  "sip_username must be a string of at most 255 characters without "
	  "control characters" },
	{ "\"options\":{\"sip_password\":7}", AT ".options.sip_password",
	  "sip_password must be a string of at most 255 characters without "
	  "control characters" },
	{ "\"headers\":[]", AT ".headers", "headers must be an object" },
	{ "\"headers\":{\"direction\":\"inbound\",\"headers\":[]}",
	  AT ".headers.direction", "headers.direction must equal type" },
	{ "\"headers\":{\"direction\":\"outbound\"}", AT ".headers.headers",
	  "headers.headers must be an array of at most 64 mappings" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"other\"}]}",
	  AT ".headers.headers[0].type", "type must be custom or uui" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"custom\",\"value\":\"X-A\"}]}",
	  AT ".headers.headers[0].key",
	  "key must be a text without control characters" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"custom\",\"key\":\"name\",\"value\":\"Via\"}]}",
	  AT ".headers.headers[0].value", "the header 'Via' cannot be mapped" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"custom\",\"key\":\"contact\",\"value\":\"x\",\"passthrough\":"
	  "true}]}",
	  AT ".headers.headers[0].key",
	  "the header 'contact' cannot be mapped" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"custom\",\"key\":\"X-A\",\"value\":\"a\\r\\nVia: b\","
	  "\"passthrough\":true}]}",
	  AT ".headers.headers[0].value",
	  "value must be a text without control characters" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"uui\"}]}",
	  AT ".headers.headers[0].target", "target must name a variable" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"uui\",\"target\":\"t\",\"encoding\":\"utf8\"}]}",
	  AT ".headers.headers[0].encoding", "encoding must be hex or ascii" },
	{ "\"headers\":{\"direction\":\"outbound\",\"headers\":[{\"type\":"
	  "\"uui\",\"target\":\"t\",\"purpose\":\"a;b\"}]}",
	  AT ".headers.headers[0].purpose",
	  "purpose must be a word without blanks or separators" },
};

static void test_refusals(void **state)
{
	struct api *api = *state;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		print_message("%s\n", refusals[i].direction);
		attach(api, arena_printf(api->arena,
					 "{\"phone_number\":\"" NUMBER
					 "\",\"service\":\"sip\","
					 "\"directions\":[%s]}",
					 refusals[i].direction));
		api_expect_error(api, 400, "VALIDATION_ERROR",
				 refusals[i].message, refusals[i].field);
	}
	for (size_t i = 0;
	     i < sizeof(option_refusals) / sizeof(*option_refusals); i++) {
		print_message("%s\n", option_refusals[i].more);
		attach(api,
		       arena_printf(api->arena, OUTBOUND,
				    arena_printf(api->arena, ",%s",
						 option_refusals[i].more)));
		api_expect_error(api, 400, "VALIDATION_ERROR",
				 option_refusals[i].message,
				 option_refusals[i].field);
	}
	read_number(api);
	api_expect(api, 200,
		   "{\"data\":{\"inbound\":null,\"outbound\":null},"
		   "\"errors\":null}");
}

static void test_body_refusals(void **state)
{
	struct api *api = *state;
	static const char *const cases[][2] = {
		{ "{\"service\":\"sip\"}", "phone_number" },
		{ "{\"phone_number\":4155550100}", "phone_number" },
		{ "{\"phone_number\":\"abc\"}", "phone_number" },
		{ "{\"phone_numbers\":[]}", "phone_numbers" },
		{ "{\"phone_numbers\":[\"" NUMBER "\",\"x\"]}",
		  "phone_numbers[1]" },
		{ "{\"phone_number\":\"" NUMBER "\"}", "directions" },
		{ "{\"phone_number\":\"" NUMBER "\",\"directions\":[]}",
		  "directions" },
		{ "{\"phone_number\":\"" NUMBER "\",\"service\":\"sms\","
		  "\"directions\":[{\"type\":\"inbound\"}]}",
		  "service" },
		{ "{\"phone_number\":\"" NUMBER "\",\"directions\":"
		  "[{\"type\":\"inbound\"},{\"type\":\"inbound\"}]}",
		  "directions[1].type" },
		{ "{\"phone_number\":\"" NUMBER "\",\"directions\":"
		  "[{\"type\":\"inbound\",\"options\":{\"allowed_ips\":"
		  "[\"192.0.2.0/64\"]}}]}",
		  "directions[0].options.allowed_ips[0]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *first;

		attach(api, cases[i][0]);
		first = json_array_get(json_object_get(api->body, "errors"), 0);
		assert_int_equal(api->status, 400);
		assert_string_equal(json_str(first, "field"), cases[i][1]);
	}
}

static void test_mappings_are_kept(void **state)
{
	struct api *api = *state;

	attach(api,
	       arena_printf(api->arena, OUTBOUND,
			    ",\"headers\":{\"direction\":\"outbound\","
			    "\"headers\":[{\"type\":\"custom\",\"key\":\"n\","
			    "\"value\":\"X-Name\"},{\"type\":\"uui\","
			    "\"target\":\"t\",\"purpose\":\"isdn-uui\","
			    "\"encoding\":\"hex\",\"content\":\"c\"}]}"));
	api_expect(api, 200, DONE);
	read_number(api);
	api_expect_at(api, "data.outbound.headers.headers[0].value",
		      "\"X-Name\"");
	api_expect_at(api, "data.outbound.headers.headers[1].purpose",
		      "\"isdn-uui\"");
}

/* ---- update ---- */

static void update(struct api *api, const char *updates)
{
	api_ask(api, "POST", "/v1/sip/update",
		arena_printf(api->arena,
			     "{\"phone_number\":\"" NUMBER "\",\"updates\":%s}",
			     updates));
}

static void test_update_merges(void **state)
{
	struct api *api = *state;

	attach(api, arena_printf(api->arena, OUTBOUND,
				 ",\"options\":{\"port\":5070,"
				 "\"sip_username\":\"u\",\"sip_password\":"
				 "\"p\"}"));
	update(api, "{\"type\":\"outbound\",\"options\":{\"sip_username\":"
		    "\"v\",\"sip_password\":\"********\"}}");
	assert_int_equal(api->status, 200);
	api_expect_at(api, "data.sip_endpoint", "\"sip:carrier.example\"");
	api_expect_at(api, "data.options",
		      "{\"port\":5070,\"sip_username\":\"v\","
		      "\"sip_password\":\"********\"}");
	assert_string_equal(stored_password(api), "p");
	update(api, "{\"type\":\"outbound\",\"sip_endpoint\":"
		    "\"sip:b.example:5099\",\"options\":{\"port\":null}}");
	read_number(api);
	api_expect_at(api, "data.outbound.sip_endpoint",
		      "\"sip:b.example:5099\"");
	assert_string_equal(stored_password(api), "p");
	update(api, "{\"type\":\"outbound\",\"options\":{\"sip_password\":"
		    "\"q\"}}");
	assert_string_equal(stored_password(api), "q");
	update(api, "{\"type\":\"outbound\",\"options\":{\"sip_password\":"
		    "null}}");
	assert_string_equal(stored_password(api), "");
}

static void test_update_refusals(void **state)
{
	struct api *api = *state;

	update(api, "{\"type\":\"outbound\"}");
	api_expect_error(api, 404, "NOT_FOUND",
			 "No outbound SIP configuration is attached to " NUMBER,
			 NULL);
	attach(api, arena_printf(api->arena, OUTBOUND, ""));
	update(api, "{\"type\":\"inbound\"}");
	assert_int_equal(api->status, 404);
	update(api, "null");
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "updates must be an object", "updates");
	update(api, "{\"type\":\"outbound\",\"options\":{\"port\":0}}");
	api_expect_error(api, 400, "VALIDATION_ERROR", PORT,
			 "updates.options.port");
}

/* ---- detach and reading ---- */

static void test_detach(void **state)
{
	struct api *api = *state;

	api_put_trunk(api, API_ORG, NUMBER, TRUNK_INBOUND);
	api_put_trunk(api, API_ORG, NUMBER, TRUNK_OUTBOUND);
	api_ask(api, "POST", "/v1/sip/detach",
		"{\"phone_number\":\"" NUMBER "\",\"service\":\"sip\","
		"\"directions\":[{\"type\":\"outbound\"}]}");
	api_expect(api, 200,
		   "{\"data\":{\"detached\":[\"outbound\"]},\"errors\":null}");
	api_ask(api, "POST", "/v1/sip/detach",
		"{\"phone_number\":\"" NUMBER "\"}"); /* both */
	api_expect(api, 200,
		   "{\"data\":{\"detached\":[\"inbound\"]},\"errors\":null}");
	api_ask(api, "POST", "/v1/sip/detach",
		"{\"phone_number\":\"" NUMBER "\"}");
	api_expect_error(api, 404, "NOT_FOUND",
			 "No SIP configuration is attached to " NUMBER, NULL);
}

static void test_reading(void **state)
{
	struct api *api = *state;

	api_ask(api, "GET", "/v1/sip", NULL);
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "phone_number is required", "phone_number");
	api_ask(api, "GET", "/v1/sip?phone_number=x", NULL);
	assert_int_equal(api->status, 400);
	api_put_trunk(api, API_ORG, "+442071234567", TRUNK_INBOUND);
	api_ask(api, "GET", "/v1/sip?phone_number=+442071234567", NULL);
	api_expect_at(api, "data.inbound.number", "\"+442071234567\"");
	api_expect_at(api, "data.outbound", "null");
}

static void test_organisations_are_apart(void **state)
{
	struct api *api = *state;

	attach(api, arena_printf(api->arena, OUTBOUND, ""));
	api->key = API_OTHER_KEY;
	read_number(api);
	api_expect(api, 200,
		   "{\"data\":{\"inbound\":null,\"outbound\":null},"
		   "\"errors\":null}");
	update(api, "{\"type\":\"outbound\"}");
	assert_int_equal(api->status, 404);
	api_ask(api, "POST", "/v1/sip/detach",
		"{\"phone_number\":\"" NUMBER "\"}");
	assert_int_equal(api->status, 404);
	attach(api, "{\"phone_number\":\"" NUMBER "\",\"direction\":"
		    "\"inbound\"}");
	api_expect_at(api, "data.failed[0].error", "\"NUMBER_IN_USE\"");
}

static void test_entitlement(void **state)
{
	struct api *api = *state;
	struct org_row org = { .id = API_ORG };
	static const char *const paths[] = { "/v1/sip/attach", "/v1/sip/update",
					     "/v1/sip/detach" };

	api_put_org(api, &org);
	for (size_t i = 0; i < 3; i++) {
		api_ask(api, "POST", paths[i], NULL);
		api_expect_error(api, 403, "FORBIDDEN",
				 "SIP is not enabled for your organization",
				 NULL);
	}
	api_ask(api, "GET", "/v1/sip?phone_number=4155550100", NULL);
	assert_int_equal(api->status, 403);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_attach),
		TEST(test_stored_port),
		TEST(test_attach_many),
		TEST(test_short_forms),
		TEST(test_attach_again),
		TEST(test_refusals),
		TEST(test_body_refusals),
		TEST(test_mappings_are_kept),
		TEST(test_update_merges),
		TEST(test_update_refusals),
		TEST(test_detach),
		TEST(test_reading),
		TEST(test_organisations_are_apart),
		TEST(test_entitlement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

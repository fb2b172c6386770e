/* SPDX-License-Identifier: MIT */
/* http/api/pathways: making, reading, changing and deleting pathways; the graph
 * is checked and faults name node and field; versions freeze the working copy;
 * organisations are apart. */
#include "fixture_api.h"

#define NODES                                                                  \
	"[{\"id\":\"1\",\"type\":\"Default\",\"data\":{\"name\":\"Start\","    \
	"\"isStart\":true,\"text\":\"Hello.\"}},{\"id\":\"2\",\"type\":"       \
	"\"End Call\",\"data\":{\"name\":\"Bye\",\"text\":\"Bye.\"}}]"
#define EDGES                                                                  \
	"[{\"id\":\"e1\",\"source\":\"1\",\"target\":\"2\",\"label\":"         \
	"\"done\"}]"

static const char *create(struct api *api, const char *body)
{
	api_ask(api, "POST", "/v1/pathway/create", body);
	assert_int_equal(api->status, 200);
	return api_str(api, "pathway_id");
}

static const char *path_of(struct api *api, const char *id, const char *more)
{
	return arena_printf(api->arena, "/v1/pathway/%s%s", id, more);
}

static void test_create_and_read(void **state)
{
	struct api *api = *state;
	const char *id =
		create(api, "{\"name\":\"P\",\"description\":\"d\","
			    "\"nodes\":" NODES ",\"edges\":" EDGES "}");

	api_expect(
		api, 200,
		arena_printf(api->arena,
			     "{\"status\":\"success\",\"pathway_id\":\"%s\"}",
			     id));
	api_ask(api, "GET", path_of(api, id, ""), NULL);
	api_expect(api, 200,
		   arena_printf(api->arena,
				"{\"id\":\"%s\",\"pathway_id\":\"%s\",\"name\":"
				"\"P\",\"description\":\"d\",\"nodes\":" NODES
				",\"edges\":[{\"id\":\"e1\",\"source\":\"1\","
				"\"target\":\"2\",\"label\":\"done\",\"data\":"
				"{\"label\":\"done\"}}],\"created_at\":"
				"\"2026-01-01T00:00:00.000Z\",\"updated_at\":"
				"\"2026-01-01T00:00:00.000Z\"}",
				id, id));
}

static void test_created_empty(void **state)
{
	struct api *api = *state;
	const char *id = create(api, "{\"name\":\"P\"}");

	api_ask(api, "GET", "/v1/pathway", NULL);
	api_expect_at(api, "[0].id", arena_printf(api->arena, "\"%s\"", id));
	api_expect_at(api, "[0].nodes", "[]");
	api_expect_at(api, "[0].edges", "[]");
	api_expect_at(api, "[0].description", "null");
}

/* Labels in data are served at the top too. */
static void test_edge_label_in_data(void **state)
{
	struct api *api = *state;
	const char *id = create(
		api, "{\"name\":\"P\",\"nodes\":" NODES
		     ",\"edges\":[{\"id\":\"e1\",\"source\":\"1\",\"target\":"
		     "\"2\",\"data\":{\"label\":\"a\",\"description\":\"b\"}}]"
		     "}");

	api_ask(api, "GET", path_of(api, id, ""), NULL);
	api_expect_at(api, "edges[0].label", "\"a\"");
	api_expect_at(api, "edges[0].description", "\"b\"");
	api_expect_at(api, "edges[0].data.label", "\"a\"");
}

static void test_refusals(void **state)
{
	struct api *api = *state;
	static const char *const cases[][2] = {
		{ "{}", "name" },
		{ "{\"name\":\"  \"}", "name" },
		{ "{\"name\":7}", "name" },
		{ "{\"name\":\"P\",\"description\":7}", "description" },
		{ "{\"name\":\"P\",\"nodes\":{}}", "nodes" },
		{ "{\"name\":\"P\",\"nodes\":[{\"id\":\"1\",\"type\":"
		  "\"Webhook\",\"data\":{\"name\":\"W\",\"isStart\":true}}]}",
		  "nodes[0].data.url" },
		{ "{\"name\":\"P\",\"nodes\":" NODES
		  ",\"edges\":[{\"id\":\"e\",\"source\":\"1\",\"target\":"
		  "\"9\"}]}",
		  "edges[0].target" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *first;

		api_ask(api, "POST", "/v1/pathway", cases[i][0]);
		first = json_array_get(json_object_get(api->body, "errors"), 0);
		assert_int_equal(api->status, 400);
		assert_string_equal(json_str(first, "error"),
				    "VALIDATION_ERROR");
		assert_string_equal(json_str(first, "field"), cases[i][1]);
	}
	api_ask(api, "GET", "/v1/pathway", NULL);
	api_expect(api, 200, "[]");
}

static void test_update(void **state)
{
	struct api *api = *state;
	const char *id = create(api, "{\"name\":\"P\",\"description\":\"d\"}");

	api_ask(api, "POST", path_of(api, id, ""),
		"{\"nodes\":" NODES ",\"edges\":[]}");
	assert_int_equal(api->status, 200);
	api_expect_at(api, "status", "\"success\"");
	api_expect_at(api, "message", "\"Pathway updated successfully\"");
	api_expect_at(api, "pathway_data.name", "\"P\"");
	api_expect_at(api, "pathway_data.description", "\"d\"");
	api_expect_at(api, "pathway_data.nodes", NODES);
	api_ask(api, "POST", path_of(api, id, ""), "{\"name\":\"Q\"}");
	api_expect_at(api, "pathway_data.nodes", NODES);
	api_ask(api, "POST", path_of(api, id, ""), "{\"edges\":[{}]}");
	assert_int_equal(api->status, 400);
	api_ask(api, "GET", path_of(api, id, ""), NULL);
	api_expect_at(api, "name", "\"Q\"");
	api_expect_at(api, "edges", "[]");
}

static void expect_missing(struct api *api, const char *id)
{
	api_expect_error(api, 404, "NOT_FOUND",
			 arena_printf(api->arena,
				      "Pathway with ID \"%s\" not found", id),
			 NULL);
}

static void test_delete(void **state)
{
	struct api *api = *state;
	const char *id = create(api, "{\"name\":\"P\"}");

	api_ask(api, "DELETE", path_of(api, id, ""), NULL);
	assert_int_equal(api->status, 200);
	api_ask(api, "GET", path_of(api, id, ""), NULL);
	expect_missing(api, id);
	api_ask(api, "DELETE", path_of(api, id, ""), NULL);
	expect_missing(api, id);
}

static void test_organisations_are_apart(void **state)
{
	struct api *api = *state;
	const char *id = create(api, "{\"name\":\"P\",\"nodes\":" NODES "}");
	static const char *const asked[][2] = {
		{ "GET", "" },		{ "POST", "" },
		{ "DELETE", "" },	{ "GET", "/versions" },
		{ "POST", "/version" }, { "GET", "/version/0" },
		{ "POST", "/publish" },
	};

	api->key = API_OTHER_KEY;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		bool is_post = asked[i][0][0] == 'P';

		api_ask(api, asked[i][0], path_of(api, id, asked[i][1]),
			is_post ? "{\"version_id\":1}" : NULL);
		expect_missing(api, id);
	}
	api_ask(api, "GET", "/v1/pathway", NULL);
	api_expect(api, 200, "[]");
	api->key = API_KEY;
	api_ask(api, "GET", path_of(api, id, ""), NULL);
	assert_int_equal(api->status, 200);
}

static void test_versions(void **state)
{
	struct api *api = *state;
	const char *id = create(api, "{\"name\":\"P\",\"nodes\":" NODES "}");

	api_ask(api, "POST", path_of(api, id, "/version"),
		"{\"name\":\"first\"}");
	api_expect_at(api, "message", "\"Version created successfully\"");
	api_expect_at(api, "data.version_number", "1");
	api_expect_at(api, "data.name", "\"first\"");
	api_ask(api, "POST", path_of(api, id, ""), "{\"nodes\":[]}");
	api_ask(api, "GET", path_of(api, id, "/version/1"), NULL);
	api_expect_at(api, "nodes", NODES);
	api_expect_at(api, "version_number", "1");
	api_ask(api, "GET", path_of(api, id, "/versions"), NULL);
	api_expect_at(api, "[0].version_number", "1");
	api_expect_at(api, "[0].name", "\"first\"");
	api_expect_at(api, "[0].is_latest", "true");
	api_expect_at(api, "[0].is_prev_published", "false");
	api_expect_at(api, "[0].is_staging", "false");
	api_expect_at(api, "[1].version_number", "0");
	api_ask(api, "GET", path_of(api, id, "/version/7"), NULL);
	assert_int_equal(api->status, 404);
}

static void test_publish(void **state)
{
	struct api *api = *state;
	const char *id = create(api, "{\"name\":\"P\",\"nodes\":" NODES "}");
	static const struct {
		const char *body;
		int status;
	} cases[] = {
		{ "{}", 400 },
		{ "{\"version_id\":0}", 404 },
		{ "{\"version_id\":2}", 404 },
		{ "{\"version_id\":1,\"environment\":\"moon\"}", 400 },
		{ "{\"version_id\":\"1\",\"environment\":\"production\"}",
		  200 },
		{ "{\"version_id\":1}", 200 },
	};

	api_ask(api, "POST", path_of(api, id, "/version"), NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		api_ask(api, "POST", path_of(api, id, "/publish"),
			cases[i].body);
		assert_int_equal(api->status, cases[i].status);
	}
	api_expect_at(api, "message", "\"Pathway published successfully\"");
	api_ask(api, "POST", path_of(api, id, "/publish"),
		arena_printf(api->arena, "{\"version_id\":\"%s:1\"}", id));
	assert_int_equal(api->status, 200);
	api_ask(api, "GET", path_of(api, id, "/versions"), NULL);
	api_expect_at(api, "[0].is_prev_published", "true");
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_and_read),
		TEST(test_created_empty),
		TEST(test_edge_label_in_data),
		TEST(test_refusals),
		TEST(test_update),
		TEST(test_delete),
		TEST(test_organisations_are_apart),
		TEST(test_versions),
		TEST(test_publish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

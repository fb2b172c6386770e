/* SPDX-License-Identifier: MIT */
/* User-to-User both ways (RFC 7433, specification 2.1, decisions "Header
 * mapping"): hex and ascii, matched by purpose, then content. JSON is written
 * with ' for " here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "agent/call/uui.h"
#include "core/buffer.h"
#include "core/mem.h"
#include "sip/message.h"
#include "tests/unit/agent/fixture_pathway.h"

static void writes_what_the_entry_says(void **state)
{
	static const struct {
		const char *entry, *text, *value;
	} rows[] = {
		{ "{}", "Az9", "417a39;encoding=hex" },
		{ "{'encoding':'hex','purpose':'isdn-uui'}", "\xc3\xa9",
		  "c3a9;encoding=hex;purpose=isdn-uui" },
		{ "{'encoding':null,'purpose':null,'content':null}", "a",
		  "61;encoding=hex" },
		{ "{'encoding':'ascii','content':'text','purpose':'crm'}",
		  "order 7",
		  "\"order 7\";encoding=ascii;purpose=crm;"
		  "content=text" },
		{ "{'encoding':'ascii'}", "say \"hi\" \\o/",
		  "\"say \\\"hi\\\" \\\\o/\";encoding=ascii" },
		{ "{'encoding':'ascii','purpose':'a b;c'}", "x",
		  "\"x\";encoding=ascii" },
		{ "{'encoding':'ascii'}", "caf\xc3\xa9", NULL },
		{ "{}", "", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *entry = rig_json(rows[i].entry);
		struct buffer out;

		buffer_init(&out, 1000);
		assert_int_equal(uui_write(&out, entry, rows[i].text),
				 rows[i].value ? 0 : -EINVAL);
		if (rows[i].value)
			assert_string_equal(buffer_str(&out), rows[i].value);
		buffer_reset(&out);
		json_decref(entry);
	}
}

static struct sip_message *invite_with(const char *lines)
{
	struct sip_message *invite = NULL;
	struct buffer text;
	const char *why = "";

	buffer_init(&text, 8000);
	buffer_printf(&text,
		      "INVITE sip:1@a.test SIP/2.0\r\n"
		      "Via: SIP/2.0/TLS a.test;branch=z9hG4bK1\r\n"
		      "From: <sip:2@a.test>;tag=1\r\nTo: <sip:1@a.test>\r\n"
		      "Call-ID: 1\r\nCSeq: 1 INVITE\r\n%s"
		      "Content-Length: 0\r\n\r\n",
		      lines);
	if (sip_message_parse(&invite, buffer_slice(&text), &why))
		fail_msg("%s", why);
	buffer_reset(&text);
	return invite;
}

#define UUI "User-to-User: "

static void finds_and_decodes(void **state)
{
	static const struct {
		const char *entry, *lines, *text; /* NULL: none */
		int err;
	} rows[] = {
		{ "{}", UUI "48656C6c6f;encoding=hex\r\n", "Hello" },
		{ "{}", UUI "48656C6c6f\r\n", "Hello" },
		{ "{}", "user-to-user : \"4869\" ; encoding=HEX\r\n", "Hi" },
		{ "{}", UUI "\"a \\\"b\\\"\";encoding=ascii\r\n", "a \"b\"" },
		{ "{'encoding':'ascii'}", UUI "word\r\n", "word" },
		{ "{'encoding':'ascii'}", UUI "4869;encoding=hex\r\n", "Hi" },
		{ "{'encoding':'hex'}", UUI "word;encoding=ascii\r\n", "word" },
		/* By purpose, which is isdn-uui when it is not said. */
		{ "{'purpose':'crm'}",
		  UUI "61;purpose=x\r\n" UUI "62\r\n" UUI "63;Purpose=CRM\r\n",
		  "c" },
		{ "{'purpose':'isdn-uui'}", UUI "61;purpose=x\r\n" UUI "62\r\n",
		  "b" },
		{ "{'purpose':'crm'}", UUI "61\r\n", NULL, -ENOENT },
		/* Then by content. */
		{ "{'purpose':'crm','content':'t'}",
		  UUI "61;purpose=crm;content=s\r\n" UUI
		      "62;purpose=crm;content=t\r\n",
		  "b" },
		{ "{'purpose':'crm','content':'t'}",
		  UUI "61;content=t;purpose=x\r\n", NULL, -ENOENT },
		{ "{'content':'isdn-uui'}", UUI "61;purpose=crm\r\n", "a" },
		/* Several in one header. */
		{ "{'purpose':'b'}",
		  UUI "61;purpose=a , \"6,2\";encoding=ascii;purpose=b\r\n",
		  "6,2" },
		{ "{}", "", NULL, -ENOENT },
		{ "{}", UUI "\r\n", NULL, -ENOENT },
		{ "{}", UUI ";encoding=hex\r\n", NULL, -ENOENT },
		{ "{}", UUI "616;encoding=hex\r\n", NULL, -EINVAL },
		{ "{}", UUI "6g;encoding=hex\r\n", NULL, -EINVAL },
		{ "{}", UUI "61;encoding=base64\r\n", NULL, -EINVAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *entry = rig_json(rows[i].entry);
		struct sip_message *invite = invite_with(rows[i].lines);
		struct buffer out;
		int err;

		buffer_init(&out, 1000);
		err = uui_find(&out, entry, invite);
		if (err != rows[i].err)
			fail_msg("%zu: %d \"%s\"", i, err, buffer_str(&out));
		if (rows[i].text)
			assert_string_equal(buffer_str(&out), rows[i].text);
		buffer_reset(&out);
		json_decref(entry);
		sip_message_unref(&invite);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_what_the_entry_says),
		cmocka_unit_test(finds_and_decodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What a peer makes up to identify its requests may be long and often: what a
 * transaction keeps of it after its answer is short, and still tells one from
 * the other (RFC 3261, 17.2.3). Row: transactions. */
#include "fixture_wire.h"
#include <stdio.h>
#include <string.h>
#include "core/loop.h"
#include "sip/server_transaction.h"

enum { LONG = 6000, KEPT_MAX = 300 };

/* last is the last character of a branch and a Call-ID of LONG characters. */
static struct sip_message *request_of(const char *method, char last)
{
	static char text[3 * LONG], word[LONG + 1];

	memset(word, 'b', LONG);
	word[LONG - 1] = last;
	snprintf(text, sizeof(text),
		 "%s sip:b@b.test SIP/2.0\r\n"
		 "Via: SIP/2.0/TLS a.test:5061;branch=z9hG4bK%s\r\n"
		 "From: <sip:a@a.test>;tag=f\r\nTo: <sip:b@b.test>\r\n"
		 "Call-ID: %s\r\nCSeq: 7 %s\r\nContent-Length: 0\r\n\r\n",
		 method, word, word, method);
	return wire_parse(text);
}

static size_t longest(const struct table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i < table->n_chains; i++)
		for (const struct table_entry *entry = table->chains[i]; entry;
		     entry = entry->next)
			if (strlen(entry->key) > longest)
				longest = strlen(entry->key);
	return longest;
}

static struct server_transaction *find(struct wire *wire, const char *method,
				       char last)
{
	struct sip_message *request = request_of(method, last);
	struct server_transaction *found =
		server_transaction_find(&wire->layer, request);

	sip_message_unref(&request);
	return found;
}

static bool is_merged(struct wire *wire, char last)
{
	struct sip_message *request = request_of("INVITE", last);
	bool found = server_transaction_is_merged(&wire->layer, request);

	sip_message_unref(&request);
	return found;
}

static void test_long_names_are_not_kept(void **state)
{
	struct wire *wire = *state;
	struct sip_message *request = request_of("INVITE", 'x');
	struct server_transaction *transaction = server_transaction_open(
		&wire->layer, wire_link(wire, 0), request, "ours");

	sip_message_unref(&request);
	assert_in_range(longest(&wire->layer.server), 1, KEPT_MAX);
	assert_in_range(longest(&wire->layer.merged), 1, KEPT_MAX);
	assert_ptr_equal(find(wire, "INVITE", 'x'), transaction);
	assert_ptr_equal(find(wire, "ACK", 'x'), transaction);
	assert_null(find(wire, "OPTIONS", 'x'));
	assert_null(find(wire, "INVITE", 'y'));
	assert_true(is_merged(wire, 'x'));
	assert_false(is_merged(wire, 'y'));
	server_transaction_respond(transaction, 486, SLICE(""), SLICE(""));
	server_transaction_release(&transaction);
	loop_advance_ms(wire->loop, 33000);
	assert_null(find(wire, "INVITE", 'x'));
	assert_false(is_merged(wire, 'x'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_long_names_are_not_kept,
						wire_setup, wire_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

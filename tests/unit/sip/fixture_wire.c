/* SPDX-License-Identifier: MIT */
#include "fixture_wire.h"
#include <stdio.h>
#include <string.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"

static int wire_send(void *owner, struct sip_link *link, struct slice text)
{
	struct wire *wire = owner;

	assert_non_null(link);
	if (!wire->send_error)
		buffer_add(&wire->sent, text);
	return wire->send_error;
}

static void wire_peer(const struct sip_link *link, struct addr *out)
{
	addr_parse(out, SLICE("192.0.2.7"), 4321);
}

int wire_setup(void **state)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	static const struct transactions_wire fns = { wire_send, wire_peer };
	struct wire *wire = mem_new(sizeof(*wire));

	log_setup(&quiet);
	loop_open_sim(&wire->loop, 1767312000000);
	transactions_init(&wire->layer, wire->loop, &fns, wire);
	buffer_init(&wire->sent, 1 << 20);
	buffer_init(&wire->log, 1 << 16);
	*state = wire;
	return 0;
}

int wire_teardown(void **state)
{
	struct wire *wire = *state;

	loop_advance_ms(wire->loop, 100 * 1000);
	assert_int_equal(wire->layer.client.n, 0);
	assert_int_equal(wire->layer.server.n, 0);
	assert_int_equal(wire->layer.merged.n, 0);
	transactions_reset(&wire->layer);
	buffer_reset(&wire->sent);
	buffer_reset(&wire->log);
	loop_close(&wire->loop);
	mem_free(wire);
	return 0;
}

struct sip_link *wire_link(struct wire *wire, int n)
{
	return (struct sip_link *)(void *)&wire->link_memory[n];
}

struct sip_message *wire_parse(const char *text)
{
	struct sip_message *message = NULL;
	const char *why = "";

	if (sip_message_parse(&message, slice_of(text), &why))
		fail_msg("%s: %s", why, text);
	return message;
}

void wire_check(struct wire *wire, const char *start, const char *file,
		int line)
{
	const char *sent = buffer_str(&wire->sent);

	if (*start ? strncmp(sent, start, strlen(start)) != 0 : *sent != '\0')
		_assert_string_equal(sent, start, file, line);
	buffer_clear(&wire->sent);
}

/* SPDX-License-Identifier: MIT */
#include "media/ports.h"
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include "core/id.h"
#include "core/mem.h"

enum { PORT_MIN = 16384, PORT_MAX = 32768 };

struct ports {
	uint16_t *queue; /* owned ring of RTP ports */
	unsigned size;
	unsigned first; /* longest rested */
	unsigned n_free;
};

static void shuffle(struct ports *ports)
{
	for (unsigned i = ports->size; i > 1; i--) {
		unsigned j = id_random(i);
		uint16_t port = ports->queue[i - 1];

		ports->queue[i - 1] = ports->queue[j];
		ports->queue[j] = port;
	}
}

int ports_open(struct ports **out, uint16_t min, uint16_t max)
{
	struct ports *ports;
	unsigned even = (min + 1u) & ~1u;

	*out = NULL;
	if (min < PORT_MIN || max > PORT_MAX || even + 1 > max)
		return -EINVAL;
	ports = mem_new(sizeof(*ports));
	ports->size = (max + 1u - even) / 2;
	ports->n_free = ports->size;
	ports->queue = mem_new_array(ports->size, sizeof(*ports->queue));
	for (unsigned i = 0; i < ports->size; i++)
		ports->queue[i] = (uint16_t)(even + 2 * i);
	shuffle(ports);
	*out = ports;
	return 0;
}

void ports_close(struct ports **ports)
{
	if (!*ports)
		return;
	assert((*ports)->n_free == (*ports)->size);
	mem_free((*ports)->queue);
	mem_free(*ports);
	*ports = NULL;
}

static uint16_t pop(struct ports *ports)
{
	uint16_t port = ports->queue[ports->first];

	ports->first = (ports->first + 1) % ports->size;
	ports->n_free--;
	return port;
}

static void push(struct ports *ports, uint16_t port)
{
	assert(ports->n_free < ports->size);
	ports->queue[(ports->first + ports->n_free) % ports->size] = port;
	ports->n_free++;
}

static int open_pair(struct port_pair *out, struct loop *loop,
		     const struct addr *bind, uint16_t port)
{
	struct addr addr = *bind;
	int err;

	addr_set_port(&addr, port);
	err = udp_open(&out->rtp, loop, &addr);
	if (err)
		return err;
	addr_set_port(&addr, (uint16_t)(port + 1));
	err = udp_open(&out->rtcp, loop, &addr);
	if (err)
		udp_close(&out->rtp);
	return err;
}

int ports_take(struct ports *ports, struct port_pair *out, struct loop *loop,
	       const struct addr *bind)
{
	unsigned tries = ports->n_free;
	int err;

	*out = (struct port_pair){ NULL, NULL };
	if (ports->size >= PORTS_LARGE && ports->n_free < PORTS_RESERVE)
		return -EAGAIN;
	while (tries--) {
		uint16_t port = pop(ports);

		err = open_pair(out, loop, bind, port);
		if (!err)
			return 0;
		push(ports, port);
		/* No descriptor left, or not our address: as many tries as
		 * there are ports would hold up the loop. */
		if (err != -EADDRINUSE && err != -EACCES)
			return err;
	}
	return -EAGAIN;
}

void ports_give(struct ports *ports, struct port_pair *pair)
{
	struct addr addr;

	udp_local(pair->rtp, &addr);
	udp_close(&pair->rtp);
	udp_close(&pair->rtcp);
	push(ports, addr_port(&addr));
}

unsigned ports_free(const struct ports *ports)
{
	return ports->n_free;
}

unsigned ports_used(const struct ports *ports)
{
	return ports->size - ports->n_free;
}

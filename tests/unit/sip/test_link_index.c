/* SPDX-License-Identifier: MIT */
/* sip/link_index: what hangs on a link is found by it alone, and what is found
 * may leave while it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "sip/link_index.h"

enum { LINKS = 300 }; /* more than a table's first chains */

struct thing {
	struct link_item item;
	struct link_index *index;
	unsigned told;
	bool leaves;
};

static char memory[LINKS]; /* links: their addresses count only */

static struct sip_link *link_at(size_t i)
{
	return (struct sip_link *)(void *)&memory[i];
}

static void tell(void *item, void *arg)
{
	struct thing *thing = item;
	unsigned *told = arg;

	++*told;
	thing->told++;
	if (thing->leaves)
		link_index_remove(thing->index, &thing->item);
}

static unsigned tell_all(struct link_index *index, size_t link)
{
	unsigned told = 0;

	link_index_each(index, link_at(link), tell, &told);
	return told;
}

static void test_only_its_own(void **state)
{
	static struct thing things[2 * LINKS];
	struct link_index index;
	size_t i;

	link_index_init(&index);
	for (i = 0; i < 2 * LINKS; i++) {
		things[i] = (struct thing){ .index = &index };
		link_index_add(&index, link_at(i / 2), &things[i].item,
			       &things[i]);
	}
	assert_int_equal(tell_all(&index, 7), 2);
	for (i = 0; i < 2 * LINKS; i++)
		assert_int_equal(things[i].told, i / 2 == 7);
	link_index_remove(&index, &things[14].item);
	assert_int_equal(tell_all(&index, 7), 1);
	link_index_remove(&index, &things[14].item); /* nothing happens */
	link_index_remove(&index, &things[15].item);
	assert_int_equal(tell_all(&index, 7), 0);
	for (i = 0; i < 2 * LINKS; i++)
		link_index_remove(&index, &things[i].item);
	link_index_reset(&index); /* asserts that nothing is left */
}

static void test_leaving_while_told(void **state)
{
	static struct thing things[5];
	struct link_index index;

	link_index_init(&index);
	for (size_t i = 0; i < 5; i++) {
		things[i] = (struct thing){ .index = &index, .leaves = true };
		link_index_add(&index, link_at(0), &things[i].item, &things[i]);
	}
	assert_int_equal(tell_all(&index, 0), 5);
	assert_int_equal(tell_all(&index, 0), 0);
	link_index_reset(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_its_own),
		cmocka_unit_test(test_leaving_while_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Transfer nodes: the caller is sent to a number, and the agent comes back when
 * that fails. */
#include "agent/pathway/pathway_route.h"
#include "agent/pathway/template.h"
#include "core/json.h"
#include "core/mem.h"

/* Heap text: transferNumber filled in, what transfer_list says for it, or its
 * default; NULL: none. */
static char *target_of(const struct pathway *pathway)
{
	const char *given =
		json_str(pathway->place.node->data, "transferNumber");
	char *text = template_text(given, TEMPLATE_TEXT, pathway->variables);
	const char *named = json_str(pathway->given.transfer_list,
				     text[0] ? text : "default");

	if (!named)
		return text;
	mem_free(text);
	return mem_dup_str(named);
}

static void deliver_transfer(struct pathway *pathway)
{
	char *target = target_of(pathway);

	if (target[0] && pathway->events->on_transfer)
		pathway->events->on_transfer(pathway->owner, target);
	else
		pathway_transfer_failed(pathway);
	mem_free(target); /* our own: the pathway may be gone */
}

void pathway_transfer(struct pathway *pathway)
{
	pathway_post(pathway, PATHWAY_TRANSFERRING, deliver_transfer);
}

void pathway_transfer_failed(struct pathway *pathway)
{
	if (pathway->state != PATHWAY_TRANSFERRING)
		return;
	if (pathway->place.node->n_edges)
		pathway_say(pathway,
			    "I am sorry, I could not transfer you. How else "
			    "can I help you?",
			    AFTER_LISTEN, NULL);
	else
		pathway_say(pathway,
			    "I am sorry, I could not transfer you. Goodbye.",
			    AFTER_END, "transfer");
}

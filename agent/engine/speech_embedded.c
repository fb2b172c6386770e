/* SPDX-License-Identifier: MIT */
/* flite to speak and pocketsphinx to hear as one engine. What they make points
 * to its own engine, so only say, open and shut pass through here. */
#include "agent/engine/speech.h"
#include "agent/engine/speech_flite.h"
#include "agent/engine/speech_sphinx.h"
#include "core/mem.h"

struct embedded {
	struct speech base;
	struct speech *voice; /* owned */
	struct speech *ear; /* owned */
};

static int embedded_say(struct synthesis **out, struct speech *speech,
			const struct speech_say *say, void *owner)
{
	return speech_say(out, ((struct embedded *)speech)->voice, say, owner);
}

static int embedded_open(struct hearing **out, struct speech *speech,
			 const struct hearing_events *events, void *owner)
{
	return hearing_open(out, ((struct embedded *)speech)->ear, events,
			    owner);
}

static void embedded_shut(struct speech *speech)
{
	struct embedded *embedded = (struct embedded *)speech;

	speech_close(&embedded->ear);
	speech_close(&embedded->voice);
	mem_free(embedded);
}

int speech_open_embedded(struct speech **out, struct loop *loop,
			 struct work *work, unsigned recognisers)
{
	static const struct speech_ops ops = { .say = embedded_say,
					       .open = embedded_open,
					       .shut = embedded_shut };
	struct embedded *embedded = mem_new(sizeof(*embedded));

	embedded->base.ops = &ops;
	speech_open_flite(&embedded->voice, loop, work);
	speech_open_sphinx(&embedded->ear, loop, work, recognisers);
	*out = &embedded->base;
	return 0;
}

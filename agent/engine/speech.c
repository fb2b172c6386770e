/* SPDX-License-Identifier: MIT */
#include "agent/engine/speech.h"

int speech_say(struct synthesis **out, struct speech *speech,
	       const struct speech_say *say, void *owner)
{
	return speech->ops->say(out, speech, say, owner);
}

void synthesis_cancel(struct synthesis **synthesis)
{
	if (*synthesis)
		(*synthesis)->speech->ops->cancel(synthesis);
}

int hearing_open(struct hearing **out, struct speech *speech,
		 const struct hearing_events *events, void *owner)
{
	return speech->ops->open(out, speech, events, owner);
}

void hearing_hint(struct hearing *hearing, const struct speech_hint *hint)
{
	hearing->speech->ops->hint(hearing, hint);
}

void hearing_feed(struct hearing *hearing, const int16_t *samples, size_t n)
{
	hearing->speech->ops->feed(hearing, samples, n);
}

void hearing_finish(struct hearing *hearing)
{
	hearing->speech->ops->finish(hearing);
}

void hearing_close(struct hearing **hearing)
{
	if (*hearing)
		(*hearing)->speech->ops->close(hearing);
}

void speech_close(struct speech **speech)
{
	if (!*speech)
		return;
	(*speech)->ops->shut(*speech);
	*speech = NULL;
}

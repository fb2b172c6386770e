/* SPDX-License-Identifier: MIT */
/* One call moves from a stream to another: the far end was replaced. */
#include <assert.h>
#include "media/stream_priv.h"

void stream_take_over(struct stream *to, struct stream *from)
{
	struct playout *playout = to->playout;

	assert(!to->recorder);
	to->playout = from->playout;
	from->playout = playout;
	to->in.voice_us = from->in.voice_us;
	to->out.voice_us = from->out.voice_us;
	to->recorder = from->recorder;
	from->recorder = NULL;
	if (to->recorder)
		recorder_give(to->recorder, to);
	if (!from->pending.recording_failed)
		return;
	from->pending.recording_failed = false;
	to->pending.recording_failed = true;
	memcpy(to->pending.why, from->pending.why, sizeof(to->pending.why));
	stream_post(to);
}

/* SPDX-License-Identifier: MIT */
/* media/playout_priv.h - the stream's side of the playout: it opens one and
 * takes a frame out of it in each full turn. */
#pragma once
#include "media/playout.h"

struct loop;

enum { PLAYOUT_FRAME = 160, PLAYOUT_RAMP = 40 };

void playout_open(struct playout **out, struct loop *loop);
void playout_close(struct playout **playout); /* no callback after */
/* Ask the caches for it, and then for its next frame. */
void playout_prefetch(const struct playout *playout);
void playout_prefetch_frame(const struct playout *playout);
/* The next frame to be sent; false: it is silence. */
bool playout_take(struct playout *playout, int16_t out[PLAYOUT_FRAME]);

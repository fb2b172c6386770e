/* SPDX-License-Identifier: MIT */
/* core/wake.h - how another thread says to the loop that something is there.
 * Several wakes before the loop's next turn make one callback. For real loops;
 * on a simulated one nothing runs beside the loop. */
#pragma once

struct loop;
struct wake;

typedef void wake_fn(void *owner);

/* fn runs on the loop after wake_send(). 0 or negative errno. */
int wake_open(struct wake **out, struct loop *loop, wake_fn *fn, void *owner);
void wake_send(struct wake *wake); /* from any thread */
/* No callback after; the threads that send must have ended. NULL is fine. */
void wake_close(struct wake **wake);

/* SPDX-License-Identifier: MIT */
/* core/watch.h - readiness of a descriptor that somebody else owns: how the
 * sockets of curl and c-ares come onto the loop. On a simulated loop, which has
 * no descriptors, nothing is ever ready. */
#pragma once

struct loop;
struct watch;

enum { WATCH_READ = 1, WATCH_WRITE = 2 };

/* events: bits of the above; an error of the descriptor is both. */
typedef void watch_fn(void *owner, int fd, int events);

/* Watches nothing until watch_set(). -EEXIST: fd is watched already. */
int watch_open(struct watch **out, struct loop *loop, int fd, watch_fn *fn,
	       void *owner);
void watch_set(struct watch *watch, int events); /* 0: rests */
/* Before fd is closed. No callback after; NULL is fine. */
void watch_close(struct watch **watch);

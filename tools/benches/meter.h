/* SPDX-License-Identifier: MIT */
/* tools/benches/meter.h - CPU time of another process over windows of time, by
 * its scheduler clock: exact to the nanosecond, all threads, dead ones too. */
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct meter {
	pid_t pid;
	clockid_t clock;
	uint64_t wall_ns, cpu_ns, units; /* when the window began */
};

/* 0 or -ESRCH. */
int meter_open(struct meter *meter, pid_t pid);
void meter_begin(struct meter *meter, uint64_t units);
/* Prints {"seconds", "cpu_s", "units"} of the window, and begins the next. */
void meter_end(struct meter *meter, uint64_t units);
/* Resident memory of the process in kB; 0: it is gone. */
uint64_t meter_rss_kb(const struct meter *meter);
uint64_t meter_now_ns(void);
uint64_t meter_cpu_ns(void); /* of this process */

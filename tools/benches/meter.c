/* SPDX-License-Identifier: MIT */
#include "tools/benches/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec at = { 0 };

	clock_gettime(clock, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

uint64_t meter_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t meter_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int meter_open(struct meter *meter, pid_t pid)
{
	*meter = (struct meter){ .pid = pid };
	if (clock_getcpuclockid(pid, &meter->clock))
		return -ESRCH;
	return 0;
}

void meter_begin(struct meter *meter, uint64_t units)
{
	meter->wall_ns = meter_now_ns();
	meter->cpu_ns = read_clock(meter->clock);
	meter->units = units;
}

void meter_end(struct meter *meter, uint64_t units)
{
	struct meter before = *meter;

	meter_begin(meter, units);
	printf("{\"seconds\": %.6f, \"cpu_s\": %.6f, \"units\": %llu}\n",
	       (double)(meter->wall_ns - before.wall_ns) / 1e9,
	       (double)(meter->cpu_ns - before.cpu_ns) / 1e9,
	       (unsigned long long)(units - before.units));
	fflush(stdout);
}

uint64_t meter_rss_kb(const struct meter *meter)
{
	char name[64], line[256];
	uint64_t kb = 0;
	FILE *in;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)meter->pid);
	in = fopen(name, "r");
	if (!in)
		return 0;
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, "VmRSS:", 6))
			kb = strtoull(line + 6, NULL, 10);
	fclose(in);
	return kb;
}

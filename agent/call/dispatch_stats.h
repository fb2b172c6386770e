/* SPDX-License-Identifier: MIT */
/* agent/call/dispatch_stats.h - what a call that is done adds to the
 * counters. */
#pragma once

struct call;
struct dispatch_stats;

void dispatch_stats_add(struct dispatch_stats *stats, const struct call *call);

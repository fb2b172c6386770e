/* SPDX-License-Identifier: MIT */
/* agent/call/plan.h - where an organisation's plan lets it call. */
#pragma once
#include <stdbool.h>

/* countries: "US, CA"; empty or NULL: all. */
bool plan_has_limit(const char *countries);
bool plan_allows(const char *countries, const char *number /* E.164 */);

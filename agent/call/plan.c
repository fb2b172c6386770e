/* SPDX-License-Identifier: MIT */
#include "agent/call/plan.h"

#include "agent/call/phone.h"
#include "core/slice.h"

bool plan_has_limit(const char *countries)
{
	struct slice rest = slice_of(countries);

	while (rest.len) {
		if (slice_trim(slice_cut(&rest, ',')).len)
			return true;
	}
	return false;
}

bool plan_allows(const char *countries, const char *number)
{
	struct slice country = slice_of(phone_country(number));
	struct slice rest = slice_of(countries);

	while (rest.len) {
		struct slice allowed = slice_trim(slice_cut(&rest, ','));

		if (allowed.len && slice_eq(allowed, country))
			return true;
	}
	return !plan_has_limit(countries);
}

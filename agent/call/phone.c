/* SPDX-License-Identifier: MIT */
#include "agent/call/phone.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MIN = 7, DIGITS_MAX = 15 }; /* E.164, 6.2.1 */

/* Area codes of +1 that are not the US: Canada's, those of some twenty islands
 * with tariffs of their own, and 900, which costs what the called side says. */
static const char canada[] =
	"204 226 236 249 250 257 263 289 306 343 354 365 367 368 382 387 403 "
	"416 418 428 431 437 438 450 460 468 474 506 514 519 548 579 581 584 "
	"587 604 613 639 647 672 683 705 709 742 753 778 780 782 807 819 825 "
	"867 873 879 902 905 942";

static const char premium[] = "900";

static const char islands[] =
	"242 246 264 268 284 340 345 441 473 649 658 664 670 671 684 721 758 "
	"767 784 787 809 829 849 868 869 876 939";

static int copy_digits(char out[DIGITS_MAX + 1], struct slice text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (strchr("-. ()", c) && c)
			continue;
		if (!isdigit((unsigned char)c) || n == DIGITS_MAX)
			return -EINVAL;
		out[n++] = c;
	}
	out[n] = 0;
	return (int)n;
}

int phone_parse(char out[PHONE_SIZE], struct slice text)
{
	char digits[DIGITS_MAX + 1];
	bool has_plus;
	int n;

	text = slice_trim(text);
	has_plus = text.len && text.ptr[0] == '+';
	if (has_plus)
		text = slice_make(text.ptr + 1, text.len - 1);
	n = copy_digits(digits, text);
	if (n < DIGITS_MIN || digits[0] == '0')
		return -EINVAL;
	if (has_plus)
		snprintf(out, PHONE_SIZE, "+%s", digits);
	else if (n == 10)
		snprintf(out, PHONE_SIZE, "+1%s", digits);
	else if (n == 11 && digits[0] == '1')
		snprintf(out, PHONE_SIZE, "+%s", digits);
	else
		return -EINVAL;
	return 0;
}

const char *phone_country(const char *e164)
{
	char area[4];

	if (strncmp(e164, "+1", 2) || strlen(e164) != 12)
		return "";
	memcpy(area, e164 + 2, 3);
	area[3] = 0;
	if (strstr(islands, area) || strstr(premium, area))
		return "";
	return strstr(canada, area) ? "CA" : "US";
}

/* SPDX-License-Identifier: MIT */
/* core/hex.h - hexadecimal digits. */
#pragma once

/* Value of a digit in either case, or -1. */
static inline int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20; /* to lower case */
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* SPDX-License-Identifier: MIT */
/* media/bytes.h - numbers in network order at any alignment. */
#pragma once
#include <stdint.h>

static inline uint16_t bytes_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t bytes_get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
	       (uint32_t)at[2] << 8 | at[3];
}

static inline void bytes_put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void bytes_put32(uint8_t *at, uint32_t value)
{
	bytes_put16(at, value >> 16);
	bytes_put16(at + 2, value & 0xffff);
}

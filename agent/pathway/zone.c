/* SPDX-License-Identifier: MIT */
#include "agent/pathway/zone.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/mem.h"

enum { FILE_MAX = 64 * 1024, HEAD_BYTES = 44 };

/* Views into bytes; counts checked against its length once, on opening. */
struct zone {
	char *bytes; /* owned; NULL: UTC */
	const uint8_t *times; /* n_times of 8 bytes, rising */
	const uint8_t *kinds; /* n_times indices into types */
	const uint8_t *types; /* n_types of 6 bytes, the offset first */
	uint32_t n_times, n_types;
	struct slice rule; /* for what follows the last time; may be empty */
};

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
	       (uint32_t)at[2] << 8 | at[3];
}

static int64_t get64(const uint8_t *at)
{
	return (int64_t)((uint64_t)get32(at) << 32 | get32(at + 4));
}

/* Length of the data block behind the header at `at`. */
static uint64_t block_bytes(const uint8_t *at, unsigned time_bytes)
{
	uint64_t n_utc = get32(at + 20), n_std = get32(at + 24);
	uint64_t n_leap = get32(at + 28), n_times = get32(at + 32);
	uint64_t n_types = get32(at + 36), n_chars = get32(at + 40);

	return n_times * time_bytes + n_times + n_types * 6 + n_chars +
	       n_leap * (time_bytes + 4) + n_std + n_utc;
}

static bool is_head(struct slice s, uint64_t at)
{
	return at + HEAD_BYTES <= s.len && memcmp(s.ptr + at, "TZif", 4) == 0;
}

/* Skips the block of 32-bit times, reads the one of 64-bit times (RFC 8536,
 * section 3). */
static int parse(struct zone *zone, struct slice s)
{
	const uint8_t *base = (const uint8_t *)s.ptr;
	uint64_t second, end;
	const char *newline;
	uint32_t i;

	if (!is_head(s, 0) || base[4] < '2')
		return -EINVAL;
	second = HEAD_BYTES + block_bytes(base, 4);
	if (!is_head(s, second))
		return -EINVAL;
	end = second + HEAD_BYTES + block_bytes(base + second, 8);
	zone->n_times = get32(base + second + 32);
	zone->n_types = get32(base + second + 36);
	if (end >= s.len || !zone->n_types || s.ptr[end] != '\n')
		return -EINVAL;
	zone->times = base + second + HEAD_BYTES;
	zone->kinds = zone->times + (size_t)zone->n_times * 8;
	zone->types = zone->kinds + zone->n_times;
	for (i = 0; i < zone->n_times; i++)
		if (zone->kinds[i] >= zone->n_types)
			return -EINVAL;
	zone->rule = slice_make(s.ptr + end + 1, s.len - end - 1);
	newline = memchr(zone->rule.ptr, '\n', zone->rule.len);
	zone->rule.len = newline ? (size_t)(newline - zone->rule.ptr) : 0;
	return 0;
}

/* Letters, digits, '_', '+', '-' and single inner slashes: no way out of the
 * folder. */
static bool is_name(const char *name)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_+-/";

	return name[0] != '/' && strlen(name) < 64 &&
	       name[strspn(name, allowed)] == '\0';
}

int zone_open(struct zone **out, const char *name)
{
	struct zone *zone;
	char path[96];
	size_t len;
	FILE *file;
	int err;

	*out = NULL;
	if (!name || !name[0]) {
		*out = mem_new(sizeof(*zone));
		return 0;
	}
	if (!is_name(name))
		return -ENOENT;
	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	zone = mem_new(sizeof(*zone));
	zone->bytes = mem_new(FILE_MAX);
	len = fread(zone->bytes, 1, FILE_MAX, file);
	fclose(file);
	err = parse(zone, slice_make(zone->bytes, len));
	if (err)
		zone_close(&zone);
	*out = zone;
	return err;
}

void zone_close(struct zone **zone)
{
	if (!*zone)
		return;
	mem_free((*zone)->bytes);
	mem_free(*zone);
	*zone = NULL;
}

int32_t zone_offset(const struct zone *zone, int64_t unix_seconds)
{
	uint32_t low = 0, high = zone->n_times;
	int32_t offset;

	if (!zone->bytes)
		return 0;
	/* low: how many changes are at or before the time */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (get64(zone->times + (size_t)middle * 8) <= unix_seconds)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == zone->n_times && zone->rule.len &&
	    zone_rule_offset(&offset, zone->rule, unix_seconds) == 0)
		return offset;
	return (int32_t)get32(zone->types +
			      (low ? (size_t)zone->kinds[low - 1] * 6 : 0));
}

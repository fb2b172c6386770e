/* SPDX-License-Identifier: MIT */
#include "media/dtmf.h"
#include <assert.h>
#include <errno.h>
#include <string.h>
#include "media/bytes.h"

enum {
	FRAME = 160, /* samples of a turn */
	TONE_TURNS = 5, /* the last of them is the first end packet */
	END_TURNS = 2, /* the end again, within the gap */
	KEY_TURNS = TONE_TURNS + 3, /* with 60 ms of gap */
	PAUSE_TURNS = 25,
	END_BIT = 0x80,
	VOLUME = 10, /* -10 dBm0 */
	STALE = 8000 * 60, /* samples an event may come late */
};

static const char keys_by_event[] = "0123456789*#ABCD";

/* RFC 4733, 2.5.1.3: an event over 8 s goes on under a new timestamp. */
static bool is_continued(const struct dtmf_receiver *receiver,
			 uint32_t timestamp, uint8_t event)
{
	return receiver->event == event && receiver->duration == 0xffff &&
	       timestamp - receiver->timestamp == 0xffff;
}

char dtmf_receive(struct dtmf_receiver *receiver, uint32_t timestamp,
		  struct slice payload)
{
	const uint8_t *at = (const uint8_t *)payload.ptr;
	bool is_new = true;

	if (payload.len < DTMF_EVENT_BYTES || at[0] > 15)
		return 0;
	if (receiver->has_last) {
		uint32_t behind = receiver->timestamp - timestamp;

		if (behind > 0 && behind < STALE)
			return 0;
		is_new = behind != 0 &&
			 !is_continued(receiver, timestamp, at[0]);
	}
	if (is_new || timestamp != receiver->timestamp)
		receiver->duration = 0;
	receiver->has_last = true;
	receiver->timestamp = timestamp;
	receiver->event = at[0];
	if (bytes_get16(at + 2) > receiver->duration)
		receiver->duration = bytes_get16(at + 2);
	return is_new ? keys_by_event[at[0]] : 0;
}

int dtmf_queue(struct dtmf_sender *sender, const char *keys)
{
	size_t n = strlen(keys);

	if (strspn(keys, "0123456789*#ABCDw") != n)
		return -EINVAL;
	if (n > DTMF_QUEUE - sender->n)
		return -ENOBUFS;
	for (size_t i = 0; i < n; i++)
		sender->queue[(sender->first + sender->n++) % DTMF_QUEUE] =
			keys[i];
	return 0;
}

bool dtmf_is_busy(const struct dtmf_sender *sender)
{
	return sender->n > 0;
}

static void write_event(const struct dtmf_sender *sender, char key,
			struct dtmf_turn *out)
{
	unsigned step = sender->step;
	bool is_end = step >= TONE_TURNS - 1;
	unsigned turns = is_end ? TONE_TURNS : step + 1;

	out->is_event = true;
	out->is_first = step == 0;
	out->timestamp = sender->timestamp;
	out->payload[0] = (uint8_t)(strchr(keys_by_event, key) - keys_by_event);
	out->payload[1] = VOLUME | (is_end ? END_BIT : 0);
	bytes_put16(out->payload + 2, turns * FRAME);
}

void dtmf_next(struct dtmf_sender *sender, struct dtmf_turn *out, uint32_t now)
{
	char key = sender->queue[sender->first];
	unsigned turns = key == 'w' ? PAUSE_TURNS : KEY_TURNS;

	assert(sender->n);
	*out = (struct dtmf_turn){ .timestamp = now };
	if (sender->step == 0)
		sender->timestamp = now;
	if (key != 'w' && sender->step < TONE_TURNS + END_TURNS)
		write_event(sender, key, out);
	if (++sender->step < turns)
		return;
	sender->step = 0;
	sender->first = (sender->first + 1) % DTMF_QUEUE;
	sender->n--;
}

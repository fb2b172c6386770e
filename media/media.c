/* SPDX-License-Identifier: MIT */
#include "media/media_priv.h"
#include <assert.h>
#include <errno.h>
#include "core/loop.h"
#include "core/mem.h"
#include "media/srtp.h"

static int find_announced(struct addr *out, const struct media_options *options)
{
	if (options->public_address)
		return addr_parse(out, slice_of(options->public_address), 0);
	*out = options->bind;
	addr_set_port(out, 0);
	return addr_is_any(out) ? -EINVAL : 0;
}

int media_open(struct media **out, const struct media_options *options)
{
	struct addr announced;
	struct ports *ports;
	struct media *media;
	int err;

	*out = NULL;
	if (options->n_codecs == 0 || options->n_codecs > MEDIA_CODECS)
		return -EINVAL;
	err = find_announced(&announced, options);
	if (!err)
		err = srtp_library_open();
	if (!err)
		err = ports_open(&ports, options->port_min, options->port_max);
	if (err)
		return err;
	media = mem_new(sizeof(*media));
	media->options = *options;
	media->options.public_address = NULL;
	media->announced = announced;
	media->ports = ports;
	media->wall_minus_now_us = loop_wall_ms(options->loop) * 1000 -
				   (int64_t)loop_now_us(options->loop);
	g711_init(&media->g711);
	pacer_open(&media->pacer, options->loop);
	*out = media;
	return 0;
}

void media_close(struct media **media)
{
	struct media *old = *media;

	if (!old)
		return;
	assert(old->stats.streams == 0);
	pacer_close(&old->pacer);
	ports_close(&old->ports);
	mem_free(old);
	*media = NULL;
}

void media_stats(const struct media *media, struct media_stats *out)
{
	struct pacer_stats pacer = pacer_stats(media->pacer);

	*out = media->stats;
	out->ports_free = ports_free(media->ports);
	out->ports_used = ports_used(media->ports);
	out->late_slots = pacer.skipped;
	out->slot_late_us_max = pacer.late_us_max;
}

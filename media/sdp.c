/* SPDX-License-Identifier: MIT */
#include "media/sdp.h"
#include <errno.h>

/* What the lines before the first m= say for all media. */
struct session {
	bool has_origin;
	bool has_addr;
	struct addr addr;
	enum sdp_direction direction;
};

struct reader {
	struct sdp *sdp;
	struct session session;
	struct sdp_media *media; /* NULL before the first m= */
};

static const char *const directions[] = {
	[SDP_SENDRECV] = "sendrecv",
	[SDP_SENDONLY] = "sendonly",
	[SDP_RECVONLY] = "recvonly",
	[SDP_INACTIVE] = "inactive",
};

static struct slice next_word(struct slice *rest)
{
	*rest = slice_trim(*rest);
	return slice_cut(rest, ' ');
}

static int to_number(uint64_t *out, struct slice text, uint64_t max)
{
	return slice_to_u64(out, text, max) ? -EINVAL : 0;
}

/* "IN IP4 192.0.2.1", with or without a TTL. False: a name or another net. */
static bool read_addr(struct addr *out, struct slice value)
{
	struct slice net = next_word(&value);
	struct slice type = next_word(&value);
	struct slice ip = next_word(&value);

	if (!slice_eq_nocase(net, SLICE("IN")))
		return false;
	ip = slice_cut(&ip, '/');
	if (addr_parse(out, ip, 0))
		return false;
	return slice_eq_nocase(type, out->sa.sa_family == AF_INET6
					     ? SLICE("IP6")
					     : SLICE("IP4"));
}

static struct sdp_format *find_format(struct sdp_media *media, struct slice pt)
{
	uint64_t number;

	if (to_number(&number, pt, 127))
		return NULL;
	for (size_t i = 0; i < media->n_formats; i++)
		if (media->formats[i].pt == number)
			return &media->formats[i];
	return NULL;
}

/* "0 PCMU/8000/1" */
static int read_rtpmap(struct sdp_media *media, struct slice value)
{
	struct sdp_format *format = find_format(media, next_word(&value));
	struct slice encoding = next_word(&value);
	struct slice name = slice_cut(&encoding, '/');
	uint64_t rate_hz;

	if (!format)
		return 0;
	if (to_number(&rate_hz, slice_cut(&encoding, '/'), UINT32_MAX))
		return -EINVAL;
	format->name = name;
	format->rate_hz = (uint32_t)rate_hz;
	return 0;
}

static int read_fmtp(struct sdp_media *media, struct slice value)
{
	struct sdp_format *format = find_format(media, next_word(&value));

	if (format)
		format->fmtp = slice_trim(value);
	return 0;
}

/* "1 AES_CM_128_HMAC_SHA1_80 inline:KEY|2^31 WSH=64". A line that cannot be
 * read is one we cannot accept, not a broken description. */
static int read_crypto(struct sdp_media *media, struct slice value)
{
	struct sdp_crypto crypto;
	uint64_t tag;

	if (media->n_crypto == SDP_CRYPTO_MAX ||
	    to_number(&tag, next_word(&value), 999999999))
		return 0;
	crypto.tag = (uint32_t)tag;
	crypto.suite = next_word(&value);
	crypto.params = next_word(&value);
	crypto.session = slice_trim(value);
	media->crypto[media->n_crypto++] = crypto;
	return 0;
}

/* "53020" or "53020 IN IP4 192.0.2.1" */
static int read_rtcp(struct sdp_media *media, struct slice value)
{
	uint64_t port;
	struct addr addr;

	if (to_number(&port, next_word(&value), 65535) || port == 0)
		return 0;
	if (!read_addr(&addr, value)) {
		if (!media->has_addr)
			return 0;
		addr = media->addr;
	}
	media->rtcp = addr;
	addr_set_port(&media->rtcp, (uint16_t)port);
	media->has_rtcp = true;
	return 0;
}

/* Some write "20.0"; what is not a number is not said. */
static uint8_t read_ms(struct slice value)
{
	uint64_t ms;
	struct slice rest = slice_trim(value);

	return to_number(&ms, slice_cut(&rest, '.'), 255) ? 0 : (uint8_t)ms;
}

static int read_ptime(struct sdp_media *media, struct slice value)
{
	media->ptime_ms = read_ms(value);
	return 0;
}

static int read_maxptime(struct sdp_media *media, struct slice value)
{
	media->maxptime_ms = read_ms(value);
	return 0;
}

static void write_rtpmap(struct buffer *out, const struct sdp_media *media)
{
	for (size_t i = 0; i < media->n_formats; i++) {
		const struct sdp_format *format = &media->formats[i];

		if (format->name.len)
			buffer_printf(out, "a=rtpmap:%u %.*s/%u\r\n",
				      format->pt, (int)format->name.len,
				      format->name.ptr, format->rate_hz);
	}
}

static void write_fmtp(struct buffer *out, const struct sdp_media *media)
{
	for (size_t i = 0; i < media->n_formats; i++) {
		const struct sdp_format *format = &media->formats[i];

		if (format->fmtp.len)
			buffer_printf(out, "a=fmtp:%u %.*s\r\n", format->pt,
				      (int)format->fmtp.len, format->fmtp.ptr);
	}
}

static void write_crypto(struct buffer *out, const struct sdp_media *media)
{
	for (size_t i = 0; i < media->n_crypto; i++) {
		const struct sdp_crypto *crypto = &media->crypto[i];

		buffer_printf(out, "a=crypto:%u %.*s %.*s", crypto->tag,
			      (int)crypto->suite.len, crypto->suite.ptr,
			      (int)crypto->params.len, crypto->params.ptr);
		if (crypto->session.len)
			buffer_add_char(out, ' ');
		buffer_add(out, crypto->session);
		buffer_add_str(out, "\r\n");
	}
}

static void write_rtcp(struct buffer *out, const struct sdp_media *media)
{
	char ip[ADDR_TEXT_SIZE];

	if (media->has_rtcp)
		buffer_printf(out, "a=rtcp:%u IN IP%d %s\r\n",
			      addr_port(&media->rtcp),
			      media->rtcp.sa.sa_family == AF_INET6 ? 6 : 4,
			      addr_ip(&media->rtcp, ip));
}

static void write_ptime(struct buffer *out, const struct sdp_media *media)
{
	if (media->ptime_ms)
		buffer_printf(out, "a=ptime:%u\r\n", media->ptime_ms);
}

static void write_maxptime(struct buffer *out, const struct sdp_media *media)
{
	if (media->maxptime_ms)
		buffer_printf(out, "a=maxptime:%u\r\n", media->maxptime_ms);
}

/* The attributes of a media section, in the order they are written. */
static const struct {
	const char *name;
	int (*read)(struct sdp_media *media, struct slice value);
	void (*write)(struct buffer *out, const struct sdp_media *media);
} attributes[] = {
	{ "rtpmap", read_rtpmap, write_rtpmap },
	{ "fmtp", read_fmtp, write_fmtp },
	{ "crypto", read_crypto, write_crypto },
	{ "rtcp", read_rtcp, write_rtcp },
	{ "ptime", read_ptime, write_ptime },
	{ "maxptime", read_maxptime, write_maxptime },
};

enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

static bool read_direction(enum sdp_direction *out, struct slice name)
{
	for (unsigned i = 0; i <= SDP_INACTIVE; i++) {
		if (slice_eq_nocase(name, slice_of(directions[i]))) {
			*out = (enum sdp_direction)i;
			return true;
		}
	}
	return false;
}

static int read_attribute(struct reader *reader, struct slice value)
{
	struct sdp_media *media = reader->media;
	struct slice name = slice_trim(slice_cut(&value, ':'));

	if (read_direction(media ? &media->direction
				 : &reader->session.direction,
			   name) ||
	    !media)
		return 0;
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (slice_eq_nocase(name, slice_of(attributes[i].name)))
			return attributes[i].read(media, value);
	return 0;
}

/* "- 3724394400 3724394405 IN IP4 192.0.2.1" */
static int read_origin(struct reader *reader, struct slice value)
{
	struct sdp *sdp = reader->sdp;

	sdp->user = next_word(&value);
	if (sdp->user.len == 0 || reader->session.has_origin ||
	    to_number(&sdp->id, next_word(&value), UINT64_MAX) ||
	    to_number(&sdp->version, next_word(&value), UINT64_MAX))
		return -EINVAL;
	reader->session.has_origin = true;
	return 0;
}

static int read_connection(struct reader *reader, struct slice value)
{
	struct sdp_media *media = reader->media;
	struct addr addr;
	bool has_addr = read_addr(&addr, value);

	if (!media) {
		reader->session.has_addr = has_addr;
		reader->session.addr = addr;
		return 0;
	}
	media->has_addr = has_addr;
	if (has_addr) {
		media->addr = addr;
		addr_set_port(&media->addr, media->port);
	}
	return 0;
}

static void read_formats(struct sdp_media *media)
{
	struct slice rest = media->fmts;
	uint64_t pt;

	while (rest.len && media->n_formats < SDP_FORMATS_MAX) {
		if (to_number(&pt, next_word(&rest), 127))
			continue;
		media->formats[media->n_formats++] =
			(struct sdp_format){ .pt = (uint8_t)pt };
	}
}

/* "audio 49170/2 RTP/SAVP 0 8 101" */
static int read_media(struct reader *reader, struct slice value)
{
	struct sdp *sdp = reader->sdp;
	struct sdp_media *media;
	struct slice port;
	uint64_t number;

	if (sdp->n_media == SDP_MEDIA_MAX)
		return -EINVAL;
	media = &sdp->media[sdp->n_media];
	*media = (struct sdp_media){ .type = next_word(&value),
				     .direction = reader->session.direction,
				     .has_addr = reader->session.has_addr };
	port = next_word(&value);
	if (to_number(&number, slice_cut(&port, '/'), 65535))
		return -EINVAL;
	media->port = (uint16_t)number;
	media->proto = next_word(&value);
	media->fmts = slice_trim(value);
	if (media->fmts.len == 0)
		return -EINVAL;
	if (media->has_addr) {
		media->addr = reader->session.addr;
		addr_set_port(&media->addr, media->port);
	}
	read_formats(media);
	reader->media = media;
	sdp->n_media++;
	return 0;
}

static int read_line(struct reader *reader, struct slice line)
{
	struct slice value = { line.ptr + 2, line.len - 2 };

	switch (line.ptr[0]) {
	case 'o':
		return read_origin(reader, value);
	case 'c':
		return read_connection(reader, value);
	case 'a':
		return read_attribute(reader, value);
	case 'm':
		return read_media(reader, value);
	}
	return 0;
}

static bool has_nul(struct slice text)
{
	return text.len && memchr(text.ptr, 0, text.len);
}

int sdp_parse(struct sdp *out, struct slice text)
{
	struct reader reader = { .sdp = out };
	struct slice line;
	int err;

	out->n_media = 0;
	if (text.len > SDP_BYTES_MAX || has_nul(text) ||
	    !slice_has_prefix(text, SLICE("v=0")))
		return -EINVAL;
	while (text.len) {
		line = slice_cut(&text, '\n');
		if (line.len && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (line.len == 0)
			continue;
		if (line.len < 2 || line.ptr[1] != '=')
			return -EINVAL;
		err = read_line(&reader, line);
		if (err)
			return err;
	}
	return reader.session.has_origin ? 0 : -EINVAL;
}

static void write_media(struct buffer *out, const struct sdp_media *media)
{
	buffer_add_str(out, "m=");
	buffer_add(out, media->type);
	buffer_printf(out, " %u ", media->port);
	buffer_add(out, media->proto);
	if (media->port == 0) {
		buffer_add_char(out, ' ');
		buffer_add(out, media->fmts);
		buffer_add_str(out, "\r\n");
		return;
	}
	for (size_t i = 0; i < media->n_formats; i++)
		buffer_printf(out, " %u", media->formats[i].pt);
	buffer_add_str(out, "\r\n");
	for (size_t i = 0; i < ATTRIBUTES; i++)
		attributes[i].write(out, media);
	buffer_printf(out, "a=%s\r\n", directions[media->direction]);
}

void sdp_write(struct buffer *out, const struct sdp *sdp)
{
	char ip[ADDR_TEXT_SIZE];
	int family = sdp->origin.sa.sa_family == AF_INET6 ? 6 : 4;

	addr_ip(&sdp->origin, ip);
	buffer_add_str(out, "v=0\r\no=");
	buffer_add(out, sdp->user);
	buffer_printf(out, " %llu %llu IN IP%d %s\r\n",
		      (unsigned long long)sdp->id,
		      (unsigned long long)sdp->version, family, ip);
	buffer_printf(out, "s=-\r\nc=IN IP%d %s\r\nt=0 0\r\n", family, ip);
	for (size_t i = 0; i < sdp->n_media; i++)
		write_media(out, &sdp->media[i]);
}

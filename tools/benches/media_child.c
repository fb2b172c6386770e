/* SPDX-License-Identifier: MIT */
#include "tools/benches/media_child.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "media/sdes.h"
#include "media/sdp.h"

static int write_all(int fd, const char *ptr, size_t len)
{
	while (len) {
		ssize_t n = write(fd, ptr, len);

		if (n <= 0)
			return -EPIPE;
		ptr += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_all(int fd, char *ptr, size_t len)
{
	while (len) {
		ssize_t n = read(fd, ptr, len);

		if (n <= 0)
			return -EPIPE;
		ptr += n;
		len -= (size_t)n;
	}
	return 0;
}

int child_send(int fd, struct slice text)
{
	uint32_t len = (uint32_t)text.len;
	int err = write_all(fd, (const char *)&len, sizeof(len));

	return err ? err : write_all(fd, text.ptr, text.len);
}

int child_receive(int fd, struct buffer *text)
{
	char bytes[CHILD_TEXT_MAX];
	uint32_t len;
	int err = read_all(fd, (char *)&len, sizeof(len));

	if (!err && len > sizeof(bytes))
		err = -EPIPE;
	if (!err)
		err = read_all(fd, bytes, len);
	if (err)
		return err;
	buffer_clear(text);
	buffer_add(text, slice_make(bytes, len));
	return 0;
}

int far_side_parse(struct far_side *out, struct slice text)
{
	struct sdp sdp;
	const struct sdp_media *media = &sdp.media[0];

	if (sdp_parse(&sdp, text) || !sdp.n_media || !media->has_addr ||
	    !media->n_crypto || sdes_parse(out->key, &media->crypto[0]))
		return -EINVAL;
	out->rtp = out->rtcp = media->addr;
	addr_set_port(&out->rtp, media->port);
	addr_set_port(&out->rtcp, media->has_rtcp
					  ? addr_port(&media->rtcp)
					  : (uint16_t)(media->port + 1));
	return 0;
}

void far_side_write(struct buffer *out, uint16_t port, uint16_t rtcp_port,
		    const uint8_t key[SRTP_KEY_BYTES])
{
	char params[SDES_PARAMS_SIZE];

	sdes_write(params, key);
	buffer_printf(out,
		      "v=0\r\no=bench 1 1 IN IP4 127.0.0.1\r\ns=-\r\n"
		      "c=IN IP4 127.0.0.1\r\nt=0 0\r\n"
		      "m=audio %u RTP/SAVP 0 101\r\n"
		      "a=rtpmap:0 PCMU/8000\r\n"
		      "a=rtpmap:101 telephone-event/8000\r\n"
		      "a=fmtp:101 0-16\r\n",
		      port);
	if (rtcp_port)
		buffer_printf(out, "a=rtcp:%u\r\n", rtcp_port);
	buffer_printf(out,
		      "a=crypto:1 AES_CM_128_HMAC_SHA1_80 %s\r\n"
		      "a=ptime:20\r\na=sendrecv\r\n",
		      params);
}

void child_sleep_until(uint64_t at_ns)
{
	struct timespec at = { .tv_sec = (time_t)(at_ns / 1000000000u),
			       .tv_nsec = (long)(at_ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) ==
	       EINTR)
		;
}

int child_socket(uint16_t *port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) },
	};
	socklen_t size = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    getsockname(fd, (struct sockaddr *)&addr, &size))
		return -errno;
	*port = ntohs(addr.sin_port);
	return fd;
}

/* 1.4 s of four syllables a second, then 0.6 s of pause. */
void child_voice(int16_t *out, size_t n)
{
	uint32_t noise = 1;

	for (size_t i = 0; i < n; i++) {
		double at = (double)i / 8000, sum = 0;
		double loud = fmod(at, 2.0) < 1.4
				      ? 0.55 + 0.45 * sin(at * 2 * M_PI * 4)
				      : 0;

		for (int k = 1; k <= 8; k++)
			sum += sin(at * 2 * M_PI * 140 * k) / k;
		noise = noise * 1664525u + 1013904223u;
		out[i] = (int16_t)(loud * sum * 5000 + (double)(noise >> 28) -
				   8);
	}
}

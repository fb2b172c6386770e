/* SPDX-License-Identifier: MIT */
/* tools/benches/tls_floor_load.c - a caller for tls_floor: sixteen INVITEs,
 * their answers, sixteen ACKs and BYEs, on one connection, over and over. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/mem.h"
#include "tools/benches/bench.h"
#include "tools/benches/meter.h"
#include "tools/benches/tls_floor.h"

enum { RECORD_MAX = 2048 };

struct load {
	int fd;
	struct floor_tls tls;
	mbedtls_ssl_context ssl;
	struct meter meter;
	uint64_t done;
};

static int on_send(void *arg, const unsigned char *bytes, size_t len)
{
	const struct load *load = arg;

	return (int)send(load->fd, bytes, len, MSG_NOSIGNAL);
}

static int on_receive(void *arg, unsigned char *bytes, size_t len)
{
	const struct load *load = arg;

	return (int)recv(load->fd, bytes, len, 0);
}

static int put(struct load *load, char kind, size_t bytes)
{
	unsigned char record[RECORD_MAX];
	int n;

	memset(record, kind, bytes);
	n = mbedtls_ssl_write(&load->ssl, record, bytes);
	return n == (int)bytes ? 0 : -1;
}

static int take(struct load *load, size_t records)
{
	unsigned char record[RECORD_MAX];

	while (records--)
		if (mbedtls_ssl_read(&load->ssl, record, sizeof(record)) <= 0)
			return -1;
	return 0;
}

static int batch(struct load *load)
{
	int err = 0;

	for (int i = 0; !err && i < FLOOR_BATCH; i++)
		err = put(load, 'I', FLOOR_INVITE);
	if (!err)
		err = take(load, 3 * FLOOR_BATCH);
	for (int i = 0; !err && i < FLOOR_BATCH; i++) {
		err = put(load, 'A', FLOOR_ACK);
		if (!err)
			err = put(load, 'B', FLOOR_BYE);
	}
	if (!err)
		err = take(load, FLOOR_BATCH);
	load->done += FLOOR_BATCH;
	return err;
}

static int run_for(struct load *load, uint64_t seconds)
{
	uint64_t end = meter_now_ns() + seconds * 1000000000u;
	int err = 0;

	while (!err && meter_now_ns() < end)
		err = batch(load);
	return err;
}

static int open_load(struct load *load, char **argv)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) },
		.sin_port = htons((uint16_t)bench_number(argv, "--port", 0)),
	};
	int on = 1;

	load->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(load->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	mbedtls_ssl_init(&load->ssl);
	if (meter_open(&load->meter, (pid_t)bench_number(argv, "--pid", 0)) ||
	    floor_tls_open(&load->tls, argv, MBEDTLS_SSL_IS_CLIENT) ||
	    connect(load->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    mbedtls_ssl_setup(&load->ssl, &load->tls.conf) ||
	    mbedtls_ssl_set_hostname(&load->ssl, "localhost"))
		return -1;
	mbedtls_ssl_set_bio(&load->ssl, load, on_send, on_receive, NULL);
	return mbedtls_ssl_handshake(&load->ssl);
}

int bench_tls_floor_load(int argc, char **argv)
{
	struct load *load = mem_new(sizeof(*load));
	uint64_t windows = bench_number(argv, "--windows", 5);
	uint64_t seconds = bench_number(argv, "--seconds", 3);
	int err = open_load(load, argv);

	(void)argc;
	if (!err)
		err = run_for(load, 1);
	meter_begin(&load->meter, load->done);
	while (!err && windows--) {
		err = run_for(load, seconds);
		meter_end(&load->meter, load->done);
	}
	if (err)
		fprintf(stderr, "tls-floor-load: error %d\n", err);
	mbedtls_ssl_free(&load->ssl);
	close(load->fd);
	mem_free(load);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* tools/benches/tls_floor.c - the least a request or a call set-up can cost on
 * this machine: the same records, system calls, ports and keys by mbedTLS and
 * epoll, with no parser, no state and no store. The first byte of a record
 * says what it stands for:
 *   G  a GET: one answer of --answer bytes
 *   I  an INVITE: two UDP ports and a key; 100, 180 and 200
 *   A  an ACK: nothing
 *   B  a BYE: one 200 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/id.h"
#include "core/mem.h"
#include "tools/benches/bench.h"
#include "tools/benches/media_child.h"
#include "tools/benches/tls_floor.h"

enum { LINKS_MAX = 64, EVENTS = 32, RECORD_MAX = 8192 };

struct floor_link {
	int fd;
	mbedtls_ssl_context ssl;
	int ports[2 * FLOOR_BATCH];
	unsigned n_ports;
};

struct floor {
	struct floor_tls tls;
	int epoll;
	size_t answer_bytes;
	char answer[RECORD_MAX];
};

static int on_send(void *arg, const unsigned char *bytes, size_t len)
{
	const struct floor_link *link = arg;
	ssize_t n = send(link->fd, bytes, len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN ? MBEDTLS_ERR_SSL_WANT_WRITE : -1;
	return (int)n;
}

static int on_receive(void *arg, unsigned char *bytes, size_t len)
{
	const struct floor_link *link = arg;
	ssize_t n = recv(link->fd, bytes, len, 0);

	if (n < 0)
		return errno == EAGAIN ? MBEDTLS_ERR_SSL_WANT_READ : -1;
	return (int)n;
}

static void answer(struct floor *floor, struct floor_link *link, size_t bytes)
{
	while (mbedtls_ssl_write(&link->ssl, (unsigned char *)floor->answer,
				 bytes) == MBEDTLS_ERR_SSL_WANT_WRITE)
		;
}

static void set_up(struct floor *floor, struct floor_link *link)
{
	uint8_t key[SRTP_KEY_BYTES];
	uint16_t port;

	id_bytes(key, sizeof(key));
	for (int i = 0; i < 2 && link->n_ports < 2 * FLOOR_BATCH; i++)
		link->ports[link->n_ports++] = child_socket(&port);
	answer(floor, link, FLOOR_TRYING);
	answer(floor, link, FLOOR_RINGING);
	answer(floor, link, FLOOR_ANSWER);
}

static void tear_down(struct floor *floor, struct floor_link *link)
{
	for (int i = 0; i < 2 && link->n_ports; i++)
		close(link->ports[--link->n_ports]);
	answer(floor, link, FLOOR_OK);
}

static void on_record(struct floor *floor, struct floor_link *link, char kind)
{
	if (kind == 'G')
		answer(floor, link, floor->answer_bytes);
	else if (kind == 'I')
		set_up(floor, link);
	else if (kind == 'B')
		tear_down(floor, link);
}

static void drop(struct floor_link *link)
{
	while (link->n_ports)
		close(link->ports[--link->n_ports]);
	mbedtls_ssl_free(&link->ssl);
	close(link->fd);
	mem_free(link);
}

static void on_readable(struct floor *floor, struct floor_link *link)
{
	unsigned char record[RECORD_MAX];
	int n;

	while ((n = mbedtls_ssl_read(&link->ssl, record, sizeof(record))) > 0)
		on_record(floor, link, (char)record[0]);
	if (n != MBEDTLS_ERR_SSL_WANT_READ && n != MBEDTLS_ERR_SSL_WANT_WRITE)
		drop(link);
}

static void on_accept(struct floor *floor, int listener)
{
	struct floor_link *link = mem_new(sizeof(*link));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = link };
	int on = 1;

	link->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	mbedtls_ssl_init(&link->ssl);
	mbedtls_ssl_setup(&link->ssl, &floor->tls.conf);
	mbedtls_ssl_set_bio(&link->ssl, link, on_send, on_receive, NULL);
	epoll_ctl(floor->epoll, EPOLL_CTL_ADD, link->fd, &event);
}

static int open_listener(uint16_t *port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) },
	};
	socklen_t size = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, LINKS_MAX) ||
	    getsockname(fd, (struct sockaddr *)&addr, &size))
		return -errno;
	*port = ntohs(addr.sin_port);
	return fd;
}

static void serve(struct floor *floor, int listener)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int n = epoll_wait(floor->epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				on_readable(floor, events[i].data.ptr);
			else
				on_accept(floor, listener);
		}
	}
}

static int parse_key_file(mbedtls_pk_context *key, const char *file)
{
	unsigned char pem[RECORD_MAX] = { 0 };
	FILE *in = fopen(file, "r");
	size_t n;

	if (!in)
		return -1;
	n = fread(pem, 1, sizeof(pem) - 1, in);
	fclose(in);
	return tls_compat_parse_key(key, pem, n + 1);
}

int floor_tls_open(struct floor_tls *tls, char **argv, int endpoint)
{
	static const int suites[] = {
		MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
		0,
	};
	int ret;

	mbedtls_ssl_config_init(&tls->conf);
	mbedtls_x509_crt_init(&tls->own);
	mbedtls_x509_crt_init(&tls->ca);
	mbedtls_pk_init(&tls->key);
	ret = mbedtls_ssl_config_defaults(&tls->conf, endpoint,
					  MBEDTLS_SSL_TRANSPORT_STREAM,
					  MBEDTLS_SSL_PRESET_DEFAULT);
	mbedtls_ssl_conf_rng(&tls->conf, tls_compat_random, NULL);
	tls_compat_conf_limits(&tls->conf);
	mbedtls_ssl_conf_ciphersuites(&tls->conf, suites);
	ret = ret ? ret
		  : mbedtls_x509_crt_parse_file(&tls->ca,
						bench_text(argv, "--ca", ""));
	mbedtls_ssl_conf_ca_chain(&tls->conf, &tls->ca, NULL);
	if (ret || endpoint == MBEDTLS_SSL_IS_CLIENT)
		return ret;
	ret = mbedtls_x509_crt_parse_file(
		&tls->own, bench_text(argv, "--certificate", ""));
	ret = ret ? ret
		  : parse_key_file(&tls->key, bench_text(argv, "--key", ""));
	return ret ? ret
		   : mbedtls_ssl_conf_own_cert(&tls->conf, &tls->own,
					       &tls->key);
}

int bench_tls_floor(int argc, char **argv)
{
	struct floor *floor = mem_new(sizeof(*floor));
	struct epoll_event event = { .events = EPOLLIN };
	uint16_t port = 0;
	int listener = open_listener(&port);
	int head;

	(void)argc;
	floor->answer_bytes = bench_number(argv, "--answer", 1024);
	memset(floor->answer, 'x', sizeof(floor->answer));
	head = snprintf(floor->answer, sizeof(floor->answer),
			"HTTP/1.1 200 OK\r\nContent-Length: %06zu\r\n\r\n",
			floor->answer_bytes);
	floor->answer[head] = 'x';
	floor->answer_bytes += (size_t)head;
	floor->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (listener < 0 || floor->answer_bytes > RECORD_MAX ||
	    floor_tls_open(&floor->tls, argv, MBEDTLS_SSL_IS_SERVER)) {
		fputs("tls-floor: cannot start\n", stderr);
		return EXIT_FAILURE;
	}
	epoll_ctl(floor->epoll, EPOLL_CTL_ADD, listener, &event);
	printf("ready: port %u\n", port);
	fflush(stdout);
	serve(floor, listener);
	return EXIT_SUCCESS;
}

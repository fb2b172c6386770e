/* SPDX-License-Identifier: MIT */
/* http/server.h - the HTTPS face: connections, llhttp, limits, drain. */
#pragma once
#include "core/buffer.h"
#include "core/listener.h"

struct http_server;
struct service;
struct tls;

struct http_server_options {
	struct service *service; /* borrowed: outlives us */
	struct listen_options listen;
	struct tls *tls; /* borrowed; NULL: plain, on loopback alone */
};

/* why says what is wrong with the address or that plain HTTP needs loopback. */
int http_server_open(struct http_server **out,
		     const struct http_server_options *options,
		     struct buffer *why);
/* Stops listening, answers what is under way, then closes idle links. */
void http_server_drain(struct http_server *server);
void http_server_close(struct http_server **server); /* NULL is fine */
uint16_t http_server_port(const struct http_server *server);

struct http_stats {
	unsigned connections;
	uint64_t requests, answers_4xx, answers_5xx;
	uint64_t bytes_in, bytes_out;
};
void http_server_stats(const struct http_server *server,
		       struct http_stats *out);

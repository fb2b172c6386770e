/* SPDX-License-Identifier: MIT */
#include "http/server.h"

#include <errno.h>
#include <string.h>
#include "agent/service.h"
#include "core/mem.h"
#include "core/tcp.h"
#include "core/tls.h"
#include "http/connection.h"

struct http_server {
	struct service *service; /* borrowed: outlives us */
	struct listener *listener; /* owned */
	struct connection *connections; /* owned */
	struct http_stats stats;
	uint16_t port;
	bool is_draining;
};

static void on_gone(void *owner, struct connection *connection)
{
	struct http_server *server = owner;
	struct connection **at = &server->connections;

	while (*at != connection)
		at = connection_next(*at);
	*at = *connection_next(connection);
	server->stats.connections--;
}

static void on_accept(void *owner, struct link *link)
{
	struct http_server *server = owner;
	struct connection_options options = { .service = server->service,
					      .stats = &server->stats,
					      .on_gone = on_gone,
					      .owner = server };
	struct connection *connection = connection_open(link, &options);

	*connection_next(connection) = server->connections;
	server->connections = connection;
	server->stats.connections++;
	if (server->is_draining) /* its handshake was under way */
		connection_drain(connection);
}

static int listen_on(struct http_server *server,
		     const struct http_server_options *options)
{
	if (options->tls)
		return tls_listen(&server->listener, options->tls,
				  &options->listen, on_accept, server);
	return tcp_listen(&server->listener, options->service->loop,
			  &options->listen, on_accept, server);
}

int http_server_open(struct http_server **out,
		     const struct http_server_options *options,
		     struct buffer *why)
{
	struct http_server *server;
	char where[ADDR_TEXT_SIZE];
	int err;

	*out = NULL;
	if (!options->tls && !addr_is_loopback(&options->listen.bind)) {
		buffer_add_str(why, "http.tls = off is for a loopback "
				    "http.listen alone: keys would cross the "
				    "network in the clear");
		return -EINVAL;
	}
	server = mem_new(sizeof(*server));
	server->service = options->service;
	err = listen_on(server, options);
	if (err) {
		buffer_printf(why, "HTTP cannot listen on %s: %s",
			      addr_text(&options->listen.bind, where),
			      strerror(-err));
		mem_free(server);
		return err;
	}
	server->port = listener_port(server->listener);
	*out = server;
	return 0;
}

void http_server_drain(struct http_server *server)
{
	struct connection *connection = server->connections;

	server->is_draining = true;
	listener_pause(server->listener);
	while (connection) {
		struct connection *next = *connection_next(connection);

		connection_drain(connection);
		connection = next;
	}
}

void http_server_close(struct http_server **closing)
{
	struct http_server *server = *closing;

	if (!server)
		return;
	*closing = NULL;
	while (server->connections) {
		struct connection *connection = server->connections;

		server->connections = *connection_next(connection);
		connection_close(&connection);
	}
	listener_close(&server->listener);
	mem_free(server);
}

uint16_t http_server_port(const struct http_server *server)
{
	return server->port;
}

void http_server_stats(const struct http_server *server, struct http_stats *out)
{
	*out = server->stats;
}

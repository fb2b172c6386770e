/* SPDX-License-Identifier: MIT */
/* core/tcp_priv.h - what the real and the simulated TCP share. */
#pragma once

struct link;
struct loop;
struct uv_stream_s;

enum {
	TCP_CONNECT_MS = 4000,
	/* After link_shutdown() the peer has this long to end its side. */
	TCP_LINGER_MS = 1000,
	TCP_LOST_MS = 20 * 1000, /* unacknowledged bytes: TCP_USER_TIMEOUT */
};

#define TCP_WHY_PEER	"closed by the peer"
#define TCP_WHY_HERE	"closed here"
#define TCP_WHY_TIMEOUT "no answer to the connection attempt"

/* The connection that waits at server; NULL: it is gone again. */
struct link *tcp_accept(struct loop *loop, struct uv_stream_s *server);

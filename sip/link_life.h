/* SPDX-License-Identifier: MIT */
/* sip/link_life.h - how long a link lives: keepalives (RFC 5626, 3.5.1 and
 * 4.4.1), idle time, and whose seat is given up when all are taken. */
#pragma once
#include <stdbool.h>

struct sip_link;
struct sip_transport;

void sip_link_life_open(struct sip_link *link);
void sip_link_life_close(struct sip_link *link); /* no callback after */
void sip_link_life_on_bytes(struct sip_link *link);
void sip_link_life_on_crlf(struct sip_link *link, bool is_pair);
void sip_link_life_on_message(
	struct sip_link *link); /* a whole one, either way */
/* All seats are taken: the accepted link that has been idle for longest and
 * that nothing needs goes, if there is one. */
void sip_link_life_make_room(struct sip_transport *transport);

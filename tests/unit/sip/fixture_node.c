/* SPDX-License-Identifier: MIT */
#include "fixture_node.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/log.h"
#include "core/pki.h"
#include "core/sim.h"

static const int64_t wall_ms = 1767312000000; /* 2026-01-02 */

void fixture_world_open(struct fixture_world *world)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	struct pki_files files = { world->ca, world->ca_key };
	struct buffer why;

	*world = (struct fixture_world){ 0 };
	log_setup(&quiet);
	loop_open_sim(&world->loop, wall_ms);
	assert_int_equal(work_open(&world->work, world->loop), 0);
	snprintf(world->dir, sizeof(world->dir), "/tmp/parley-sip-XXXXXX");
	assert_non_null(mkdtemp(world->dir));
	snprintf(world->ca, sizeof(world->ca), "%.40s/ca.pem", world->dir);
	snprintf(world->ca_key, sizeof(world->ca_key), "%.40s/ca.key",
		 world->dir);
	buffer_init(&why, 512);
	if (pki_make_ca(&files, "Test CA", wall_ms, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

void fixture_world_close(struct fixture_world *world)
{
	DIR *dir = opendir(world->dir);
	const struct dirent *entry;
	char path[512];

	loop_advance_ms(world->loop, 0);
	assert_int_equal(sim_tcp_links(world->loop), 0);
	work_close(&world->work);
	loop_close(&world->loop);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", world->dir,
			 entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	closedir(dir);
	rmdir(world->dir);
}

static void make_tls(struct fixture_world *world, struct tls **out,
		     const char *name, const char *names, bool is_strict)
{
	char certificate[FIXTURE_PATH_SIZE], key[FIXTURE_PATH_SIZE];
	char copy[256], *rest = copy;
	const char *each[8];
	struct pki_leaf leaf = { .ca = { world->ca, world->ca_key },
				 .files = { certificate, key },
				 .names = each,
				 .wall_ms = wall_ms };
	struct tls_options options = { .loop = world->loop,
				       .work = world->work,
				       .certificate_file = certificate,
				       .key_file = key,
				       .ca_file = world->ca,
				       .require_client_certificate =
					       is_strict };
	struct buffer why;

	snprintf(copy, sizeof(copy), "%s", names);
	while (rest)
		each[leaf.n_names++] = strsep(&rest, " ");
	snprintf(certificate, sizeof(certificate), "%.40s/%.40s.pem",
		 world->dir, name);
	snprintf(key, sizeof(key), "%.40s/%.40s.key", world->dir, name);
	buffer_init(&why, 512);
	if (pki_make_leaf(&leaf, &why) || tls_open(out, &options, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

void fixture_tls(struct fixture_world *world, struct tls **out,
		 const char *name, const char *names)
{
	make_tls(world, out, name, names, true);
}

void fixture_tls_lax(struct fixture_world *world, struct tls **out,
		     const char *name, const char *names)
{
	make_tls(world, out, name, names, false);
}

static void on_message(void *owner, struct sip_link *link,
		       struct sip_message *message)
{
	struct fixture_node *node = owner;

	assert_true(node->n < FIXTURE_MESSAGES);
	node->messages[node->n++] = sip_message_ref(message);
	node->link = link;
	if (node->closes_in_message)
		sip_transport_close(&node->transport);
}

static void on_link_closed(void *owner, struct sip_link *link, int err,
			   const char *why)
{
	struct fixture_node *node = owner;

	assert_int_not_equal(sip_link_send(link, SLICE("x")), 0);
	assert_false(sip_link_has_peer_name(link, SLICE("x")));
	if (node->link == link)
		node->link = NULL;
	if (node->connected == link)
		node->connected = NULL;
	node->ended++;
	node->end_err = err;
	snprintf(node->end_why, sizeof(node->end_why), "%s", why);
}

static void mark_used(void *owner)
{
	struct fixture_node *node = owner;

	if (node->in_use && node->link)
		sip_link_mark_used(node->link);
	if (node->in_use && node->connected)
		sip_link_mark_used(node->connected);
}

void fixture_node_open_with(struct fixture_node *node,
			    struct fixture_world *world, struct tls *tls,
			    uint16_t port,
			    const struct sip_transport_options *options)
{
	static const struct sip_transport_events events = {
		.on_message = on_message,
		.on_link_closed = on_link_closed,
		.mark_used = mark_used,
	};
	struct sip_transport_options mine = *options;

	*node = (struct fixture_node){ .world = world, .tls = tls };
	mine.loop = world->loop;
	mine.public_address = mine.public_address ? mine.public_address : "";
	mine.user_agent = "test";
	mine.tls = tls;
	if (!mine.listen.bind.sa.sa_family)
		addr_parse(&mine.listen.bind, SLICE("127.0.0.1"), port);
	assert_int_equal(
		sip_transport_open(&node->transport, &mine, &events, node), 0);
}

void fixture_node_open(struct fixture_node *node, struct fixture_world *world,
		       const char *names, uint16_t port,
		       const struct locate_options *locate)
{
	struct sip_transport_options options = { .locate = locate };
	struct tls *tls;
	char name[32];

	snprintf(name, sizeof(name), "node%u", port);
	fixture_tls(world, &tls, name, names);
	fixture_node_open_with(node, world, tls, port, &options);
}

void fixture_node_close(struct fixture_node *node)
{
	sip_transport_close(&node->transport);
	tls_close(&node->tls);
	while (node->n)
		sip_message_unref(&node->messages[--node->n]);
}

static void on_connected(void *owner, struct sip_link *link, int err,
			 const char *why)
{
	struct fixture_node *node = owner;

	node->connected = link;
	node->outcomes++;
	node->err = err;
	snprintf(node->why, sizeof(node->why), "%s", why);
}

void fixture_connect_as(struct fixture_node *node, const char *host,
			unsigned identity)
{
	struct sip_target target = { .identity = identity };

	snprintf(target.host, sizeof(target.host), "%s", host);
	sip_transport_connect(node->transport, &target, on_connected, node);
}

struct sip_connect *fixture_connect(struct fixture_node *node, const char *host,
				    uint16_t port)
{
	struct sip_target target = { .port = port };

	snprintf(target.host, sizeof(target.host), "%s", host);
	return sip_transport_connect(node->transport, &target, on_connected,
				     node);
}

static void on_peer_open(void *owner)
{
	struct fixture_peer *peer = owner;

	peer->opens++;
}

static void on_peer_data(void *owner, struct slice data)
{
	struct fixture_peer *peer = owner;

	buffer_add(&peer->got, data);
}

static void on_peer_close(void *owner, int err, const char *why)
{
	struct fixture_peer *peer = owner;

	peer->ends++;
	peer->err = err;
	snprintf(peer->why, sizeof(peer->why), "%s", why);
	link_close(&peer->link);
}

void fixture_peer_open(struct fixture_peer *peer, struct fixture_node *from,
		       const char *name, uint16_t port)
{
	static const struct link_events events = {
		.on_open = on_peer_open,
		.on_data = on_peer_data,
		.on_close = on_peer_close,
	};
	struct tls_target target = { .name = name, .is_sip = true };

	*peer = (struct fixture_peer){ 0 };
	buffer_init(&peer->got, 1 << 20);
	addr_parse(&target.addr, SLICE("127.0.0.1"), port);
	assert_int_equal(
		tls_connect(&peer->link, from->tls, &target, &events, peer), 0);
	loop_advance_ms(from->world->loop, 100);
	assert_int_equal(peer->opens, 1);
}

void fixture_peer_send(struct fixture_peer *peer, struct slice bytes)
{
	assert_int_equal(link_send(peer->link, bytes), 0);
}

void fixture_peer_close(struct fixture_peer *peer)
{
	link_close(&peer->link);
	buffer_reset(&peer->got);
}

/* SPDX-License-Identifier: MIT */
#include "sip/transactions.h"
#include "core/id.h"
#include "sip/client_transaction.h"
#include "sip/server_transaction.h"

void transactions_init(struct transactions *layer, struct loop *loop,
		       const struct transactions_wire *wire, void *owner)
{
	*layer = (struct transactions){ .loop = loop,
					.wire = wire,
					.owner = owner };
	table_init(&layer->client);
	table_init(&layer->server);
	table_init(&layer->merged);
	link_index_init(&layer->client_links);
	link_index_init(&layer->server_links);
}

static void drop_server(void *item, void *arg)
{
	server_transaction_close(item);
}

void transactions_reset(struct transactions *layer)
{
	table_each(&layer->server, drop_server, NULL);
	table_reset(&layer->client);
	table_reset(&layer->server);
	table_reset(&layer->merged);
	link_index_reset(&layer->client_links);
	link_index_reset(&layer->server_links);
}

static void lose_client(void *item, void *arg)
{
	client_transaction_on_link_closed(item, arg);
}

static void lose_server(void *item, void *arg)
{
	server_transaction_on_link_closed(item, arg);
}

void transactions_on_link_closed(struct transactions *layer,
				 struct sip_link *link)
{
	link_index_each(&layer->client_links, link, lose_client, link);
	link_index_each(&layer->server_links, link, lose_server, link);
}

void transactions_branch(char out[SIP_BRANCH_SIZE])
{
	memcpy(out, "z9hG4bK", 7);
	id_word(out + 7, SIP_BRANCH_SIZE - 8);
}

/* SPDX-License-Identifier: MIT */
/* tools/parley/init.c - parley init: a data folder that parleyd can run on. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "core/json.h"
#include "core/mem.h"
#include "core/pki.h"
#include "core/slice.h"
#include "tools/parley/people.h"

struct init_options {
	const char *data;
	uint64_t http_port, sip_port;
	bool is_json;
	bool is_open; /* webhooks may go to this machine */
	char folder[PATH_MAX]; /* absolute */
};

static int make_certificates(const struct init_options *options)
{
	char ca[PATH_MAX + 16], ca_key[PATH_MAX + 16];
	char node[PATH_MAX + 16], node_key[PATH_MAX + 16];
	char host[256] = "localhost";
	const char *names[] = { "localhost", "127.0.0.1", host };
	struct pki_leaf leaf = { .names = names, .n_names = 2 };
	struct buffer why;
	int err;

	snprintf(ca, sizeof(ca), "%s/ca.pem", options->folder);
	snprintf(ca_key, sizeof(ca_key), "%s/ca.key", options->folder);
	snprintf(node, sizeof(node), "%s/node.pem", options->folder);
	snprintf(node_key, sizeof(node_key), "%s/node.key", options->folder);
	if (!gethostname(host, sizeof(host) - 1) && host[0] &&
	    strcmp(host, "localhost"))
		leaf.n_names = 3;
	leaf.ca = (struct pki_files){ ca, ca_key };
	leaf.files = (struct pki_files){ node, node_key };
	leaf.wall_ms = (int64_t)time(NULL) * 1000;
	buffer_init(&why, 1024);
	err = pki_make_ca(&leaf.ca, "Parley private CA", leaf.wall_ms, &why);
	if (!err)
		err = pki_make_leaf(&leaf, &why);
	if (err == -EINVAL && leaf.n_names == 3) {
		leaf.n_names = 2; /* the host's name is no DNS name */
		buffer_clear(&why);
		err = pki_make_leaf(&leaf, &why);
	}
	if (err)
		tool_fail("certificates: %s", buffer_str(&why));
	buffer_reset(&why);
	return err;
}

static int write_config(const struct init_options *options, const char *file)
{
	FILE *out = fopen(file, "wx");

	if (!out) {
		tool_fail("%s: %s", file,
			  errno == EEXIST ? "exists already; parley init does "
					    "not overwrite"
					  : strerror(errno));
		return -1;
	}
	fprintf(out,
		"# Parley settings. `parleyd --keys` lists every key.\n"
		"# Paths are relative to this file.\n\n"
		"[http]\n"
		"listen = 127.0.0.1\n"
		"port = %llu\n"
		"certificate = node.pem\n"
		"key = node.key\n\n"
		"[sip]\n"
		"listen = 127.0.0.1\n"
		"port = %llu\n"
		"certificate = node.pem\n"
		"key = node.key\n"
		"ca_file = ca.pem\n"
		"domain = localhost\n\n"
		"[store]\n"
		"path = store\n\n"
		"[recordings]\n"
		"path = recordings\n",
		(unsigned long long)options->http_port,
		(unsigned long long)options->sip_port);
	if (options->is_open)
		fputs("\n[webhook]\n"
		      "# Webhooks and Webhook nodes may reach this machine.\n"
		      "allow_loopback = on\n",
		      out);
	if (fclose(out)) {
		tool_fail("%s: %s", file, strerror(errno));
		return -1;
	}
	return chmod(file, 0600);
}

static void print_result(const struct init_options *options,
			 const struct new_org *org, const char *key,
			 const char *config)
{
	char url[64], ca[PATH_MAX + 16];
	json_t *out;
	char *text;

	snprintf(url, sizeof(url), "https://127.0.0.1:%llu",
		 (unsigned long long)options->http_port);
	snprintf(ca, sizeof(ca), "%s/ca.pem", options->folder);
	if (!options->is_json) {
		printf("base_url        %s\napi_key         %s\n"
		       "org_id          %s\nwebhook_secret  %s\n"
		       "ca_file         %s\nconfig          %s\n\n"
		       "The key and the secret are shown this once.\n"
		       "Start the service:  parleyd --config %s\n",
		       url, key, org->id, org->webhook_secret, ca, config,
		       config);
		return;
	}
	out = json_object();
	json_put_str(out, "base_url", url);
	json_put_str(out, "api_key", key);
	json_put_str(out, "org_id", org->id);
	json_put_str(out, "webhook_secret", org->webhook_secret);
	json_put_str(out, "ca_file", ca);
	json_put_str(out, "config", config);
	text = json_text(out);
	puts(text);
	mem_free(text);
	json_decref(out);
}

static int make(struct init_options *options)
{
	struct new_org org = { .name = "First organisation" };
	char key[KEY_SIZE], config[PATH_MAX + 16];
	struct tool tool = { 0 };
	int status;

	if (mkdir(options->data, 0700) && errno != EEXIST)
		return tool_fail("%s: %s", options->data, strerror(errno));
	if (!realpath(options->data, options->folder))
		return tool_fail("%s: %s", options->data, strerror(errno));
	snprintf(config, sizeof(config), "%s/parley.conf", options->folder);
	if (write_config(options, config) || make_certificates(options))
		return EXIT_FAILURE;
	status = tool_open(&tool, config);
	if (!status && (people_add_org(&tool, &org) ||
			people_add_key(&tool, org.id, "first key", key)))
		status = tool_fail("the first organisation could not be "
				   "stored");
	if (!status)
		print_result(options, &org, key, config);
	tool_close(&tool);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "data", required_argument, NULL, 'd' },
		{ "http-port", required_argument, NULL, 'p' },
		{ "sip-port", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "allow-loopback", no_argument, NULL, 'l' },
		{ 0 },
	};
	struct init_options options = { .data = "parley-data",
					.http_port = 8443,
					.sip_port = 5061 };
	int option, err = 0;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option == 'd')
			options.data = optarg;
		else if (option == 'p')
			err |= slice_to_u64(&options.http_port,
					    slice_of(optarg), 65535) != 0;
		else if (option == 's')
			err |= slice_to_u64(&options.sip_port, slice_of(optarg),
					    65535) != 0;
		else if (option == 'j')
			options.is_json = true;
		else if (option == 'l')
			options.is_open = true;
		else
			return EXIT_FAILURE;
	}
	if (err)
		return tool_fail("a port is a number from 1 to 65535");
	return make(&options);
}

const struct command command_init = {
	"init", run,
	"init [--data DIR] [--http-port N] [--sip-port N] [--json]\n"
	"     [--allow-loopback]\n"
	"  Makes a data folder: settings, a private CA with certificates, the\n"
	"  first organisation, its key and webhook secret (shown once).\n"
	"  --allow-loopback lets webhooks reach this machine (for trials).\n"
};

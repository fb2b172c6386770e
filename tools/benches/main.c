/* SPDX-License-Identifier: MIT */
/* tools/benches/main.c - bench_parts ROLE [OPTIONS]: run by tools/bench. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "core/log.h"
#include "core/slice.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"

static const struct {
	const char *name;
	bench_role_fn *run;
} roles[] = {
	{ "media", bench_media },
	{ "media-host", bench_media_host },
	{ "media-floor", bench_media_floor },
	{ "media-sip", bench_media_sip },
	{ "sip-host", bench_sip_host },
	{ "sip-load", bench_sip_load },
	{ "sip-dialer", bench_sip_dialer },
	{ "sip-callers", bench_sip_callers },
	{ "sip-callees", bench_sip_callees },
	{ "sip-dialogs", bench_sip_dialogs },
	{ "sip-text", bench_sip_text },
	{ "http-load", bench_http_load },
	{ "tls-floor", bench_tls_floor },
	{ "tls-floor-load", bench_tls_floor_load },
};

const char *bench_text(char **argv, const char *name, const char *preset)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, name) && argv[1])
			return argv[1];
	return preset;
}

uint64_t bench_number(char **argv, const char *name, uint64_t preset)
{
	const char *text = bench_text(argv, name, NULL);
	uint64_t number;

	if (!text)
		return preset;
	if (!slice_to_u64(&number, slice_of(text), UINT32_MAX))
		return number;
	fprintf(stderr, "bench_parts: %s: \"%s\" is not a number\n", name,
		text);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct log_options log = { .level = LOG_WARN, .fd = 2 };
	struct rlimit files;

	log_setup(&log);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (argc > 1 && !strcmp(argv[1], roles[i].name))
			return roles[i].run(argc - 2, argv + 2);
	fputs("usage: bench_parts ROLE [OPTIONS]; see tools/bench\n", stderr);
	return EXIT_FAILURE;
}

/* SPDX-License-Identifier: MIT */
#include "fixture_pki.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/pki.h"

void fixture_pki_open(struct fixture_pki *pki, int64_t wall_ms)
{
	struct pki_files files = { pki->ca, pki->ca_key };
	struct buffer why;

	snprintf(pki->dir, sizeof(pki->dir), "/tmp/parley-pki-XXXXXX");
	assert_non_null(mkdtemp(pki->dir));
	snprintf(pki->ca, sizeof(pki->ca), "%.40s/ca.pem", pki->dir);
	snprintf(pki->ca_key, sizeof(pki->ca_key), "%.40s/ca.key", pki->dir);
	buffer_init(&why, 512);
	if (pki_make_ca(&files, "Test CA", wall_ms, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

const char *fixture_pki_path(struct fixture_pki *pki, const char *name)
{
	snprintf(pki->path, sizeof(pki->path), "%.40s/%.40s", pki->dir, name);
	return pki->path;
}

void fixture_pki_leaf(struct fixture_pki *pki, const char *name,
		      const char *const *names, int64_t wall_ms, unsigned days)
{
	char certificate[PKI_PATH_SIZE], key[PKI_PATH_SIZE];
	struct pki_leaf leaf = { .ca = { pki->ca, pki->ca_key },
				 .files = { certificate, key },
				 .names = names,
				 .wall_ms = wall_ms,
				 .days = days };
	struct buffer why;

	while (names[leaf.n_names])
		leaf.n_names++;
	snprintf(certificate, sizeof(certificate), "%.40s/%.40s.pem", pki->dir,
		 name);
	snprintf(key, sizeof(key), "%.40s/%.40s.key", pki->dir, name);
	buffer_init(&why, 512);
	if (pki_make_leaf(&leaf, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

void fixture_pki_close(struct fixture_pki *pki)
{
	DIR *dir = opendir(pki->dir);
	const struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlink(fixture_pki_path(pki, entry->d_name));
	closedir(dir);
	rmdir(pki->dir);
}

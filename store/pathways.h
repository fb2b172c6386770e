/* SPDX-License-Identifier: MIT */
/* store/pathways.h - pathways with their versions. Version 0 is the working
 * copy; a published version is frozen. */
#pragma once
#include "store/store.h"

struct pathway_row {
	const char *id; /* uuid */
	const char *org_id;
	const char *name;
	const char *description; /* NULL: none */
	int64_t version; /* which one nodes and edges are of */
	const char *nodes; /* JSON array */
	const char *edges; /* JSON array */
	int64_t created_ms;
	int64_t updated_ms;
	int64_t production; /* version number; 0: none published */
};

/* Inserts the pathway with its version 0. */
void pathways_insert(struct store *store, const struct pathway_row *row,
		     struct store_reply reply);
/* Writes name, description and version 0. -ENOENT. */
void pathways_update(struct store *store, const struct pathway_row *row,
		     struct store_reply reply);
void pathways_delete(struct store *store, const char *org_id, const char *id,
		     struct store_reply reply);
/* version -1: production, else the working copy. 0 or -ENOENT. */
int pathways_get(struct store *store, struct arena *arena,
		 const struct pathway_row *key, /* org_id, id, version */
		 struct pathway_row *out);
int pathways_list(struct store *store, struct arena *arena, const char *org_id,
		  struct pathway_row **rows, size_t *n);

/* Freezes version 0 under a new number (the highest plus one) with a name. */
void pathways_freeze(struct store *store, const struct pathway_row *key,
		     const char *name, struct store_reply reply);
/* Makes a frozen version production. -ENOENT. */
void pathways_publish(struct store *store, const struct pathway_row *key,
		      struct store_reply reply);
/* Version numbers, names and times of one pathway, newest first. */
int pathways_versions(struct store *store, struct arena *arena,
		      const struct pathway_row *key, struct pathway_row **rows,
		      size_t *n);

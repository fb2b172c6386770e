/* SPDX-License-Identifier: MIT */
/* http/api/pathway_version.h - the versions of a pathway: frozen copies, one of
 * which is what calls run. */
#pragma once
#include "http/request.h"
#include "store/pathways.h"

/* The pathway of the path's first parameter. 0, or negative after a 404. */
int pathway_load(struct request *request, int64_t version,
		 struct pathway_row *out);
void pathway_versions(struct request *request);
void pathway_version_create(struct request *request);
void pathway_version_get(struct request *request);
void pathway_publish(struct request *request);

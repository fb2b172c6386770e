/* SPDX-License-Identifier: MIT */
/* http/api/pathway_body.h - name, description, nodes and edges of a pathway out
 * of a request body, checked; and a stored pathway into an answer. */
#pragma once
#include "core/buffer.h"
#include "http/request.h"
#include "store/pathways.h"

/* Writes the members that the body has over row and checks the graph that
 * comes of it; texts are in the request's arena. Edges are kept with label and
 * description both at the top and in data. 0, or -EINVAL after an answer. */
int pathway_body_read(struct request *request, struct pathway_row *row);
/* Appends {id, pathway_id, name, description, nodes, edges, ...}. */
void pathway_write(struct buffer *out, const struct pathway_row *row);

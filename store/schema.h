/* SPDX-License-Identifier: MIT */
/* store/schema.h - the tables, as migrations numbered by user_version. A
 * migration that was released is never changed: a new one follows it. */
#pragma once
#include <stdbool.h>
#include "core/buffer.h"
#include "store/db.h"

/* 0: current. 1: older, schema_migrate() is due. -EPROTO: newer, or another
 * program's file; why says which and what to do. */
int schema_check(struct db *db, const char *file, struct buffer *why);
/* Each missing migration in a transaction of its own. */
int schema_migrate(struct db *db, const char *file, struct buffer *why);

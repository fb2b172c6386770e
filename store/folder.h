/* SPDX-License-Identifier: MIT */
/* store/folder.h - the data folder on disk: that it is there, ours and
 * private, and that one service at a time works in it. */
#pragma once
#include "core/buffer.h"

/* Makes the folder (0700) when missing and the empty database file (0600)
 * when missing. Negative errno with why. */
int folder_prepare(const char *folder, const char *file, struct buffer *why);
/* Exclusive lock on FOLDER/lock until the descriptor is closed. -EBUSY with
 * the process that holds it. */
int folder_lock(int *fd, const char *folder, struct buffer *why);

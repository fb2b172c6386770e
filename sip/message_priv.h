/* SPDX-License-Identifier: MIT */
/* sip/message_priv.h - what message.c, message_table.c and message_frame.c
 * share: the one table of headers. */
#pragma once
#include "sip/message.h"

enum sip_header_form {
	SIP_FORM_TEXT, /* as received; may repeat */
	SIP_FORM_SINGLE, /* may not repeat */
	SIP_FORM_SAME, /* may repeat with the same value */
	SIP_FORM_ELEMENTS /* comma list: one sip_header per element */
};

struct sip_header_type {
	const char *name;
	const char *compact; /* or NULL */
	enum sip_header_form form;
	/* Of the first one, which alone concerns us (the topmost Via); may be
	 * NULL. Fills in common; 0 or -EINVAL. */
	int (*parse)(struct sip_message *message, struct slice value);
};

const struct sip_header_type *sip_header_type(enum sip_header_id id);
enum sip_header_id sip_header_find(struct slice name); /* SIP_H_OTHER */

/* Cuts one header line off *head, folds included, without its CRLF. false at
 * the end of the head. */
bool sip_head_line(struct slice *head, struct slice *line);
/* "name : value", value trimmed and still folded. 0 or -EINVAL. */
int sip_head_split(struct slice line, struct slice *name, struct slice *value);
/* Index behind the empty line that ends a head, or 0. */
size_t sip_head_end(struct slice text);

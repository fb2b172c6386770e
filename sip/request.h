/* SPDX-License-Identifier: MIT */
/* sip/request.h - one request of ours through all that may happen before its
 * final answer: a link (the dialog's, else a new one), its transaction, a
 * digest challenge (RFC 3261, 22: one try per nonce, one more when stale), and,
 * before there is a dialog, the trunk's next address when one answers 503 or
 * nothing at all (RFC 3263, 4.3). */
#pragma once
#include "sip/dialog.h"

struct sip_request;
struct ua;

struct sip_request_login {
	char *username; /* owned by whoever fills it; NULL: there is none */
	char *password;
};

struct sip_request_options {
	struct dialog *dialog; /* borrowed: outlives the request */
	enum sip_method method;
	const struct sip_request_login *login; /* borrowed alike; NULL: none */
	struct slice headers; /* whole lines, copied */
	struct slice body; /* SDP, copied */
};

struct sip_request_failure {
	int err; /* -ETIMEDOUT: no answer for 32 s; or what connecting gave */
	const char *why; /* for people; valid in the callback */
	bool was_sent;
};

struct sip_request_events {
	/* Provisional and final answers, but no challenge that was taken up;
	 * of an INVITE each 2xx for 32 s. May close the request. */
	void (*on_response)(void *owner, struct sip_message *response);
	/* No final answer will come. May close the request. */
	void (*on_failed)(void *owner,
			  const struct sip_request_failure *failure);
	/* INVITE only: 32 s after its first 2xx. May close the request. */
	void (*on_over)(void *owner);
};

/* Never calls back inside. */
struct sip_request *sip_request_open(struct ua *ua,
				     const struct sip_request_options *options,
				     const struct sip_request_events *events,
				     void *owner);
void sip_request_close(struct sip_request **request); /* NULL is fine */
/* Of what was sent last; a challenge that was taken up counts. */
uint32_t sip_request_cseq(const struct sip_request *request);
/* CANCEL for an INVITE; its own answer does not matter. No challenge is taken
 * up from now on. -EAGAIN: no provisional answer yet, -ENOTCONN: the INVITE
 * has not been sent. */
int sip_request_cancel(struct sip_request *request, struct slice headers);
/* Writes the ACK of a 2xx to this INVITE for the dialog it made, with the
 * INVITE's CSeq and credentials, and sends it. The text is the caller's, to
 * send again when the 2xx comes again; NULL when nothing could be sent. */
char *sip_request_ack(const struct sip_request *request,
		      const struct dialog *dialog, struct slice body);

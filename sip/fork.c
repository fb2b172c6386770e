/* SPDX-License-Identifier: MIT */
#include "sip/fork.h"
#include "core/mem.h"
#include "sip/ua_priv.h"

static void fork_reset(struct fork *fork)
{
	if (!fork->set)
		return;
	sip_request_close(&fork->bye);
	dialog_close(&fork->dialog, &fork->set->ua->dialogs);
	mem_free(fork->tag);
	mem_free(fork->ack);
	fork->tag = fork->ack = NULL;
}

void fork_set_reset(struct fork_set *set)
{
	for (int i = 0; i < FORKS_MAX; i++)
		fork_reset(&set->forks[i]);
}

bool fork_set_has_bye(const struct fork_set *set)
{
	for (int i = 0; i < FORKS_MAX; i++)
		if (set->forks[i].bye)
			return true;
	return false;
}

struct fork *fork_find(struct fork_set *set, const struct sip_message *response)
{
	struct fork *free_one = NULL;

	for (int i = 0; i < FORKS_MAX; i++) {
		struct fork *fork = &set->forks[i];

		if (fork->tag &&
		    slice_eq(slice_of(fork->tag), response->common.to.tag))
			return fork;
		/* One never used, at worst an early dialog's. */
		if (!fork->ack && (!free_one || (free_one->tag && !fork->tag)))
			free_one = fork;
	}
	if (free_one) {
		fork_reset(free_one);
		free_one->set = set;
		free_one->tag = slice_dup(response->common.to.tag);
	}
	return free_one;
}

void fork_learn(struct fork *fork, const struct sip_message *response)
{
	struct fork_set *set = fork->set;
	struct dialog *dialog =
		dialog_open_fork(set->base, response, set->base->link);

	if (fork->dialog)
		dialog->remote_cseq = fork->dialog->remote_cseq;
	dialog_close(&fork->dialog, &set->ua->dialogs);
	fork->dialog = dialog;
	dialog_list(dialog, &set->ua->dialogs, set->on_request, set->owner);
}

static void on_bye_response(void *owner, struct sip_message *response)
{
	struct fork *fork = owner;

	if (response->start.status < 200)
		return;
	sip_request_close(&fork->bye);
	fork->set->on_bye_over(fork->set->owner); /* last */
}

static void on_bye_failed(void *owner,
			  const struct sip_request_failure *failure)
{
	struct fork *fork = owner;

	(void)failure;
	sip_request_close(&fork->bye);
	fork->set->on_bye_over(fork->set->owner); /* last */
}

void fork_bye(struct fork *fork)
{
	static const struct sip_request_events bye_events = {
		.on_response = on_bye_response,
		.on_failed = on_bye_failed,
	};
	struct sip_request_options options = { .dialog = fork->dialog,
					       .method = SIP_BYE,
					       .login = fork->set->login };

	fork->bye =
		sip_request_open(fork->set->ua, &options, &bye_events, fork);
}

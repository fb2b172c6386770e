/* SPDX-License-Identifier: MIT */
#include "agent/engine/model.h"

int model_ask(struct model_call **out, struct model *model,
	      const struct model_question *question, model_done_fn *on_done,
	      void *owner)
{
	return model->ops->ask(out, model, question, on_done, owner);
}

void model_cancel(struct model_call **call)
{
	if (*call)
		(*call)->model->ops->cancel(call);
}

void model_close(struct model **model)
{
	if (!*model)
		return;
	(*model)->ops->shut(*model);
	*model = NULL;
}

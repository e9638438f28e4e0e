/*
 * bind_steps: performs the steps of an attempt. Private to extender.
 */
#ifndef EXTENDER_BIND_BIND_STEPS_H
#define EXTENDER_BIND_BIND_STEPS_H

#include "extender/bind/bind_event.h"

/* Performs the step. facts: from a GET; NULL: none. May free the entry. */
void bind_steps_take(struct bind_event *event, struct bind_entry *entry, struct bind_step step,
                     const struct pod_facts *facts);
/* outcome and why as in bind_entry; why NULL: bound. */
void bind_steps_answer(struct bind_event *event, struct bind_entry *entry,
                       struct bind_caller *caller, enum bind_outcome outcome, const char *why);

#endif

/*
 * bind_steps: what an attempt wants done, carried out. Private to extender.
 */
#ifndef EXTENDER_BIND_BIND_STEPS_H
#define EXTENDER_BIND_BIND_STEPS_H

#include "extender/bind/bind_event.h"

/* Does what the attempt wants done next. facts: what a GET showed of the pod; NULL: nothing. The
 * entry may be gone then. */
void bind_steps_take(struct bind_event *event, struct bind_entry *entry, struct bind_step step,
                     const struct pod_facts *facts);
/* outcome and why as the entry has them; why NULL: bound. */
void bind_steps_tell(struct bind_event *event, struct bind_entry *entry, struct bind_caller *caller,
                     enum bind_outcome outcome, const char *why);

#endif

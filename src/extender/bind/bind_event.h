/*
 * bind_event: one event of binds, and its deferred actions. Decisions are made under the lock.
 * bind_event_end() unlocks, then sends requests, answers callers and logs. Private to extender.
 */
#ifndef EXTENDER_BIND_BIND_EVENT_H
#define EXTENDER_BIND_BIND_EVENT_H

#include "base/log.h"
#include "extender/bind/bind_entry.h"

struct bind_event {
    struct binds *binds;
    struct arena *arena;
    int64_t now_ms;
    struct event_request *requests;
    struct event_answer *answers;
    struct notice *notices;
};

void bind_event_init(struct bind_event *event, struct binds *binds, int64_t now_ms);
void bind_event_lock(struct bind_event *event) ACQUIRES(event->binds->lock);
/* Unlocks, then performs the collected actions. */
void bind_event_end(struct bind_event *event) RELEASES(event->binds->lock);
/* Nothing is sent after it returns. */
void bind_event_close(struct binds *binds);

void bind_event_post(struct bind_event *event, struct bind_entry *entry, int64_t timeout_ms,
                     kube_done *done);
void bind_event_get(struct bind_event *event, struct bind_entry *entry, int64_t timeout_ms,
                    kube_done *done);
/* Answers one caller and logs it. Removes the caller from its entry. text NULL: bound. */
void bind_event_answer(struct bind_event *event, struct bind_caller *caller,
                       enum bind_outcome outcome, const char *text);
/* Logs a line about the pod. message and key must be literals. */
void bind_event_note(struct bind_event *event, const struct bind_entry *entry, enum log_level level,
                     const char *message, const char *key, const char *value);

/* ---- performs the steps of an attempt ---- */

/* Performs the step. facts: from a GET; NULL: none. May free the entry. */
void bind_steps_take(struct bind_event *event, struct bind_entry *entry, struct bind_step step,
                     const struct pod_facts *facts);
/* outcome and why as in bind_entry; why NULL: bound. */
void bind_steps_answer(struct bind_event *event, struct bind_entry *entry,
                       struct bind_caller *caller, enum bind_outcome outcome, const char *why);

#endif

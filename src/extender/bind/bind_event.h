/*
 * bind_event: one event of binds, and its deferred actions: under the lock it is decided, and once
 * that is given back the requests are sent, the callers answered and the log written. Private to
 * extender.
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
/* Gives the lock back and does what was collected. */
void bind_event_end(struct bind_event *event) RELEASES(event->binds->lock);
/* After it nothing is sent. */
void bind_event_close(struct binds *binds);

void bind_event_post(struct bind_event *event, struct bind_entry *entry, int64_t timeout_ms,
                     kube_done *done);
void bind_event_get(struct bind_event *event, struct bind_entry *entry, int64_t timeout_ms,
                    kube_done *done);
/* One caller is answered, and the log has a line of it; it is no entry's caller any more. text
 * NULL: bound. */
void bind_event_tell(struct bind_event *event, struct bind_caller *caller,
                     enum bind_outcome outcome, const char *text);
/* A line of the log about the pod; the message and the key are literals. */
void bind_event_note(struct bind_event *event, const struct bind_entry *entry, enum log_level level,
                     const char *message, const char *key, const char *value);

#endif

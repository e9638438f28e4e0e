/*
 * object_watch: the last state of one watched object, until its owner takes it. All on one thread.
 * Private to kube.
 */
#ifndef KUBE_WATCH_OBJECT_WATCH_H
#define KUBE_WATCH_OBJECT_WATCH_H

#include "kube/reflector.h"

struct object_watch {
    json_t *object; /* NULL: deleted */
    bool is_news;
    bool is_listed; /* in the current list */
    const char *kind;
};

void object_watch_fini(struct object_watch *watch);
/* The store of a reflector that follows this one object. kind ("leases") is for the log, which
 * reports a rejected watch once. */
struct reflector_store object_watch_store(struct object_watch *watch, const char *kind);
/* Returns false if nothing is new. The object is borrowed until the next event. */
bool object_watch_take(struct object_watch *watch, const json_t **ret_object);

#endif

/*
 * object_watch: what a watch showed last of one object, until somebody with a clock takes it.
 * Private to kube.
 */
#ifndef KUBE_WATCH_OBJECT_WATCH_H
#define KUBE_WATCH_OBJECT_WATCH_H

#include "kube/reflector.h"

struct object_watch {
    json_t *object; /* NULL: it is gone */
    bool is_news;
    bool is_listed; /* by the list that is being read */
    const char *kind;
};

void object_watch_fini(struct object_watch *watch);
/* The store of a reflector that follows this one object; the kind ("leases") is for the log, which
 * tells once what the API server refuses. */
struct reflector_store object_watch_store(struct object_watch *watch, const char *kind);
/* Whether there is something that was not taken yet; borrowed until the next event. */
bool object_watch_take(struct object_watch *watch, const json_t **ret_object);

#endif

/*
 * sight: what a watch showed last of one object, until somebody with a clock takes it. Private to
 * kube.
 */
#ifndef KUBE_SIGHT_H
#define KUBE_SIGHT_H

#include "kube/reflector.h"

struct sight {
    json_t *object; /* NULL: it is gone */
    bool is_news;
    bool is_listed; /* by the list that is being read */
    const char *kind;
};

void sight_fini(struct sight *sight);
/* The store of a reflector that follows this one object; the kind ("leases") is for the log, which
 * tells once what the API server refuses. */
struct reflector_store sight_store(struct sight *sight, const char *kind);
/* Whether there is something that was not taken yet; borrowed until the next event. */
bool sight_take(struct sight *sight, const json_t **ret_object);

#endif

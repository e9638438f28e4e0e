/*
 * lease_object: the Lease as JSON. Private to lease.
 */
#ifndef KUBE_LEADERSHIP_LEASE_OBJECT_H
#define KUBE_LEADERSHIP_LEASE_OBJECT_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What of it decides. Texts are the object's. */
struct lease_record {
    const char *holder; /* "": nobody */
    int64_t duration_ms;
    const char *version; /* metadata.resourceVersion */
};

/* -EINVAL: it is no Lease that can be written back. */
int lease_object_read(const json_t *object, struct lease_record *ret_record, struct err *err);
/* Whether both say the same of who holds it since when. */
bool lease_object_same(const json_t *a, const json_t *b);

/* How it is to be written. */
struct lease_write {
    const char *namespace_;
    const char *name;
    const char *holder;
    int64_t duration_s;
    bool is_new_holder; /* acquireTime is now, and a transition is counted */
    bool is_release;    /* acquireTime is now, and none is counted */
    int64_t wall_ms;
};
/* A copy of the object (NULL: there is none yet) with these; all else as it was. The caller's. */
json_t *lease_object_write(const json_t *object, const struct lease_write *write);

#endif

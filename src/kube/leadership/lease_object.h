/*
 * lease_object: the Lease as JSON. Private to lease.
 */
#ifndef KUBE_LEADERSHIP_LEASE_OBJECT_H
#define KUBE_LEADERSHIP_LEASE_OBJECT_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The fields that decide who leads. Strings are borrowed from the object. */
struct lease_record {
    const char *holder; /* "": nobody */
    int64_t duration_ms;
    const char *version; /* metadata.resourceVersion */
};

/* Returns 0, or -EINVAL: the object is no Lease, has no resourceVersion, or a member has the wrong
 * type. */
int lease_object_read(const json_t *object, struct lease_record *ret_record, struct err *err);
/* Whether the specs are equal: holder, duration, times and transitions. */
bool lease_object_same(const json_t *a, const json_t *b);

/* The fields to write. */
struct lease_write {
    const char *namespace_;
    const char *name;
    const char *holder;
    int64_t duration_s;
    bool is_new_holder; /* sets acquireTime; counts a transition if the Lease existed */
    bool is_release;    /* sets acquireTime, but counts no transition */
    int64_t wall_ms;    /* the time to write, since 1970 */
};
/* Returns a copy of the object with these fields written; its other fields stay. object NULL: a new
 * Lease. The caller owns the result. */
json_t *lease_object_write(const json_t *object, const struct lease_write *write);

#endif

/*
 * lease_object: the Lease as JSON. Private to lease.
 */
#ifndef KUBE_LEADERSHIP_LEASE_OBJECT_H
#define KUBE_LEADERSHIP_LEASE_OBJECT_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The fields that decide. Strings are borrowed from the object. */
struct lease_record {
    const char *holder; /* "": nobody */
    int64_t duration_ms;
    const char *version; /* metadata.resourceVersion */
};

/* -EINVAL: no Lease, or without a resourceVersion. */
int lease_object_read(const json_t *object, struct lease_record *ret_record, struct err *err);
/* Whether the specs are equal: holder and times. */
bool lease_object_same(const json_t *a, const json_t *b);

/* The fields to write. */
struct lease_write {
    const char *namespace_;
    const char *name;
    const char *holder;
    int64_t duration_s;
    bool is_new_holder; /* acquireTime is now, and the transition is counted */
    bool is_release;    /* acquireTime is now, without a transition */
    int64_t wall_ms;
};
/* A copy of the object (NULL: a new one) with these fields; others stay. The caller owns it. */
json_t *lease_object_write(const json_t *object, const struct lease_write *write);

#endif

/*
 * counter_sets: the counters of a pool, and what a device consumes of them.
 */
#ifndef OBJECTS_COUNTER_SETS_H
#define OBJECTS_COUNTER_SETS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/device_facts.h"

#include <jansson.h>

struct counter_sets {
    const struct counter_set *items;
    size_t n;
    bool is_rounded; /* some amounts are no whole numbers */
};

/* Reads the member, empty if absent: a list of {name_key: NAME, counters: {NAME: {value}}}. All in
 * the arena. -EINVAL: of another form, or larger than Kubernetes allows. */
int counter_sets_read(const json_t *object, const char *member, const char *name_key,
                      struct arena *arena, struct counter_sets *ret_sets, struct err *err);

/* A quantity, rounded up; INT64_MAX if it is larger. -EINVAL: no quantity, or negative. */
int counter_amount(const json_t *value, int64_t *ret_amount, struct err *err);

#endif

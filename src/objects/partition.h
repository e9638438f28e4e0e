/*
 * partition: partitions of GPUs, and the counters that they consume.
 */
#ifndef OBJECTS_PARTITION_H
#define OBJECTS_PARTITION_H

#include "base/arena.h"
#include "base/err.h"
#include "types/device_facts.h"

#include <jansson.h>
#include <stddef.h>

/* ---- counter sets ---- */

/* The counters of a pool, and what a device consumes of them. */

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

/* ---- partition ---- */

/* Which devices are parts of a GPU, by their attributes and by the counters that they
 * consume, and what tells that two devices are of one GPU. The attributes are those of the drivers
 * of NVIDIA, AMD and Intel, and of the example driver. */

/* Sets profile and physical by the attributes, which must be read. A profile that is set stays.
 * Borrows the texts of the attributes, or writes into the arena. */
void partition_read(const char *driver, struct arena *arena, struct device_facts *device);
/* Marks devices that consume a part of what another of the same model consumes, of the same counter
 * sets: they are parts of that GPU. */
void partition_compare(struct device_facts *devices, size_t n);

#endif

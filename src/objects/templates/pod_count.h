/*
 * pod_count: how many pods the objects around a template request. Counts multiply from the root
 * down to the template.
 */
#ifndef OBJECTS_TEMPLATES_POD_COUNT_H
#define OBJECTS_TEMPLATES_POD_COUNT_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct pod_count {
    int64_t n;
    bool known; /* false: no count was given */
};

/* An object on the path to a template. */
struct counting_object {
    const json_t *object;
    const char *name;   /* its key, or that of its array: "spec", "workerGroupSpecs" */
    const char *within; /* the key of the object around it */
    const char *next;   /* its key towards the template */
};

/* Multiplies by what the object counts. -EINVAL: an invalid count; the message begins with its
 * key. */
int pod_count_multiply(const struct counting_object *at, struct pod_count *count, struct err *err);
/* The members that pod_count_multiply() reads, with spaces between them. */
const char *pod_count_reads(const struct counting_object *at);
/* Multiplies by the member, if the object has it. */
int pod_count_multiply_by(const json_t *object, const char *key, struct pod_count *count,
                          struct err *err);
int pod_count_times(struct pod_count *count, const char *key, int64_t n, struct err *err);

#endif

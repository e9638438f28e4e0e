/*
 * pod_count: how many pods the objects around a template ask for.
 */
#ifndef OBJECTS_POD_COUNT_H
#define OBJECTS_POD_COUNT_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct pod_count {
    int64_t n;
    bool known; /* false: nothing said how many */
};

/* Multiplies by the counts that stand in an object on the way from the root to a template. name is
 * the key that the object itself lies under ("spec", "workerGroupSpecs"), next the key inside it
 * that leads on to the template. -EINVAL: a count that is none; the message begins with the key. */
int pod_count_multiply(const json_t *object, const char *name, const char *next,
                       struct pod_count *count, struct err *err);

#endif

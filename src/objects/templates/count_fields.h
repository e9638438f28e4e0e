/*
 * count_fields: members beside and above a pod template that may multiply or empty it, told by
 * their names: size, numNodes, workerReplicas, minReplicas, suspend, mode. For kinds whose counts
 * nobody here knows.
 */
#ifndef OBJECTS_TEMPLATES_COUNT_FIELDS_H
#define OBJECTS_TEMPLATES_COUNT_FIELDS_H

#include "base/arena.h"

#include <jansson.h>
#include <stddef.h>

#define COUNT_FIELDS_MAX ((size_t)8)

struct count_fields {
    const char *paths[COUNT_FIELDS_MAX]; /* the first; each once */
    size_t n;
};

/* An object on the way to a pod template. */
struct counted_object {
    const json_t *object;
    const char *path; /* "" for the root */
    const char *next; /* the member towards the template */
    const char *read; /* the members that the count is made of: "replicas suspend" */
};

/* Adds one, which is borrowed. */
void count_fields_add_path(struct count_fields *fields, const char *path);
/* Adds those of the object that were not read, and of objects in it without a pod template. All in
 * the arena. */
void count_fields_add(struct count_fields *fields, const struct counted_object *counting,
                      struct arena *arena);

#endif

/*
 * warned: an object of a manifest, and warnings about it.
 */
#ifndef OBJECTS_WARNED_H
#define OBJECTS_WARNED_H

#include "objects/workload.h"

struct warned {
    const char *kind;
    const char *namespace_;
    const char *name;
    const json_t *object;
    struct arena *arena;
    struct workload_list *list; /* gets the warnings */
};

/* Whether no more warnings fit. */
bool warned_is_full(const struct warned *warned);
/* Appends a warning; both texts are borrowed. Not if the list is full, or has it. */
void warned_add(const struct warned *warned, const char *path, const char *message);

#endif

/*
 * problems: objects that were left out, with the reason. Private to inventory.
 */
#ifndef INVENTORY_PROBLEMS_H
#define INVENTORY_PROBLEMS_H

#include "base/arena.h"
#include "inventory/inventory.h"

/* Further problems are only counted. */
#define PROBLEMS_MAX 1000

/* For an object without a name. */
#define PROBLEMS_UNNAMED "(unnamed)"
#define PROBLEMS_NO_NAME "has no metadata.name"

struct problems {
    struct arena *arena;
    struct inventory_problem items[PROBLEMS_MAX];
    size_t n; /* of items */
    size_t n_all;
};

struct problems *problems_new(void);
void problems_free(struct problems *problems);
/* Copies the strings, and logs the problem. */
void problems_add(struct problems *problems, const char *kind, const char *name, const char *what);

#endif

/*
 * wanting: the shapes whose live pods want a GPU resource, those that take most of it together
 * first, equal ones by shape_order(). Private to ledger.
 */
#ifndef LEDGER_WANTING_H
#define LEDGER_WANTING_H

#include <stddef.h>
#include <stdint.h>

struct shape_entry;

struct wanting_item {
    struct shape_entry *shape;
    int64_t amount; /* a pod */
};

struct wanting {
    struct wanting_item *items;
    size_t n;
    size_t n_room;
};

/* By the shape's n_live, which must not change while the shape is in. Where it is in the list. */
size_t wanting_add(struct wanting *wanting, struct shape_entry *shape, int64_t amount);
/* It must be in. Where it was. */
size_t wanting_remove(struct wanting *wanting, struct shape_entry *shape, int64_t amount);
void wanting_fini(struct wanting *wanting);

#endif

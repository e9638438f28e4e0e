/*
 * demand_index: the shapes whose live pods want a GPU resource, those that take most of it together
 * first, equal ones by shape_order(). Private to ledger.
 */
#ifndef LEDGER_DEMAND_INDEX_H
#define LEDGER_DEMAND_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct shape_entry;

struct demand_index_item {
    struct shape_entry *shape;
    int64_t amount; /* a pod */
};

struct demand_index {
    struct demand_index_item *items;
    size_t n;
    size_t n_room;
};

/* By the shape's n_live, which must not change while the shape is in. Where it is in the list. */
size_t demand_index_add(struct demand_index *index, struct shape_entry *shape, int64_t amount);
/* It must be in. Where it was. */
size_t demand_index_remove(struct demand_index *index, struct shape_entry *shape, int64_t amount);
void demand_index_fini(struct demand_index *index);

#endif

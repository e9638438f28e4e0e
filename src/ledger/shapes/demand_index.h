/*
 * demand_index: shapes whose live pods need a GPU resource. Shapes whose pods need most of it in
 * sum come first; ties follow shape_order(). Private to ledger.
 */
#ifndef LEDGER_SHAPES_DEMAND_INDEX_H
#define LEDGER_SHAPES_DEMAND_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct shape_entry;

struct demand_index_item {
    struct shape_entry *shape;
    int64_t amount; /* per pod */
};

struct demand_index {
    struct demand_index_item *items;
    size_t n;
    size_t n_room;
};

/* Sorts by the shape's n_live, which must not change while the shape is listed. Returns the
 * index. */
size_t demand_index_add(struct demand_index *index, struct shape_entry *shape, int64_t amount);
/* The shape must be listed. Returns its former index. */
size_t demand_index_remove(struct demand_index *index, struct shape_entry *shape, int64_t amount);
void demand_index_fini(struct demand_index *index);

#endif

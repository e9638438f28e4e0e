/*
 * arena_table: a hash table by bytes that lies in an arena, so nobody frees it. Private to decide.
 */
#ifndef DECIDE_ARENA_TABLE_H
#define DECIDE_ARENA_TABLE_H

#include "base/arena.h"

/* The first member of each item. */
struct arena_item {
    const void *key; /* borrowed */
    size_t len;
    struct arena_item *next, *next_added;
};

struct arena_table {
    struct arena_item **buckets;
    struct arena_item *first, *last; /* in order of addition: next_added */
    size_t n, n_buckets;
};

/* NULL: none. */
struct arena_item *arena_table_find(const struct arena_table *table, const void *key, size_t len);
/* Sets the key of the item, which must not be there yet. */
void arena_table_add(struct arena_table *table, struct arena_item *item, const void *key,
                     size_t len, struct arena *arena);

#endif

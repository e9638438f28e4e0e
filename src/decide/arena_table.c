/* arena_table: see arena_table.h. */
#include "arena_table.h"
#include "base/hash.h"

#include <string.h>

#define BUCKETS_MIN 16

static struct arena_item **bucket_of(const struct arena_table *table, const void *key, size_t len)
{
    return &table->buckets[hash_keyed(hash_key(), key, len) % table->n_buckets];
}

struct arena_item *arena_table_find(const struct arena_table *table, const void *key, size_t len)
{
    struct arena_item *item = table->n > 0 ? *bucket_of(table, key, len) : NULL;
    while (item && (item->len != len || memcmp(item->key, key, len) != 0))
        item = item->next;
    return item;
}

static void put(struct arena_table *table, struct arena_item *item)
{
    struct arena_item **bucket = bucket_of(table, item->key, item->len);
    item->next = *bucket;
    *bucket = item;
}

static void grow(struct arena_table *table, struct arena *arena)
{
    table->n_buckets = table->n_buckets > 0 ? 2 * table->n_buckets : BUCKETS_MIN;
    table->buckets = ARENA_ARRAY(arena, struct arena_item *, table->n_buckets);
    for (struct arena_item *item = table->first; item; item = item->next_added)
        put(table, item);
}

void arena_table_add(struct arena_table *table, struct arena_item *item, const void *key,
                     size_t len, struct arena *arena)
{
    if (table->n == table->n_buckets)
        grow(table, arena);
    item->key = key;
    item->len = len;
    *(table->last ? &table->last->next_added : &table->first) = item;
    table->last = item;
    table->n++;
    put(table, item);
}

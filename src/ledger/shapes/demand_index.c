/* demand_index: see shapes.h. */
#include "base/mem.h"
#include "ledger/shapes/shapes.h"

#include <stdlib.h>
#include <string.h>

static int64_t taken(const struct demand_index_item *item)
{
    int64_t product = 0;
    return __builtin_mul_overflow(item->shape->n_live, item->amount, &product) ? INT64_MAX
                                                                               : product;
}

/* Compares contents. Serials only separate two shapes that a tenant built with the same order. */
static int compare_orders(const struct shape_entry *a, const struct shape_entry *b)
{
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->serial > b->serial) - (a->serial < b->serial);
}

static int compare(const struct demand_index_item *a, const struct demand_index_item *b)
{
    const int64_t taken_a = taken(a);
    const int64_t taken_b = taken(b);
    if (taken_a != taken_b)
        return taken_a > taken_b ? -1 : 1;
    return compare_orders(a->shape, b->shape);
}

/* The index of the first item that is not before this one. */
static size_t place_of(const struct demand_index *index, const struct demand_index_item *item)
{
    size_t low = 0;
    size_t high = index->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&index->items[middle], item) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t demand_index_add(struct demand_index *index, struct shape_entry *shape, int64_t amount)
{
    const struct demand_index_item item = {shape, amount};
    const size_t at = place_of(index, &item);
    if (index->n == index->n_room) {
        index->n_room = index->n_room > 0 ? 2 * index->n_room : 16;
        index->items = mem_grow(index->items, index->n_room, sizeof item);
    }
    struct demand_index_item *place = &index->items[at];
    memmove(place + 1, place, (index->n - at) * sizeof item);
    *place = item;
    index->n++;
    return at;
}

size_t demand_index_remove(struct demand_index *index, struct shape_entry *shape, int64_t amount)
{
    const struct demand_index_item item = {shape, amount};
    const size_t at = place_of(index, &item);
    struct demand_index_item *place = &index->items[at];
    index->n--;
    memmove(place, place + 1, (index->n - at) * sizeof item);
    return at;
}

void demand_index_fini(struct demand_index *index)
{
    free(index->items);
}

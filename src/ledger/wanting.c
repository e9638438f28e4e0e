/* wanting: see wanting.h. */
#include "wanting.h"
#include "base/mem.h"
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

static int64_t taken(const struct wanting_item *item)
{
    int64_t product = 0;
    return __builtin_mul_overflow(item->shape->n_live, item->amount, &product) ? INT64_MAX
                                                                               : product;
}

/* By contents; the serial only tells apart two that somebody has made to have the same order. */
static int compare_orders(const struct shape_entry *a, const struct shape_entry *b)
{
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->serial > b->serial) - (a->serial < b->serial);
}

static int compare(const struct wanting_item *a, const struct wanting_item *b)
{
    const int64_t taken_a = taken(a);
    const int64_t taken_b = taken(b);
    if (taken_a != taken_b)
        return taken_a > taken_b ? -1 : 1;
    return compare_orders(a->shape, b->shape);
}

/* The first item that does not come before this one. */
static size_t place_of(const struct wanting *wanting, const struct wanting_item *item)
{
    size_t low = 0;
    size_t high = wanting->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&wanting->items[middle], item) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t wanting_add(struct wanting *wanting, struct shape_entry *shape, int64_t amount)
{
    const struct wanting_item item = {shape, amount};
    const size_t at = place_of(wanting, &item);
    if (wanting->n == wanting->n_room) {
        wanting->n_room = wanting->n_room > 0 ? 2 * wanting->n_room : 16;
        wanting->items = mem_grow(wanting->items, wanting->n_room, sizeof item);
    }
    struct wanting_item *place = &wanting->items[at];
    memmove(place + 1, place, (wanting->n - at) * sizeof item);
    *place = item;
    wanting->n++;
    return at;
}

size_t wanting_remove(struct wanting *wanting, struct shape_entry *shape, int64_t amount)
{
    const struct wanting_item item = {shape, amount};
    const size_t at = place_of(wanting, &item);
    struct wanting_item *place = &wanting->items[at];
    wanting->n--;
    memmove(place, place + 1, (wanting->n - at) * sizeof item);
    return at;
}

void wanting_fini(struct wanting *wanting)
{
    free(wanting->items);
}

/* first: see first.h. */
#include "api/first.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct first first_new(size_t limit, int (*compare)(const void *a, const void *b))
{
    return (struct first){
        .items = MEM_ARRAY(const void *, 2 * limit), .limit = limit, .compare = compare};
}

void first_sort(struct first *first)
{
    if (first->n > 1)
        qsort(first->items, first->n, sizeof(const void *), first->compare);
    if (first->n < first->limit)
        return;
    first->is_cut = first->is_cut || first->n > first->limit;
    first->n = first->limit;
    first->last = first->items[first->n - 1];
}

void first_add(struct first *first, const void *item)
{
    if (first->last && first->compare(&item, &first->last) > 0) {
        first->is_cut = true;
        return;
    }
    first->items[first->n++] = item;
    if (first->n == 2 * first->limit)
        first_sort(first);
}

void first_fini(struct first *first)
{
    free(first->items);
}

int first_order(const char *namespace_, const char *name, const char *other_namespace,
                const char *other_name)
{
    const int order = strcmp(namespace_, other_namespace);
    return order != 0 ? order : strcmp(name, other_name);
}

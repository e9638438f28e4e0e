/*
 * first: of many items the first in an order, without sorting all of them; and the order of pages.
 * Private to api.
 */
#ifndef API_FIRST_H
#define API_FIRST_H

#include <stdbool.h>
#include <stddef.h>

struct first {
    const void **items; /* borrowed; after first_sort() in order, at most limit */
    size_t n, limit;
    int (*compare)(const void *a, const void *b); /* of pointers to items, as for qsort() */
    const void *last; /* limit of the items come before it, or are it; NULL: there are fewer */
    bool is_cut;      /* some are left out */
};

/* limit > 0. */
struct first first_new(size_t limit, int (*compare)(const void *a, const void *b));
void first_add(struct first *first, const void *item);
/* Call it after the last item. */
void first_sort(struct first *first);
void first_fini(struct first *first);

/* The order of pages, as strcmp() of namespaces, then of names. */
int first_order(const char *namespace_, const char *name, const char *other_namespace,
                const char *other_name);

#endif

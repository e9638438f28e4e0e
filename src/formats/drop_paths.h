/*
 * drop_paths: which member of an object is to be skipped, by its path ("metadata.managedFields").
 *
 * A place is where a reader stands: the first len bytes of a path, "metadata." being the inside of
 * that object, or "spec.containers[]." the inside of each of that list's elements. Keys may hold
 * '.' themselves. Paths that begin alike stand together: one that stands apart from them drops
 * nothing.
 */
#ifndef FORMATS_DROP_PATHS_H
#define FORMATS_DROP_PATHS_H

#include <stdbool.h>
#include <stddef.h>

struct drop_place {
    const char *const *first; /* of the paths that lead here; NULL: nothing below is dropped */
    const char *const *last;
    size_t len;
    bool of_elements; /* the value should be a list, and the place is inside its elements */
};

enum drop_verdict {
    DROP_NOTHING, /* keep the member, with all that is in it */
    DROP_BELOW,   /* something inside the member is dropped */
    DROP_MEMBER,
};

/* The place to begin with, inside an item. paths end with NULL; NULL itself drops nothing. */
struct drop_place drop_paths_root(const char *const *paths);

/* What to do with the member; *ret_inside is the place inside it. */
enum drop_verdict drop_paths_member(struct drop_place place, const char *key, size_t key_len,
                                    struct drop_place *ret_inside);

#endif

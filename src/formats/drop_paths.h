/*
 * drop_paths: which member of an object is to be skipped, by its path ("metadata.managedFields").
 *
 * A place is where a reader stands: the first len bytes of path, "metadata." being the inside of
 * that object. Keys may hold '.' themselves. Paths do not lead through arrays.
 */
#ifndef FORMATS_DROP_PATHS_H
#define FORMATS_DROP_PATHS_H

#include <stddef.h>

struct drop_place {
    const char *path; /* NULL: nothing below is dropped */
    size_t len;
};

enum drop_verdict {
    DROP_NOTHING, /* keep the member, with all that is in it */
    DROP_BELOW,   /* something inside the member is dropped */
    DROP_MEMBER,
};

/* The place to begin with, inside an item. paths end with NULL; NULL itself drops nothing. */
struct drop_place drop_paths_root(const char *const *paths);

/* What to do with the member; *ret_inside is the place inside it. */
enum drop_verdict drop_paths_member(const char *const *paths, struct drop_place place,
                                    const char *key, size_t key_len, struct drop_place *ret_inside);

#endif

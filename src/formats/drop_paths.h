/*
 * drop_paths: selects members of an object to skip, or the only ones to read, by path
 * ("metadata.managedFields").
 *
 * A place is a reader's position: the first len bytes of a path. "metadata." is the inside of that
 * object, "spec.containers[]." the inside of each element of that list. Keys may contain '.'; "*"
 * is any key. Paths with a common prefix must be adjacent; one that is not has no effect.
 */
#ifndef FORMATS_DROP_PATHS_H
#define FORMATS_DROP_PATHS_H

#include <stdbool.h>
#include <stddef.h>

struct drop_place {
    const char *const *first; /* paths with this prefix; NULL: nothing below is dropped */
    const char *const *last;
    size_t len;
    bool of_elements; /* expects a list; the place is inside its elements */
    bool is_only;     /* all but the paths is dropped */
};

enum drop_verdict {
    DROP_NOTHING, /* keep the whole member */
    DROP_BELOW,   /* drop something inside the member */
    DROP_MEMBER,
};

/* The place inside an item. NULL ends paths; paths NULL drops nothing. */
struct drop_place drop_paths_root(const char *const *paths);
/* The same for the only paths to read. */
struct drop_place drop_paths_only(const char *const *paths);

/* The verdict on the member; *ret_inside is the place inside it. */
enum drop_verdict drop_paths_member(struct drop_place place, const char *key, size_t key_len,
                                    struct drop_place *ret_inside);

#endif

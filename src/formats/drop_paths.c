/* drop_paths: see drop_paths.h. A place points into one of the paths, so nothing is built. */
#include "drop_paths.h"

#include <string.h>

struct drop_place drop_paths_root(const char *const *paths)
{
    return (struct drop_place){paths && paths[0] ? "" : NULL, 0};
}

enum drop_verdict drop_paths_member(const char *const *paths, struct drop_place place,
                                    const char *key, size_t key_len, struct drop_place *ret_inside)
{
    *ret_inside = (struct drop_place){NULL, 0};
    if (!place.path)
        return DROP_NOTHING;
    for (const char *const *path = paths; *path; path++) {
        if (strncmp(*path, place.path, place.len) != 0)
            continue;
        const char *rest = *path + place.len;
        if (strncmp(rest, key, key_len) != 0)
            continue;
        if (rest[key_len] == '\0')
            return DROP_MEMBER;
        if (rest[key_len] == '.')
            *ret_inside = (struct drop_place){*path, place.len + key_len + 1};
    }
    return ret_inside->path ? DROP_BELOW : DROP_NOTHING;
}

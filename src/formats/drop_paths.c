/* drop_paths: see drop_paths.h. A place refers to a range of the paths, so it needs no memory. */
#include "drop_paths.h"

struct drop_place drop_paths_root(const char *const *paths)
{
    struct drop_place place = {.first = NULL};
    for (; paths && *paths; paths++) {
        place.first = place.first ? place.first : paths;
        place.last = paths;
    }
    return place;
}

struct drop_place drop_paths_only(const char *const *paths)
{
    struct drop_place place = drop_paths_root(paths);
    place.is_only = place.first != NULL;
    return place;
}

/* Runs for every key. Most differ in the first bytes, so a call would cost more. */
static inline bool begins_with(const char *text, const char *beginning, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != beginning[i])
            return false;
    }
    return true;
}

/* Bytes of rest, after the key, that lead into its value; 0: none. */
static inline size_t step_in(const char *rest)
{
    static const char ELEMENTS[] = "[].";
    if (*rest == '.')
        return 1;
    return begins_with(rest, ELEMENTS, sizeof ELEMENTS - 1) ? sizeof ELEMENTS - 1 : 0;
}

/* found: the place of one path. */
static void lead_in(struct drop_place found, struct drop_place *inside)
{
    if (!inside->first)
        *inside = found;
    else if (found.first == inside->last + 1 && found.len == inside->len)
        inside->last = found.first;
}

enum drop_verdict drop_paths_member(struct drop_place place, const char *key, size_t key_len,
                                    struct drop_place *ret_inside)
{
    *ret_inside = (struct drop_place){.first = NULL};
    if (!place.first)
        return DROP_NOTHING;
    for (const char *const *path = place.first; path <= place.last; path++) {
        const char *rest = *path + place.len;
        const size_t len = *rest == '*' ? 1 : key_len;
        if (*rest != '*' && !begins_with(rest, key, key_len))
            continue;
        rest += len;
        if (*rest == '\0')
            return place.is_only ? DROP_NOTHING : DROP_MEMBER;
        const size_t step = step_in(rest);
        if (step > 0)
            lead_in(
                (struct drop_place){path, path, place.len + len + step, step > 1, place.is_only},
                ret_inside);
    }
    if (ret_inside->first)
        return DROP_BELOW;
    return place.is_only ? DROP_MEMBER : DROP_NOTHING;
}

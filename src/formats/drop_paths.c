/* drop_paths: see drop_paths.h. A place points to some of the paths, so nothing is built. */
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

/* Asked at every key: most differ in their first bytes, which no call is worth. */
static inline bool begins_with(const char *text, const char *beginning, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != beginning[i])
            return false;
    }
    return true;
}

/* How much of the rest, behind the key, leads into what the key has; 0: it does not. */
static inline size_t step_in(const char *rest)
{
    static const char ELEMENTS[] = "[].";
    if (*rest == '.')
        return 1;
    return begins_with(rest, ELEMENTS, sizeof ELEMENTS - 1) ? sizeof ELEMENTS - 1 : 0;
}

static void lead_in(const char *const *path, size_t len, bool of_elements,
                    struct drop_place *inside)
{
    if (!inside->first)
        *inside = (struct drop_place){path, path, len, of_elements};
    else if (path == inside->last + 1 && len == inside->len)
        inside->last = path;
}

enum drop_verdict drop_paths_member(struct drop_place place, const char *key, size_t key_len,
                                    struct drop_place *ret_inside)
{
    *ret_inside = (struct drop_place){.first = NULL};
    if (!place.first)
        return DROP_NOTHING;
    for (const char *const *path = place.first; path <= place.last; path++) {
        const char *rest = *path + place.len;
        if (!begins_with(rest, key, key_len))
            continue;
        rest += key_len;
        if (*rest == '\0')
            return DROP_MEMBER;
        const size_t step = step_in(rest);
        if (step > 0)
            lead_in(path, place.len + key_len + step, step > 1, ret_inside);
    }
    return ret_inside->first ? DROP_BELOW : DROP_NOTHING;
}

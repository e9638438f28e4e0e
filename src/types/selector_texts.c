/* selector_texts: see include/types/selector_texts.h. */
#include "types/selector_texts.h"

#include <string.h>

bool selector_texts_equal(const struct selector_texts *a, const struct selector_texts *b)
{
    if (a->n != b->n || a->is_cut != b->is_cut)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->texts[i], b->texts[i]) != 0)
            return false;
    return true;
}

struct selector_texts selector_texts_copy(const struct selector_texts *selectors,
                                          struct arena *arena)
{
    const char **texts = ARENA_ARRAY(arena, const char *, selectors->n);
    for (size_t i = 0; i < selectors->n; i++)
        texts[i] = arena_strdup(arena, selectors->texts[i]);
    return (struct selector_texts){texts, selectors->n, selectors->is_cut};
}

/* models_here: see candidates.h. */
#include "api/verdicts/candidates.h"

#include <string.h>

bool models_here_see(struct seen_name **seen, const char *name, struct arena *arena)
{
    struct seen_name *known = NULL;
    HASH_FIND_STR(*seen, name, known);
    if (known)
        return false;
    known = ARENA_NEW(arena, struct seen_name);
    known->name = name;
    HASH_ADD_KEYPTR(hh, *seen, known->name, strlen(known->name), known);
    return true;
}

void models_here_find(struct models_here *here, const struct candidates *candidates,
                      struct arena *arena)
{
    struct seen_name *names = NULL;
    if (here->is_known)
        return;
    here->is_known = true;
    here->shown = (struct name_list){.text = ""};
    for (size_t i = 0; i < candidates->n; i++) {
        size_t n = here->list.n;
        model_list_add(&here->list, node_traits(candidates->items[i].node), arena);
        for (; n < here->list.n; n++) {
            const char *name = gpu_model_name(&here->list.items[n].model, arena);
            if (models_here_see(&names, name, arena))
                text_names_add(&here->shown, name, arena);
        }
    }
    model_list_seal(&here->list);
    HASH_CLEAR(hh, names);
}

/* models_here: see models_here.h. */
#include "api/verdicts/models_here.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/model_words.h"
#include "base/table.h"

#include <string.h>

/* Different models compared with a name. */
#define MODELS_COMPARED ((size_t)100)

struct seen_name {
    const char *name;
    UT_hash_handle hh;
};

const char *models_here_name(const struct gpu_model *model, struct arena *arena)
{
    char text[128];
    const char *sharing = model_words_sharing(model, arena);
    return arena_printf(arena, "%s%s%s", gpu_model_text(model, text), sharing[0] ? "-" : "",
                        sharing);
}

/* Whether the name is new in the table. Borrows it. */
static bool see(struct seen_name **seen, const char *name, struct arena *arena)
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

/* Grows the list, which is full at every power of two. */
static void append(struct models_here *here, const struct node_traits *traits, struct arena *arena)
{
    const size_t n = here->n;
    if ((n & (n - 1)) == 0) {
        struct gpu_model_there *items = ARENA_ARRAY(arena, struct gpu_model_there, n ? 2 * n : 1);
        if (n > 0)
            memcpy(items, here->items, n * sizeof *items);
        here->items = items;
    }
    here->items[here->n++] = (struct gpu_model_there){traits->model, traits->gpu_memory_bytes};
}

/* Two nodes of a model may differ in memory: one without a memory label hides no other. */
void models_here_find(struct models_here *here, const struct candidates *candidates,
                      struct arena *arena)
{
    struct seen_name *words = NULL;
    struct seen_name *names = NULL;
    if (here->is_known)
        return;
    here->is_known = true;
    here->shown = (struct name_list){.text = ""};
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node_traits *traits = node_traits(candidates->items[i].node);
        if (!traits->model.chip[0] || !see(&words, traits->model_word, arena))
            continue;
        append(here, traits, arena);
        const char *name = models_here_name(&traits->model, arena);
        if (see(&names, name, arena))
            text_names_add(&here->shown, name, arena);
    }
    HASH_CLEAR(hh, words);
    HASH_CLEAR(hh, names);
}

bool models_here_have(const struct models_here *here, const struct gpu_model *want)
{
    for (size_t i = 0; i < here->n; i++) {
        if (gpu_model_satisfies(&here->items[i].model, here->items[i].memory_bytes, want))
            return true;
    }
    return false;
}

bool models_here_nearest(struct models_here *here, const struct gpu_model *want,
                         struct gpu_model *ret_model)
{
    const size_t n = here->n < MODELS_COMPARED ? here->n : MODELS_COMPARED;
    if (here->n_left < n)
        return false;
    here->n_left -= n;
    return gpu_model_nearest(want, here->items, n, ret_model);
}

/* model_list: see include/ledger/model_list.h. */
#include "ledger/model_list.h"
#include "base/table.h"

#include <string.h>

struct seen_model {
    const char *word;
    UT_hash_handle hh;
};

/* Grows the list, which is full at every power of two. */
static void append(struct model_list *list, const struct gpu_kind *kind, struct arena *arena)
{
    const size_t n = list->n;
    if ((n & (n - 1)) == 0) {
        struct gpu_model_there *items = ARENA_ARRAY(arena, struct gpu_model_there, n ? 2 * n : 1);
        if (n > 0)
            memcpy(items, list->items, n * sizeof *items);
        list->items = items;
    }
    list->items[list->n++] = (struct gpu_model_there){kind->model, kind->memory_bytes};
}

void model_list_add(struct model_list *list, const struct node_traits *traits, struct arena *arena)
{
    struct seen_model *known = NULL;
    HASH_FIND_STR(list->seen, traits->model_word, known);
    if (known)
        return;
    known = ARENA_NEW(arena, struct seen_model);
    known->word = traits->model_word;
    HASH_ADD_KEYPTR(hh, list->seen, known->word, strlen(known->word), known);
    for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));) {
        if (kind->model.chip[0])
            append(list, kind, arena);
    }
}

void model_list_seal(struct model_list *list)
{
    HASH_CLEAR(hh, list->seen);
}

bool model_list_has(const struct model_list *list, const struct gpu_model *want)
{
    for (size_t i = 0; i < list->n; i++) {
        if (gpu_model_satisfies(&list->items[i].model, list->items[i].memory_bytes, want))
            return true;
    }
    return false;
}

bool model_list_nearest(struct model_list *list, const struct gpu_model *want,
                        struct gpu_model *ret_model)
{
    const size_t n = list->n < MODEL_LIST_COMPARED ? list->n : MODEL_LIST_COMPARED;
    if (list->n_left < n)
        return false;
    list->n_left -= n;
    return gpu_model_nearest(want, list->items, n, ret_model);
}

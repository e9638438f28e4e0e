/* model_words: see candidates.h. */
#include "api/text.h"
#include "api/verdicts/candidates.h"
#include "types/quantity.h"

json_t *model_words_names(const struct gpu_model *models, size_t n, struct arena *arena)
{
    json_t *names = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(names, json_string(gpu_model_name(&models[i], arena)));
    return names;
}

json_t *model_words_json(const struct model_wants *wants, struct arena *arena)
{
    if (wants->n_accept == 0 && wants->n_exclude == 0 && wants->min_memory_bytes == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:I}", "models",
                     model_words_names(wants->accept, wants->n_accept, arena), "excludeModels",
                     model_words_names(wants->exclude, wants->n_exclude, arena), "minMemoryBytes",
                     (json_int_t)wants->min_memory_bytes);
}

/* Joined by " or ": "T4 or A100"; "" for none. */
static const char *names_text(const json_t *names, const char *joint, struct arena *arena)
{
    const char *text = "";
    size_t i = 0;
    json_t *name = NULL;
    json_array_foreach (names, i, name) {
        if (i == TEXT_NAMES_SHOWN)
            return arena_printf(arena, "%s%s%zu more", text, joint, json_array_size(names) - i);
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? joint : "", json_string_value(name));
    }
    return text;
}

/* Joins the parts with a comma. */
static const char *join(const char *left, const char *right, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s", left, left[0] && right[0] ? ", " : "", right);
}

/* Appends the excluded models and the minimum of memory. */
static const char *add_limits(const char *text, const json_t *wants, struct arena *arena)
{
    const char *excluded = names_text(json_object_get(wants, "excludeModels"), " or ", arena);
    const json_int_t memory = json_integer_value(json_object_get(wants, "minMemoryBytes"));
    char bytes[32];
    if (excluded[0])
        text = join(text, arena_printf(arena, "not %s", excluded), arena);
    if (memory > 0)
        text = join(
            text,
            arena_printf(arena, "at least %s of GPU memory", quantity_bytes_text(memory, bytes)),
            arena);
    return text;
}

const char *model_words_text(const json_t *wants, struct arena *arena)
{
    return add_limits(names_text(json_object_get(wants, "models"), " or ", arena), wants, arena);
}

const char *model_words_in_order(const json_t *wants, struct arena *arena)
{
    return names_text(json_object_get(wants, "models"), " or else ", arena);
}

const char *model_words_limits(const json_t *wants, struct arena *arena)
{
    return add_limits("", wants, arena);
}

bool model_words_exclude(const struct model_wants *wants, const struct gpu_model *model)
{
    for (size_t i = 0; i < wants->n_exclude; i++) {
        if (gpu_model_satisfies(model, 0, &wants->exclude[i]))
            return true;
    }
    return false;
}

/* "; "H10O": no node has it; did you mean H100?" for each such name among the first. */
static const char *guesses(const struct model_wants *wants, struct models_here *here,
                           struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < wants->n_accept && i < TEXT_NAMES_SHOWN; i++) {
        const struct gpu_model *want = &wants->accept[i];
        struct gpu_model meant;
        if (model_list_has(&here->list, want) || !model_list_nearest(&here->list, want, &meant) ||
            model_words_exclude(wants, &meant))
            continue;
        text = arena_printf(arena, "%s; \"%s\": no node has it; did you mean %s?", text,
                            gpu_model_name(want, arena), gpu_model_name(&meant, arena));
    }
    return text;
}

const char *model_words_hint(const size_t counts[N_REASONS], const struct model_wants *wants,
                             const struct candidates *candidates, struct arena *arena)
{
    if (counts[REASON_MODEL_UNKNOWN] + counts[REASON_MODEL_EXCLUDED] +
            counts[REASON_MODEL_NOT_WANTED] + counts[REASON_GPU_MEMORY] +
            counts[REASON_GPU_MEMORY_UNKNOWN] ==
        0)
        return "";
    json_auto_t *json = model_words_json(wants, arena);
    struct models_here *here = candidates->models;
    models_here_find(here, candidates, arena);
    return arena_printf(arena, "; it asks for %s, the GPUs here are %s%s",
                        model_words_text(json, arena),
                        here->shown.n > 0 ? text_names(&here->shown, arena) : "of unknown models",
                        guesses(wants, here, arena));
}

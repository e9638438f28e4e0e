/* selectors: see include/cel/selectors.h. */
#include "cel/selectors.h"

struct cel_selectors cel_selectors_compile(const char *const *texts, size_t n, bool is_cut,
                                           struct arena *arena)
{
    struct cel_selectors selectors = {
        .programs = ARENA_ARRAY(arena, struct cel_program *, n), .n = n, .is_cut = is_cut};
    for (size_t i = 0; i < n; i++)
        selectors.programs[i] = cel_compile(texts[i], arena);
    return selectors;
}

enum cel_verdict cel_selectors_verdict(const struct cel_selectors *selectors,
                                       const char **ret_message)
{
    for (size_t i = 0; i < selectors->n; i++) {
        const struct cel_program *program = selectors->programs[i];
        if (cel_verdict(program) == CEL_VALID)
            continue;
        *ret_message = cel_message(program);
        return cel_verdict(program);
    }
    *ret_message = selectors->is_cut ? "some of its selectors are left out" : "";
    return selectors->is_cut ? CEL_NOT_JUDGED : CEL_VALID;
}

struct cel_answer cel_selectors_evaluate(const struct cel_selectors *selectors,
                                         const struct cel_device *device, struct arena *arena,
                                         size_t *ret_i)
{
    struct cel_answer all = {.verdict = CEL_VALID, .value = true, .message = ""};
    size_t i = 0;
    for (; i < selectors->n && all.value; i += all.value) {
        struct cel_answer one = cel_evaluate(selectors->programs[i], device, arena);
        one.cost += all.cost;
        all = one;
    }
    *ret_i = i;
    return all;
}

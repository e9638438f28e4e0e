/* decisions_table: see decisions_table.h. */
#include "decisions_table.h"
#include "json_text.h"
#include "table.h"

#include <string.h>

/* "3 fits, 2 gpu_free" */
static const char *verdicts_text(const json_t *verdicts, struct arena *arena)
{
    const char *text = "";
    const char *reason = NULL;
    json_t *n = NULL;
    json_object_foreach ((json_t *)(uintptr_t)verdicts, reason, n)
        text = arena_printf(arena, "%s%s%lld %s", text, *text ? ", " : "",
                            (long long)json_integer_value(n), reason);
    return text;
}

/* "h100-1 10 (0.25), h100-2 9 (0.5)": score and cost */
static const char *best_text(const json_t *best, struct arena *arena)
{
    const char *text = "";
    size_t i = 0;
    json_t *choice = NULL;
    json_array_foreach (best, i, choice)
        text = arena_printf(arena, "%s%s%s %s (%g)", text, *text ? ", " : "",
                            json_text_of(choice, "node"), json_number_text(choice, "score", arena),
                            (double)json_integer_value(json_object_get(choice, "costMillionths")) /
                                1e6);
    return text;
}

static const char *outcome_text(const json_t *decision, struct arena *arena)
{
    const char *node = json_text_of(decision, "node");
    const char *error = json_text_of(decision, "error");
    const json_t *best = json_object_get(decision, "best");
    if (*node)
        return arena_printf(arena, "%s: %s", node, *error ? error : "bound");
    if (*error)
        return error;
    return json_array_size(best) > 0 ? best_text(best, arena)
                                     : verdicts_text(json_object_get(decision, "verdicts"), arena);
}

void decisions_table_write(const json_t *decisions, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"TIME", "VERB",   "POD",     "ASKED", "ON",
                                           "TOOK", "LEDGER", "OUTCOME", NULL};
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *decision = NULL;
    json_array_foreach (json_object_get(decisions, "decisions"), i, decision) {
        const json_t *pod = json_object_get(decision, "pod");
        table_add(
            table,
            (const char *[]){
                json_text_of(decision, "time"), json_text_of(decision, "verb"),
                arena_printf(arena, "%s/%s", json_text_of(pod, "namespace"),
                             json_text_of(pod, "name")),
                json_number_text(decision, "nodesAsked", arena),
                json_number_text(decision, "nodesHandedOn", arena),
                arena_printf(arena, "%s us", json_number_text(decision, "tookMicroseconds", arena)),
                json_number_text(decision, "ledgerVersion", arena), outcome_text(decision, arena)});
    }
    if (json_integer_value(json_object_get(decisions, "keep")) == 0)
        (void)buf_add_text(out, "none are kept: decisions.keep of the policy is 0\n\n");
    table_write(table, out);
}

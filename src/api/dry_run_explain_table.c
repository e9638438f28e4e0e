/* dry_run_explain_table: what ?explain=true adds to a dry run, for people. See dry_run_table.h. */
#include "dry_run_table.h"
#include "json_text.h"
#include "table.h"

#include <stdbool.h>
#include <string.h>

/* Whether the order of the pod's models sets any two of the nodes apart. */
static bool models_differ(const json_t *ranking)
{
    size_t i = 0;
    json_t *ranked = NULL;
    json_array_foreach (ranking, i, ranked) {
        if (json_integer_value(json_object_get(ranked, "modelRank")) > 0)
            return true;
    }
    return false;
}

/* "model 2, weight 50, 1 unpreferred taint, GPU node": what sets the node apart before its cost;
 * "-": nothing does. */
static const char *preference_text(const json_t *ranked, bool with_model, struct arena *arena)
{
    const long long model = json_integer_value(json_object_get(ranked, "modelRank"));
    const long long weight = json_integer_value(json_object_get(ranked, "preferredWeight"));
    const long long taints = json_integer_value(json_object_get(ranked, "unpreferredTaints"));
    const char *text = "";
    if (with_model)
        text = arena_printf(arena, ", model %lld", model + 1);
    if (weight > 0)
        text = arena_printf(arena, "%s, weight %lld", text, weight);
    if (taints > 0)
        text = arena_printf(arena, "%s, %lld unpreferred taint%s", text, taints,
                            taints == 1 ? "" : "s");
    if (json_integer_value(json_object_get(ranked, "gpuWork")) > 0)
        text = arena_printf(arena, "%s, GPU node", text);
    return text[0] ? text + strlen(", ") : "-";
}

/* "slotsLost 2.000 + drain 0.375" */
static const char *terms_text(const json_t *ranked, struct arena *arena)
{
    const char *text = "";
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (json_object_get(ranked, "terms"), name, value)
        text = arena_printf(arena, "%s%s%s %.3f", text, text[0] ? " + " : "", name,
                            json_real_value(value));
    return text;
}

static void write_ranking(const json_t *explain, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"PLACE", "NODE",    "SCORE",     "PREFERENCE",
                                           "COST",  "MADE OF", "FREE GPUS", NULL};
    const json_t *ranking = json_object_get(explain, "ranking");
    const bool with_model = models_differ(ranking);
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *ranked = NULL;
    json_array_foreach (ranking, i, ranked)
        table_add(table, (const char *[]){
                             json_number_text(ranked, "position", arena),
                             json_text_of(ranked, "node"), json_number_text(ranked, "score", arena),
                             preference_text(ranked, with_model, arena),
                             json_decimal_text(ranked, "cost", arena), terms_text(ranked, arena),
                             json_number_text(ranked, "freeGpus", arena)});
    if (i == 0)
        return;
    (void)buf_printf(out, "\nHow %s ranks them", json_text_of(explain, "policy"));
    const long long n_fitting = json_integer_value(json_object_get(explain, "fittingNodes"));
    if (n_fitting > (long long)i)
        (void)buf_printf(out, ", the best %zu of %lld", i, n_fitting);
    (void)buf_add_text(out, ":\n");
    table_write(table, out);
}

/* "12 -> 10" */
static const char *change_text(const json_t *change, const char *key, bool decimal,
                               struct arena *arena)
{
    const json_t *before = json_object_get(change, "before");
    const json_t *after = json_object_get(change, "after");
    const char *(*text_of)(const json_t *, const char *, struct arena *) =
        decimal ? json_decimal_text : json_number_text;
    const char *was = text_of(before, key, arena);
    const char *is = text_of(after, key, arena);
    return strcmp(was, is) == 0 ? was : arena_printf(arena, "%s -> %s", was, is);
}

static void write_fragmentation(const json_t *explain, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"RESOURCE",      "MODEL",       "FREE", "OF NO USE",
                                           "LARGEST BLOCK", "WHOLE NODES", NULL};
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *change = NULL;
    json_array_foreach (json_object_get(explain, "fragmentation"), i, change)
        table_add(table,
                  (const char *[]){json_text_of(change, "resource"), json_text_of(change, "model"),
                                   change_text(change, "free", false, arena),
                                   change_text(change, "fragmented", true, arena),
                                   change_text(change, "largestBlock", false, arena),
                                   change_text(change, "wholeNodes", false, arena)});
    if (i == 0)
        return;
    (void)buf_add_text(out, "\nFree GPUs before and after:\n");
    table_write(table, out);
}

void dry_run_explain_table_write(const json_t *explain, struct arena *arena, struct buf *out)
{
    write_ranking(explain, arena, out);
    write_fragmentation(explain, arena, out);
}

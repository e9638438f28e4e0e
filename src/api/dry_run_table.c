/* dry_run_table: see dry_run_table.h. */
#include "dry_run_table.h"
#include "basis.h"
#include "eviction.h"
#include "json_text.h"
#include "near_misses.h"
#include "table.h"
#include "verdict_table.h"

#include <string.h>

/* Replicas that follow each other and fare alike take one row. */
static size_t last_alike(const json_t *placements, size_t first)
{
    const json_t *placement = json_array_get(placements, first);
    size_t last = first;
    while (last + 1 < json_array_size(placements)) {
        const json_t *next = json_array_get(placements, last + 1);
        if (strcmp(json_text_of(placement, "node"), json_text_of(next, "node")) != 0 ||
            strcmp(json_text_of(placement, "reason"), json_text_of(next, "reason")) != 0)
            break;
        last++;
    }
    return last;
}

static void write_placements(const json_t *workload, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"REPLICA", "GOES TO", "WHY NOT", NULL};
    const json_t *placements = json_object_get(workload, "placements");
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *placement = NULL;
    if (json_array_size(placements) == 0)
        return;
    json_array_foreach (placements, i, placement) {
        const char *node = json_text_of(placement, "node");
        const char *replica = json_number_text(placement, "replica", arena);
        const size_t last = last_alike(placements, i);
        if (last > i)
            replica = arena_printf(arena, "%s-%zu", replica, last);
        table_add(table, (const char *[]){replica, node,
                                          node[0] ? "" : json_text_of(placement, "reason")});
        i = last;
    }
    (void)buf_add_text(out, "\n");
    table_write(table, out);
}

static void write_notes(const json_t *workload, struct buf *out)
{
    size_t i = 0;
    json_t *note = NULL;
    json_array_foreach (json_object_get(workload, "notEvaluated"), i, note)
        (void)buf_printf(out, "not evaluated: %s\n", json_string_value(note));
}

static void write_skipped(const json_t *result, struct buf *out)
{
    size_t i = 0;
    json_t *skipped = NULL;
    json_array_foreach (json_object_get(result, "skipped"), i, skipped)
        (void)buf_printf(out, "skipped: %s %s: %s\n", json_text_of(skipped, "kind"),
                         json_text_of(skipped, "name"), json_text_of(skipped, "why"));
}

void dry_run_table_write(const json_t *result, struct arena *arena, struct buf *out)
{
    const json_t *workloads = json_object_get(result, "workloads");
    size_t i = 0;
    json_t *workload = NULL;
    basis_write_warning(result, arena, out);
    if (json_array_size(workloads) != 1)
        (void)buf_printf(out, "%s\n", json_text_of(result, "summary"));
    json_array_foreach (workloads, i, workload) {
        (void)buf_printf(out, "%s%s\n", i > 0 ? "\n" : "", json_text_of(workload, "summary"));
        write_notes(workload, out);
        write_placements(workload, arena, out);
        verdict_table_write(json_object_get(workload, "nodes"), arena, out);
        near_misses_write(json_object_get(workload, "nearMisses"), out);
        eviction_write(json_object_get(workload, "preemption"), out);
        dry_run_explain_table_write(json_object_get(workload, "explain"), arena, out);
    }
    write_skipped(result, out);
}

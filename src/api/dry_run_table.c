/* dry_run_table: see dry_run_table.h. */
#include "dry_run_table.h"
#include "core/quantity.h"
#include "json_text.h"
#include "table.h"

#include <stdbool.h>
#include <string.h>

/* Of the nodes that one reason keeps from a workload, so many are named. */
#define MAX_NAMES ((size_t)6)

/* "2 nvidia.com/gpu, 1500m cpu, 3Gi memory" */
static const char *lacks_text(const json_t *lacks, struct arena *arena)
{
    const char *text = "";
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach ((json_t *)(uintptr_t)lacks, resource, amount) {
        char bytes[32];
        const int64_t n = json_integer_value(amount);
        const char *shown = NULL;
        if (strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0)
            shown = quantity_bytes_text(n, bytes);
        else
            shown = arena_printf(arena, "%lld%s", (long long)n,
                                 strcmp(resource, "cpu") == 0 ? "m" : "");
        text = arena_printf(arena, "%s%s%s %s", text, text[0] ? ", " : "", shown, resource);
    }
    return text;
}

static bool fits(const json_t *node)
{
    return json_is_true(json_object_get(node, "fits"));
}

static void write_fitting_nodes(const json_t *nodes, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"FITS ON", "SCORE", NULL};
    struct table *table = table_new(arena, HEADINGS);
    size_t n = 0;
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node) {
        if (!fits(node))
            continue;
        n++;
        table_add(table, (const char *[]){json_text_of(node, "node"),
                                          json_number_text(node, "score", arena)});
    }
    if (n > 0) {
        (void)buf_add_text(out, "\n");
        table_write(table, out);
    }
}

/* Whether what the node lacks is why it does not fit. */
static bool is_about_room(const char *reason)
{
    static const char *const REASONS[] = {"gpu_total", "gpu_free", "cpu",
                                          "memory",    "pods",     "resource"};
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++) {
        if (strcmp(REASONS[i], reason) == 0)
            return true;
    }
    return false;
}

/* "k80-alpha-2 (lacks 2 nvidia.com/gpu)" */
static const char *node_text(const json_t *node, struct arena *arena)
{
    const char *name = json_text_of(node, "node");
    if (!is_about_room(json_text_of(node, "reason")))
        return name;
    return arena_printf(arena, "%s (lacks %s)", name,
                        lacks_text(json_object_get(node, "lacks"), arena));
}

/* The nodes with the same message as the first, from there on; they are marked as told. */
static void add_refusal(struct table *table, const json_t *nodes, size_t first, bool *told,
                        struct arena *arena)
{
    const char *message = json_text_of(json_array_get(nodes, first), "message");
    const char *names = "";
    size_t n = 0;
    for (size_t i = first; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        if (fits(node) || strcmp(json_text_of(node, "message"), message) != 0)
            continue;
        told[i] = true;
        if (n++ < MAX_NAMES)
            names =
                arena_printf(arena, "%s%s%s", names, names[0] ? ", " : "", node_text(node, arena));
    }
    if (n > MAX_NAMES)
        names = arena_printf(arena, "%s and %zu more", names, n - MAX_NAMES);
    table_add(table, (const char *[]){arena_printf(arena, "%zu", n), message, names});
}

static void write_refusals(const json_t *nodes, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"NODES", "WHY NOT", "WHICH", NULL};
    struct table *table = table_new(arena, HEADINGS);
    bool *told = ARENA_ARRAY(arena, bool, json_array_size(nodes));
    size_t n = 0;
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node) {
        if (fits(node) || told[i])
            continue;
        add_refusal(table, nodes, i, told, arena);
        n++;
    }
    if (n > 0) {
        (void)buf_add_text(out, "\n");
        table_write(table, out);
    }
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
        table_add(table, (const char *[]){json_number_text(placement, "replica", arena), node,
                                          node[0] ? "" : json_text_of(placement, "reason")});
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
    if (json_array_size(workloads) != 1)
        (void)buf_printf(out, "%s\n", json_text_of(result, "summary"));
    json_array_foreach (workloads, i, workload) {
        (void)buf_printf(out, "%s%s\n", i > 0 ? "\n" : "", json_text_of(workload, "summary"));
        write_notes(workload, out);
        write_placements(workload, arena, out);
        write_fitting_nodes(json_object_get(workload, "nodes"), arena, out);
        write_refusals(json_object_get(workload, "nodes"), arena, out);
    }
    write_skipped(result, out);
}

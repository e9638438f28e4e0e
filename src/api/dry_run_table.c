/* dry_run_table: see dry_run_table.h. */
#include "dry_run_table.h"
#include "core/quantity.h"
#include "few.h"
#include "json_text.h"
#include "table.h"

#include <stdbool.h>
#include <string.h>

#include <uthash.h>

static const char *amount_text(const char *resource, int64_t n, struct arena *arena)
{
    char bytes[32];
    if (strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0)
        return arena_printf(arena, "%s %s", quantity_bytes_text(n, bytes), resource);
    return arena_printf(arena, "%lld%s %s", (long long)n, strcmp(resource, "cpu") == 0 ? "m" : "",
                        resource);
}

/* "2 nvidia.com/gpu, 1500m cpu, 3Gi memory" */
static const char *lacks_text(const json_t *lacks, struct arena *arena)
{
    struct few few = {.text = ""};
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach ((json_t *)(uintptr_t)lacks, resource, amount)
        few_add(&few,
                few_is_full(&few) ? NULL : amount_text(resource, json_integer_value(amount), arena),
                arena);
    return few_text(&few, arena);
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

/* The nodes that one reason keeps from the workload. */
struct refusal {
    const char *message;
    struct few nodes;
    UT_hash_handle hh;
};

static struct refusal *find_refusal(struct refusal **refusals, const char *message,
                                    struct arena *arena)
{
    struct refusal *refusal = NULL;
    HASH_FIND_STR(*refusals, message, refusal);
    if (!refusal) {
        refusal = ARENA_NEW(arena, struct refusal);
        refusal->message = message;
        refusal->nodes.text = "";
        HASH_ADD_KEYPTR(hh, *refusals, refusal->message, strlen(refusal->message), refusal);
    }
    return refusal;
}

static struct refusal *collect_refusals(const json_t *nodes, struct arena *arena)
{
    struct refusal *refusals = NULL;
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node) {
        if (fits(node))
            continue;
        struct refusal *refusal = find_refusal(&refusals, json_text_of(node, "message"), arena);
        few_add(&refusal->nodes, few_is_full(&refusal->nodes) ? NULL : node_text(node, arena),
                arena);
    }
    return refusals;
}

static void write_refusals(const json_t *nodes, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"NODES", "WHY NOT", "WHICH", NULL};
    struct refusal *refusals = collect_refusals(nodes, arena);
    struct table *table = table_new(arena, HEADINGS);
    if (!refusals)
        return;
    for (const struct refusal *refusal = refusals; refusal; refusal = refusal->hh.next)
        table_add(table, (const char *[]){arena_printf(arena, "%zu", refusal->nodes.n),
                                          refusal->message, few_text(&refusal->nodes, arena)});
    (void)buf_add_text(out, "\n");
    table_write(table, out);
    HASH_CLEAR(hh, refusals);
}

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

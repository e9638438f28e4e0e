/* verdict_table: see verdict_table.h. */
#include "verdict_table.h"
#include "base/table.h"
#include "core/quantity.h"
#include "few.h"
#include "json_text.h"
#include "table.h"

#include <stdbool.h>
#include <string.h>

static const char *amount_text(const char *resource, int64_t n, struct arena *arena)
{
    char bytes[32];
    if (strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0)
        return arena_printf(arena, "%s %s", quantity_bytes_text(n, bytes), resource);
    if (strcmp(resource, "cpu") != 0)
        return arena_printf(arena, "%lld %s", (long long)n, resource);
    if (n % 1000 == 0)
        return arena_printf(arena, "%lld cpu", (long long)n / 1000);
    return arena_printf(arena, "%lldm cpu", (long long)n);
}

const char *verdict_amounts_text(const json_t *amounts, struct arena *arena)
{
    struct few few = {.text = ""};
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach ((json_t *)(uintptr_t)amounts, resource, amount)
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

/* "k80-alpha-2 (lacks 2 nvidia.com/gpu now)" */
static const char *node_text(const json_t *node, struct arena *arena)
{
    const char *name = json_text_of(node, "node");
    if (!is_about_room(json_text_of(node, "reason")))
        return name;
    return arena_printf(arena, "%s (lacks %s now)", name,
                        verdict_amounts_text(json_object_get(node, "lacks"), arena));
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

void verdict_table_write(const json_t *nodes, struct arena *arena, struct buf *out)
{
    write_fitting_nodes(nodes, arena, out);
    write_refusals(nodes, arena, out);
}

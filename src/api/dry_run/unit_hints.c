/* unit_hints: see placement_run.h. */
#include "api/dry_run/placement_run.h"
#include "inventory/inventory.h"

#include <inttypes.h>
#include <string.h>

#define SHARES ".shared"

static void warn(struct dry_run *dry_run, const struct workload *workload, const struct need *need,
                 const char *message)
{
    const char *path = arena_printf(dry_run->arena, "resources[%s]", need->resource->name);
    if (dry_run->has_several_objects)
        path = arena_printf(dry_run->arena, "%s %s/%s: %s", workload->kind, workload->namespace_,
                            workload->object_name, path);
    if (json_array_size(dry_run->name_warnings) < WORKLOAD_WARNINGS_MAX)
        (void)json_array_append_new(dry_run->name_warnings,
                                    json_pack("{s:s, s:s}", "path", path, "message", message));
}

/* The first of the nodes that fit with a count that no label explains, and their number. */
static const struct gpu_unit *find_unverified(const struct candidates *candidates,
                                              const struct need *need, const char **ret_node,
                                              size_t *ret_n)
{
    const struct gpu_unit *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node_verdict *item = &candidates->items[i];
        const struct gpu_unit *unit =
            node_traits_unit(node_traits(item->node), need->resource->name);
        if (item->verdict != REASON_FITS || !unit || unit->n_counted == 0)
            continue;
        if (n++ == 0) {
            first = unit;
            *ret_node = node_name(item->node);
        }
    }
    *ret_n = n;
    return first;
}

static void warn_of_count(struct dry_run *dry_run, const struct workload *workload,
                          const struct need *need, const struct candidates *candidates)
{
    size_t n = 0;
    const char *node = NULL;
    const struct gpu_unit *unit = find_unverified(candidates, need, &node, &n);
    const char *more = n > 1 ? arena_printf(dry_run->arena, ", and %zu more nodes", n - 1) : "";
    if (unit)
        warn(dry_run, workload, need,
             arena_printf(dry_run->arena, "node %s%s: %s; its units may be shares of GPUs", node,
                          more, node_notes_of_count(unit, dry_run->arena)));
}

/* A row of shares that the policy does not count; NULL: none. */
static const struct node_resource *find_shares(const struct node *node, const struct need *need)
{
    size_t n = 0;
    const size_t len = strlen(need->resource->name);
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        const char *name = rows[i].resource->name;
        if (!rows[i].resource->is_gpu && rows[i].capacity > 0 &&
            strncmp(name, need->resource->name, len) == 0 && strcmp(name + len, SHARES) == 0)
            return &rows[i];
    }
    return NULL;
}

static void warn_of_shares(struct dry_run *dry_run, const struct workload *workload,
                           const struct need *need, const struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node *node = candidates->items[i].node;
        const struct node_resource *shares = find_shares(node, need);
        if (!shares)
            continue;
        warn(dry_run, workload, need,
             arena_printf(dry_run->arena,
                          "node %s offers shares of GPUs under another name: %" PRId64 " %s",
                          node_name(node), shares->capacity, shares->resource->name));
        return;
    }
}

void unit_hints_warn(struct dry_run *dry_run, const struct workload *workload,
                     const struct pod_shape *shape, const struct candidates *candidates)
{
    if (workload->problem)
        return;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        warn_of_count(dry_run, workload, &shape->needs[i], candidates);
        if (candidates->n_fitting == 0)
            warn_of_shares(dry_run, workload, &shape->needs[i], candidates);
    }
}

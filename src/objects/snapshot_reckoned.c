/* snapshot_reckoned: what a ledger reckons, to be compared. See include/objects/snapshot.h. */
#include "ledger/market.h"
#include "ledger/reservation.h"
#include "objects/snapshot.h"

#include <stdint.h>
#include <string.h>

struct reckoning {
    struct arena *arena;
    struct snapshot_lines lines;
    size_t n_max;
};

static void add(struct reckoning *reckoning, const char *what, int64_t n)
{
    struct snapshot_lines *lines = &reckoning->lines;
    if (lines->n == reckoning->n_max) {
        const size_t n_more = 2 * reckoning->n_max + 16;
        struct snapshot_line *items = ARENA_ARRAY(reckoning->arena, struct snapshot_line, n_more);
        if (lines->n > 0)
            memcpy(items, lines->items, lines->n * sizeof *items);
        lines->items = items;
        reckoning->n_max = n_more;
    }
    lines->items[lines->n++] = (struct snapshot_line){what, n};
}

static void add_supply(struct reckoning *reckoning, const char *resource,
                       const struct supply *supply)
{
    struct arena *arena = reckoning->arena;
    const char *model = supply->model[0] ? supply->model : "no known model";
    add(reckoning, arena_printf(arena, "%s of %s, nodes", resource, model),
        (int64_t)supply->n_nodes);
    add(reckoning, arena_printf(arena, "%s of %s, free", resource, model), supply->free);
}

static void add_market(struct reckoning *reckoning, const struct market *market)
{
    const char *resource = market->resource->name;
    struct arena *arena = reckoning->arena;
    int64_t n_live = 0;
    for (size_t i = 0; i < market->n_classes; i++)
        n_live += market->classes[i].n_live;
    for (size_t i = 0; i < market->n_supplies; i++)
        add_supply(reckoning, resource, market->supplies[i]);
    add(reckoning, arena_printf(arena, "%s, classes of pods that want it", resource),
        (int64_t)market->n_classes);
    add(reckoning, arena_printf(arena, "%s, pods of these classes", resource), n_live);
}

struct snapshot_lines snapshot_reckon(const struct cluster *cluster, struct arena *arena)
{
    struct reckoning reckoning = {.arena = arena};
    add(&reckoning, "nodes", (int64_t)cluster_n_nodes(cluster));
    add(&reckoning, "pods", (int64_t)cluster_n_pods(cluster));
    add(&reckoning, "reservations", (int64_t)cluster_n_reservations(cluster));
    add(&reckoning, "namespaces", (int64_t)cluster_n_namespaces(cluster));
    add(&reckoning, "priority classes", (int64_t)cluster_n_priority_classes(cluster));
    add(&reckoning, "device classes", (int64_t)cluster_n_device_classes(cluster));
    for (const struct market *market = cluster_next_market(cluster, NULL); market;
         market = cluster_next_market(cluster, market))
        add_market(&reckoning, market);
    return reckoning.lines;
}

json_t *snapshot_lines_json(const struct snapshot_lines *lines)
{
    json_t *json = json_object();
    for (size_t i = 0; i < lines->n; i++)
        (void)json_object_set_new(json, lines->items[i].what,
                                  json_integer((json_int_t)lines->items[i].n));
    return json;
}

static const char *difference_in(const json_t *says, const json_t *reckoned, const char *line,
                                 struct arena *arena)
{
    const json_t *said = json_object_get(says, line);
    const json_t *is = json_object_get(reckoned, line);
    if (said && is && json_equal(said, is))
        return NULL;
    return arena_printf(arena,
                        "%s: the file says %" JSON_INTEGER_FORMAT
                        ", the ledger reckons %" JSON_INTEGER_FORMAT,
                        line, json_integer_value(said), json_integer_value(is));
}

const char *snapshot_difference(const json_t *says, const json_t *reckoned, struct arena *arena)
{
    const char *line = NULL;
    const json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)reckoned, line, value) {
        const char *difference = difference_in(says, reckoned, line, arena);
        if (difference)
            return difference;
    }
    json_object_foreach ((json_t *)(uintptr_t)says, line, value) {
        const char *difference = difference_in(says, reckoned, line, arena);
        if (difference)
            return difference;
    }
    return NULL;
}

/* inventory_models: see inventory_parts.h. */
#include "api/cluster/inventory_parts.h"
#include "base/table.h"
#include "ledger/cluster.h"
#include "types/gpu_model.h"

#include <stdlib.h>
#include <string.h>

int64_t resource_row_lost(const struct resource_row *row)
{
    return row->capacity > row->allocatable ? row->capacity - row->allocatable : 0;
}

/* Totals by model and resource. */
struct total {
    const char *key;
    size_t worth;
    json_t *sums;
    UT_hash_handle hh;
};

/* The amounts in a row of the totals. */
struct total_key {
    const char *model, *resource, *unit;
};

/* Creates the total if needed. */
static json_t *find_total(struct total **totals, const struct total_key *of, struct arena *arena)
{
    struct total *total = NULL;
    const char *key = arena_printf(arena, "%s %s", of->model, of->resource);
    HASH_FIND_STR(*totals, key, total);
    if (total)
        return total->sums;
    total = ARENA_NEW(arena, struct total);
    total->key = key;
    total->worth = gpu_worth(of->model);
    total->sums = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}",
                            "model", of->model, "resource", of->resource, "unit", of->unit, "nodes",
                            0, "capacity", 0, "allocatable", 0, "used", 0, "reserved", 0, "free", 0,
                            "usable", 0, "stranded", 0, "closed", 0, "lost", 0);
    HASH_ADD_KEYPTR(hh, *totals, total->key, strlen(total->key), total);
    return total->sums;
}

static void add_to(json_t *total, const char *key, int64_t amount)
{
    json_t *old = json_object_get(total, key);
    json_int_t sum = 0;
    if (__builtin_add_overflow(json_integer_value(old), (json_int_t)amount, &sum))
        sum = amount > 0 ? INT64_MAX : INT64_MIN;
    (void)json_integer_set(old, sum);
}

/* An over-full node takes nothing from others: kube-scheduler judges each alone. */
static void add_free(json_t *total, const struct free_gpus *gpus)
{
    add_to(total, "free", free_gpus_sum(gpus));
    add_to(total, "usable", gpus->usable);
    add_to(total, "stranded", gpus->stranded);
    add_to(total, "closed", gpus->closed);
}

static bool has_any(const struct resource_row *row)
{
    return row->capacity != 0 || row->allocatable != 0 || row->used != 0 || row->reserved != 0;
}

static void add_resources(const struct node_row *node, struct total **totals, struct arena *arena)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        const struct resource_row *row = &node->resources[i];
        if (!row->is_gpu || !has_any(row))
            continue;
        const struct total_key key = {row->pool, row->name, row->unit};
        json_t *total = find_total(totals, &key, arena);
        add_to(total, "nodes", 1);
        add_to(total, "capacity", row->capacity);
        add_to(total, "allocatable", row->allocatable);
        add_to(total, "used", row->used);
        add_to(total, "reserved", row->reserved);
        add_to(total, "lost", resource_row_lost(row));
        add_free(total, &row->of_free);
    }
}

/* Which devices are in use is unknown of all nodes, or of none. */
static void set_unknown(json_t *total)
{
    static const char *const MEMBERS[] = {"allocatable", "used",     "free",
                                          "usable",      "stranded", "closed"};
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++)
        (void)json_object_set_new(total, MEMBERS[i], json_null());
}

static void add_in_use(json_t *total, const struct device_model *model)
{
    add_to(total, "allocatable", model->allocated);
    add_to(total, "allocatable", model->free);
    add_to(total, "used", model->allocated);
}

static void add_models(const struct driver_devices *driver, bool in_use_known,
                       struct total **totals, struct arena *arena)
{
    const struct device_group *group = &driver->group;
    for (size_t i = 0; i < group->n_models; i++) {
        const struct device_model *model = &group->models[i];
        if (model->is_partition)
            continue;
        const struct total_key key = {model->name, group->driver, gpu_unit_word(NULL)};
        json_t *total = find_total(totals, &key, arena);
        add_to(total, "nodes", 1);
        add_to(total, "capacity", model->total);
        if (!in_use_known) {
            set_unknown(total);
            continue;
        }
        add_in_use(total, model);
        add_free(total, &driver->of_free[i]);
    }
}

static json_int_t capacity_of(const struct total *total)
{
    return json_integer_value(json_object_get(total->sums, "capacity"));
}

/* Of models that have no place in the order, the one with more GPUs comes first. */
static int compare(const struct total *a, const struct total *b)
{
    if (a->worth != b->worth)
        return a->worth < b->worth ? -1 : 1;
    if (a->worth == 0 && capacity_of(a) != capacity_of(b))
        return capacity_of(a) > capacity_of(b) ? -1 : 1;
    return strcmp(a->key, b->key);
}

/* GPUs that a node publishes twice count as the device plugin's. */
json_t *inventory_models_json(const struct node_row *nodes, size_t n, struct arena *arena)
{
    json_t *models = json_array();
    struct total *totals = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct node_row *node = &nodes[i];
        add_resources(node, &totals, arena);
        for (size_t j = 0; j < node->devices.n; j++) {
            if (!node->devices.items[j].is_shadowed)
                add_models(&node->devices.items[j], node->devices.in_use_known, &totals, arena);
        }
    }
    HASH_SORT(totals, compare);
    for (const struct total *total = totals; total; total = total->hh.next)
        (void)json_array_append_new(models, total->sums);
    HASH_CLEAR(hh, totals);
    return models;
}

/* ---- domains ---- */

static const char *outer_names(const struct cluster *cluster, domain_id outer, struct arena *arena)
{
    const char *text = "";
    for (domain_id id = outer; id; id = cluster_domain(cluster, id)->outer)
        text = arena_printf(arena, "%s%s%s", cluster_domain(cluster, id)->name, text[0] ? "/" : "",
                            text);
    return text;
}

static int compare_domains(const void *a, const void *b)
{
    const struct domain_row *left = a;
    const struct domain_row *right = b;
    if (left->at != right->at)
        return left->at < right->at ? -1 : 1;
    if (left->has.free_gpus != right->has.free_gpus)
        return left->has.free_gpus > right->has.free_gpus ? -1 : 1;
    const int order = strcmp(left->within, right->within);
    return order != 0 ? order : strcmp(left->name, right->name);
}

struct domain_list inventory_domains_copy(const struct cluster *cluster,
                                          const struct topology_row *rows, struct arena *arena)
{
    const domain_id end = cluster_end_of_domains(cluster);
    struct domain_list list = {ARENA_ARRAY(arena, struct domain_row, end), 0};
    for (domain_id id = 1; id < end; id++) {
        const struct node_domain *domain = cluster_domain(cluster, id);
        if (rows[id].n_nodes == 0)
            continue;
        list.items[list.n++] = (struct domain_row){
            arena_strdup(arena, policy_level_name(cluster_policy(cluster), domain->level)),
            outer_names(cluster, domain->outer, arena), arena_strdup(arena, domain->name),
            domain->level, rows[id]};
    }
    return list;
}

json_t *inventory_domains_json(const struct domain_list *list)
{
    json_t *json = json_array();
    if (list->n > 1)
        qsort(list->items, list->n, sizeof *list->items, compare_domains);
    for (size_t i = 0; i < list->n; i++) {
        const struct domain_row *row = &list->items[i];
        const struct topology_row *has = &row->has;
        (void)json_array_append_new(
            json,
            json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b}", "level", row->level, "within",
                      row->within, "name", row->name, "nodes", (json_int_t)has->n_nodes,
                      "openNodes", (json_int_t)has->n_gpu_nodes, "wholeNodes",
                      (json_int_t)has->n_whole, "freeGpus", (json_int_t)has->free_gpus, "whole",
                      has->n_whole > 0 && has->n_whole == has->n_gpu_nodes));
    }
    return json;
}

json_t *inventory_domains_of(const struct cluster *fork, struct arena *arena)
{
    if (cluster_policy(fork)->n_topology_levels == 0)
        return NULL;
    struct topology_row *rows =
        ARENA_ARRAY(arena, struct topology_row, cluster_end_of_domains(fork));
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        topology_count(rows, node);
    const struct domain_list list = inventory_domains_copy(fork, rows, arena);
    return inventory_domains_json(&list);
}

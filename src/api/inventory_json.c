/*
 * inventory_json: GET /v1/inventory. Copies what it needs under the lock, writes JSON after it.
 */
#include "api/api.h"
#include "base/text_time.h"
#include "inventory_table.h"
#include "reply.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

struct holder {
    const char *namespace_, *name, *uid;
    const struct amount *gpus;
    size_t n_gpus;
};

struct node_row {
    const char *name;
    char model[128];
    const char *model_label; /* "KEY=VALUE" */
    const char *sharing;
    bool ready, unschedulable;
    struct resource_row {
        const char *name;
        bool is_gpu;
        int64_t capacity, allocatable, used, free;
    } * resources;
    size_t n_resources;
    struct holder *holders;
    size_t n_holders;
};

struct copy {
    struct arena *arena;
    struct node_row *nodes;
    size_t n_nodes;
    int64_t as_of_s;
    const char *source;
    struct inventory_problem *problems;
    size_t n_problems, n_all_problems;
};

/* What a pod holds of GPUs. */
static void copy_gpus(const struct pod *pod, struct arena *arena, struct holder *holder)
{
    const struct pod_shape *shape = pod->shape;
    struct amount *gpus = ARENA_ARRAY(arena, struct amount, shape->n_gpu_needs);
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        gpus[i] = (struct amount){arena_strdup(arena, shape->needs[i].resource->name),
                                  shape->needs[i].amount};
    holder->gpus = gpus;
    holder->n_gpus = shape->n_gpu_needs;
}

static size_t count_holders(const struct node *node)
{
    size_t n = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod))
        n += pod->shape->n_gpu_needs > 0;
    return n;
}

static void copy_holders(const struct node *node, struct arena *arena, struct node_row *row)
{
    row->holders = ARENA_ARRAY(arena, struct holder, count_holders(node));
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        if (pod->shape->n_gpu_needs == 0)
            continue;
        struct holder *holder = &row->holders[row->n_holders++];
        holder->namespace_ = arena_strdup(arena, pod->namespace_);
        holder->name = arena_strdup(arena, pod->name);
        holder->uid = arena_strdup(arena, pod->uid);
        copy_gpus(pod, arena, holder);
    }
}

static void copy_resources(const struct node *node, struct arena *arena, struct node_row *row)
{
    const struct node_resource *resources = node_resources(node, &row->n_resources);
    row->resources = ARENA_ARRAY(arena, struct resource_row, row->n_resources);
    for (size_t i = 0; i < row->n_resources; i++)
        row->resources[i] = (struct resource_row){
            .name = arena_strdup(arena, resources[i].resource->name),
            .is_gpu = resources[i].resource->is_gpu,
            .capacity = resources[i].capacity,
            .allocatable = resources[i].allocatable,
            .used = resources[i].used,
            .free = node_resource_free(&resources[i]),
        };
}

/* How the GPUs are shared, by the model's name. */
static const char *sharing_text(const struct gpu_model *model, struct arena *arena)
{
    if (model->sharing == GPU_MIG_SLICED)
        return arena_printf(arena, "MIG%s%s", model->mig_profile[0] ? "-" : "", model->mig_profile);
    return model->sharing == GPU_TIME_SHARED ? "SHARED" : "";
}

static void copy_node(const struct node *node, struct copy *copy)
{
    struct node_row *row = &copy->nodes[copy->n_nodes++];
    const struct node_traits *traits = node_traits(node);
    row->name = arena_strdup(copy->arena, node_name(node));
    (void)gpu_model_text(&traits->model, row->model);
    row->sharing = sharing_text(&traits->model, copy->arena);
    row->model_label = "";
    if (traits->model_label[0])
        row->model_label =
            arena_printf(copy->arena, "%s=%s", traits->model_label, traits->model_value);
    row->ready = traits->ready;
    row->unschedulable = traits->unschedulable;
    copy_resources(node, copy->arena, row);
    copy_holders(node, copy->arena, row);
}

static void copy_problems(const struct inventory_view *view, struct copy *copy)
{
    copy->problems = ARENA_ARRAY(copy->arena, struct inventory_problem, view->n_problems);
    for (size_t i = 0; i < view->n_problems; i++)
        copy->problems[i] = (struct inventory_problem){
            arena_strdup(copy->arena, view->problems[i].kind),
            arena_strdup(copy->arena, view->problems[i].name),
            arena_strdup(copy->arena, view->problems[i].what),
        };
    copy->n_problems = view->n_problems;
    copy->n_all_problems = view->n_all_problems;
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp(((const struct node_row *)a)->name, ((const struct node_row *)b)->name);
}

static struct copy copy_inventory(struct inventory *inventory, struct arena *arena)
{
    struct copy copy = {.arena = arena};
    const struct inventory_view view = inventory_read(inventory);
    copy.as_of_s = view.as_of_s;
    copy.source = arena_strdup(arena, view.source);
    copy.nodes = ARENA_ARRAY(arena, struct node_row, cluster_n_nodes(view.cluster));
    for (const struct node *node = cluster_next_node(view.cluster, NULL); node;
         node = cluster_next_node(view.cluster, node))
        copy_node(node, &copy);
    copy_problems(&view, &copy);
    inventory_done(inventory);
    qsort(copy.nodes, copy.n_nodes, sizeof *copy.nodes, compare_rows);
    return copy;
}

static json_t *amounts_json(const struct resource_row *row)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "capacity", (json_int_t)row->capacity,
                     "allocatable", (json_int_t)row->allocatable, "used", (json_int_t)row->used,
                     "reserved", (json_int_t)0, "free", (json_int_t)row->free);
}

static json_t *holder_json(const struct holder *holder)
{
    json_t *gpus = json_object();
    for (size_t i = 0; i < holder->n_gpus; i++)
        (void)json_object_set_new(gpus, holder->gpus[i].resource,
                                  json_integer(holder->gpus[i].amount));
    return json_pack("{s:s, s:s, s:s, s:o}", "namespace", holder->namespace_, "pod", holder->name,
                     "uid", holder->uid, "gpus", gpus);
}

static json_t *node_json(const struct node_row *row)
{
    json_t *resources = json_object();
    for (size_t i = 0; i < row->n_resources; i++)
        (void)json_object_set_new(resources, row->resources[i].name,
                                  amounts_json(&row->resources[i]));
    json_t *holders = json_array();
    for (size_t i = 0; i < row->n_holders; i++)
        (void)json_array_append_new(holders, holder_json(&row->holders[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:o, s:o}", "name", row->name, "model",
                     row->model, "modelLabel", row->model_label, "sharing", row->sharing, "ready",
                     row->ready, "unschedulable", row->unschedulable, "resources", resources,
                     "holders", holders);
}

/* The totals so far, by model and resource. */
struct total {
    const char *key;
    json_t *sums; /* borrowed from the list */
    UT_hash_handle hh;
};

/* Made at the first node that has it. */
static json_t *find_total(struct total **totals, json_t *list, const char *model,
                          const char *resource, struct arena *arena)
{
    struct total *total = NULL;
    const char *key = arena_printf(arena, "%s %s", model, resource);
    HASH_FIND_STR(*totals, key, total);
    if (total)
        return total->sums;
    total = ARENA_NEW(arena, struct total);
    total->key = key;
    total->sums =
        json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "model", model, "resource", resource,
                  "nodes", 0, "capacity", 0, "allocatable", 0, "used", 0, "reserved", 0, "free", 0);
    (void)json_array_append_new(list, total->sums);
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

static json_t *models_json(const struct copy *copy)
{
    json_t *models = json_array();
    struct total *totals = NULL;
    for (size_t i = 0; i < copy->n_nodes; i++) {
        const struct node_row *node = &copy->nodes[i];
        for (size_t j = 0; j < node->n_resources; j++) {
            const struct resource_row *row = &node->resources[j];
            if (!row->is_gpu || (row->capacity == 0 && row->allocatable == 0 && row->used == 0))
                continue;
            json_t *total = find_total(&totals, models, node->model, row->name, copy->arena);
            add_to(total, "nodes", 1);
            add_to(total, "capacity", row->capacity);
            add_to(total, "allocatable", row->allocatable);
            add_to(total, "used", row->used);
            add_to(total, "free", row->free);
        }
    }
    HASH_CLEAR(hh, totals);
    return models;
}

static json_t *problems_json(const struct copy *copy)
{
    json_t *problems = json_array();
    for (size_t i = 0; i < copy->n_problems; i++)
        (void)json_array_append_new(
            problems, json_pack("{s:s, s:s, s:s}", "kind", copy->problems[i].kind, "name",
                                copy->problems[i].name, "what", copy->problems[i].what));
    return problems;
}

void api_inventory(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    if (!reply_is_possible(exchange))
        return;
    const struct copy copy = copy_inventory(api->inventory, exchange_arena(exchange));
    json_t *nodes = json_array();
    for (size_t i = 0; i < copy.n_nodes; i++)
        (void)json_array_append_new(nodes, node_json(&copy.nodes[i]));
    char as_of[TEXT_TIME_SIZE];
    json_t *value =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:I}", "asOf", text_time(copy.as_of_s, as_of),
                  "source", copy.source, "nodes", nodes, "models", models_json(&copy), "problems",
                  problems_json(&copy), "problemCount", (json_int_t)copy.n_all_problems);
    reply(exchange, value, inventory_table_write);
}

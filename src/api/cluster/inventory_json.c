/*
 * inventory_json: GET /v1/inventory. Copies the data under the lock, some nodes with their pods in
 * each hold of it, so that kube-scheduler's calls and the watches go on in between. Sorts them, and
 * writes texts and JSON, without it.
 */
#include "api/api.h"
#include "api/cluster/inventory_parts.h"
#include "api/first.h"
#include "api/label_selector.h"
#include "api/node_warnings.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "api/tables.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/verdict.h"
#include "ledger/quarantine.h"
#include "objects/node.h"
#include "types/gpu_model.h"

#include <stdlib.h>
#include <string.h>

/* Keys of labels in ?label=. */
#define LABEL_KEYS_MAX 8
struct label_keys {
    const char *items[LABEL_KEYS_MAX];
    size_t n; /* 0: no label is asked for */
};

struct copy {
    struct arena *arena;
    struct node_row *nodes;
    size_t n_nodes;
    const struct label_keys *label;
    bool has_labels; /* all of them */
    struct holder_list astray;
    struct inventory_problem *problems;
    size_t n_problems, n_all_problems;
    struct node_notes notes;    /* of these nodes */
    struct driver_list devices; /* that several nodes may reach */
    size_t consumed_room;       /* see inventory_devices_copy() */
    struct claims_copy claims;
    struct group_list groups;
    bool has_levels; /* then it has the domains of the nodes that are wanted */
    struct domain_list domains;
};

static int compare_resources(const void *a, const void *b)
{
    return strcmp(((const struct resource_row *)a)->name, ((const struct resource_row *)b)->name);
}

/* The node has none of the resource, and its pods get devices through claims: these are listed. The
 * row may be left over from a device plugin that is gone. */
static bool comes_by_claims(const struct node *node, const struct node_resource *amounts)
{
    size_t n = 0;
    int64_t n_allocated = 0;
    bool any = false;
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (groups[i].resource != amounts->resource || groups[i].is_shadowed)
            continue;
        any = true;
        n_allocated += groups[i].allocated;
    }
    return any && amounts->capacity == 0 && amounts->allocatable == 0 &&
           amounts->used <= n_allocated;
}

static void copy_gpus(const struct node *node, const struct node_resource *gpus,
                      struct arena *arena, struct resource_row *row)
{
    char pool[MODEL_POOL_NAME_BYTES];
    const struct node_traits *traits = node_traits(node);
    const char *resource = gpus->resource->name;
    row->is_gpu = true;
    row->gpu_model = node_traits_gpus(traits, resource)->model;
    row->pool = arena_strdup(arena, model_pool_name(traits, resource, pool));
    row->unit = gpu_unit_word(node_traits_unit(traits, resource));
    row->of_free = free_gpus_of(node, gpus);
}

static void copy_resources(const struct node *node, struct arena *arena, struct node_row *row)
{
    size_t n = 0;
    const struct node_resource *resources = node_resources(node, &n);
    row->resources = ARENA_ARRAY(arena, struct resource_row, n);
    for (size_t i = 0; i < n; i++) {
        if (comes_by_claims(node, &resources[i]))
            continue;
        row->resources[row->n_resources++] = (struct resource_row){
            .name = arena_strdup(arena, resources[i].resource->name),
            .capacity = resources[i].capacity,
            .allocatable = resources[i].allocatable,
            .used = resources[i].used,
            .reserved = resources[i].reserved,
            .free = node_resource_free(&resources[i]),
        };
        if (resources[i].resource->is_gpu)
            copy_gpus(node, &resources[i], arena, &row->resources[row->n_resources - 1]);
    }
}

/* The value of the first of the keys that the node has. */
static const char *copy_label(const struct label_view *view, const struct label_keys *keys,
                              struct arena *arena)
{
    for (size_t i = 0; i < keys->n; i++) {
        const char *value = labels_find(view->labels, view->n_labels, keys->items[i]);
        if (value)
            return arena_strdup(arena, value);
    }
    return NULL;
}

static void copy_labels(const struct node *node, struct arena *arena, struct node_row *row)
{
    const struct label_view *view = &node_traits(node)->view;
    row->labels = ARENA_ARRAY(arena, struct label, view->n_labels);
    for (; row->n_labels < view->n_labels; row->n_labels++)
        row->labels[row->n_labels] =
            (struct label){arena_strdup(arena, view->labels[row->n_labels].key),
                           arena_strdup(arena, view->labels[row->n_labels].value)};
}

static struct node_row *copy_totals(const struct inventory_view *view, const struct node *node,
                                    struct copy *copy)
{
    struct node_row *row = &copy->nodes[copy->n_nodes++];
    const struct node_traits *traits = node_traits(node);
    row->name = arena_strdup(copy->arena, node_name(node));
    row->gpu_model = traits->gpus.model;
    row->label_key = arena_strdup(copy->arena, traits->gpus.label);
    row->label_value = arena_strdup(copy->arena, traits->gpus.value);
    row->ready = traits->ready;
    row->unschedulable = traits->unschedulable;
    row->quarantine = node_mark_word(node_mark(node));
    row->quarantine_because = node_notes_of_mark(node, copy->arena);
    row->n_shape_traps = node_mark(node) ? node_mark(node)->n_traps : 0;
    row->conditions = arena_strdup(copy->arena, traits->conditions);
    row->taints = ARENA_ARRAY(copy->arena, const char *, traits->n_taints);
    for (; row->n_taints < traits->n_taints; row->n_taints++)
        row->taints[row->n_taints] =
            verdict_taint_text(&traits->taints[row->n_taints], copy->arena);
    copy_resources(node, copy->arena, row);
    row->devices = inventory_devices_copy(view, node, copy->arena, &copy->consumed_room);
    return row;
}

static void finish_resources(struct node_row *row, struct arena *arena)
{
    char text[2 * GPU_MODEL_TEXT_MAX];
    row->worth = gpu_worth(row->model);
    for (size_t i = 0; i < row->devices.n; i++) {
        const struct device_group *group = &row->devices.items[i].group;
        for (size_t j = 0; j < group->n_models; j++) {
            const size_t worth = gpu_worth(group->models[j].name);
            row->worth = worth < row->worth ? worth : row->worth;
        }
    }
    for (size_t i = 0; i < row->n_resources; i++) {
        struct resource_row *resource = &row->resources[i];
        if (!resource->is_gpu)
            continue;
        resource->model_text = arena_strdup(arena, gpu_model_text(&resource->gpu_model, text));
        resource->sharing = gpu_model_sharing(&resource->gpu_model, arena);
    }
}

/* Without the lock. */
static void finish_rows(struct copy *copy)
{
    for (size_t i = 0; i < copy->n_nodes; i++) {
        struct node_row *row = &copy->nodes[i];
        (void)gpu_model_text(&row->gpu_model, row->model);
        row->sharing = gpu_model_sharing(&row->gpu_model, copy->arena);
        row->model_label =
            row->label_key[0] ? arena_printf(copy->arena, "%s=%s", row->label_key, row->label_value)
                              : "";
        finish_resources(row, copy->arena);
        if (row->n_resources > 1)
            qsort(row->resources, row->n_resources, sizeof *row->resources, compare_resources);
    }
}

static const struct node_row *copy_node(const struct inventory_view *view, const struct node *node,
                                        struct copy *copy)
{
    struct node_row *row = copy_totals(view, node, copy);
    if (copy->has_labels)
        copy_labels(node, copy->arena, row);
    row->holders = node_holders_copy(view->cluster, node, copy->arena);
    node_notes_add(node, copy->arena, &copy->notes);
    if (copy->label->n > 0)
        row->label = copy_label(&node_traits(node)->view, copy->label, copy->arena);
    return row;
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

static int compare_worth(const void *a, const void *b)
{
    const size_t left = ((const struct node_row *)a)->worth;
    const size_t right = ((const struct node_row *)b)->worth;
    return left != right ? (left > right) - (left < right) : compare_rows(a, b);
}

/* GPUs of all resources and drivers, for sorting. */
static int64_t count_gpus(const struct node_row *row, bool used)
{
    int64_t sum = 0;
    for (size_t i = 0; i < row->devices.n; i++) {
        const struct device_group *group = &row->devices.items[i].group;
        if (!row->devices.items[i].is_shadowed)
            sum += used ? group->allocated : group->free;
    }
    for (size_t i = 0; i < row->n_resources; i++) {
        const int64_t n = used ? row->resources[i].used : row->resources[i].free;
        if (row->resources[i].is_gpu && __builtin_add_overflow(sum, n, &sum))
            return n > 0 ? INT64_MAX : INT64_MIN;
    }
    return sum;
}

static int compare_counts(const void *a, const void *b, bool used)
{
    const int64_t left = count_gpus(a, used);
    const int64_t right = count_gpus(b, used);
    return left != right ? (left > right ? -1 : 1) : compare_rows(a, b);
}

static int compare_free(const void *a, const void *b)
{
    return compare_counts(a, b, false);
}

static int compare_used(const void *a, const void *b)
{
    return compare_counts(a, b, true);
}

/* The parameters of the query; NULL accepts all. */
struct wanted {
    const char *node;
    const char *state;
    const char *resource;
    const char *sort; /* NULL: by worth */
    struct label_keys label;
    struct selector_term labels;
    struct selector_term claim_labels;
    struct reply_model model;
};

/* Also a driver of devices. */
static bool has_resource(const struct node *node, const char *name)
{
    size_t n = 0;
    const struct node_resource *resources = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (resources[i].advertised && strcmp(resources[i].resource->name, name) == 0)
            return true;
    }
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(groups[i].driver, name) == 0)
            return true;
    }
    return false;
}

static bool is_in_state(const char *state, const struct node *node)
{
    const struct node_traits *traits = node_traits(node);
    if (strcmp(state, "marked") == 0)
        return node_mark(node) && (node_mark_word(node_mark(node)) || node_mark(node)->n_traps > 0);
    return strcmp(state, "cordoned") == 0 ? traits->unschedulable
                                          : traits->ready == (strcmp(state, "ready") == 0);
}

/* Of the wanted resource, or of any. */
static bool has_model(const struct wanted *wanted, const struct node_traits *traits)
{
    for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));) {
        if ((!wanted->resource || node_traits_gpus(traits, wanted->resource) == kind) &&
            gpu_model_satisfies(&kind->model, kind->memory_bytes, &wanted->model.model))
            return true;
    }
    return false;
}

static bool is_wanted(const struct wanted *wanted, const struct node *node)
{
    const struct node_traits *traits = node_traits(node);
    return (!wanted->node || strcmp(wanted->node, node_name(node)) == 0) &&
           (!wanted->state || is_in_state(wanted->state, node)) &&
           (!wanted->resource || has_resource(node, wanted->resource)) &&
           selector_term_holds(&wanted->labels, &traits->view) &&
           (!wanted->model.is_given || has_model(wanted, traits));
}

/* Nodes and pods that are copied in one hold of the lock: a few milliseconds. */
#define ROWS_AT_ONCE ((size_t)2000)

struct node_names {
    const char **items;
    size_t n;
};

/* The nodes are wanted as they are now. Later a few of them may be gone, and pods may have moved:
 * each row is consistent in itself. */
static struct node_names copy_names(const struct inventory_view *view, const struct wanted *wanted,
                                    struct copy *copy)
{
    const struct cluster *cluster = view->cluster;
    struct arena *arena = copy->arena;
    struct node_names names = {ARENA_ARRAY(arena, const char *, cluster_n_nodes(cluster)), 0};
    struct topology_row *rows =
        ARENA_ARRAY(arena, struct topology_row, cluster_end_of_domains(cluster));
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        if (!is_wanted(wanted, node))
            continue;
        names.items[names.n++] = arena_strdup(arena, node_name(node));
        topology_count(rows, node);
    }
    copy->has_levels = cluster_policy(cluster)->n_topology_levels > 0;
    copy->domains = inventory_domains_copy(cluster, rows, arena);
    return names;
}

/* Returns the index of the first that is not done. */
static size_t copy_some_nodes(struct inventory *inventory, const struct node_names *names,
                              size_t at, struct copy *copy)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read_settled(inventory);
    for (size_t n = 0; at < names->n && n < ROWS_AT_ONCE; at++, n++) {
        const struct node *node = cluster_find_node(view.cluster, names->items[at]);
        if (node)
            n += copy_node(&view, node, copy)->holders.pods.n;
    }
    return at;
}

static struct node_names copy_all_but_nodes(struct inventory *inventory,
                                            const struct wanted *wanted, struct copy *copy)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    copy->astray = holders_copy_astray(view.cluster, copy->arena);
    copy_problems(&view, copy);
    copy->groups = inventory_groups_copy(view.cluster, copy->arena);
    copy->devices = inventory_devices_copy(&view, NULL, copy->arena, &copy->consumed_room);
    return copy_names(&view, wanted, copy);
}

static int (*order_of(const char *sort))(const void *, const void *)
{
    if (!sort || strcmp(sort, "worth") == 0)
        return compare_worth;
    if (strcmp(sort, "name") == 0)
        return compare_rows;
    return strcmp(sort, "free") == 0 ? compare_free : compare_used;
}

static struct copy copy_inventory(struct inventory *inventory, const struct wanted *wanted,
                                  struct arena *arena)
{
    struct copy copy = {.arena = arena,
                        .label = &wanted->label,
                        .has_labels = wanted->node,
                        .consumed_room = INVENTORY_CONSUMED_BYTES_MAX};
    const struct node_names names = copy_all_but_nodes(inventory, wanted, &copy);
    copy.nodes = ARENA_ARRAY(arena, struct node_row, names.n);
    for (size_t at = 0; at < names.n;)
        at = copy_some_nodes(inventory, &names, at, &copy);
    finish_rows(&copy);
    qsort(copy.nodes, copy.n_nodes, sizeof *copy.nodes, order_of(wanted->sort));
    copy.claims = inventory_claims_copy(inventory, &wanted->claim_labels, arena);
    return copy;
}

static json_t *amounts_json(const struct resource_row *row)
{
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "capacity", (json_int_t)row->capacity, "allocatable",
                  (json_int_t)row->allocatable, "used", (json_int_t)row->used, "reserved",
                  (json_int_t)row->reserved, "free", (json_int_t)row->free);
    if (row->is_gpu) {
        (void)json_object_set_new(json, "model", json_string(row->model_text));
        (void)json_object_set_new(json, "sharing", json_string(row->sharing));
        (void)json_object_set_new(json, "unit", json_string(row->unit));
        (void)json_object_set_new(json, "lost", json_integer((json_int_t)resource_row_lost(row)));
        inventory_devices_add_split(json, &row->of_free);
    }
    return json;
}

/* Whole GPUs that pods can use now. */
static int64_t count_usable(const struct node_row *row)
{
    int64_t sum = 0;
    for (size_t i = 0; i < row->n_resources; i++) {
        const struct resource_row *resource = &row->resources[i];
        if (resource->is_gpu && strcmp(resource->unit, gpu_unit_word(NULL)) == 0)
            sum += resource->of_free.usable;
    }
    return sum + inventory_devices_usable(&row->devices);
}

static const char *stranded_because(const struct node_row *row)
{
    for (size_t i = 0; i < row->n_resources; i++) {
        if (row->resources[i].of_free.because)
            return row->resources[i].of_free.because;
    }
    return "";
}

static json_t *taints_json(const struct node_row *row)
{
    json_t *taints = json_array();
    for (size_t i = 0; i < row->n_taints; i++)
        (void)json_array_append_new(taints, json_string(row->taints[i]));
    return taints;
}

static json_t *totals_json(const struct node_row *row)
{
    json_t *resources = json_object();
    for (size_t i = 0; i < row->n_resources; i++)
        (void)json_object_set_new(resources, row->resources[i].name,
                                  amounts_json(&row->resources[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:o, s:I, s:s, s:o, s:o}", "name", row->name,
                     "model", row->model, "modelLabel", row->model_label, "sharing", row->sharing,
                     "ready", row->ready, "unschedulable", row->unschedulable, "taints",
                     taints_json(row), "usable", (json_int_t)count_usable(row), "strandedBecause",
                     stranded_because(row), "resources", resources, "devices",
                     inventory_devices_json(&row->devices));
}

static json_t *labels_json(const struct node_row *row)
{
    json_t *labels = json_object();
    for (size_t i = 0; i < row->n_labels; i++)
        (void)json_object_set_new(labels, row->labels[i].key, json_string(row->labels[i].value));
    return labels;
}

static json_t *node_json(const struct node_row *row, const struct copy *copy)
{
    const struct node_holders *holders = &row->holders;
    json_t *json = totals_json(row);
    (void)json_object_set_new(json, "holders", holders_json(&holders->pods));
    (void)json_object_set_new(json, "nominations", holders_json_nominations(&holders->nominations));
    (void)json_object_set_new(json, "reservations",
                              holders_json_reservations(&holders->reservations));
    if (row->quarantine)
        (void)json_object_update_new(json, json_pack("{s:s, s:s}", "quarantine", row->quarantine,
                                                     "quarantineBecause", row->quarantine_because));
    json_t *conditions = node_conditions_list(row->conditions);
    if (conditions)
        (void)json_object_set_new(json, "conditions", conditions);
    json_t *taints = inventory_devices_taints_json(row->devices.taints, row->devices.n_taints);
    if (taints)
        (void)json_object_set_new(json, "deviceTaints", taints);
    if (row->n_shape_traps > 0)
        (void)json_object_set_new(json, "shapeTraps", json_integer((json_int_t)row->n_shape_traps));
    if (copy->has_labels)
        (void)json_object_set_new(json, "labels", labels_json(row));
    if (copy->label->n > 0)
        (void)json_object_set_new(json, "label",
                                  row->label ? json_string(row->label) : json_null());
    return json;
}

static struct problem_list find_problems(const struct copy *copy)
{
    struct problem_list list = {.items = json_array(),
                                .n_all = copy->n_all_problems - copy->n_problems};
    for (size_t i = 0; i < copy->n_problems; i++)
        problem_list_add(&list, &copy->problems[i]);
    for (size_t i = 0; i < copy->notes.n; i++)
        problem_list_add(&list, &copy->notes.items[i]);
    for (size_t i = 0; i < copy->n_nodes; i++)
        problem_list_add_devices(&list, copy->nodes[i].name, &copy->nodes[i].devices, copy->arena);
    problem_list_add_claims(&list, &copy->claims);
    return list;
}

/* A list with one member per kind; empty if the inventory is not live. */
static json_t *freshness_json(struct inventory *inventory)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    const size_t n = inventory_freshness(inventory, kinds);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const bool is_known = kinds[i].age_ms >= 0;
        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:b, s:b, s:o, s:f, s:s}", "kind", kinds[i].kind, "synced",
                      kinds[i].synced, "stale", kinds[i].stale, "ageSeconds",
                      is_known ? json_integer(kinds[i].age_ms / 1000) : json_null(), "lagSeconds",
                      (double)kinds[i].lag_ms / 1000, "why", kinds[i].why.text));
    }
    return list;
}

static json_t *nodes_json(const struct copy *copy)
{
    json_t *nodes = json_array();
    for (size_t i = 0; i < copy->n_nodes; i++)
        (void)json_array_append_new(nodes, node_json(&copy->nodes[i], copy));
    inventory_claims_add_holders(&copy->claims, nodes);
    return nodes;
}

static json_t *devices_json(const struct copy *copy)
{
    return json_pack("{s:o, s:o, s:I}", "devices", inventory_devices_json(&copy->devices), "claims",
                     inventory_claims_json(&copy->claims), "claimsOmitted",
                     (json_int_t)copy->claims.n_omitted);
}

static void add_members(const struct api *api, const struct copy *copy, json_t *value)
{
    const struct problem_list problems = find_problems(copy);
    json_t *rest =
        json_pack("{s:s?, s:o, s:o, s:o, s:o, s:o, s:I}", "role", reply_role(api), "freshness",
                  freshness_json(api->inventory), "nodes", nodes_json(copy), "models",
                  inventory_models_json(copy->nodes, copy->n_nodes, copy->arena), "podsWithoutNode",
                  holders_json_astray(&copy->astray), "problems", problems.items, "problemCount",
                  (json_int_t)problems.n_all);
    (void)json_object_update_new(value, rest);
    (void)json_object_set_new(value, "podGroups", inventory_groups_json(&copy->groups));
    (void)json_object_set_new(value, "podGroupsOmitted",
                              json_integer((json_int_t)(copy->groups.n_all - copy->groups.n)));
    if (copy->has_levels)
        (void)json_object_set_new(value, "domains", inventory_domains_json(&copy->domains));
}

/* A misspelt name must not look like an empty cluster. */
static void answer_no_node(const struct api *api, struct exchange *exchange, const char *name)
{
    exchange_answer_error(exchange, 404,
                          arena_printf(exchange_arena(exchange),
                                       "?node=%.253s: is not in the inventory, should be the name "
                                       "of a node (GET /v1/inventory lists them)%s",
                                       name, query_names_near_node(api, exchange, name)));
}

/* Returns false after answering 400. */
static bool read_label(struct exchange *exchange, struct label_keys *ret_keys)
{
    const char *text = exchange_query(exchange, "label");
    for (const char *at = text; at && *at; at += strspn(at, ",")) {
        const size_t len = strcspn(at, ",");
        if (ret_keys->n == LABEL_KEYS_MAX) {
            exchange_answer_error(exchange, 400,
                                  arena_printf(exchange_arena(exchange),
                                               "?label=: has more than %d keys of labels, should "
                                               "have at most that many, separated by commas",
                                               LABEL_KEYS_MAX));
            return false;
        }
        ret_keys->items[ret_keys->n++] =
            arena_printf(exchange_arena(exchange), "%.*s", (int)len, at);
        at += len;
    }
    return true;
}

/* Of the list, what is in the namespace. */
static void keep_in(const char *namespace_, json_t *object, const char *list)
{
    json_t *kept = json_array();
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (json_object_get(object, list), i, item) {
        if (strcmp(json_string_value(json_object_get(item, "namespace")), namespace_) == 0)
            (void)json_array_append(kept, item);
    }
    (void)json_object_set_new(object, list, kept);
}

static void keep_namespace(const char *namespace_, json_t *value)
{
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (json_object_get(value, "nodes"), i, node)
        keep_in(namespace_, node, "holders");
    keep_in(namespace_, value, "claims");
}

/* NULL: there is no such node. The copy is freed before the answer waits for its reader. */
static json_t *inventory_value(const struct api *api, struct exchange *exchange,
                               const struct wanted *wanted)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct provenance provenance = provenance_of(api->inventory, arena);
    const struct copy copy = copy_inventory(api->inventory, wanted, arena);
    const bool is_node_only = !wanted->state && !wanted->resource && !wanted->model.is_given &&
                              wanted->labels.n_requirements == 0;
    if (wanted->node && is_node_only && copy.n_nodes == 0)
        return NULL;
    json_t *value = provenance_json(&provenance);
    provenance_add_claims(&provenance, value);
    add_members(api, &copy, value);
    (void)json_object_update_new(value, devices_json(&copy));
    if (exchange_query(exchange, "namespace"))
        keep_namespace(exchange_query(exchange, "namespace"), value);
    query_names_add(api, exchange, value);
    inventory_claims_add_warning(&copy.claims, json_object_get(value, "warnings"));
    node_warnings_add(api, exchange, json_object_get(value, "warnings"));
    return value;
}

void api_inventory(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct wanted wanted = {.node = exchange_query(exchange, "node"),
                            .state = exchange_query(exchange, "state"),
                            .resource = exchange_query(exchange, "resource"),
                            .sort = exchange_query(exchange, "sort")};
    if (!reply_read_model(api, exchange, &wanted.model) || !read_label(exchange, &wanted.label) ||
        !label_selector_of_query(exchange, "labelSelector", &wanted.labels) ||
        !label_selector_of_query(exchange, "claimSelector", &wanted.claim_labels))
        return;
    const char *tag = NULL;
    if (!reply_begin(api, exchange, &tag) || reply_defer_list(api->inventory, exchange))
        return;
    json_t *value = inventory_value(api, exchange, &wanted);
    if (!value) {
        answer_no_node(api, exchange, wanted.node);
        return;
    }
    reply_end(api, exchange, tag);
    reply(exchange, value, tables_write_inventory);
}

/* ---- for other answers ---- */

/* Most nodes have a row of zeros for common GPU resources. */
static bool has_gpus(const struct inventory_view *view, const struct node *node)
{
    size_t n = 0;
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].resource->is_gpu && !comes_by_claims(node, &rows[i]) &&
            (rows[i].capacity != 0 || rows[i].allocatable != 0 || rows[i].used != 0 ||
             rows[i].reserved != 0))
            return true;
    }
    (void)devices_on_node(cluster_devices(view->cluster), node_name(node), &n);
    return n > 0;
}

static int compare_nodes(const void *a, const void *b)
{
    return strcmp(node_name(*(const struct node *const *)a),
                  node_name(*(const struct node *const *)b));
}

static void copy_page(struct inventory *inventory, const struct nodes_page *page, struct copy *copy,
                      bool *ret_has_more)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read_settled(inventory);
    struct first first CLEANUP(first_fini) = first_new(page->limit, compare_nodes);
    for (const struct node *node = cluster_next_node(view.cluster, NULL); node;
         node = cluster_next_node(view.cluster, node)) {
        if (strcmp(node_name(node), page->after_name) > 0 && page->admits(page->context, node) &&
            has_gpus(&view, node))
            first_add(&first, node);
    }
    first_sort(&first);
    copy->nodes = ARENA_ARRAY(copy->arena, struct node_row, first.n);
    for (size_t i = 0; i < first.n; i++)
        copy_labels(first.items[i], copy->arena, copy_totals(&view, first.items[i], copy));
    *ret_has_more = first.is_cut;
}

json_t *inventory_json_of_nodes(struct inventory *inventory, const struct nodes_page *page,
                                struct arena *arena, bool *ret_has_more)
{
    struct copy copy = {.arena = arena, .consumed_room = INVENTORY_CONSUMED_BYTES_MAX};
    json_t *nodes = json_array();
    copy_page(inventory, page, &copy, ret_has_more);
    finish_rows(&copy);
    for (size_t i = 0; i < copy.n_nodes; i++) {
        json_t *json = totals_json(&copy.nodes[i]);
        (void)json_object_set_new(json, "labels", labels_json(&copy.nodes[i]));
        (void)json_array_append_new(nodes, json);
    }
    return nodes;
}

/*
 * node_groups: GET /v1/node-groups. Groups the nodes as provisioners label them, and asks of each
 * group how many pending pods one more of its nodes would let run.
 */
#include "api/api.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "api/what_if/placing.h"
#include "ledger/edit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Verdicts for all groups together. */
#define MAX_VERDICTS ((size_t)4000000)
/* Listed groups, the largest first. */
#define GROUPS_MAX ((size_t)1000)
#define PODS_SHOWN ((size_t)10)

/* The labels of managed nodes: EKS, GKE, AKS and Karpenter. */
static const char *const LABELS[] = {
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
};

#define BY_SHAPE "shape"

struct node_group {
    const char *by; /* the label; BY_SHAPE: its nodes are alike */
    const char *name;
    size_t n_nodes, n_ready, n_cordoned;
    const struct node *like; /* the first that is ready and not cordoned, else the first */
    const char *like_name, *model;
    json_t *resources; /* of that node, what it has */
    json_t *nodes;     /* the names of all */
    UT_hash_handle hh; /* by label and name */
    bool is_judged;
    size_t n_would_run;
    const char *first[PODS_SHOWN]; /* UIDs */
};

static bool is_usable(const struct node *node)
{
    return node_traits(node)->ready && !node_traits(node)->unschedulable;
}

static int compare_resources(const void *a, const void *b)
{
    const struct node_resource *left = *(const struct node_resource *const *)a;
    const struct node_resource *right = *(const struct node_resource *const *)b;
    return strcmp(left->resource->name, right->resource->name);
}

/* The resources that the node advertises, by name. Returns their number. */
static size_t advertised(const struct node *node, struct arena *arena,
                         const struct node_resource ***ret_rows)
{
    size_t n_all = 0;
    size_t n = 0;
    const struct node_resource *all = node_resources(node, &n_all);
    const struct node_resource **rows = ARENA_ARRAY(arena, const struct node_resource *, n_all);
    for (size_t i = 0; i < n_all; i++) {
        if (all[i].advertised)
            rows[n++] = &all[i];
    }
    if (n > 1)
        qsort(rows, n, sizeof(const struct node_resource *), compare_resources);
    *ret_rows = rows;
    return n;
}

/* As users write it: "64", "488Gi". */
static const char *amount_text(const struct node_resource *row, struct arena *arena)
{
    const int64_t gib = INT64_C(1) << 30;
    if (strcmp(row->resource->name, "cpu") == 0)
        return arena_printf(arena, "%" PRId64, row->capacity / 1000);
    if (strcmp(row->resource->name, "memory") == 0)
        return arena_printf(arena, "%" PRId64 "Gi", row->capacity / gib);
    return arena_printf(arena, "%" PRId64, row->capacity);
}

static const char *model_of(const struct node *node, struct arena *arena)
{
    const char *text = "";
    const struct gpu_kind *kind = NULL;
    while ((kind = node_traits_next_kind(node_traits(node), kind))) {
        const char *name = gpu_model_name(&kind->model, arena);
        text = arena_printf(arena, "%s%s%s", text, text[0] && name[0] ? ", " : "", name);
    }
    return text;
}

/* "A100-SXM4-80GB, 96 cpu, 1024Gi memory, 8 nvidia.com/gpu" */
static const char *shape_text(const struct cluster *ledger, const struct node *node,
                              struct arena *arena)
{
    const struct node_resource **rows = NULL;
    const size_t n = advertised(node, arena, &rows);
    const char *text = model_of(node, arena);
    for (size_t i = 0; i < n; i++) {
        const char *name = rows[i]->resource->name;
        if (policy_is_gpu_resource(cluster_policy(ledger), name) || strcmp(name, "cpu") == 0 ||
            strcmp(name, "memory") == 0)
            text = arena_printf(arena, "%s%s%s %s", text, text[0] ? ", " : "",
                                amount_text(rows[i], arena), name);
    }
    return text[0] ? text : "no resources";
}

static const char *label_of(const struct node *node, const char *key)
{
    const struct label_view *view = &node_traits(node)->view;
    for (size_t i = 0; i < view->n_labels; i++) {
        if (strcmp(view->labels[i].key, key) == 0)
            return view->labels[i].value;
    }
    return NULL;
}

static void name_group(const struct cluster *ledger, const struct node *node, struct arena *arena,
                       struct node_group *group)
{
    for (size_t i = 0; i < sizeof LABELS / sizeof *LABELS; i++) {
        const char *value = label_of(node, LABELS[i]);
        if (!value || !value[0])
            continue;
        group->by = LABELS[i];
        group->name = arena_strdup(arena, value);
        return;
    }
    group->by = BY_SHAPE;
    group->name = shape_text(ledger, node, arena);
}

static struct node_group *find_or_add(struct node_group **groups, const struct node_group *named,
                                      struct arena *arena)
{
    const char *key = arena_printf(arena, "%s\n%s", named->by, named->name);
    struct node_group *group = NULL;
    HASH_FIND_STR(*groups, key, group);
    if (group)
        return group;
    group = ARENA_NEW(arena, struct node_group);
    *group = *named;
    group->nodes = json_array();
    HASH_ADD_KEYPTR(hh, *groups, key, strlen(key), group);
    return group;
}

static json_t *resources_of(const struct node *node, struct arena *arena)
{
    const struct node_resource **rows = NULL;
    const size_t n = advertised(node, arena, &rows);
    json_t *json = json_object();
    for (size_t i = 0; i < n; i++)
        (void)json_object_set_new(json, rows[i]->resource->name,
                                  json_integer((json_int_t)rows[i]->allocatable));
    return json;
}

/* Copies what the group needs of its model, as the ledger will change. */
static void describe(struct node_group *group, struct arena *arena)
{
    group->like_name = arena_strdup(arena, node_name(group->like));
    group->model = model_of(group->like, arena);
    group->resources = resources_of(group->like, arena);
}

static struct node_group *groups_of(const struct cluster *ledger, struct arena *arena)
{
    struct node_group *groups = NULL;
    for (const struct node *node = cluster_next_node(ledger, NULL); node;
         node = cluster_next_node(ledger, node)) {
        struct node_group named = {.like = node};
        name_group(ledger, node, arena, &named);
        struct node_group *group = find_or_add(&groups, &named, arena);
        group->n_nodes++;
        (void)json_array_append_new(group->nodes, json_string(node_name(node)));
        group->n_ready += node_traits(node)->ready;
        group->n_cordoned += node_traits(node)->unschedulable;
        if (!is_usable(group->like) && is_usable(node))
            group->like = node;
    }
    for (struct node_group *group = groups; group; group = group->hh.next)
        describe(group, arena);
    return groups;
}

/* ---- one more node ---- */

/* No name of a node. */
#define NEW_NODE "a new node/"

static void place_in_ledger(struct cluster *ledger, const struct placing *placing)
{
    for (size_t i = 0; i < placing->n; i++) {
        const struct placed_pod *item = &placing->items[i];
        if (item->node)
            edit_place(ledger, item->copy->pod.uid, item->node);
    }
}

static void judge(struct node_group *groups, struct inventory *copy, const struct placing *before)
{
    struct cluster *ledger = inventory_own_ledger(copy);
    const struct more_node_question question = {copy, NEW_NODE, PODS_SHOWN};
    size_t n_left = MAX_VERDICTS;
    place_in_ledger(ledger, before);
    for (struct node_group *group = groups; group; group = group->hh.next) {
        (void)edit_add_like(ledger, group->like_name, NEW_NODE, NULL);
        group->is_judged =
            placing_count_on(before, &question, &n_left, &group->n_would_run, group->first);
        edit_remove_node(ledger, NEW_NODE);
    }
}

/* ---- the answer ---- */

static json_t *pods_json(const struct node_group *group, const struct placing *before)
{
    json_t *list = json_array();
    for (size_t i = 0; i < before->n; i++) {
        const struct pod *pod = &before->items[i].copy->pod;
        for (size_t k = 0; k < PODS_SHOWN && group->first[k]; k++) {
            if (group->first[k] == pod->uid)
                (void)json_array_append_new(
                    list, json_pack("{s:s, s:s}", "namespace", pod->namespace_, "name", pod->name));
        }
    }
    return list;
}

static json_t *group_json(struct node_group *group, const struct placing *before)
{
    return json_pack("{s:s, s:s, s:I, s:o, s:I, s:I, s:s, s:s, s:o, s:o, s:o}", "by", group->by,
                     "name", group->name, "nodes", (json_int_t)group->n_nodes, "nodeNames",
                     group->nodes, "ready", (json_int_t)group->n_ready, "cordoned",
                     (json_int_t)group->n_cordoned, "like", group->like_name, "model", group->model,
                     "resources", group->resources, "wouldRun",
                     group->is_judged ? json_integer((json_int_t)group->n_would_run) : json_null(),
                     "pods", pods_json(group, before));
}

static int by_use(const struct node_group *a, const struct node_group *b)
{
    if (a->n_would_run != b->n_would_run)
        return a->n_would_run > b->n_would_run ? -1 : 1;
    if (a->n_nodes != b->n_nodes)
        return a->n_nodes > b->n_nodes ? -1 : 1;
    const int order = strcmp(a->by, b->by);
    return order != 0 ? order : strcmp(a->name, b->name);
}

static int by_size(const struct node_group *a, const struct node_group *b)
{
    return (a->n_nodes < b->n_nodes) - (a->n_nodes > b->n_nodes);
}

/* The groups beyond GROUPS_MAX are dropped. */
static void keep_largest(struct node_group **groups)
{
    struct node_group *group = NULL;
    struct node_group *next = NULL;
    size_t i = 0;
    HASH_SORT(*groups, by_size);
    HASH_ITER (hh, *groups, group, next) {
        if (i++ < GROUPS_MAX)
            continue;
        HASH_DEL(*groups, group);
        json_decref(group->resources);
        json_decref(group->nodes);
    }
}

/* The fork has the names of places. */
static void keep_names(const struct placing *placing, struct arena *arena)
{
    for (size_t i = 0; i < placing->n; i++) {
        if (placing->items[i].node)
            placing->items[i].node = arena_strdup(arena, placing->items[i].node);
    }
}

static void add_members(struct inventory *copy, struct arena *arena, json_t *answer)
{
    struct cluster *fork = NULL;
    struct placing before = placing_of(copy, NULL, PEERS_NONE, arena, &fork);
    keep_names(&before, arena);
    inventory_fork_free(copy, fork);
    struct node_group *groups = groups_of(inventory_own_ledger(copy), arena);
    const size_t n_groups = HASH_COUNT(groups);
    json_t *list = json_array();
    keep_largest(&groups);
    judge(groups, copy, &before);
    HASH_SORT(groups, by_use);
    for (struct node_group *group = groups; group; group = group->hh.next)
        (void)json_array_append_new(list, group_json(group, &before));
    HASH_CLEAR(hh, groups);
    (void)json_object_update_new(
        answer, json_pack("{s:s, s:{s:I, s:I}, s:o, s:I}", "summary",
                          arena_printf(arena, "%zu of %zu pending pods find a place now",
                                       before.n_placed, before.copies.n_all),
                          "pending", "pods", (json_int_t)before.copies.n_all, "fit",
                          (json_int_t)before.n_placed, "groups", list, "omitted",
                          (json_int_t)(n_groups - json_array_size(list))));
    pod_copy_fini(&before.copies);
}

static const char *pods_text(const json_t *group, struct arena *arena)
{
    const json_t *pods = json_object_get(group, "pods");
    const json_t *first = json_array_get(pods, 0);
    const json_int_t n = json_integer_value(json_object_get(group, "wouldRun"));
    if (!first)
        return "";
    return text_first(text_pod(first, arena), (size_t)n, arena);
}

/* Its shape, or the label of its nodes as a selector writes it. */
static const char *group_text(const json_t *group, struct arena *arena)
{
    const char *by = text_member(group, "by");
    const char *name = text_member(group, "name");
    return strcmp(by, BY_SHAPE) == 0 ? name : arena_printf(arena, "%s=%s", by, name);
}

static void add_wide(struct table *table, const json_t *group, struct arena *arena)
{
    table_add(table,
              (const char *[]){text_member(group, "name"), text_member(group, "by"),
                               text_number(group, "nodes", arena), text_member(group, "model"),
                               text_member(group, "like"), text_number(group, "wouldRun", arena),
                               pods_text(group, arena)});
}

static void add_narrow(struct table *table, const json_t *group, struct arena *arena)
{
    table_add(table,
              (const char *[]){group_text(group, arena), text_number(group, "nodes", arena),
                               text_member(group, "like"), text_number(group, "wouldRun", arena),
                               pods_text(group, arena)});
}

static bool helps(const json_t *group)
{
    const json_t *would_run = json_object_get(group, "wouldRun");
    return !json_is_integer(would_run) || json_integer_value(would_run) > 0;
}

/* Groups that would help nobody are rows of a wide table only. */
void tables_write_node_groups(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const WIDE[] = {"GROUP", "BY",        "NODES", "MODEL",
                                       "LIKE",  "WOULD RUN", "PODS",  NULL};
    static const char *const NARROW[] = {"GROUP", "NODES", "LIKE", "RUN", "PODS", NULL};
    struct table *table = table_new(arena, wide, wide ? WIDE : NARROW);
    const json_t *groups = json_object_get(answer, "groups");
    size_t n_helping = 0;
    size_t i = 0;
    json_t *group = NULL;
    provenance_write_warning(answer, arena, out);
    table_write_line(text_member(answer, "summary"), 0, 0, out);
    json_array_foreach (groups, i, group) {
        n_helping += helps(group);
        if (wide || helps(group))
            (wide ? add_wide : add_narrow)(table, group, arena);
    }
    const size_t n_others = json_array_size(groups) - n_helping;
    if (!table_is_empty(table)) {
        buf_printf(out, "%s: how many of the others one more node like LIKE would let run\n\n",
                   wide ? WIDE[5] : NARROW[3]);
        table_write(table, out);
    }
    if (!wide && n_others > 0)
        buf_printf(out,
                   "One more node of %s%zu %sgroup%s would let none of the others run.\n"
                   "?wide=true lists %s.\n",
                   n_others > 1 ? "any of " : "", n_others, n_helping > 0 ? "other " : "",
                   n_others > 1 ? "s" : "", n_others > 1 ? "them" : "it");
}

void api_node_groups(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct arena *arena = exchange_arena(exchange);
    const char *tag = NULL;
    if (!reply_from(api->inventory, exchange) || !reply_begin(api, exchange, &tag) ||
        exchange_defer(exchange))
        return;
    const struct provenance provenance = provenance_of(api->inventory, arena);
    struct inventory *copy = inventory_copy(api->inventory, NULL);
    json_t *answer = provenance_json(&provenance);
    add_members(copy, arena, answer);
    inventory_free(copy);
    reply_end(api, exchange, tag);
    reply(exchange, answer, tables_write_node_groups);
}

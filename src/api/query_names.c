/* query_names: see reply.h. */
#include "api/reply.h"
#include "base/nearest.h"
#include "ledger/model_list.h"

#include <stdint.h>
#include <string.h>

/* Names that one answer compares in a hold of the lock; distances cost more. */
#define COMPARISONS_MAX ((size_t)20000)
#define DISTANCES_MAX ((size_t)1000)

/* The best name so far for one that is missing. */
struct query_search {
    const char *asked;
    const char *found; /* NULL: none is near */
    const char *last;  /* compared last: neighbours often have the same */
    size_t n_left;     /* comparisons */
    bool (*is_meant)(const char *asked, const char *known);
};

static void offer(struct query_search *search, const char *known)
{
    if (search->found || known == search->last || search->n_left == 0)
        return;
    search->n_left--;
    search->last = known;
    if (search->is_meant(search->asked, known))
        search->found = known;
}

/* The searches return whether the cluster has the name. */

static bool find_node(const struct cluster *cluster, struct query_search *search)
{
    if (cluster_find_node(cluster, search->asked))
        return true;
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));)
        offer(search, node_name(node));
    return false;
}

static bool find_namespace(const struct cluster *cluster, struct query_search *search)
{
    if (cluster_has_namespace(cluster, search->asked))
        return true;
    for (const struct namespace *one = NULL; (one = cluster_next_namespace(cluster, one));)
        offer(search, one->name);
    return false;
}

static bool find_resource_on(const struct node *node, struct query_search *search)
{
    size_t n = 0;
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].advertised)
            continue;
        if (strcmp(rows[i].resource->name, search->asked) == 0)
            return true;
        offer(search, rows[i].resource->name);
    }
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(groups[i].driver, search->asked) == 0)
            return true;
        offer(search, groups[i].driver);
    }
    return false;
}

static bool find_resource(const struct cluster *cluster, struct query_search *search)
{
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        if (find_resource_on(node, search))
            return true;
    }
    return false;
}

/* A name that the cluster does not have. */
struct query_fault {
    const char *path, *message;
};

struct query_faults {
    struct query_fault items[4];
    size_t n;
};

static void add(struct query_faults *missing, const char *parameter, const char *message)
{
    missing->items[missing->n++] = (struct query_fault){parameter, message};
}

static const char *advice(const char *near, struct arena *arena)
{
    return near ? arena_printf(arena, "; did you mean %s?", near) : "";
}

static const struct listed_name {
    const char *parameter, *what;
    bool (*find)(const struct cluster *cluster, struct query_search *search);
    bool (*is_meant)(const char *asked, const char *known);
} NODE = {"node", "there is no such node", find_node, nearest_is_typo},
  RESOURCE = {"resource", "no node has it", find_resource, nearest_is_resource},
  NAMESPACE = {"namespace", "there is no such namespace", find_namespace, nearest_is_typo};

static void check_name(const struct cluster *cluster, struct exchange *exchange,
                       const struct listed_name *kind, struct query_faults *missing)
{
    struct arena *arena = exchange_arena(exchange);
    struct query_search search = {.asked = exchange_query(exchange, kind->parameter),
                                  .n_left = COMPARISONS_MAX,
                                  .is_meant = kind->is_meant};
    if (search.asked && !kind->find(cluster, &search))
        add(missing, kind->parameter,
            arena_printf(arena, "\"%.253s\": %s%s", search.asked, kind->what,
                         advice(search.found, arena)));
}

static void check_model(const struct cluster *cluster, struct exchange *exchange,
                        struct query_faults *missing)
{
    struct arena *arena = exchange_arena(exchange);
    const struct policy *policy = cluster_policy(cluster);
    const char *asked = exchange_query(exchange, "model");
    struct model_list here = {.n_left = COMPARISONS_MAX};
    struct gpu_model want;
    struct gpu_model meant;
    if (!asked || !gpu_model_parse(asked, policy->aliases, policy->n_aliases, &want))
        return;
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));)
        model_list_add(&here, node_traits(node), arena);
    model_list_seal(&here);
    if (model_list_has(&here, &want))
        return;
    const bool is_near = model_list_nearest(&here, &want, &meant);
    add(missing, "model",
        arena_printf(arena, "\"%.60s\": no node has it%s", asked,
                     advice(is_near ? gpu_model_name(&meant, arena) : NULL, arena)));
}

/* A file may lack its namespaces. */
static bool knows_namespaces(const struct inventory_view *view)
{
    return view->live || cluster_next_namespace(view->cluster, NULL);
}

static struct query_faults find_missing(const struct api *api, struct exchange *exchange)
{
    struct query_faults missing = {.n = 0};
    if (inventory_waiting_for(api->inventory))
        return missing;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(api->inventory);
    check_name(view.cluster, exchange, &NODE, &missing);
    check_name(view.cluster, exchange, &RESOURCE, &missing);
    if (knows_namespaces(&view))
        check_name(view.cluster, exchange, &NAMESPACE, &missing);
    check_model(view.cluster, exchange, &missing);
    return missing;
}

void query_names_add(const struct api *api, struct exchange *exchange, json_t *answer)
{
    const struct query_faults missing = find_missing(api, exchange);
    json_t *warnings = json_array();
    for (size_t i = 0; i < missing.n; i++)
        (void)json_array_append_new(warnings,
                                    json_pack("{s:s+, s:s}", "path", "?", missing.items[i].path,
                                              "message", missing.items[i].message));
    (void)json_object_set_new(answer, "warnings", warnings);
}

const char *query_names_near_node(const struct api *api, struct exchange *exchange,
                                  const char *name)
{
    struct nearest nearest = {.asked = name, .least = SIZE_MAX};
    size_t n_left = DISTANCES_MAX;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(api->inventory);
    for (const struct node *node = NULL;
         n_left > 0 && (node = cluster_next_node(view.cluster, node)); n_left--)
        (void)nearest_try(&nearest, node_name(node));
    return advice(nearest.found, exchange_arena(exchange));
}

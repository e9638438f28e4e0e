/* quotas: see quotas.h. Copied under the inventory's lock, written as JSON after it. */
#include "api/kubernetes/quotas.h"
#include "api/first.h"
#include "base/table.h"
#include "decide/quota.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

const struct kind_member QUOTA_MEMBERS[] = {
    {"used", "string", "The use by all its namespaces, of each limit, as text."},
    {"usedHere", "string", "The use by this namespace, as text."},
    {"limits", "objects",
     "Its limits: resource and model (empty: all), limit, used by all its namespaces, usedHere, "
     "borrowed."},
    {"claimsCounted", "boolean",
     "true: the use includes GPUs that resource claims hold. false: claims are unknown."},
    {0},
};

const struct kind_column QUOTA_COLUMNS[] = {{"Used", "used", 0}, {"Here", "usedHere", 0}, {0}};

struct limit_copy {
    const char *resource, *model; /* "": all */
    int64_t limit, used, used_here, borrowed;
};

/* A quota in one namespace that it covers. */
struct quota_copy {
    const char *namespace_, *name;
    struct limit_copy *limits;
    size_t n_limits;
    struct quota_copy *next;
};

/* A page of them. */
struct quota_copies {
    struct arena *arena;
    struct quota_copy *items;
    size_t n;
    bool has_more, claims_counted;
};

/* ---- under the lock ---- */

static const char *copy_or_all(const char *name, struct arena *arena)
{
    return name ? arena_strdup(arena, name) : "";
}

static void copy_quota(const struct cluster *cluster, const struct quota *quota,
                       const char *namespace_, struct quota_copies *copies)
{
    struct arena *arena = copies->arena;
    struct quota_copy *copy = ARENA_NEW(arena, struct quota_copy);
    copy->namespace_ = arena_strdup(arena, namespace_);
    copy->name = arena_strdup(arena, quota->name);
    copy->limits = ARENA_ARRAY(arena, struct limit_copy, quota->n_limits);
    for (; copy->n_limits < quota->n_limits; copy->n_limits++) {
        const struct quota_limit *limit = &quota->limits[copy->n_limits];
        copy->limits[copy->n_limits] = (struct limit_copy){
            .resource = copy_or_all(limit->resource, arena),
            .model = copy_or_all(limit->model, arena),
            .limit = limit->gpus,
            .used = quota_used(cluster, quota, limit),
            .used_here = namespace_usage_in(cluster, namespace_, limit, QUOTA_GUARANTEED),
            .borrowed = quota_borrowed(cluster, quota, limit),
        };
    }
    LL_PREPEND(copies->items, copy);
    copies->n++;
}

static int compare_quotas(const void *a, const void *b)
{
    return strcmp((*(const struct quota *const *)a)->name, (*(const struct quota *const *)b)->name);
}

static bool is_on_page(const struct selection *selection, const char *namespace_, const char *name)
{
    const struct selection_object object = {.namespace_ = namespace_, .name = name, .field = ""};
    return first_order(namespace_, name, selection->after_namespace, selection->after_name) > 0 &&
           selection_admits(selection, &object);
}

/* Copies those quotas of a namespace that are on the page. */
static void copy_covering(const struct cluster *cluster, const char *namespace_,
                          const struct selection *selection, struct quota_copies *copies)
{
    const size_t *found = NULL;
    const size_t n = namespace_usage_find_quotas(cluster, namespace_, copies->arena, &found);
    const struct quota **quotas = ARENA_ARRAY(copies->arena, const struct quota *, n);
    for (size_t i = 0; i < n; i++)
        quotas[i] = &cluster_policy(cluster)->quotas[found[i]];
    if (n > 1)
        qsort(quotas, n, sizeof(const struct quota *), compare_quotas);
    for (size_t i = 0; i < n && !copies->has_more; i++) {
        if (!is_on_page(selection, namespace_, quotas[i]->name))
            continue;
        if (copies->n < selection->limit)
            copy_quota(cluster, quotas[i], namespace_, copies);
        else
            copies->has_more = true;
    }
}

static int compare_namespaces(const void *a, const void *b)
{
    return strcmp((*(const struct namespace *const *)a)->name,
                  (*(const struct namespace *const *)b)->name);
}

static void copy_all(const struct cluster *cluster, const struct selection *selection,
                     struct quota_copies *copies)
{
    const struct namespace **sorted =
        ARENA_ARRAY(copies->arena, const struct namespace *, cluster_n_namespaces(cluster));
    size_t n = 0;
    for (const struct namespace *namespace_ = cluster_next_namespace(cluster, NULL); namespace_;
         namespace_ = cluster_next_namespace(cluster, namespace_)) {
        if (strcmp(namespace_->name, selection->after_namespace) >= 0)
            sorted[n++] = namespace_;
    }
    if (n > 1)
        qsort(sorted, n, sizeof(const struct namespace *), compare_namespaces);
    for (size_t i = 0; i < n && !copies->has_more; i++)
        copy_covering(cluster, sorted[i]->name, selection, copies);
}

static void copy_quotas(const struct objects_query *query, struct quota_copies *copies)
{
    struct err why;
    const struct selection *selection = query->selection;
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(query->api->inventory);
    copies->claims_counted = inventory_counts_claims(&view, &why);
    if (*selection->namespace_)
        copy_covering(view.cluster, selection->namespace_, selection, copies);
    else
        copy_all(view.cluster, selection, copies);
}

/* ---- without it ---- */

/* "GPUs", "nvidia.com/gpu", "A100", "A100 of nvidia.com/gpu" */
static const char *counted_text(const struct limit_copy *limit, struct arena *arena)
{
    if (!*limit->model)
        return *limit->resource ? limit->resource : "GPUs";
    if (!*limit->resource)
        return limit->model;
    return arena_printf(arena, "%s of %s", limit->model, limit->resource);
}

static void add_quota(const struct objects_query *query, const struct quota_copy *copy,
                      bool claims_counted, struct objects *objects)
{
    const struct objects_metadata metadata = {.namespace_ = copy->namespace_, .name = copy->name};
    const char *used = "";
    const char *here = "";
    json_t *limits = json_array();
    for (size_t i = 0; i < copy->n_limits; i++) {
        const struct limit_copy *limit = &copy->limits[i];
        const char *counted = counted_text(limit, query->arena);
        const char *comma = i > 0 ? ", " : "";
        used = arena_printf(query->arena, "%s%s%lld of %lld %s", used, comma,
                            (long long)limit->used, (long long)limit->limit, counted);
        here = arena_printf(query->arena, "%s%s%lld %s", here, comma, (long long)limit->used_here,
                            counted);
        (void)json_array_append_new(
            limits, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "resource", limit->resource,
                              "model", limit->model, "limit", (json_int_t)limit->limit, "used",
                              (json_int_t)limit->used, "usedHere", (json_int_t)limit->used_here,
                              "borrowed", (json_int_t)limit->borrowed));
    }
    objects_add(objects, query, &metadata,
                json_pack("{s:s, s:s, s:o, s:b}", "used", used, "usedHere", here, "limits", limits,
                          "claimsCounted", claims_counted));
}

bool quotas_find_objects(const struct objects_query *query, struct objects *objects)
{
    struct quota_copies copies = {.arena = query->arena};
    const struct quota_copy *copy = NULL;
    copy_quotas(query, &copies);
    LL_FOREACH (copies.items, copy)
        add_quota(query, copy, copies.claims_counted, objects);
    objects->is_page = true;
    objects->has_more = copies.has_more;
    return true;
}

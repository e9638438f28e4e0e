/* snapshot: see include/objects/snapshot.h. */
#include "objects/snapshot.h"
#include "base/clock.h"
#include "container_requests.h"
#include "fields.h"
#include "formats/json_values.h"
#include "ledger/gpu_demand.h"
#include "ledger/reservation.h"
#include "ledger/shape_limits.h"
#include "objects/pod.h"
#include "objects/to_json.h"
#include "shape_json.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* Pods and slices. */

static void make_own(json_t *object, const char *kind)
{
    (void)json_object_set_new(object, "apiVersion", json_string(SNAPSHOT_API_VERSION));
    (void)json_object_set_new(object, "kind", json_string(kind));
}

/* Marks a shape that lost parts to a limit. */
static void set_limit(json_t *object, const struct shape_facts *shape)
{
    if (!shape->over)
        return;
    (void)json_object_set_new(object, "shapeOver", json_string(shape_limit_name(shape->over)));
    (void)json_object_set_new(object, "demandOnly", json_boolean(shape->demand_only));
}

/* A reduced shape also lacks the tolerations of its GPUs, which decoding adds to every pod. */
static int read_limit(const json_t *object, struct shape_facts *shape, struct err *err)
{
    const char *name = NULL;
    int r = json_get_string(object, "shapeOver", &name, err);
    enum shape_limit over = SHAPE_LIMIT_NONE + 1;
    if (r < 0 || !name)
        return r;
    while (over < N_SHAPE_LIMITS && strcmp(name, shape_limit_name(over)) != 0)
        over++;
    if (over == N_SHAPE_LIMITS)
        return err_set(err, EINVAL, "shapeOver: is \"%.40s\", should be %s or %s", name,
                       shape_limit_name(SHAPE_LIMIT_POD), shape_limit_name(SHAPE_LIMIT_SUM));
    if (json_is_true(json_member(object, "demandOnly")))
        *shape = shape_demand_only(shape, over);
    else
        shape_reduce(shape, over);
    return 0;
}

/* A pod with the request nvidia.com/gpu: 0 is managed, but the ledger keeps no such request. */
static bool loses_annotations(const json_t *pod, const struct policy *policy)
{
    return json_member(json_member(pod, "metadata"), "annotations") &&
           !managed_by_policy(json_member(pod, "spec"), policy);
}

/* A gated pod is kept too: its lines that are not evaluated name the gates, unlike the ledger. */
json_t *kept_pod_to_json(const struct pod_facts *facts, const struct policy *policy)
{
    json_t *object = pod_to_json(facts, policy);
    if (!facts->refusal && !facts->not_evaluated && !facts->gated && !facts->shape.over &&
        !facts->lacks_peers && !loses_annotations(object, policy))
        return object;
    make_own(object, "KeptPod");
    set_limit(object, &facts->shape);
    if (facts->lacks_peers)
        (void)json_object_set_new(object, "lacksPeers", json_true());
    if (facts->refusal)
        (void)json_object_set_new(object, "refusal", json_string(facts->refusal));
    if (facts->not_evaluated)
        (void)json_object_set_new(object, "notEvaluated", json_string(facts->not_evaluated));
    return object;
}

static int read_text(const json_t *object, const char *member, struct arena *arena,
                     const char **ret_text, struct err *err)
{
    const char *text = NULL;
    int r = json_get_string(object, member, &text, err);
    if (r == 0)
        *ret_text = text ? arena_strdup(arena, text) : NULL;
    return r;
}

int kept_pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                       struct pod_facts *ret_facts, struct err *err)
{
    struct pod_facts facts;
    int r = 0;
    if ((r = pod_from_json_kept(object, policy, arena, &facts, err)) < 0 ||
        (r = read_limit(object, &facts.shape, err)) < 0 ||
        (r = read_text(object, "refusal", arena, &facts.refusal, err)) < 0 ||
        (r = read_text(object, "notEvaluated", arena, &facts.not_evaluated, err)) < 0)
        return r;
    facts.lacks_peers = json_is_true(json_member(object, "lacksPeers"));
    *ret_facts = facts;
    return 0;
}

json_t *kept_slice_to_json(const struct slice_facts *facts, const struct policy *policy)
{
    json_t *object = resource_slice_to_json(facts, policy);
    if (facts->is_unreadable)
        make_own(object, "KeptSlice");
    return object;
}

json_t *reservation_to_json(const struct reservation_facts *facts, const struct policy *policy)
{
    json_t *object = pod_to_json(&facts->pod, policy);
    make_own(object, "Reservation");
    set_limit(object, &facts->pod.shape);
    (void)json_object_del(object, "status");
    (void)json_object_set_new(object, "node", json_string(facts->node_name));
    return object;
}

int reservation_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                          struct reservation_facts *ret_facts, struct err *err)
{
    struct reservation_facts facts = {.node_name = ""};
    int r = 0;
    if ((r = pod_from_json(object, policy, arena, &facts.pod, err)) < 0 ||
        (r = read_limit(object, &facts.pod.shape, err)) < 0 ||
        (r = meta_name(object, "node", arena, &facts.node_name, err)) < 0)
        return r;
    if (!facts.node_name[0])
        return err_set(err, EINVAL, "node: is missing");
    *ret_facts = facts;
    return 0;
}

/* The header object. */

static json_t *problems_json(const struct snapshot *snapshot)
{
    json_t *list = json_array();
    for (size_t i = 0; i < snapshot->n_problems; i++)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s}", "kind", snapshot->problems[i].kind, "name",
                            snapshot->problems[i].name, "what", snapshot->problems[i].what));
    return list;
}

json_t *snapshot_to_json(const struct snapshot *snapshot)
{
    char made[TEXT_TIME_SIZE];
    char as_of[TEXT_TIME_SIZE];
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:b, s:b, s:b, s:s*, s:o, s:o, s:o, s:I}",
                     "apiVersion", SNAPSHOT_API_VERSION, "kind", SNAPSHOT_KIND, "metadata", "name",
                     "snapshot", "creationTimestamp", text_time(snapshot->made_s, made), "source",
                     snapshot->source, "asOf", text_time(snapshot->as_of_s, as_of), "claimsKnown",
                     snapshot->claims_known, "claimTemplatesKnown", snapshot->templates_known,
                     "disruptionBudgetsKnown", snapshot->budgets_known, "claimsNotCountedBecause",
                     snapshot->claims_uncounted, "policy", snapshot->policy, "reckoned",
                     snapshot->reckoned, "problems", problems_json(snapshot), "problemCount",
                     (json_int_t)snapshot->n_all_problems);
}

static int read_problem(const json_t *object, struct arena *arena,
                        struct snapshot_problem *ret_problem, struct err *err)
{
    const char *kind = "";
    const char *name = "";
    const char *what = "";
    int r = 0;
    if ((r = json_get_string(object, "kind", &kind, err)) < 0 ||
        (r = json_get_string(object, "name", &name, err)) < 0 ||
        (r = json_get_string(object, "what", &what, err)) < 0)
        return r;
    *ret_problem = (struct snapshot_problem){arena_strdup(arena, kind), arena_strdup(arena, name),
                                             arena_strdup(arena, what)};
    return 0;
}

static int read_problems(const json_t *object, struct arena *arena, struct snapshot *snapshot,
                         struct err *err)
{
    json_t *list = NULL;
    int64_t n_all = 0;
    int r = 0;
    if ((r = json_get_array(object, "problems", &list, err)) < 0 ||
        (r = json_get_integer(object, "problemCount", &n_all, err)) < 0)
        return r;
    const size_t n = json_array_size(list);
    struct snapshot_problem *problems = ARENA_ARRAY(arena, struct snapshot_problem, n);
    for (size_t i = 0; i < n; i++) {
        if ((r = read_problem(json_array_get(list, i), arena, &problems[i], err)) < 0) {
            err_prefix(err, "problems[%zu].", i);
            return r;
        }
    }
    snapshot->problems = problems;
    snapshot->n_problems = n;
    snapshot->n_all_problems = n_all > (int64_t)n ? (size_t)n_all : n;
    return 0;
}

int snapshot_from_json(const json_t *object, struct arena *arena, struct snapshot *ret_snapshot,
                       struct err *err)
{
    struct snapshot snapshot = {0};
    const char *source = "";
    const char *made = "";
    const char *as_of = "";
    json_t *metadata = NULL;
    int r = 0;
    if ((r = json_get_object(object, "metadata", &metadata, err)) < 0 ||
        (r = json_get_string(metadata, "creationTimestamp", &made, err)) < 0 ||
        (r = json_get_string(object, "source", &source, err)) < 0 ||
        (r = json_get_string(object, "asOf", &as_of, err)) < 0 ||
        (r = json_get_bool(object, "claimsKnown", &snapshot.claims_known, err)) < 0 ||
        (r = json_get_bool(object, "claimTemplatesKnown", &snapshot.templates_known, err)) < 0 ||
        (r = json_get_bool(object, "disruptionBudgetsKnown", &snapshot.budgets_known, err)) < 0 ||
        (r = read_text(object, "claimsNotCountedBecause", arena, &snapshot.claims_uncounted, err)) <
            0 ||
        (r = json_get_object(object, "policy", &snapshot.policy, err)) < 0 ||
        (r = json_get_object(object, "reckoned", &snapshot.reckoned, err)) < 0 ||
        (r = read_problems(object, arena, &snapshot, err)) < 0)
        return r;
    snapshot.source = arena_strdup(arena, source);
    snapshot.made_s = meta_time_s(made);
    snapshot.as_of_s = meta_time_s(as_of);
    json_incref(snapshot.policy);
    json_incref(snapshot.reckoned);
    *ret_snapshot = snapshot;
    return 0;
}

/* ---- the parts of a policy that affect decisions, for comparison; layout of the policy file, but
 * in thousandths ---- */

static json_t *names_json(const char *const *names, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, json_string(names[i]));
    return list;
}

/* NULL: no levels, as before there were any. */
static json_t *topology_json(const struct policy *policy)
{
    const char *const *levels = (const char *const *)policy->topology_levels;
    if (policy->n_topology_levels == 0)
        return NULL;
    return json_pack("{s:o}", "levels", names_json(levels, policy->n_topology_levels));
}

static json_t *units_json(const struct policy *policy)
{
    json_t *units = json_array();
    for (size_t i = 0; i < policy->n_units; i++) {
        const struct gpu_label *row = &policy->units[i];
        (void)json_array_append_new(
            units, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "resource", row->resource, "label",
                             row->label, "says", gpu_label_says_name(row->says), "whole",
                             row->whole, "replicas", row->replicas, "unit", row->unit));
    }
    return units;
}

static json_t *models_json(const struct policy *policy)
{
    const char *const *labels = (const char *const *)policy->model_labels;
    json_t *aliases = json_object();
    for (size_t i = 0; i < policy->n_aliases; i++)
        (void)json_object_set_new(aliases, policy->aliases[i].from,
                                  json_string(policy->aliases[i].to));
    return json_pack("{s:o, s:o, s:o}", "labels", names_json(labels, policy->n_model_labels),
                     "aliases", aliases, "units", units_json(policy));
}

static json_t *drivers_json(const struct policy *policy)
{
    json_t *drivers = json_object();
    for (size_t i = 0; i < policy->n_device_drivers; i++) {
        const struct device_driver *driver = &policy->device_drivers[i];
        (void)json_object_set_new(drivers, driver->name,
                                  json_pack("{s:s, s:s}", "model", driver->model_attribute,
                                            "resource", driver->resource));
    }
    return drivers;
}

static json_t *placement_json(const struct policy *policy)
{
    return json_pack("{s:s, s:s, s:I}", "policy", placement_policy_name(policy->placement),
                     "softPreferences", soft_preferences_name(policy->soft_preferences),
                     "replicaSpreadMilli", (json_int_t)policy->replica_spread_milli);
}

static json_t *slot_price_json(const struct slot_price_policy *numbers)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "pressureWeightMilli",
                     (json_int_t)numbers->pressure_weight_milli, "drainWeightMilli",
                     (json_int_t)numbers->drain_weight_milli, "priorGpusMilli",
                     (json_int_t)numbers->prior_gpus_milli, "priorConfinedMilli",
                     (json_int_t)numbers->prior_confined_milli);
}

/* null: the limit is for all resources, or all models. */
static json_t *limits_json(const struct quota *quota)
{
    json_t *list = json_array();
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        json_t *json = json_pack("{s:s?, s:s?, s:I}", "resource", limit->resource, "model",
                                 limit->model, "gpus", (json_int_t)limit->gpus);
        if (limit->borrow.is_set)
            (void)json_object_set_new(json, "borrow",
                                      json_pack("{s:I, s:I}", "limit",
                                                (json_int_t)limit->borrow.gpus, "maxPriority",
                                                (json_int_t)limit->borrow.max_priority));
        (void)json_array_append_new(list, json);
    }
    return list;
}

static json_t *quota_json(const struct quota *quota)
{
    json_t *json =
        json_pack("{s:s, s:o, s:o}", "name", quota->name, "namespaces",
                  names_json(quota->namespaces, quota->n_namespaces), "limits", limits_json(quota));
    if (quota->has_selector)
        (void)json_object_set_new(json, "namespaceSelector", term_to_json(&quota->selector));
    return json;
}

static json_t *quotas_json(const struct policy *policy)
{
    json_t *list = json_array();
    for (size_t i = 0; i < policy->n_quotas; i++)
        (void)json_array_append_new(list, quota_json(&policy->quotas[i]));
    return list;
}

json_t *snapshot_policy(const struct policy *policy)
{
    const char *const *gpu_resources = (const char *const *)policy->gpu_resources;
    return json_pack("{s:o, s:o, s:o*, s:o, s:{s:b}, s:{s:b}, s:o, s:o, s:o, s:{s:I, s:I}}",
                     "gpuResources", names_json(gpu_resources, policy->n_gpu_resources), "models",
                     models_json(policy), "topology", topology_json(policy), "deviceDrivers",
                     drivers_json(policy), "admission", "extendedResourceToleration",
                     policy->extended_resource_toleration, "sharing", "allow", policy->allow_shared,
                     "placement", placement_json(policy), "slotPrice",
                     slot_price_json(&policy->slot_price), "quotas", quotas_json(policy), "limits",
                     "podShapeBytes", (json_int_t)policy->pod_shape_bytes, "podShapesBytes",
                     (json_int_t)policy->pod_shapes_bytes);
}

/* ---- results that a ledger computes, for comparison ---- */

struct snapshot_sums {
    struct arena *arena;
    struct snapshot_lines lines;
    size_t n_max;
};

static void add(struct snapshot_sums *sums, const char *what, int64_t n)
{
    struct snapshot_lines *lines = &sums->lines;
    if (lines->n == sums->n_max) {
        const size_t n_more = 2 * sums->n_max + 16;
        struct snapshot_line *items = ARENA_ARRAY(sums->arena, struct snapshot_line, n_more);
        if (lines->n > 0)
            memcpy(items, lines->items, lines->n * sizeof *items);
        lines->items = items;
        sums->n_max = n_more;
    }
    lines->items[lines->n++] = (struct snapshot_line){what, n};
}

static void add_pool(struct snapshot_sums *sums, const char *resource,
                     const struct model_pool *pool)
{
    struct arena *arena = sums->arena;
    const char *model = pool->model[0] ? pool->model : "no known model";
    add(sums, arena_printf(arena, "%s of %s, nodes", resource, model), (int64_t)pool->n_nodes);
    add(sums, arena_printf(arena, "%s of %s, free", resource, model), pool->free);
}

static void add_demand(struct snapshot_sums *sums, const struct gpu_demand *demand)
{
    const char *resource = demand->resource->name;
    struct arena *arena = sums->arena;
    int64_t n_live = 0;
    for (size_t i = 0; i < demand->n_classes; i++)
        n_live += demand->classes[i].n_live;
    for (size_t i = 0; i < demand->n_pools; i++)
        add_pool(sums, resource, demand->pools[i]);
    add(sums, arena_printf(arena, "%s, classes of pods that want it", resource),
        (int64_t)demand->n_classes);
    add(sums, arena_printf(arena, "%s, pods of these classes", resource), n_live);
}

/* GPUs of one driver on all nodes. */
static void add_driver(struct snapshot_sums *sums, const struct cluster *cluster,
                       const char *driver)
{
    int64_t n_total = 0;
    int64_t n_allocated = 0;
    int64_t n_free = 0;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        size_t n = 0;
        const struct node_device_group *groups = node_device_groups(node, &n);
        for (size_t i = 0; i < n; i++) {
            if (strcmp(groups[i].driver, driver) != 0)
                continue;
            n_total += groups[i].total;
            n_allocated += groups[i].allocated;
            n_free += groups[i].free;
        }
    }
    if (n_total == 0)
        return;
    add(sums, arena_printf(sums->arena, "GPUs of %s", driver), n_total);
    add(sums, arena_printf(sums->arena, "GPUs of %s, allocated", driver), n_allocated);
    add(sums, arena_printf(sums->arena, "GPUs of %s, free", driver), n_free);
}

struct snapshot_lines snapshot_compute(const struct cluster *cluster, struct arena *arena)
{
    struct snapshot_sums sums = {.arena = arena};
    add(&sums, "nodes", (int64_t)cluster_n_nodes(cluster));
    add(&sums, "pods", (int64_t)cluster_n_pods(cluster));
    add(&sums, "reservations", (int64_t)cluster_n_reservations(cluster));
    add(&sums, "namespaces", (int64_t)cluster_n_namespaces(cluster));
    add(&sums, "priority classes", (int64_t)cluster_n_objects(cluster, CLUSTER_PRIORITY_CLASSES));
    add(&sums, "device classes", (int64_t)cluster_n_objects(cluster, CLUSTER_DEVICE_CLASSES));
    add(&sums, "pod groups", (int64_t)cluster_n_objects(cluster, CLUSTER_POD_GROUPS));
    add(&sums, "claim templates", (int64_t)cluster_n_objects(cluster, CLUSTER_CLAIM_TEMPLATES));
    for (const struct gpu_demand *demand = gpu_demand_next(cluster, NULL); demand;
         demand = gpu_demand_next(cluster, demand))
        add_demand(&sums, demand);
    const struct policy *policy = cluster_policy(cluster);
    for (size_t i = 0; i < policy->n_device_drivers; i++)
        add_driver(&sums, cluster, policy->device_drivers[i].name);
    return sums.lines;
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
                        ", the ledger computes %" JSON_INTEGER_FORMAT,
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

/* oracle_compare: see oracle_compare.h. It reads private parts of the ledger. */
#include "oracle_compare.h"
#include "decide/quota.h"
#include "dra/devices.h"
#include "ledger.h"
#include "ledger/asked_claims.h"
#include "ledger/gpu_demand.h"
#include "oracle_facts.h"

#include <inttypes.h>
#include <string.h>

static int compare(struct err *err, const char *where, const char *what, int64_t is,
                   int64_t should_be)
{
    if (is == should_be)
        return 0;
    return err_set(err, EINVAL, "%s: %s is %" PRId64 ", the model says %" PRId64, where, what, is,
                   should_be);
}

static int compare_text(struct err *err, const char *where, const char *is, const char *should_be)
{
    const char *a = is ? is : "(null)";
    const char *b = should_be ? should_be : "(null)";
    if (strcmp(a, b) == 0)
        return 0;
    return err_set(err, EINVAL, "%s: \"%s\", the model says \"%s\"", where, a, b);
}

/* Nodes. */

static const struct node_resource *find(const struct node *node, const char *resource)
{
    size_t n = 0;
    const struct node_resource *all = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].resource->name, resource) == 0)
            return &all[i];
    }
    return NULL;
}

/* The free amount; at least INT64_MIN. */
static int64_t free_of(int64_t allocatable, int64_t used, int64_t reserved)
{
    int64_t free = 0;
    bool too_low = __builtin_sub_overflow(allocatable, used, &free);
    too_low |= __builtin_sub_overflow(free, reserved, &free);
    return too_low ? INT64_MIN : free;
}

struct oracle_sums {
    int64_t used;
    int64_t reserved;
};

static int compare_resource(struct err *err, const struct node *node,
                            const struct oracle_node *want, size_t r,
                            const struct oracle_sums *sums)
{
    const char *resource = ORACLE_RESOURCE_NAMES[r];
    const struct node_resource *has = find(node, resource);
    const bool advertised = want->capacity[r] != ORACLE_ABSENT;
    const int64_t capacity = advertised ? want->capacity[r] : 0;
    const int64_t allocatable = advertised ? want->allocatable[r] : 0;
    const int64_t free = free_of(allocatable, sums->used, sums->reserved);
    const bool is_used = sums->used != 0 || sums->reserved != 0;
    int result = compare(err, node_name(node), resource, has != NULL,
                         advertised || (ORACLE_ALWAYS_KEPT[r] && is_used));
    if (!has || result < 0)
        return result;
    if ((result = compare(err, resource, "used", has->used, sums->used)) < 0 ||
        (result = compare(err, resource, "reserved", has->reserved, sums->reserved)) < 0 ||
        (result = compare(err, resource, "allocatable", has->allocatable, allocatable)) < 0 ||
        (result = compare(err, resource, "capacity", has->capacity, capacity)) < 0 ||
        (result = compare(err, resource, "advertised", has->advertised, advertised)) < 0 ||
        (result = compare(err, resource, "free", node_resource_free(has), free)) < 0)
        err_prefix(err, "%s: ", node_name(node));
    return result;
}

static const size_t GPUS[] = {AMD_GPU, NVIDIA_GPU, MIG};

/* Of the node's label, else of its devices. */
static const char *chip_of(const struct oracle *oracle, size_t i, size_t resource)
{
    static const char *const CHIPS[ORACLE_DEVICE_MODELS] = {"", "H100", "L4"};
    const char *chip = oracle_facts_chip(oracle->nodes[i].model);
    return chip[0] && oracle_label_is_of(oracle, i, resource)
               ? chip
               : CHIPS[oracle_model_of_devices(oracle, i, resource)];
}

static int compare_traits(struct err *err, const struct node *node, const struct oracle *oracle,
                          size_t i)
{
    const struct oracle_node *want = &oracle->nodes[i];
    const struct node_traits *traits = node_traits(node);
    const char *zone = labels_find(traits->view.labels, traits->view.n_labels, "zone");
    const char *name = node_name(node);
    int r = 0;
    for (size_t each = 0; r == 0 && each < sizeof GPUS / sizeof *GPUS; each++)
        r = compare_text(err, name,
                         node_traits_gpus(traits, ORACLE_RESOURCE_NAMES[GPUS[each]])->model.chip,
                         chip_of(oracle, i, GPUS[each]));
    if (r < 0 ||
        (r = compare_text(err, name, zone ? zone : "", oracle_facts_zone(want->zone))) < 0 ||
        (r = compare(err, name, "taints", (int64_t)traits->n_taints, want->n_taints)) < 0 ||
        (r = compare(err, name, "cordon", traits->unschedulable, want->unschedulable)) < 0)
        return r;
    return compare(err, name, "ready", traits->ready, want->ready);
}

/* used + n * demand. It fits: placed pods had room, unless the ledger is wrong. */
static int64_t used_with(int64_t used, int64_t n, int64_t demand)
{
    int64_t more = 0;
    int64_t sum = 0;
    bool is_too_much = __builtin_mul_overflow(n, demand, &more);
    is_too_much |= __builtin_add_overflow(used, more, &sum);
    return is_too_much ? INT64_MAX : sum;
}

static int compare_group(struct err *err, const struct node_device_group *has, size_t driver,
                         size_t model, const struct oracle_group *want)
{
    const char *name = ORACLE_DRIVER_NAMES[driver];
    const char *resource = ORACLE_RESOURCE_NAMES[ORACLE_DRIVER_RESOURCES[driver]];
    int r = 0;
    if ((r = compare_text(err, "group", has->driver, name)) < 0 ||
        (r = compare_text(err, name, has->model, ORACLE_DEVICE_MODEL_NAMES[model])) < 0 ||
        (r = compare_text(err, name, has->resource->name, resource)) < 0 ||
        (r = compare(err, name, "devices", has->total, want->total)) < 0 ||
        (r = compare(err, name, "allocated", has->allocated, want->allocated)) < 0 ||
        (r = compare(err, name, "free", has->free, want->free)) < 0)
        return r;
    return compare(err, name, "shadowed", has->is_shadowed, want->is_shadowed);
}

/* Placed pods take free devices of the resource, group by group. *left: how many they still need.
 */
static void take_devices(struct oracle_group *group, int64_t *left)
{
    if (group->is_shadowed)
        return;
    const int64_t n = *left < group->free ? *left : group->free;
    group->free -= n;
    group->allocated += n;
    *left -= n;
}

/* What pods placed on a fork take of the driver's devices. */
static int64_t devices_for(const struct oracle *oracle, size_t i, size_t driver, int64_t n_placed,
                           const struct oracle_shape *placed)
{
    const size_t resource = ORACLE_DRIVER_RESOURCES[driver];
    return oracle_gives_by_claim(oracle, i, resource)
               ? used_with(0, n_placed, placed->demand[resource])
               : 0;
}

static int compare_groups(struct err *err, const struct node *node, const struct oracle *oracle,
                          size_t i, int64_t n_placed, const struct oracle_shape *placed)
{
    size_t n = 0;
    size_t n_seen = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++) {
        int64_t left = devices_for(oracle, i, driver, n_placed, placed);
        for (size_t model = 0; model < ORACLE_DEVICE_MODELS; model++) {
            struct oracle_group want = oracle_group(oracle, i, driver, model);
            take_devices(&want, &left);
            if (want.total == 0)
                continue;
            if (n_seen == n || compare_group(err, &groups[n_seen++], driver, model, &want) < 0) {
                err_prefix(err, "%s: devices: ", node_name(node));
                return -EINVAL;
            }
        }
    }
    return compare(err, node_name(node), "groups of devices", (int64_t)n, (int64_t)n_seen);
}

/* The sum over GPU resources and devices that count. */
static int64_t free_gpus(const struct oracle *oracle, size_t i, int64_t n_placed,
                         const struct oracle_shape *placed, const int64_t *free)
{
    int64_t sum = 0;
    for (size_t j = 0; j < sizeof GPUS / sizeof *GPUS; j++) {
        const int64_t more = free[GPUS[j]] > 0 ? free[GPUS[j]] : 0;
        sum = more > INT64_MAX - sum ? INT64_MAX : sum + more;
    }
    for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++) {
        int64_t left = devices_for(oracle, i, driver, n_placed, placed);
        for (size_t model = 0; model < ORACLE_DEVICE_MODELS; model++) {
            struct oracle_group group = oracle_group(oracle, i, driver, model);
            take_devices(&group, &left);
            const int64_t more = group.is_shadowed ? 0 : group.free;
            sum = more > INT64_MAX - sum ? INT64_MAX : sum + more;
        }
    }
    return sum;
}

/* n_placed pods with the demand of `placed` use the node, besides those of the model. */
static int compare_node(struct err *err, const struct cluster *cluster, const struct oracle *oracle,
                        size_t i, int64_t n_placed, const struct oracle_shape *placed)
{
    const char *name = oracle_facts_node_name((int64_t)i);
    const struct node *node = cluster_find_node(cluster, name);
    if (!node || !oracle->node_there[i])
        return compare(err, name, "being there", node != NULL, oracle->node_there[i]);
    int64_t free[N_ORACLE_RESOURCES] = {0};
    int r = compare_traits(err, node, oracle, i);
    for (size_t j = 0; r == 0 && j < N_ORACLE_RESOURCES; j++) {
        const struct oracle_node *want = &oracle->nodes[i];
        const bool advertised = want->capacity[j] != ORACLE_ABSENT;
        struct oracle_sums sums = {oracle_used(oracle, i, j), oracle_reserved(oracle, i, j)};
        /* A fork gets no new rows: what it gives by claim may have none. */
        if (advertised || sums.used != 0 || sums.reserved != 0)
            sums.used = used_with(sums.used, n_placed, placed->demand[j]);
        free[j] = free_of(advertised ? want->allocatable[j] : 0, sums.used, sums.reserved);
        r = compare_resource(err, node, want, j, &sums);
    }
    if (r < 0 || (r = compare_groups(err, node, oracle, i, n_placed, placed)) < 0)
        return r;
    return compare(err, name, "free GPUs", node_free_gpus(node),
                   free_gpus(oracle, i, n_placed, placed, free));
}

static int compare_users(struct err *err, const struct cluster *cluster,
                         const struct oracle *oracle, size_t i)
{
    const char *name = oracle_facts_node_name((int64_t)i);
    const struct node *node = cluster_find_node(cluster, name);
    int64_t n = 0;
    for (const struct pod *pod = node ? node_next_pod(node, NULL) : NULL; pod;
         pod = node_next_pod(node, pod), n++) {
        if (pod->finished || strcmp(pod->node_name, name) != 0)
            return err_set(err, EINVAL, "%s: %s does not use it", name, pod->uid);
    }
    return node ? compare(err, name, "pods", n, (int64_t)oracle_n_users(oracle, i)) : 0;
}

static int compare_replicas(struct err *err, const struct cluster *cluster,
                            const struct oracle *oracle, size_t i)
{
    const char *name = oracle_facts_node_name((int64_t)i);
    const struct node *node = cluster_find_node(cluster, name);
    int r = 0;
    for (int64_t owner = 1; node && r == 0 && owner < ORACLE_OWNERS; owner++)
        r = compare(err, name, oracle_facts_owner(owner),
                    (int64_t)owners_n_on(owners_find(cluster, oracle_facts_owner(owner)), node),
                    (int64_t)oracle_n_replicas(oracle, owner, i));
    return r;
}

/* Pods. */

static int compare_shape(struct err *err, const char *uid, const struct shape_facts *facts,
                         const struct oracle_shape *want)
{
    int r = compare(err, uid, "tolerations", (int64_t)facts->n_tolerations, want->n_tolerations);
    if (r == 0)
        r = compare(err, uid, "node selector", (int64_t)facts->node_selector.n_requirements,
                    want->zone > 0);
    for (size_t i = 0; r == 0 && i < N_ORACLE_RESOURCES; i++)
        r = compare(err, uid, ORACLE_RESOURCE_NAMES[i],
                    shape_demand(facts, ORACLE_RESOURCE_NAMES[i]), want->demand[i]);
    return r;
}

static int compare_pod(struct err *err, const struct cluster *cluster, const struct oracle *oracle,
                       size_t i)
{
    char uid[16];
    char name[16];
    const struct pod *pod = cluster_find_pod(cluster, oracle_facts_uid(i, uid));
    const struct oracle_pod *want = &oracle->pods[i];
    if (!pod || !oracle->pod_there[i])
        return compare(err, uid, "being there", pod != NULL, oracle->pod_there[i]);
    const char *node = oracle_facts_node_name(want->node);
    const char *nominated = oracle_facts_node_name(want->nominated);
    int r = 0;
    if ((r = compare_text(err, uid, pod->uid, uid)) < 0 ||
        (r = compare_text(err, uid, pod->name, oracle_facts_pod_name(want->name, name))) < 0 ||
        (r = compare_text(err, uid, pod->node_name, node)) < 0 ||
        (r = compare_text(err, uid, pod->nominated_node, nominated)) < 0 ||
        (r = compare_text(err, uid, pod->refusal, oracle_facts_refusal(want->refusal))) < 0 ||
        (r = compare(err, uid, "finished", pod->finished, want->finished)) < 0 ||
        (r = compare(err, uid, "terminating", pod->terminating, want->terminating)) < 0 ||
        (r = compare(err, uid, "gated", pod->gated, want->gated)) < 0 ||
        (r = compare_text(err, uid, owners_uid(pod->owner), oracle_facts_owner(want->owner))) < 0 ||
        (r = compare(err, uid, "priority", pod->priority, want->priority)) < 0)
        return r;
    return compare_shape(err, uid, &pod->shape->facts, &want->shape);
}

/* Reservations. */

static int compare_hold(struct err *err, const struct cluster *cluster, const struct oracle *oracle,
                        size_t i)
{
    char uid[16];
    char name[16];
    const struct oracle_hold *want = &oracle->holds[i];
    const struct reservation *held = cluster_find_reservation(cluster, oracle_facts_uid(i, uid));
    if (!held || !want->there)
        return compare(err, uid, "being reserved for", held != NULL, want->there);
    const char *node = oracle_facts_node_name(want->node);
    int r = 0;
    if ((r = compare_text(err, uid, held->uid, uid)) < 0 ||
        (r = compare_text(err, uid, held->namespace_, "default")) < 0 ||
        (r = compare_text(err, uid, held->name, oracle_facts_pod_name(want->name, name))) < 0 ||
        (r = compare_text(err, uid, held->node_name, node)) < 0 ||
        (r = compare(err, uid, "made_ms", held->made_ms, want->made_ms)) < 0)
        return r;
    return compare_shape(err, uid, &held->shape->facts, &want->shape);
}

static int compare_holders(struct err *err, const struct cluster *cluster,
                           const struct oracle *oracle, size_t i)
{
    const char *name = oracle_facts_node_name((int64_t)i);
    const struct node *node = cluster_find_node(cluster, name);
    int64_t n = 0;
    for (const struct reservation *held = node ? reservation_next_on(node, NULL) : NULL; held;
         held = reservation_next_on(node, held), n++) {
        if (strcmp(held->node_name, name) != 0)
            return err_set(err, EINVAL, "%s: %s holds nothing of it", name, held->uid);
    }
    return node ? compare(err, name, "reservations", n, (int64_t)oracle_n_holders(oracle, i)) : 0;
}

/* All, oldest first. */
static int compare_order(struct err *err, const struct cluster *cluster,
                         const struct oracle *oracle)
{
    int64_t n = 0;
    int64_t n_want = 0;
    int64_t last_ms = 0;
    for (const struct reservation *held = cluster_next_reservation(cluster, NULL); held;
         held = cluster_next_reservation(cluster, held), n++) {
        if (held->made_ms < last_ms)
            return err_set(err, EINVAL, "%s is older than the one before", held->uid);
        last_ms = held->made_ms;
    }
    for (size_t i = 0; i < ORACLE_PODS; i++)
        n_want += oracle->holds[i].there;
    return compare(err, "ledger", "reservations", n, n_want);
}

int oracle_compare_verdict(enum reserve_verdict verdict, const struct reserve_result *result,
                           const struct oracle_result *want, const char *node, struct err *err)
{
    int r = 0;
    if ((r = compare(err, "reserve", "the verdict", verdict, want->verdict)) < 0 ||
        (r = compare(err, "reserve", "the reason", result->reason, want->reason)) < 0)
        return r;
    return compare_text(err, "reserve", result->node_name, node);
}

/* Nominations. */

static int64_t kept_on(const struct cluster *cluster, const struct node *node, size_t resource,
                       int64_t priority)
{
    const struct asker asker = {.priority = priority};
    return nominate_kept(node, &asker,
                         cluster_find_resource(cluster, ORACLE_RESOURCE_NAMES[resource]));
}

/* A fork drops names that no node has a row for: nothing of them is free anyway. */
static bool is_known(const struct cluster *cluster, size_t resource)
{
    return !cluster->is_fork || cluster_find_resource(cluster, ORACLE_RESOURCE_NAMES[resource]);
}

/* The amount kept on the node from unknown pods of each priority. */
static int compare_promises(struct err *err, const struct cluster *cluster,
                            const struct oracle *oracle, size_t i)
{
    const char *name = oracle_facts_node_name((int64_t)i);
    const struct node *node = cluster_find_node(cluster, name);
    struct oracle_pod asker = {.nominated = ORACLE_NOWHERE};
    int64_t n = 0;
    if (!node)
        return 0;
    for (const struct nomination *kept = nomination_next_on(node, NULL); kept;
         kept = nomination_next_on(node, kept))
        n++;
    int r = compare(err, name, "nominations", n, (int64_t)oracle_n_promised(oracle, i));
    for (; r == 0 && asker.priority < 4; asker.priority++) {
        for (size_t j = 0; r == 0 && j < N_ORACLE_RESOURCES; j++) {
            if (is_known(cluster, j))
                r = compare(err, name, "kept", kept_on(cluster, node, j, asker.priority),
                            oracle_kept(oracle, i, j, ORACLE_PODS, &asker));
        }
    }
    return r;
}

/* The whole. */

/* Nothing unneeded is kept: names of deleted nodes, shapes, resources. */
static int compare_counts(struct err *err, const struct cluster *cluster,
                          const struct oracle *oracle, bool has_fork)
{
    int64_t n_there = 0;
    int64_t n_kept = 0;
    int64_t n_pods = 0;
    for (size_t i = 0; i < ORACLE_NODES; i++) {
        n_there += oracle->node_there[i];
        n_kept += oracle->node_there[i] || oracle_n_users(oracle, i) > 0 ||
                  oracle_n_holders(oracle, i) > 0 || oracle_n_promised(oracle, i) > 0;
    }
    for (size_t i = 0; i < ORACLE_PODS; i++)
        n_pods += oracle->pod_there[i];
    const struct shapes *shapes = cluster->shapes;
    int r = 0;
    if ((r = compare(err, "ledger", "nodes", (int64_t)cluster_n_nodes(cluster), n_there)) < 0 ||
        (r = compare(err, "ledger", "kept nodes", (int64_t)cluster->node_index.n, n_kept)) < 0 ||
        (r = compare(err, "ledger", "pods", (int64_t)cluster_n_pods(cluster), n_pods)) < 0)
        return r;
    if (has_fork) /* a fork keeps shared entries */
        return 0;
    r = compare(err, "ledger", "shapes", HASH_COUNT(shapes->shapes),
                (int64_t)oracle_n_shapes(oracle));
    return r < 0 ? r
                 : compare(err, "ledger", "resources", HASH_COUNT(shapes->resources),
                           (int64_t)oracle_n_resources(oracle));
}

/* The pools that have the model, NULL: all of the resource. */
static struct oracle_supply supply_of(const struct cluster *cluster, size_t resource,
                                      const char *model)
{
    struct oracle_supply supply = {0, 0};
    const struct gpu_demand *demand =
        gpu_demand_find(cluster, cluster_find_resource(cluster, ORACLE_RESOURCE_NAMES[resource]));
    for (size_t i = 0; demand && i < demand->n_pools; i++) {
        if (model && strcmp(demand->pools[i]->model, model) != 0)
            continue;
        supply.n_offers += (int64_t)demand->pools[i]->n_nodes;
        supply.free += demand->pools[i]->free;
    }
    return supply;
}

static int64_t offered_by(const struct oracle *oracle, size_t node, size_t resource)
{
    const int64_t free =
        free_of(oracle->nodes[node].allocatable[resource], oracle_used(oracle, node, resource),
                oracle_reserved(oracle, node, resource));
    return model_pool_offered(free);
}

static void add_offer(const struct oracle *oracle, size_t i, size_t resource,
                      struct oracle_supply *supply)
{
    const struct oracle_node *node = &oracle->nodes[i];
    if (!oracle->node_there[i] || node->unschedulable || node->allocatable[resource] <= 0)
        return;
    supply->n_offers++;
    supply->free += offered_by(oracle, i, resource);
}

/* Of nodes' resources and of devices. */
static struct oracle_supply oracle_supply(const struct oracle *oracle, size_t resource)
{
    struct oracle_supply supply = oracle_supply_of_devices(oracle, resource, ORACLE_DEVICE_MODELS);
    for (size_t i = 0; i < ORACLE_NODES; i++)
        add_offer(oracle, i, resource, &supply);
    return supply;
}

static int compare_supply(struct err *err, const struct cluster *cluster, size_t resource,
                          const char *model, const struct oracle_supply *want)
{
    const struct oracle_supply has = supply_of(cluster, resource, model);
    const char *where = model ? model : ORACLE_RESOURCE_NAMES[resource];
    int r = compare(err, where, "offers in pools", has.n_offers, want->n_offers);
    return r < 0 ? r : compare(err, where, "free in pools", has.free, want->free);
}

/* No label names a model that devices have. */
static struct oracle_supply supply_of_model(const struct oracle *oracle, size_t resource,
                                            size_t model)
{
    struct oracle_supply supply = oracle_supply_of_devices(oracle, resource, model);
    for (size_t i = 0; i < ORACLE_NODES; i++) {
        if (strcmp(chip_of(oracle, i, resource), model == 1 ? "H100" : "L4") == 0)
            add_offer(oracle, i, resource, &supply);
    }
    return supply;
}

static int compare_pools(struct err *err, const struct cluster *cluster,
                         const struct oracle *oracle)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof GPUS / sizeof *GPUS; i++) {
        const struct oracle_supply all = oracle_supply(oracle, GPUS[i]);
        r = compare_supply(err, cluster, GPUS[i], NULL, &all);
        for (size_t model = 1; r == 0 && model < ORACLE_DEVICE_MODELS; model++) {
            const struct oracle_supply want = supply_of_model(oracle, GPUS[i], model);
            r = compare_supply(err, cluster, GPUS[i], ORACLE_DEVICE_MODEL_NAMES[model], &want);
        }
    }
    return r;
}

static int compare_quota(struct err *err, const struct cluster *cluster,
                         const struct oracle *oracle)
{
    const struct quota *quota = cluster_policy(cluster)->quotas;
    if (!quota)
        return 0;
    return compare(err, quota->name, "use", quota_used(cluster, quota, &quota->limits[0]),
                   oracle_gpus_in_use(oracle));
}

static int compare_floating(struct err *err, const struct cluster *cluster,
                            const struct oracle *oracle)
{
    int64_t n_listed = 0;
    int64_t n = 0;
    int r = 0;
    for (const struct claim_use *use = claim_usage_next_floating(cluster, NULL); use;
         use = claim_usage_next_floating(cluster, use))
        n_listed++;
    for (size_t i = 0; r == 0 && i < ORACLE_CLAIMS; i++) {
        char name[32];
        const struct claim_use *use =
            claim_usage_find(cluster, "default", oracle_facts_claim_name(i, name));
        const bool floats = oracle_floats(oracle, i);
        n += floats;
        r = compare(err, name, "whether it floats", use && claim_usage_floats(use), floats);
    }
    return r < 0 ? r : compare(err, "claims", "those that float", n_listed, n);
}

/* GPUs of a pod in the template's namespace that names it twice, and one that never exists. */
static int compare_asked(struct err *err, const struct cluster *cluster,
                         const struct oracle *oracle, size_t i)
{
    const char *name = oracle_facts_template_name(i);
    struct arena *arena = arena_new();
    const struct asker asker = {.uid = "asks"};
    const struct claims_question question = {
        .namespace_ = oracle_facts_template_namespace(i),
        .claims = arena_printf(arena, "/%s\n/never\n/%s\n", name, name),
        .asker = &asker};
    const struct asked_claims asked = asked_claims_of(cluster, &question, arena);
    arena_free(arena);
    return compare(err, name, "what quotas count", asked.least[0],
                   2 * oracle_gpus_of_template(oracle, i));
}

static int compare_templates(struct err *err, const struct cluster *cluster,
                             const struct oracle *oracle)
{
    int64_t n = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < ORACLE_TEMPLATES; i++) {
        const bool is_there = cluster_find_claim_template(
            cluster, oracle_facts_template_namespace(i), oracle_facts_template_name(i));
        n += oracle->templates[i].there;
        r = compare(err, oracle_facts_template_name(i), "being there", is_there,
                    oracle->templates[i].there);
        if (r == 0)
            r = compare_asked(err, cluster, oracle, i);
    }
    return r < 0 ? r
                 : compare(err, "ledger", "claim templates",
                           (int64_t)cluster_n_objects(cluster, CLUSTER_CLAIM_TEMPLATES), n);
}

static int compare_claims(struct err *err, const struct cluster *cluster,
                          const struct oracle *oracle)
{
    int r = compare_quota(err, cluster, oracle);
    if (r == 0)
        r = compare_floating(err, cluster, oracle);
    return r < 0 ? r : compare_templates(err, cluster, oracle);
}

int oracle_compare_ledger(const struct cluster *cluster, const struct oracle *oracle, bool has_fork,
                          struct err *err)
{
    static const struct oracle_shape NOTHING = {.zone = 0};
    if (cluster_check_in_place(cluster, err) != 0)
        return -EINVAL;
    int r = compare_counts(err, cluster, oracle, has_fork);
    if (r == 0)
        r = compare_claims(err, cluster, oracle);
    if (r == 0)
        r = compare_pools(err, cluster, oracle);
    for (size_t i = 0; r == 0 && i < ORACLE_NODES; i++) {
        r = compare_node(err, cluster, oracle, i, 0, &NOTHING);
        if (r == 0)
            r = compare_users(err, cluster, oracle, i);
        if (r == 0)
            r = compare_holders(err, cluster, oracle, i);
        if (r == 0)
            r = compare_promises(err, cluster, oracle, i);
        if (r == 0)
            r = compare_replicas(err, cluster, oracle, i);
    }
    for (size_t i = 0; r == 0 && i < ORACLE_PODS; i++) {
        r = compare_pod(err, cluster, oracle, i);
        if (r == 0)
            r = compare_hold(err, cluster, oracle, i);
    }
    return r < 0 ? r : compare_order(err, cluster, oracle);
}

int oracle_compare_fork(const struct cluster *fork, const struct oracle *oracle,
                        const int64_t *n_placed, const struct oracle_shape *placed, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < ORACLE_NODES; i++)
        if ((r = compare_node(err, fork, oracle, i, n_placed[i], placed)) == 0)
            r = compare_promises(err, fork, oracle, i);
    if (r < 0)
        err_prefix(err, "fork: ");
    return r;
}

int oracle_compare_empty(const struct cluster *cluster, struct err *err)
{
    const struct oracle nothing = {.n_changes = 0};
    const struct devices *devices = cluster_devices(cluster);
    if (devices_count(devices, DEVICES_SLICES) + devices_count(devices, DEVICES_CLAIMS) > 0)
        return err_set(err, EINVAL, "slices and claims were removed, but the ledger keeps some");
    if (cluster->nodes || cluster->missing_nodes || cluster->pods || cluster->reservations ||
        cluster->pod_names.n > 0 || cluster->owners.table || cluster->shapes->shapes ||
        cluster->shapes->resources || cluster->shapes->strings.table)
        return err_set(err, EINVAL, "everything was removed, but the ledger keeps something");
    return oracle_compare_ledger(cluster, &nothing, false, err);
}

/* kinds: see kinds.h. */
#include "kinds.h"
#include "base/clock.h"
#include "base/mem.h"
#include "decide/reserve.h"
#include "devices/devices.h"
#include "objects/budget.h"
#include "objects/device_class.h"
#include "objects/device_taint_rule.h"
#include "objects/namespace.h"
#include "objects/node.h"
#include "objects/pod.h"
#include "objects/resource_claim.h"
#include "objects/resource_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int decode_node(const json_t *object, const struct policy *policy, struct arena *arena,
                       union kind_facts *ret_facts, struct err *err)
{
    return node_from_json(object, policy, arena, &ret_facts->node, err);
}

static void upsert_node(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_node(cluster, &facts->node);
}

static int decode_pod(const json_t *object, const struct policy *policy, struct arena *arena,
                      union kind_facts *ret_facts, struct err *err)
{
    struct pod_facts *facts = &ret_facts->pod;
    int r = pod_from_json_unasked(object, policy, arena, facts, err);
    if (r == 0 && !facts->node_name[0] && !facts->finished)
        facts->not_evaluated = pod_not_evaluated_text(object, policy, arena);
    return r;
}

static void upsert_pod(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_pod(cluster, &facts->pod);
}

static int decode_namespace(const json_t *object, const struct policy *policy, struct arena *arena,
                            union kind_facts *ret_facts, struct err *err)
{
    (void)policy;
    return namespace_from_json(object, arena, &ret_facts->namespace_, err);
}

static void upsert_namespace(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_namespace(cluster, &facts->namespace_);
}

static int decode_priority_class(const json_t *object, const struct policy *policy,
                                 struct arena *arena, union kind_facts *ret_facts, struct err *err)
{
    struct identity identity;
    struct priority_class_facts facts = {0};
    (void)policy;
    int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        r = priority_class_from_json(object, &facts, err);
    if (r < 0)
        return r;
    facts.name = identity.name;
    ret_facts->priority_class = facts;
    return 0;
}

static void upsert_priority_class(struct cluster *cluster, const union kind_facts *facts)
{
    const struct priority_class_facts *class = &facts->priority_class;
    cluster_upsert_priority_class(cluster, class->name, class->value, class->is_default,
                                  class->never_preempts);
}

static int decode_runtime_class(const json_t *object, const struct policy *policy,
                                struct arena *arena, union kind_facts *ret_facts, struct err *err)
{
    struct identity identity;
    (void)policy;
    int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        ret_facts->runtime_class = identity.name;
    return r;
}

static void upsert_runtime_class(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_add_runtime_class(cluster, facts->runtime_class);
}

static int decode_device_class(const json_t *object, const struct policy *policy,
                               struct arena *arena, union kind_facts *ret_facts, struct err *err)
{
    struct identity identity;
    struct device_class_facts facts = {0};
    (void)policy;
    int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        r = device_class_from_json(object, arena, &facts.resource, err);
    if (r < 0)
        return r;
    facts.driver = device_class_driver(object, arena);
    facts.selectors = device_class_selectors(object, arena);
    facts.name = identity.name;
    ret_facts->device_class = facts;
    return 0;
}

static void upsert_device_class(struct cluster *cluster, const union kind_facts *facts)
{
    const struct device_class_facts *class = &facts->device_class;
    cluster_upsert_device_class(cluster, class->name, class->resource);
    cluster_set_device_class_driver(cluster, class->name, class->driver);
    cluster_set_device_class_selectors(cluster, class->name, &class->selectors);
}

static int decode_slice(const json_t *object, const struct policy *policy, struct arena *arena,
                        union kind_facts *ret_facts, struct err *err)
{
    return resource_slice_from_json(object, policy, arena, &ret_facts->slice, err);
}

static void upsert_slice(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_slice(cluster, &facts->slice);
}

static void upsert_kept_slice(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_slice(cluster, &facts->slice);
    cluster_keep_slice(cluster, facts->slice.name);
}

static size_t count_slices(const struct cluster *cluster)
{
    return devices_count(cluster_devices(cluster), DEVICES_SLICES);
}

static int decode_claim(const json_t *object, const struct policy *policy, struct arena *arena,
                        union kind_facts *ret_facts, struct err *err)
{
    (void)policy;
    return resource_claim_from_json(object, arena, &ret_facts->claim, err);
}

static void upsert_claim(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_resource_claim(cluster, &facts->claim);
}

static size_t count_claims(const struct cluster *cluster)
{
    return devices_count(cluster_devices(cluster), DEVICES_CLAIMS);
}

/* id: "namespace/name". */
static void call_with_names(struct cluster *cluster, const char *id,
                            void (*function)(struct cluster *cluster, const char *namespace_,
                                             const char *name))
{
    const size_t len = strcspn(id, "/");
    char *namespace_ = mem_strndup(id, len);
    function(cluster, namespace_, &id[len] + (id[len] == '/'));
    free(namespace_);
}

static void remove_claim(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_delete_resource_claim);
}

static void keep_claim(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_keep_resource_claim);
}

static int decode_device_taint(const json_t *object, const struct policy *policy,
                               struct arena *arena, union kind_facts *ret_facts, struct err *err)
{
    (void)policy;
    return device_taint_rule_from_json(object, arena, &ret_facts->device_taint.facts,
                                       &ret_facts->device_taint.taints, err);
}

static void upsert_device_taint(struct cluster *cluster, const union kind_facts *facts)
{
    const struct device_taint_facts *rule = &facts->device_taint.facts;
    if (facts->device_taint.taints)
        cluster_upsert_device_taint(cluster, rule);
    else
        cluster_delete_device_taint(cluster, rule->name);
}

static size_t count_device_taints(const struct cluster *cluster)
{
    return devices_count(cluster_devices(cluster), DEVICES_TAINTS);
}

static int decode_claim_template(const json_t *object, const struct policy *policy,
                                 struct arena *arena, union kind_facts *ret_facts, struct err *err)
{
    (void)policy;
    return claim_template_from_json(object, arena, &ret_facts->claim_template, err);
}

static void upsert_claim_template(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_claim_template(cluster, &facts->claim_template);
}

static void remove_claim_template(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_delete_claim_template);
}

static void keep_claim_template(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_keep_claim_template);
}

static int decode_budget(const json_t *object, const struct policy *policy, struct arena *arena,
                         union kind_facts *ret_facts, struct err *err)
{
    (void)policy;
    return budget_from_json(object, arena, &ret_facts->budget, err);
}

static void upsert_budget(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_budget(cluster, &facts->budget);
}

static void remove_budget(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_delete_budget);
}

static void keep_budget(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_keep_budget);
}

static int decode_kept_pod(const json_t *object, const struct policy *policy, struct arena *arena,
                           union kind_facts *ret_facts, struct err *err)
{
    return kept_pod_from_json(object, policy, arena, &ret_facts->pod, err);
}

static int decode_reservation(const json_t *object, const struct policy *policy,
                              struct arena *arena, union kind_facts *ret_facts, struct err *err)
{
    return reservation_from_json(object, policy, arena, &ret_facts->reservation, err);
}

/* Keeps the age that the reservation had in the snapshot. */
static void upsert_reservation(struct cluster *cluster, const union kind_facts *facts)
{
    const struct reservation_facts *held = &facts->reservation;
    const int64_t age_ms = clock_wall_ms() - held->pod.created_s * 1000;
    reservation_restore(cluster, &held->pod, held->node_name, clock_ms() - age_ms);
}

static void remove_reservation(struct cluster *cluster, const char *uid)
{
    const struct reservation *held = cluster_find_reservation(cluster, uid);
    if (held)
        reservation_release(cluster, uid, held->serial);
}

const struct kind_row KINDS[N_CLUSTER_KINDS] = {
    [CLUSTER_NODES] = {"Node", "v1", .is_essential = true, .drops_duplicates = true, decode_node,
                       upsert_node, cluster_delete_node, cluster_keep_node, cluster_n_nodes},
    [CLUSTER_PODS] = {"Pod", "v1", .is_essential = true, .is_namespaced = true, .is_pod = true,
                      .drops_duplicates = true, decode_pod, upsert_pod, cluster_delete_pod,
                      cluster_keep_pod, cluster_n_pods},
    [CLUSTER_NAMESPACES] = {"Namespace", "v1", .is_essential = true, .drops_duplicates = false,
                            decode_namespace, upsert_namespace, cluster_delete_namespace, NULL,
                            cluster_n_namespaces},
    [CLUSTER_PRIORITY_CLASSES] = {"PriorityClass", "scheduling.k8s.io/", .is_essential = true,
                                  .drops_duplicates = false, decode_priority_class,
                                  upsert_priority_class, cluster_delete_priority_class, NULL,
                                  cluster_n_priority_classes},
    [CLUSTER_DEVICE_CLASSES] = {"DeviceClass", "resource.k8s.io/", .is_essential = true,
                                .drops_duplicates = false, decode_device_class, upsert_device_class,
                                cluster_delete_device_class, NULL, cluster_n_device_classes},
    [CLUSTER_SLICES] = {"ResourceSlice", "resource.k8s.io/", .drops_duplicates = true, decode_slice,
                        upsert_slice, cluster_delete_slice, cluster_keep_slice, count_slices},
    [CLUSTER_CLAIMS] = {"ResourceClaim", "resource.k8s.io/", .is_namespaced = true,
                        .drops_duplicates = true, decode_claim, upsert_claim, remove_claim,
                        keep_claim, count_claims},
    [CLUSTER_DEVICE_TAINTS] = {"DeviceTaintRule", "resource.k8s.io/", .drops_duplicates = true,
                               decode_device_taint, upsert_device_taint,
                               cluster_delete_device_taint, cluster_keep_device_taint,
                               count_device_taints},
    [CLUSTER_CLAIM_TEMPLATES] = {"ResourceClaimTemplate", "resource.k8s.io/", .is_optional = true,
                                 .is_namespaced = true, .drops_duplicates = true,
                                 decode_claim_template, upsert_claim_template,
                                 remove_claim_template, keep_claim_template,
                                 cluster_n_claim_templates},
    [CLUSTER_BUDGETS] = {"PodDisruptionBudget", "policy/", .is_optional = true,
                         .is_namespaced = true, .drops_duplicates = true, decode_budget,
                         upsert_budget, remove_budget, keep_budget, cluster_n_budgets},
};

struct kind_limit kinds_limit(enum cluster_kind kind, const struct inventory_limits *limits)
{
    if (kind == CLUSTER_NODES)
        return (struct kind_limit){limits->max_nodes, "limits.nodes"};
    return (struct kind_limit){limits->max_pods, "limits.pods"};
}

/* Kinds that only cluster files contain: one that answers to users read, and a snapshot's own. */
static const struct kind_row OF_FILES[] = {
    {"RuntimeClass", "node.k8s.io/", .is_optional = true, .drops_duplicates = false,
     decode_runtime_class, upsert_runtime_class, cluster_delete_runtime_class, NULL,
     cluster_n_runtime_classes},
    {"KeptPod", SNAPSHOT_API_VERSION, .is_essential = true, .is_namespaced = true, .is_pod = true,
     .drops_duplicates = true, decode_kept_pod, upsert_pod, cluster_delete_pod, cluster_keep_pod,
     cluster_n_pods},
    {"KeptSlice", SNAPSHOT_API_VERSION, .drops_duplicates = true, decode_slice, upsert_kept_slice,
     cluster_delete_slice, cluster_keep_slice, count_slices},
    {"Reservation", SNAPSHOT_API_VERSION, .is_essential = true, .is_namespaced = true,
     .is_pod = true, .drops_duplicates = true, decode_reservation, upsert_reservation,
     remove_reservation, NULL, cluster_n_reservations},
};

static const struct kind_row *find_among(const struct kind_row *rows, size_t n, const char *kind,
                                         const char *api_version)
{
    for (size_t i = 0; i < n; i++) {
        const struct kind_row *row = &rows[i];
        if (strcmp(row->kind, kind) == 0 &&
            (!api_version[0] ||
             strncmp(row->api_version, api_version, strlen(row->api_version)) == 0))
            return row;
    }
    return NULL;
}

const struct kind_row *kinds_find(const char *kind, const char *api_version)
{
    const struct kind_row *row = find_among(KINDS, N_CLUSTER_KINDS, kind, api_version);
    return row ? row : find_among(OF_FILES, sizeof OF_FILES / sizeof *OF_FILES, kind, api_version);
}

int kinds_check_room(const struct kind_row *row, const struct cluster *cluster, const char *id,
                     struct err *err)
{
    const char *bound =
        row == &KINDS[CLUSTER_SLICES] ? devices_slice_bound(cluster_devices(cluster), id) : NULL;
    return bound ? err_set(err, E2BIG, "its devices are left out, as slices exceed %s", bound) : 0;
}

struct kind_key kinds_key(const struct kind_row *row, const struct identity *identity,
                          struct arena *arena)
{
    struct kind_key key = {identity->name, identity->name};
    if (!row->is_namespaced)
        return key;
    key.name = arena_printf(arena, "%s/%s", identity_namespace(identity), identity->name);
    key.id = row->is_pod && identity->uid[0] ? identity->uid : key.name;
    return key;
}

/* kinds: see kinds.h. */
#include "kinds.h"
#include "base/clock.h"
#include "decide/reserve.h"
#include "objects/device_class.h"
#include "objects/namespace.h"
#include "objects/node.h"
#include "objects/pod.h"

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
    facts.name = identity.name;
    ret_facts->device_class = facts;
    return 0;
}

static void upsert_device_class(struct cluster *cluster, const union kind_facts *facts)
{
    cluster_upsert_device_class(cluster, facts->device_class.name, facts->device_class.resource);
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
    [CLUSTER_NODES] = {"Node", "v1", false, true, decode_node, upsert_node, cluster_delete_node,
                       cluster_keep_node, cluster_n_nodes},
    [CLUSTER_PODS] = {"Pod", "v1", true, true, decode_pod, upsert_pod, cluster_delete_pod,
                      cluster_keep_pod, cluster_n_pods},
    [CLUSTER_NAMESPACES] = {"Namespace", "v1", false, false, decode_namespace, upsert_namespace,
                            cluster_delete_namespace, NULL, cluster_n_namespaces},
    [CLUSTER_PRIORITY_CLASSES] = {"PriorityClass", "scheduling.k8s.io/", false, false,
                                  decode_priority_class, upsert_priority_class,
                                  cluster_delete_priority_class, NULL, cluster_n_priority_classes},
    [CLUSTER_DEVICE_CLASSES] = {"DeviceClass", "resource.k8s.io/", false, false,
                                decode_device_class, upsert_device_class,
                                cluster_delete_device_class, NULL, cluster_n_device_classes},
};

/* Kinds that only snapshots contain. */
static const struct kind_row KEPT[] = {
    {"KeptPod", SNAPSHOT_API_VERSION, true, true, decode_kept_pod, upsert_pod, cluster_delete_pod,
     cluster_keep_pod, cluster_n_pods},
    {"Reservation", SNAPSHOT_API_VERSION, true, true, decode_reservation, upsert_reservation,
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
    return row ? row : find_among(KEPT, sizeof KEPT / sizeof *KEPT, kind, api_version);
}

struct kind_key kinds_key(const struct kind_row *row, const struct identity *identity,
                          struct arena *arena)
{
    struct kind_key key = {identity->name, identity->name};
    if (!row->is_pod)
        return key;
    const char *namespace_ = identity->namespace_[0] ? identity->namespace_ : "default";
    key.name = arena_printf(arena, "%s/%s", namespace_, identity->name);
    key.id = identity->uid[0] ? identity->uid : key.name;
    return key;
}

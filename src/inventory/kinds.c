/*
 * kinds: see include/inventory/kinds.h.
 *
 * Members that no decoder reads are skipped in parsing, which saves most of a list's time. A
 * decoder that reads a new member must remove it from these lists
 * (tests/unit/inventory/test_kinds.c).
 */
#include "inventory/kinds.h"
#include "base/clock.h"
#include "base/mem.h"
#include "decide/reserve.h"
#include "dra/devices.h"
#include "objects/claims.h"
#include "objects/kinds.h"
#include "objects/node.h"
#include "objects/pod.h"
#include "objects/snapshot.h"
#include "objects/to_json.h"

#include <errno.h>
#include <string.h>

const struct kind_use KINDS_FOR_DECISIONS = {
    .is_essential = true, .without = "", .lost = "nothing is decided"};
const struct kind_use KINDS_FOR_CLAIMS = {.without = "claims are not counted",
                                          .lost = "claims are not counted"};
const struct kind_use KINDS_FOR_TEMPLATES = {.is_optional = true,
                                             .without = "claim templates are unknown",
                                             .lost = "quotas do not count claims that are not made "
                                                     "yet"};
const struct kind_use KINDS_FOR_BUDGETS = {.is_optional = true,
                                           .without = "disruption budgets are unknown",
                                           .lost = "a what-if does not check disruption budgets"};

const struct kind_use KINDS_FOR_GROUPS = {.is_optional = true,
                                          .without = "pod groups are unknown",
                                          .lost = "pods with spec.schedulingGroup are judged as "
                                                  "single pods"};

/* Of a kind that only answers to users read. */
static const struct kind_use FOR_WORDS = {.is_optional = true};

/* Members that are not read. */

/* Finished pods use nothing and are never scheduled again. Excluding them saves most of a list
 * where jobs run. A pod that finishes arrives as DELETED, in its former state. */
#define PODS_NOT_FINISHED "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

/* Of the metadata. */
#define ALL_BUT_NAMES                                                                              \
    "metadata.managedFields", "metadata.ownerReferences", "metadata.labels",                       \
        "metadata.annotations", "metadata.finalizers"
static const char *const NODES_UNREAD[] = {"metadata.managedFields", "metadata.ownerReferences",
                                           "metadata.finalizers",    "status.images",
                                           "status.volumesAttached", "status.volumesInUse",
                                           "status.addresses",       "status.runtimeHandlers",
                                           "status.features",        NULL};
/* Most of a pod is in its containers. */
#define CONTAINERS_UNREAD(list)                                                                    \
    list "[].args", list "[].command", list "[].env", list "[].envFrom", list "[].image",          \
        list "[].imagePullPolicy", list "[].lifecycle", list "[].livenessProbe",                   \
        list "[].readinessProbe", list "[].securityContext", list "[].startupProbe",               \
        list "[].terminationMessagePath", list "[].terminationMessagePolicy",                      \
        list "[].volumeDevices", list "[].volumeMounts", list "[].workingDir"
/* No volume of these types affects placement. */
#define VOLUMES_UNREAD(list)                                                                       \
    list "[].configMap", list "[].downwardAPI", list "[].emptyDir", list "[].hostPath",            \
        list "[].nfs", list "[].projected", list "[].secret"
#define STATUSES_UNREAD(list)                                                                      \
    list "[].containerID", list "[].image", list "[].imageID", list "[].lastState",                \
        list "[].ready", list "[].restartCount", list "[].started", list "[].state",               \
        list "[].volumeMounts"
static const char *const PODS_UNREAD[] = {"metadata.managedFields",
                                          "metadata.ownerReferences[].apiVersion",
                                          "metadata.ownerReferences[].blockOwnerDeletion",
                                          "metadata.finalizers",
                                          CONTAINERS_UNREAD("spec.containers"),
                                          CONTAINERS_UNREAD("spec.initContainers"),
                                          "spec.dnsConfig",
                                          "spec.dnsPolicy",
                                          "spec.enableServiceLinks",
                                          "spec.ephemeralContainers",
                                          "spec.hostAliases",
                                          "spec.imagePullSecrets",
                                          "spec.preemptionPolicy",
                                          "spec.readinessGates",
                                          "spec.restartPolicy",
                                          "spec.securityContext",
                                          "spec.serviceAccount",
                                          "spec.serviceAccountName",
                                          "spec.terminationGracePeriodSeconds",
                                          VOLUMES_UNREAD("spec.volumes"),
                                          STATUSES_UNREAD("status.containerStatuses"),
                                          STATUSES_UNREAD("status.initContainerStatuses"),
                                          "status.conditions[].lastProbeTime",
                                          "status.conditions[].lastTransitionTime",
                                          "status.ephemeralContainerStatuses",
                                          "status.hostIP",
                                          "status.hostIPs",
                                          "status.podIP",
                                          "status.podIPs",
                                          NULL};
/* A pod over limits.objectValues keeps its name, its state, and what counts as used (demand.c,
 * pod_claims.c, pod.c). */
#define CONTAINERS_COUNTED(list)                                                                   \
    list "[].name", list "[].resources.limits", list "[].resources.requests",                      \
        list "[].restartPolicy"
#define STATUSES_COUNTED(list)                                                                     \
    list "[].allocatedResources", list "[].name", list "[].resources.requests"
static const char *const PODS_COUNTED[] = {"apiVersion",
                                           "kind",
                                           "metadata.creationTimestamp",
                                           "metadata.deletionTimestamp",
                                           "metadata.generateName",
                                           "metadata.name",
                                           "metadata.namespace",
                                           "metadata.resourceVersion",
                                           "metadata.uid",
                                           CONTAINERS_COUNTED("spec.containers"),
                                           CONTAINERS_COUNTED("spec.initContainers"),
                                           "spec.nodeName",
                                           "spec.overhead",
                                           "spec.priority",
                                           "spec.priorityClassName",
                                           "spec.resourceClaims",
                                           "spec.resources.limits",
                                           "spec.resources.requests",
                                           "spec.schedulerName",
                                           "spec.schedulingGates",
                                           "spec.schedulingGroup",
                                           "status.allocatedResources",
                                           "status.conditions[].reason",
                                           "status.conditions[].status",
                                           "status.conditions[].type",
                                           STATUSES_COUNTED("status.containerStatuses"),
                                           STATUSES_COUNTED("status.initContainerStatuses"),
                                           "status.extendedResourceClaimStatus",
                                           "status.nominatedNodeName",
                                           "status.phase",
                                           "status.qosClass",
                                           "status.resourceClaimStatuses",
                                           "status.resources.requests",
                                           "status.startTime",
                                           NULL};
static const char *const NAMESPACES_UNREAD[] = {"metadata.managedFields",
                                                "metadata.ownerReferences",
                                                "metadata.annotations",
                                                "metadata.finalizers",
                                                "spec",
                                                "status",
                                                NULL};
static const char *const NAMES_ONLY[] = {ALL_BUT_NAMES, "spec", "status", "description", NULL};

static const char *const CLASSES_UNREAD[] = {ALL_BUT_NAMES, "spec.config", NULL};

/* Servers differ in the versions of this group that they serve, kind by kind. The oldest of
 * DeviceTaintRules is v1alpha3 (1.33 to 1.35). */
#define RESOURCE_PATH(version, kind) "/apis/resource.k8s.io/" version "/" kind
#define OF_RESOURCE_GROUP(kind, oldest, unread)                                                    \
    {                                                                                              \
        .name = (kind), .path = RESOURCE_PATH("v1", kind), .drop = (unread),                       \
        .older = (const char *const[])                                                             \
        {                                                                                          \
            RESOURCE_PATH("v1beta2", kind), RESOURCE_PATH(oldest, kind), NULL                      \
        }                                                                                          \
    }

/* In slices nearly everything is read. */
static const char *const SLICES_UNREAD[] = {ALL_BUT_NAMES, NULL};
static const char *const CLAIMS_UNREAD[] = {"metadata.managedFields",
                                            "metadata.ownerReferences[].apiVersion",
                                            "metadata.ownerReferences[].blockOwnerDeletion",
                                            "metadata.ownerReferences[].kind",
                                            "metadata.ownerReferences[].name",
                                            "metadata.finalizers",
                                            "spec.devices.config",
                                            "status.allocation.devices.config",
                                            "status.devices[].data",
                                            "status.devices[].networkData",
                                            NULL};
/* spec.metadata is the metadata of the claims. */
static const char *const CLAIM_TEMPLATES_UNREAD[] = {ALL_BUT_NAMES, "spec.metadata",
                                                     "spec.spec.devices.config", NULL};
static const char *const DEVICE_TAINTS_UNREAD[] = {ALL_BUT_NAMES, "status", NULL};
/* Its selector and the status that its controller writes are read. */
static const char *const BUDGETS_UNREAD[] = {ALL_BUT_NAMES,
                                             "spec.maxUnavailable",
                                             "spec.minAvailable",
                                             "status.conditions",
                                             "status.disruptedPods",
                                             "status.expectedPods",
                                             NULL};

static const char *const POD_GROUPS_UNREAD[] = {ALL_BUT_NAMES,
                                                "spec.disruptionMode",
                                                "spec.podGroupTemplateRef",
                                                "spec.resourceClaims",
                                                "spec.schedulingConstraints",
                                                "status",
                                                NULL};
/* One version each of 1.38, 1.37 and 1.36. */
#define GROUPS_PATH(version) "/apis/scheduling.k8s.io/" version "/podgroups"
static const char *const OLDER_POD_GROUPS[] = {GROUPS_PATH("v1beta1"), GROUPS_PATH("v1alpha2"),
                                               NULL};

/* Readers and writers: facts come as their type. */
#define READS(name, read)                                                                          \
    static int name(const json_t *object, const struct policy *policy, struct arena *arena,        \
                    void *facts, struct err *err)                                                  \
    {                                                                                              \
        (void)policy;                                                                              \
        return read;                                                                               \
    }
#define WRITES(name, write)                                                                        \
    static json_t *name(const void *facts, const struct policy *policy)                            \
    {                                                                                              \
        (void)policy;                                                                              \
        return write;                                                                              \
    }

READS(read_node, node_from_json(object, policy, arena, facts, err))
READS(read_namespace, namespace_from_json(object, arena, facts, err))
READS(read_priority_class, priority_class_from_json(object, arena, facts, err))
READS(read_device_class, device_class_from_json(object, arena, facts, err))
READS(read_slice, resource_slice_from_json(object, policy, arena, facts, err))
READS(read_claim, resource_claim_from_json(object, arena, facts, err))
READS(read_template, claim_template_from_json(object, arena, facts, err))
READS(read_budget, budget_from_json(object, arena, facts, err))
READS(read_pod_group, pod_group_from_json(object, arena, facts, err))
READS(read_kept_pod, kept_pod_from_json(object, policy, arena, facts, err))
READS(read_reservation, reservation_from_json(object, policy, arena, facts, err))
WRITES(write_namespace, namespace_to_json(facts))
WRITES(write_priority_class, priority_class_to_json(facts))
WRITES(write_runtime_class, runtime_class_to_json(((const struct name_facts *)facts)->name))
WRITES(write_device_class, device_class_to_json(facts))
WRITES(write_slice, kept_slice_to_json(facts, policy))
WRITES(write_claim, resource_claim_to_json(facts))
WRITES(write_taint, device_taint_rule_to_json(facts))
WRITES(write_pod_group, pod_group_to_json(facts))
WRITES(write_template, claim_template_to_json(facts))

static int read_pod(const json_t *object, const struct policy *policy, struct arena *arena,
                    void *facts, struct err *err)
{
    struct pod_facts *pod = facts;
    int r = pod_from_json_unasked(object, policy, arena, pod, err);
    if (r == 0 && !pod->node_name[0] && !pod->finished)
        pod->not_evaluated = pod_not_evaluated_text(object, policy, arena);
    return r;
}

static int read_kept_slice(const json_t *object, const struct policy *policy, struct arena *arena,
                           void *facts, struct err *err)
{
    struct slice_facts *slice = facts;
    const int r = resource_slice_from_json(object, policy, arena, slice, err);
    slice->is_unreadable = true;
    return r;
}

static int read_taint(const json_t *object, const struct policy *policy, struct arena *arena,
                      void *facts, struct err *err)
{
    bool taints = false; /* else it has no effect, which the ledger sees */
    (void)policy;
    return device_taint_rule_from_json(object, arena, facts, &taints, err);
}

static json_t *write_budget(const void *facts, const struct policy *policy)
{
    const struct budget_facts *budget = facts;
    (void)policy;
    return budget->is_cut ? NULL : budget_to_json(budget);
}

/* Reservations, which only a snapshot has. */

/* Keeps the age that it had in the snapshot. */
static void upsert_reservation(struct cluster *cluster, const void *facts)
{
    const struct reservation_facts *held = facts;
    const int64_t age_ms = clock_wall_ms() - held->pod.created_s * 1000;
    reservation_restore(cluster, &held->pod, held->node_name, clock_ms() - age_ms);
}

static void remove_reservation(struct cluster *cluster, const char *uid)
{
    const struct reservation *held = cluster_find_reservation(cluster, uid);
    if (held)
        reservation_release(cluster, uid, held->serial);
}

const struct kind_row INVENTORY_KINDS[N_CLUSTER_KINDS] = {
    [CLUSTER_NODES] = {.kind = "Node",
                       .api_version = "v1",
                       .use = &KINDS_FOR_DECISIONS,
                       .drops_duplicates = true,
                       .listed = {.name = "nodes", .path = "/api/v1/nodes", .drop = NODES_UNREAD},
                       .facts_size = sizeof(struct node_facts),
                       .read = read_node},
    [CLUSTER_PODS] = {.kind = "Pod",
                      .api_version = "v1",
                      .use = &KINDS_FOR_DECISIONS,
                      .is_namespaced = true,
                      .is_pod = true,
                      .drops_duplicates = true,
                      .listed = {.name = "pods",
                                 .path = "/api/v1/pods",
                                 .field_selector = PODS_NOT_FINISHED,
                                 .drop = PODS_UNREAD,
                                 .keep = PODS_COUNTED},
                      .facts_size = sizeof(struct pod_facts),
                      .read = read_pod},
    [CLUSTER_NAMESPACES] = {.kind = "Namespace",
                            .api_version = "v1",
                            .use = &KINDS_FOR_DECISIONS,
                            .listed = {.name = "namespaces",
                                       .path = "/api/v1/namespaces",
                                       .drop = NAMESPACES_UNREAD},
                            .facts_size = sizeof(struct namespace_facts),
                            .read = read_namespace,
                            .to_json = write_namespace},
    [CLUSTER_PRIORITY_CLASSES] = {.kind = "PriorityClass",
                                  .api_version = "scheduling.k8s.io/",
                                  .use = &KINDS_FOR_DECISIONS,
                                  .listed = {.name = "priorityclasses",
                                             .path = "/apis/scheduling.k8s.io/v1/priorityclasses",
                                             .drop = NAMES_ONLY},
                                  .facts_size = sizeof(struct priority_class_facts),
                                  .read = read_priority_class,
                                  .to_json = write_priority_class},
    [CLUSTER_DEVICE_CLASSES] = {.kind = "DeviceClass",
                                .api_version = "resource.k8s.io/",
                                .use = &KINDS_FOR_DECISIONS,
                                .listed =
                                    OF_RESOURCE_GROUP("deviceclasses", "v1beta1", CLASSES_UNREAD),
                                .facts_size = sizeof(struct device_class_facts),
                                .read = read_device_class,
                                .to_json = write_device_class},
    [CLUSTER_SLICES] = {.kind = "ResourceSlice",
                        .api_version = "resource.k8s.io/",
                        .use = &KINDS_FOR_CLAIMS,
                        .drops_duplicates = true,
                        .listed = OF_RESOURCE_GROUP("resourceslices", "v1beta1", SLICES_UNREAD),
                        .facts_size = sizeof(struct slice_facts),
                        .read = read_slice,
                        .to_json = write_slice},
    [CLUSTER_CLAIMS] = {.kind = "ResourceClaim",
                        .api_version = "resource.k8s.io/",
                        .use = &KINDS_FOR_CLAIMS,
                        .is_namespaced = true,
                        .drops_duplicates = true,
                        .listed = OF_RESOURCE_GROUP("resourceclaims", "v1beta1", CLAIMS_UNREAD),
                        .facts_size = sizeof(struct claim_facts),
                        .read = read_claim,
                        .to_json = write_claim},
    [CLUSTER_DEVICE_TAINTS] = {.kind = "DeviceTaintRule",
                               .api_version = "resource.k8s.io/",
                               .use = &KINDS_FOR_CLAIMS,
                               .drops_duplicates = true,
                               .listed = OF_RESOURCE_GROUP("devicetaintrules", "v1alpha3",
                                                           DEVICE_TAINTS_UNREAD),
                               .facts_size = sizeof(struct device_taint_facts),
                               .read = read_taint,
                               .to_json = write_taint},
    [CLUSTER_CLAIM_TEMPLATES] = {.kind = "ResourceClaimTemplate",
                                 .api_version = "resource.k8s.io/",
                                 .use = &KINDS_FOR_TEMPLATES,
                                 .is_namespaced = true,
                                 .drops_duplicates = true,
                                 .listed = OF_RESOURCE_GROUP("resourceclaimtemplates", "v1beta1",
                                                             CLAIM_TEMPLATES_UNREAD),
                                 .facts_size = sizeof(struct claim_template_facts),
                                 .read = read_template,
                                 .to_json = write_template},
    [CLUSTER_BUDGETS] = {.kind = "PodDisruptionBudget",
                         .api_version = "policy/",
                         .use = &KINDS_FOR_BUDGETS,
                         .is_namespaced = true,
                         .drops_duplicates = true,
                         .listed = {.name = "poddisruptionbudgets",
                                    .path = "/apis/policy/v1/poddisruptionbudgets",
                                    .drop = BUDGETS_UNREAD},
                         .facts_size = sizeof(struct budget_facts),
                         .read = read_budget,
                         .to_json = write_budget},
    [CLUSTER_POD_GROUPS] = {.kind = "PodGroup",
                            .api_version = "scheduling.k8s.io/",
                            .use = &KINDS_FOR_GROUPS,
                            .is_namespaced = true,
                            .drops_duplicates = true,
                            .listed = {.name = "podgroups",
                                       .path = GROUPS_PATH("v1"),
                                       .older = OLDER_POD_GROUPS,
                                       .drop = POD_GROUPS_UNREAD},
                            .facts_size = sizeof(struct pod_group_facts),
                            .read = read_pod_group,
                            .to_json = write_pod_group},
};

/* Kinds that only cluster files contain: one that answers to users read, and a snapshot's own. */
static const struct kind_row OF_FILES[] = {
    {.kind = "RuntimeClass",
     .api_version = "node.k8s.io/",
     .use = &FOR_WORDS,
     .in_ledger = CLUSTER_RUNTIME_CLASSES,
     .to_json = write_runtime_class},
    {.kind = "KeptPod",
     .api_version = SNAPSHOT_API_VERSION,
     .use = &KINDS_FOR_DECISIONS,
     .in_ledger = CLUSTER_PODS,
     .is_namespaced = true,
     .is_pod = true,
     .drops_duplicates = true,
     .facts_size = sizeof(struct pod_facts),
     .read = read_kept_pod},
    {.kind = "KeptSlice",
     .api_version = SNAPSHOT_API_VERSION,
     .use = &KINDS_FOR_CLAIMS,
     .in_ledger = CLUSTER_SLICES,
     .drops_duplicates = true,
     .facts_size = sizeof(struct slice_facts),
     .read = read_kept_slice},
    {.kind = "Reservation",
     .api_version = SNAPSHOT_API_VERSION,
     .use = &KINDS_FOR_DECISIONS,
     .is_namespaced = true,
     .is_pod = true,
     .drops_duplicates = true,
     .facts_size = sizeof(struct reservation_facts),
     .read = read_reservation,
     .upsert = upsert_reservation,
     .remove = remove_reservation,
     .count = cluster_n_reservations},
};

const struct kind_row *kinds_in_ledger(enum cluster_kind kind)
{
    return kind == CLUSTER_RUNTIME_CLASSES ? OF_FILES : &INVENTORY_KINDS[kind];
}

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
    const struct kind_row *row = find_among(INVENTORY_KINDS, N_CLUSTER_KINDS, kind, api_version);
    return row ? row : find_among(OF_FILES, sizeof OF_FILES / sizeof *OF_FILES, kind, api_version);
}

static int read_id(const struct kind_row *row, const json_t *object, struct arena *arena,
                   void **ret_facts, struct err *err)
{
    struct identity identity;
    struct name_facts *facts = ARENA_NEW(arena, struct name_facts);
    const int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        facts->name = kinds_key(row, &identity, arena).id;
    *ret_facts = facts;
    return r;
}

int kinds_read(const struct kind_row *row, const json_t *object, const struct policy *policy,
               struct arena *arena, void **ret_facts, struct err *err)
{
    if (!row->read)
        return read_id(row, object, arena, ret_facts, err);
    *ret_facts = arena_alloc(arena, row->facts_size);
    return row->read(object, policy, arena, *ret_facts, err);
}

static enum cluster_kind kind_of(const struct kind_row *row)
{
    return row->listed.path ? (enum cluster_kind)(row - INVENTORY_KINDS) : row->in_ledger;
}

void kinds_upsert(const struct kind_row *row, struct cluster *cluster, const void *facts)
{
    if (row->upsert)
        row->upsert(cluster, facts);
    else
        cluster_upsert(cluster, kind_of(row), facts);
}

void kinds_remove(const struct kind_row *row, struct cluster *cluster, const char *id)
{
    if (row->remove)
        row->remove(cluster, id);
    else
        cluster_delete(cluster, kind_of(row), id);
}

size_t kinds_count(const struct kind_row *row, const struct cluster *cluster)
{
    return row->count ? row->count(cluster) : cluster_n_objects(cluster, kind_of(row));
}

struct kind_limit kinds_limit(enum cluster_kind kind, const struct inventory_limits *limits)
{
    if (kind == CLUSTER_NODES)
        return (struct kind_limit){limits->max_nodes, "limits.nodes"};
    return (struct kind_limit){limits->max_pods, "limits.pods"};
}

int kinds_check_room(const struct kind_row *row, const struct cluster *cluster, const char *id,
                     struct err *err)
{
    const char *bound = row == &INVENTORY_KINDS[CLUSTER_SLICES]
                            ? devices_slice_bound(cluster_devices(cluster), id)
                            : NULL;
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

/*
 * live_kinds: list and watch options of each kind. See include/inventory/live.h.
 *
 * Members that no decoder reads are skipped in parsing, which saves most of a list's time. A
 * decoder that reads a new member must remove it from these lists
 * (tests/unit/inventory/test_live_kinds.c).
 */
#include "inventory/live.h"

/* Finished pods use nothing and are never scheduled again. Excluding them saves most of a list
 * where jobs run. A pod that finishes arrives as DELETED, in its former state. */
#define PODS_NOT_FINISHED "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

static const char *const NODES_UNREAD[] = {"metadata.managedFields", "metadata.ownerReferences",
                                           "metadata.annotations",   "metadata.finalizers",
                                           "status.images",          "status.volumesAttached",
                                           "status.volumesInUse",    "status.addresses",
                                           "status.nodeInfo",        "status.runtimeHandlers",
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
                                          "status.qosClass",
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
                                           "status.allocatedResources",
                                           "status.conditions[].reason",
                                           "status.conditions[].status",
                                           "status.conditions[].type",
                                           STATUSES_COUNTED("status.containerStatuses"),
                                           STATUSES_COUNTED("status.initContainerStatuses"),
                                           "status.extendedResourceClaimStatus",
                                           "status.nominatedNodeName",
                                           "status.phase",
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
static const char *const NAMES_ONLY[] = {"metadata.managedFields",
                                         "metadata.ownerReferences",
                                         "metadata.labels",
                                         "metadata.annotations",
                                         "metadata.finalizers",
                                         "spec",
                                         "status",
                                         "description",
                                         NULL};

static const char *const CLASSES_UNREAD[] = {"metadata.managedFields",
                                             "metadata.ownerReferences",
                                             "metadata.labels",
                                             "metadata.annotations",
                                             "metadata.finalizers",
                                             "spec.config",
                                             NULL};

/* Servers differ in the versions of this group that they serve, kind by kind. */
#define RESOURCE_PATH(version, kind) "/apis/resource.k8s.io/" version "/" kind
#define OLDER_PATHS(kind)                                                                          \
    (const char *const[])                                                                          \
    {                                                                                              \
        RESOURCE_PATH("v1beta2", kind), RESOURCE_PATH("v1beta1", kind), NULL                       \
    }

/* In slices nearly everything is read. */
static const char *const SLICES_UNREAD[] = {"metadata.managedFields", "metadata.ownerReferences",
                                            "metadata.labels",        "metadata.annotations",
                                            "metadata.finalizers",    NULL};
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
static const char *const CLAIM_TEMPLATES_UNREAD[] = {
    "metadata.managedFields",   "metadata.ownerReferences",
    "metadata.labels",          "metadata.annotations",
    "metadata.finalizers",      "spec.metadata",
    "spec.spec.devices.config", NULL};
static const char *const DEVICE_TAINTS_UNREAD[] = {"metadata.managedFields",
                                                   "metadata.ownerReferences",
                                                   "metadata.labels",
                                                   "metadata.annotations",
                                                   "metadata.finalizers",
                                                   "status",
                                                   NULL};
/* Its selector and the status that its controller writes are read. */
static const char *const BUDGETS_UNREAD[] = {"metadata.managedFields",
                                             "metadata.ownerReferences",
                                             "metadata.labels",
                                             "metadata.annotations",
                                             "metadata.finalizers",
                                             "spec.maxUnavailable",
                                             "spec.minAvailable",
                                             "status.conditions",
                                             "status.disruptedPods",
                                             "status.expectedPods",
                                             NULL};

const struct reflector_kind INVENTORY_KINDS[N_CLUSTER_KINDS + 1] = {
    [CLUSTER_NODES] = {.name = "nodes", .path = "/api/v1/nodes", .drop = NODES_UNREAD},
    [CLUSTER_PODS] = {.name = "pods",
                      .path = "/api/v1/pods",
                      .field_selector = PODS_NOT_FINISHED,
                      .drop = PODS_UNREAD,
                      .keep = PODS_COUNTED},
    [CLUSTER_NAMESPACES] = {.name = "namespaces",
                            .path = "/api/v1/namespaces",
                            .drop = NAMESPACES_UNREAD},
    [CLUSTER_PRIORITY_CLASSES] = {.name = "priorityclasses",
                                  .path = "/apis/scheduling.k8s.io/v1/priorityclasses",
                                  .drop = NAMES_ONLY},
    [CLUSTER_DEVICE_CLASSES] = {.name = "deviceclasses",
                                .path = RESOURCE_PATH("v1", "deviceclasses"),
                                .drop = CLASSES_UNREAD,
                                .older = OLDER_PATHS("deviceclasses")},
    [CLUSTER_SLICES] = {.name = "resourceslices",
                        .path = RESOURCE_PATH("v1", "resourceslices"),
                        .drop = SLICES_UNREAD,
                        .older = OLDER_PATHS("resourceslices")},
    [CLUSTER_CLAIMS] = {.name = "resourceclaims",
                        .path = RESOURCE_PATH("v1", "resourceclaims"),
                        .drop = CLAIMS_UNREAD,
                        .older = OLDER_PATHS("resourceclaims")},
    [CLUSTER_DEVICE_TAINTS] = {.name = "devicetaintrules",
                               .path = RESOURCE_PATH("v1", "devicetaintrules"),
                               .drop = DEVICE_TAINTS_UNREAD,
                               .older = OLDER_PATHS("devicetaintrules")},
    [CLUSTER_CLAIM_TEMPLATES] = {.name = "resourceclaimtemplates",
                                 .path = RESOURCE_PATH("v1", "resourceclaimtemplates"),
                                 .drop = CLAIM_TEMPLATES_UNREAD,
                                 .older = OLDER_PATHS("resourceclaimtemplates")},
    [CLUSTER_BUDGETS] = {.name = "poddisruptionbudgets",
                         .path = "/apis/policy/v1/poddisruptionbudgets",
                         .drop = BUDGETS_UNREAD},
};

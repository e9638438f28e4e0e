/*
 * pod: reads a Kubernetes Pod, or a pod template, into facts. Source: Kubernetes API v1, Pod.
 */
#ifndef OBJECTS_POD_H
#define OBJECTS_POD_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* All that the facts point to is in the arena, nothing in the JSON.
 *
 * Demand: see pod.h. Some faults let the pod run nowhere but leave its demand known: a GPU
 * request that differs from its limit, an unreadable annotation, an affinity or toleration that
 * Kubernetes' validation rejects. They are ret_facts->refusal, not errors. Texts of its condition
 * PodScheduled are cut at 4 KiB. A shape over the policy's limits.podShapeBytes is reduced to the
 * parts that filter and bind judge (ledger/shape_limits.h). -EINVAL: a member of the wrong type or
 * an invalid quantity; the message names the path. A pod without a UID gets "NAMESPACE/NAME";
 * without a namespace, "default". Leaves out `peers`, which no verb judges. */
int pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                  struct pod_facts *ret_facts, struct err *err);

/* The same for a pod that no verb has asked about: one of the ledger or of a manifest. If
 * kube-scheduler never asks about it, its annotations have no effect: wishes and refusals by them
 * are left out. (A pod that a verb asks about has come here, whatever the policy says.) */
int pod_from_json_unasked(const json_t *object, const struct policy *policy, struct arena *arena,
                          struct pod_facts *ret_facts, struct err *err);

/* The same for a pod that a snapshot kept as a verb was asked about it: its annotations count. */
int pod_from_json_kept(const json_t *object, const struct policy *policy, struct arena *arena,
                       struct pod_facts *ret_facts, struct err *err);

/* As pod_facts.version, from metadata.resourceVersion; 0 without one. */
uint64_t pod_version(const json_t *object);

struct text_list {
    const char **items;
    size_t n;
};

/* The annotation that our bindings give a pod. */
#define POD_BOUND_BY "gpu-extender.io/bound-by"

/* Tells users how far pods are judged that get extended resources by a claim (DeviceClass). */
#define CLAIMS_JUDGED "claims are judged by quotas only, not by devices"

/* Features of the pod that this program does not judge, one line each for users:
 * "spec.topologySpreadConstraints", annotations without effect, possible changes by admission ...
 * At most 100; unreadable ones are skipped. */
struct text_list pod_not_evaluated(const json_t *object, const struct policy *policy,
                                   struct arena *arena);

/* The same for an object that makes pods: suspended, volumeClaimTemplates, Kueue's queue ... At
 * most ten. */
struct text_list pod_not_evaluated_around(const json_t *object, const struct policy *policy,
                                          struct arena *arena);
/* Tells users of a pod for default-scheduler, where that does not ask this extender, and of a
 * misspelt scheduler: "is not set: ..." after "spec.schedulerName". NULL: it asks, or another is
 * named. */
const char *pod_unasked_scheduler(const json_t *spec, const struct policy *policy,
                                  struct arena *arena);

/* Whether the pod is in a group whose pods should start together; the same for an object that makes
 * such pods. */
bool pod_in_group(const json_t *object);
bool pod_group_around(const json_t *object);

/* The same as pod_not_evaluated() for an admitted pod, without possible changes by admission. One
 * text, each line ended by a newline; at most 2 KiB of whole lines, the last of which has the
 * number left out. NULL: none.
 */
const char *pod_not_evaluated_text(const json_t *object, const struct policy *policy,
                                   struct arena *arena);

/* ---- failed pod ---- */
/* Reads why a kubelet rejected a pod. Source: pkg/kubelet (lifecycle/predicate.go,
 * cm/admission/errors.go) of Kubernetes: PROTOCOL 8.7. */

/* A Pod in phase Failed. Members of a wrong type count as absent. All that the facts point to is in
 * the arena. -EINVAL: it has no usable UID. */
int failed_pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                         struct failed_pod_facts *ret_facts, struct err *err);

/* ---- demand ---- */
/* A pod's need of every resource.  Effective requests as kube-scheduler computes them
 * (k8s.io/component-helpers/resource, PodRequests): the maximum of two. First, the sum over all
 * containers and restartable init containers (sidecars). Second, each step of the start-up
 * sequence: the sidecars already running plus the current init container. Pod-level
 * spec.resources replaces that for cpu, memory and hugepages only (KEP-2837). Overhead is added
 * after. For bound pods the resources in their status count too (KEP-1287, in-place resize). */

struct demand {
    /* Sorted by resource name, including "pods": 1; each > 0 and at most 2^53, so that sums over a
     * node fit. */
    const struct amount *amounts;
    size_t n_amounts;
    /* Not NULL: GPU requests break the rules (not whole, negative, different from the limit), with
     * the container's name and the value; or an amount exceeds 2^53. The amounts are those that
     * kube-scheduler would count. */
    const char *refusal;
};

/* spec: pod.spec; status: pod.status or NULL. All is in the arena. -EINVAL: a wrong type or an
 * invalid quantity; the message names the path. */
int demand_from_json(const json_t *spec, const json_t *status, const struct policy *policy,
                     struct arena *arena, struct demand *ret_demand, struct err *err);

#endif

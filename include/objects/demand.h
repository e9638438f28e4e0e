/*
 * demand: a pod's need of every resource.
 *
 * Effective requests as kube-scheduler computes them (k8s.io/component-helpers/resource,
 * PodRequests): the maximum of two. First, the sum over all containers and restartable init
 * containers (sidecars). Second, each step of the start-up sequence: the sidecars already running
 * plus the current init container. Pod-level spec.resources replaces that for cpu, memory and
 * hugepages only (KEP-2837). Overhead is added after. For bound pods the resources in their status
 * count too (KEP-1287, in-place resize).
 */
#ifndef OBJECTS_DEMAND_H
#define OBJECTS_DEMAND_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

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

/*
 * demand: what a pod needs of every resource.
 *
 * Effective requests as kube-scheduler computes them (k8s.io/component-helpers/resource,
 * PodRequests): the larger of the sum of all containers and restartable init containers (sidecars),
 * and each step of the start-up sequence (the sidecars already running plus the init container of
 * that moment). Pod-level spec.resources replaces that for cpu, memory and hugepages only
 * (KEP-2837). Overhead is added after. For bound pods the resources in their status are taken into
 * account (KEP-1287, in-place resize).
 */
#ifndef OBJECTS_DEMAND_H
#define OBJECTS_DEMAND_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

struct demand {
    /* Sorted by resource name, "pods": 1 among them; each > 0 and at most 2^53, so that sums over a
     * node fit. */
    const struct amount *amounts;
    size_t n_amounts;
    /* Not NULL: GPU requests that break the rules (not whole, negative, a request that is not the
     * limit): the container's name and the value; or more of something than 2^53. The amounts are
     * what kube-scheduler would count. */
    const char *refusal;
};

/* spec is pod.spec; status is pod.status or NULL. All in the arena.
 * -EINVAL: wrong types, a quantity that is none; the message names the path. */
int demand_from_json(const json_t *spec, const json_t *status, const struct policy *policy,
                     struct arena *arena, struct demand *ret_demand, struct err *err);

#endif

/*
 * container_requests: requests of containers, and whether they concern us.
 */
#ifndef OBJECTS_CONTAINER_REQUESTS_H
#define OBJECTS_CONTAINER_REQUESTS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- container requests ---- */

/* The requests of one container, or of the pod as a whole (spec.resources): the
 * spec with the API's defaulting, the resources in the status, and the rules for GPUs. */

/* Amounts saturate here, so that a node's sum cannot overflow: above any machine (8 PiB; 9 * 10^12
 * cores), far below INT64_MAX. */
#define REQUEST_AMOUNT_MAX (INT64_C(1) << 53)

/* Inputs of a request. All JSON is borrowed; each may be NULL. */
struct request_sources {
    const char *path;          /* "spec.containers[0]", for errors */
    const char *requests_name; /* NULL: ".resources.requests" */
    json_t *requests;          /* from the spec; default: the limit */
    json_t *limits;            /* from the spec */
    bool has_status;           /* the status has resources: use the next two */
    json_t *actual;            /* status resources.requests */
    json_t *allocated;         /* status allocatedResources */
    bool resize_infeasible;    /* cpu and memory of the spec will never be granted */
};

struct request_list {
    const struct amount *items; /* each resource once, also with amount 0 */
    size_t n;
};

/* Stores the object's "resources" (requests and limits). -EINVAL: wrong types; the message begins
 * with "resources". */
int request_sources_of_spec(const json_t *object, struct request_sources *sources, struct err *err);
/* Stores the status object's "resources" and "allocatedResources"; nothing without the former. */
int request_sources_of_status(const json_t *status, struct request_sources *sources,
                              struct err *err);

/* One amount per resource in any source, at most REQUEST_AMOUNT_MAX. -EINVAL: a quantity is invalid
 * or negative (for GPUs only: neither string nor number). */
int container_requests(const struct request_sources *sources, const struct policy *policy,
                       struct arena *arena, struct request_list *ret_list, struct err *err);

/* The first rule for GPUs that the spec breaks ("nvidia.com/gpu: request 1 is not its limit 2"), or
 * NULL. In the arena. */
const char *container_gpu_fault(const struct request_sources *sources, const struct policy *policy,
                                struct arena *arena);

/* ---- managed ---- */

/* Whether kube-scheduler calls this extender about a pod. */

/* Whether a container or init container names one of the policy's GPU resources in its requests or
 * limits, whatever the amount; always true with all_pods. Assumes that managedResources lists the
 * policy's gpuResources. Source: HTTPExtender.IsInterested() in kube-scheduler. */
bool managed_by_policy(const json_t *spec, const struct policy *policy);

#endif

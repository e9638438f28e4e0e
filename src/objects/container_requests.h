/*
 * container_requests: what one container (or the pod as a whole, spec.resources) requests: the
 * spec with the API's defaulting, the resources in its status, and the rules for GPUs.
 */
#ifndef OBJECTS_CONTAINER_REQUESTS_H
#define OBJECTS_CONTAINER_REQUESTS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>

/* Amounts are counted up to this, so that a node's sum can't overflow: more than any machine has
 * (8 PiB; 9 * 10^12 cores), far less than an int64_t holds. */
#define REQUEST_AMOUNT_MAX (INT64_C(1) << 53)

/* Where requests come from. All JSON is borrowed; each may be NULL. */
struct request_sources {
    const char *path;          /* "spec.containers[0]", for errors */
    const char *requests_name; /* NULL: ".resources.requests" */
    json_t *requests;          /* of the spec; a missing one equals its limit */
    json_t *limits;            /* of the spec */
    bool has_status;           /* the status names resources: the two below count too */
    json_t *actual;            /* status: resources.requests */
    json_t *allocated;         /* status: allocatedResources */
    bool resize_infeasible;    /* the cpu and memory that the spec asks for will never be given */
};

struct request_list {
    const struct amount *items; /* each resource once; 0 where it is named with 0 */
    size_t n;
};

/* The object's "resources" (requests and limits) into sources. -EINVAL: wrong types; the message
 * begins with "resources". */
int request_sources_of_spec(const json_t *object, struct request_sources *sources, struct err *err);
/* The status object's "resources" and "allocatedResources"; nothing changes without the former. */
int request_sources_of_status(const json_t *status, struct request_sources *sources,
                              struct err *err);

/* One amount for every resource that any of the sources names; at most REQUEST_AMOUNT_MAX each.
 * -EINVAL: a quantity that is none or negative (of GPUs: only what is no text and no number). */
int container_requests(const struct request_sources *sources, const struct policy *policy,
                       struct arena *arena, struct request_list *ret_list, struct err *err);

/* The first rule for GPUs that the spec breaks ("nvidia.com/gpu: request 1 is not its limit 2"),
 * NULL if none. In the arena. */
const char *container_gpu_fault(const struct request_sources *sources, const struct policy *policy,
                                struct arena *arena);

#endif

/*
 * allocate: the devices that kube-scheduler would give the claims of a pod on a node.
 *
 * It follows k8s.io/dynamic-resource-allocation/structured 1.36.3 ("upstream"), and there the
 * allocator that the default feature gates of 1.36 choose ("incubating"). Pools, slices and devices
 * are searched in the same order, with the same backtracking, so it finds the same devices. A
 * verdict equals upstream's. Where that cannot be ensured, the verdict is ALLOCATE_NOT_JUDGED and
 * the message names the cause. tests/allocate compares the two.
 *
 * Claims and slices are untrusted: the steps, the depth and the memory of a search are bounded.
 * Beyond a bound the node is not judged. Pure: no I/O, clock or lock.
 */
#ifndef DRA_ALLOCATE_H
#define DRA_ALLOCATE_H

#include "base/arena.h"
#include "cel/cel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices of one claim. Source: resourceapi.AllocationResultsMaxSize. */
#define ALLOCATE_RESULTS_MAX 32
/* Takes some milliseconds per node. */
#define ALLOCATE_STEPS_MAX 1000000
/* Claims of one pod; with more, the pod is not judged. */
#define ALLOCATE_CLAIMS_MAX 64

/* A taint of a device, from its slice or from a DeviceTaintRule. */
struct allocate_taint {
    const char *key, *value, *effect;
};
/* A toleration of a request. "": not set. */
struct allocate_toleration {
    const char *key, *op, *value, *effect;
};

/* Larger counters are not judged. */
#define ALLOCATE_COUNTER_MAX (INT64_C(1) << 42)
struct allocate_counter {
    const char *name;
    int64_t amount; /* the quantity; -1: too large, or not a whole number */
};
struct allocate_counter_set {
    const char *name;
    const struct allocate_counter *counters; /* no name occurs twice */
    size_t n_counters;
};

/* Larger capacities are not judged. */
#define ALLOCATE_CAPACITY_MAX (INT64_C(1) << 55)
/* An amount that is too large, or not a whole number. */
#define ALLOCATE_UNKNOWN (-1)
#define ALLOCATE_UNSET (-2)
/* requestPolicy of a capacity. Amounts may be ALLOCATE_UNSET. */
struct allocate_policy {
    int64_t fallback; /* default */
    bool has_range;   /* validRange */
    int64_t min, max, step;
    const int64_t *values; /* validValues, ascending */
    size_t n_values;
};
struct allocate_capacity {
    const char *name; /* as the device has it, with or without a domain */
    int64_t value;
    int64_t consumed;                     /* by allocations with a shareID */
    const struct allocate_policy *policy; /* NULL: none */
};
/* An amount of a capacity that a request asks for. */
struct allocate_amount {
    const char *name;
    int64_t value;
};

struct allocate_device {
    const char *name;
    /* Attributes and capacities. Equal devices may share them. */
    const struct cel_device *facts;
    const struct allocate_taint *taints;
    size_t n_taints;
    const struct allocate_counter_set *consumes;
    size_t n_consumes;
    const char *binding_conditions; /* their names, for users; NULL: none */
    bool binds_to_node;             /* bindsToNode */
    bool is_allocated;              /* to a claim without admin access */
    bool is_shared;                 /* partly allocated: by a result with a shareID */
    bool has_consumed_capacity;     /* such a result has consumedCapacity */
    const struct allocate_capacity *capacities;
    size_t n_capacities;
    /* Why selectors and constraints cannot be judged on this device. NULL: they can. */
    const char *not_judged;
};

/* A ResourceSlice, as a node sees it. */
struct allocate_slice {
    const char *name, *driver, *pool;
    int64_t generation;
    int64_t n_slices; /* resourceSliceCount */
    /* nodeName is this node, nodeSelector matches it, or allNodes is set. */
    bool reaches_node;
    /* perDeviceNodeSelection: whether each device reaches the node. NULL: as reaches_node. */
    const bool *devices_reach;
    const struct allocate_device *devices;
    size_t n_devices;
    const struct allocate_counter_set *shared_counters;
    size_t n_shared_counters;
};

/* A device must pass all of them. */
struct allocate_selectors {
    struct cel_program *const *programs; /* an entry is NULL: the selector is not CEL */
    size_t n;
};

struct allocate_class {
    const char *name;
    struct allocate_selectors selectors;
};

/* The demand of a request, or of one of its alternatives. */
struct allocate_want {
    const char *name; /* the alternative's name */
    const char *class_name;
    const struct allocate_class *device_class; /* NULL: no such class */
    struct allocate_selectors selectors;
    const struct allocate_toleration *tolerations;
    size_t n_tolerations;
    const char *unknown_mode; /* an allocationMode besides All and ExactCount; else NULL */
    bool wants_all;           /* allocationMode All */
    int64_t n_devices;        /* of ExactCount */
    bool is_admin;            /* adminAccess */
    const struct allocate_amount *capacities; /* capacity.requests */
    size_t n_capacities;
    /* Why it cannot be judged. NULL: it can. */
    const char *not_judged;
};

struct allocate_request {
    const char *name;
    bool has_alternatives; /* firstAvailable; else there is one want */
    const struct allocate_want *wants;
    size_t n_wants;
};

enum allocate_constraint_kind { ALLOCATE_MATCH, ALLOCATE_DISTINCT, ALLOCATE_NO_CONSTRAINT };

struct allocate_constraint {
    enum allocate_constraint_kind kind;
    const char *attribute;       /* "domain/name" */
    const char *const *requests; /* "request" or "request/alternative"; if empty, all requests */
    size_t n_requests;
};

struct allocate_claim {
    const char *namespace_, *name;
    const struct allocate_request *requests;
    size_t n_requests;
    const struct allocate_constraint *constraints;
    size_t n_constraints;
    bool is_allocated; /* then only reaches_node counts */
    /* If allocated: status.allocation.nodeSelector matches the node, or is not set. */
    bool reaches_node;
};

struct allocate_question {
    /* In any order. Must have all slices of each pool in which a slice reaches the node or has
     * shared counters. May have others. */
    const struct allocate_slice *slices;
    size_t n_slices;
    const struct allocate_claim *claims; /* of the pod, in the order of spec.resourceClaims */
    size_t n_claims;
    uint64_t max_steps; /* ALLOCATE_STEPS_MAX, or less */
};

enum allocate_verdict {
    ALLOCATE_FITS,
    ALLOCATE_NO,            /* upstream: "cannot allocate all claims" */
    ALLOCATE_INVALID_POOLS, /* the same, and a pool of the node is invalid */
    ALLOCATE_ELSEWHERE,     /* an allocated claim keeps the pod off the node */
    ALLOCATE_ERROR,         /* upstream's error; ends the pod's attempt on all nodes */
    ALLOCATE_NOT_JUDGED
};

/* A device that a request gets. */
struct allocate_result {
    size_t request, want; /* indices */
    const struct allocate_slice *slice;
    const struct allocate_device *device;
};
struct allocate_results {
    struct allocate_result devices[ALLOCATE_RESULTS_MAX];
    size_t n;
};

struct allocate_answer {
    enum allocate_verdict verdict;
    const char *message; /* "" if it fits */
    bool is_of_node;     /* ALLOCATE_ERROR: from 1.38 on it rejects this node alone */
    /* If it fits: one entry per claim; n is 0 if the claim was allocated before. In the arena. */
    const struct allocate_results *results;
    uint64_t steps; /* work done, as counted against max_steps */
};

/* Whether one of the taints keeps the want off a device: NoSchedule or NoExecute, not tolerated. */
bool allocate_keeps_off(const struct allocate_want *want, const struct allocate_taint *taints,
                        size_t n_taints);

/* The amount that the want takes of a device that allows multiple allocations; ALLOCATE_UNKNOWN: it
 * cannot be told. */
int64_t allocate_amount_taken(const struct allocate_want *want,
                              const struct allocate_capacity *capacity);

/* Whether the slices are one valid pool that lacks none, if all of them reach the node: then each
 * node gets such a pool from those that concern it. */
bool allocate_is_in_order(const struct allocate_slice *slices, size_t n, uint64_t max_steps,
                          struct arena *arena);
/* Whether a text occurs twice. Sorts them. */
bool allocate_repeats(const char **names, size_t n);

/* The answer borrows from the question. */
struct allocate_answer allocate_on_node(const struct allocate_question *question,
                                        struct arena *arena);

#endif

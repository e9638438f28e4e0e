/*
 * allocate: the devices that kube-scheduler would give the claims of a pod on a node.
 *
 * It follows k8s.io/dynamic-resource-allocation/structured 1.36.3, the allocator that is chosen by
 * the default feature gates of 1.36 ("incubating"): the same order of pools, slices and devices,
 * the same search with the same backtracking, so the same devices. Whatever is outside of that is
 * "not judged", and the message names it: a verdict is the same as upstream's, or there is none.
 * tests/allocate compares the two.
 *
 * Claims and slices are hostile: the steps, the depth and the memory of a search are bounded;
 * beyond a bound a node is not judged. Pure: no I/O, clock or lock.
 */
#ifndef ALLOCATE_ALLOCATE_H
#define ALLOCATE_ALLOCATE_H

#include "base/arena.h"
#include "cel/cel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a claim: resourceapi.AllocationResultsMaxSize. */
#define ALLOCATE_RESULTS_MAX 32
/* Some milliseconds of a node. */
#define ALLOCATE_STEPS_MAX 1000000
/* More claims of one pod are not judged. */
#define ALLOCATE_CLAIMS_MAX 64

/* Of a device: of its slice, or of a DeviceTaintRule. */
struct allocate_taint {
    const char *key, *value, *effect;
};
/* As in a request. "": not set. */
struct allocate_toleration {
    const char *key, *op, *value, *effect;
};

/* Larger counters are not judged. */
#define ALLOCATE_COUNTER_MAX (INT64_C(1) << 42)
struct allocate_counter {
    const char *name;
    int64_t amount; /* the quantity, if it is a whole number; -1: it is not, or it is too large */
};
struct allocate_counter_set {
    const char *name;
    const struct allocate_counter *counters; /* names once */
    size_t n_counters;
};

/* Larger capacities are not judged. */
#define ALLOCATE_CAPACITY_MAX (INT64_C(1) << 55)
/* An amount that is no whole number, or too large. */
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
/* Of a request. */
struct allocate_amount {
    const char *name;
    int64_t value;
};

struct allocate_device {
    const char *name;
    /* Attributes and capacities; devices that are alike may share it. */
    const struct cel_device *facts;
    const struct allocate_taint *taints;
    size_t n_taints;
    const struct allocate_counter_set *consumes;
    size_t n_consumes;
    bool is_allocated;          /* to a claim, not by admin access */
    bool is_shared;             /* allocated in part: a result has a shareID */
    bool has_consumed_capacity; /* one of these has consumedCapacity */
    bool has_binding_conditions;
    const struct allocate_capacity *capacities;
    size_t n_capacities;
    /* What of the device is not known: with it, no selector can be judged. NULL: nothing. */
    const char *not_judged;
};

/* A ResourceSlice, as a node sees it. */
struct allocate_slice {
    const char *name, *driver, *pool;
    int64_t generation;
    int64_t n_slices; /* resourceSliceCount */
    /* The node is that of nodeName, or the nodeSelector holds, or allNodes is set. */
    bool reaches_node;
    /* perDeviceNodeSelection: whether each device reaches the node; NULL: the slice says. */
    const bool *devices_reach;
    const struct allocate_device *devices;
    size_t n_devices;
    const struct allocate_counter_set *shared_counters;
    size_t n_shared_counters;
};

/* All of them must be true of a device. */
struct allocate_selectors {
    struct cel_program *const *programs; /* NULL: a selector of another type */
    size_t n;
};

struct allocate_class {
    const char *name;
    struct allocate_selectors selectors;
};

/* What a request asks for, or one of its alternatives. */
struct allocate_want {
    const char *name; /* of the alternative */
    const char *class_name;
    const struct allocate_class *device_class; /* NULL: there is none of that name */
    struct allocate_selectors selectors;
    const struct allocate_toleration *tolerations;
    size_t n_tolerations;
    const char *unknown_mode; /* another allocationMode than All and ExactCount; NULL: none */
    bool wants_all;           /* allocationMode All */
    int64_t n_devices;        /* of ExactCount */
    bool is_admin;            /* adminAccess */
    const struct allocate_amount *capacities; /* capacity.requests */
    size_t n_capacities;
    /* What of it is not judged; NULL: nothing. */
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
    const char *const *requests; /* "request" or "request/alternative"; none: all requests */
    size_t n_requests;
};

struct allocate_claim {
    const char *namespace_, *name;
    const struct allocate_request *requests;
    size_t n_requests;
    const struct allocate_constraint *constraints;
    size_t n_constraints;
    bool is_allocated; /* then the rest does not matter */
    bool
        reaches_node; /* of an allocated one: status.allocation.nodeSelector holds, or is not set */
};

struct allocate_question {
    /* All slices of each pool of which one reaches the node or has shared counters. Others may be
     * there. In any order. */
    const struct allocate_slice *slices;
    size_t n_slices;
    const struct allocate_claim *claims; /* of the pod, in the order of spec.resourceClaims */
    size_t n_claims;
    uint64_t max_steps; /* ALLOCATE_STEPS_MAX, or less */
};

enum allocate_verdict {
    ALLOCATE_FITS,
    ALLOCATE_NO,            /* upstream: "cannot allocate all claims" */
    ALLOCATE_INVALID_POOLS, /* the same, and a pool of the node contradicts itself */
    ALLOCATE_ELSEWHERE,     /* an allocated claim keeps the pod off the node */
    ALLOCATE_ERROR,         /* ends the attempt of the pod on all nodes; upstream's words */
    ALLOCATE_NOT_JUDGED
};

/* A device for a request. */
struct allocate_result {
    size_t request, want; /* their indices */
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
    /* If it fits: of each claim; none of claims that are allocated already. In the arena. */
    const struct allocate_results *results;
    uint64_t steps; /* the work that it took */
};

/* Everything that the question points to must live as long as the answer. */
struct allocate_answer allocate_on_node(const struct allocate_question *question,
                                        struct arena *arena);

#endif

/*
 * allocate_priv: the state of one search, and the files allocate_*.c.
 */
#ifndef DRA_ALLOCATE_PRIV_H
#define DRA_ALLOCATE_PRIV_H

#include "dra/allocate.h"

/* Nested calls of the search. Each takes less than half a KiB of the stack. */
#define ALLOCATE_DEPTH_MAX 1000
/* Upstream's sums of larger counts may overflow. */
#define ALLOCATE_COUNT_MAX INT32_MAX

/* A device of a usable pool. */
struct offer {
    const struct allocate_slice *slice;
    const struct allocate_device *device;
    struct source_pool *pool;
    size_t index; /* among the offers of all pools */
    bool reaches_node;
    uint64_t claims; /* to which it is given as a whole: a bit for each index */
    size_t n_shares; /* that are given, if it allows multiple allocations */
    int64_t *given;  /* of each capacity, with these; NULL: nothing yet */
};

/* A counter of a pool. */
struct counter_left {
    const char *set, *name;
    int64_t available; /* besides what allocated devices consume; may be below 0 */
    int64_t consumed;  /* by devices that the pod's claims get */
};

enum pool_state {
    POOL_USABLE,
    POOL_INCOMPLETE, /* slices are missing */
    POOL_INVALID,    /* contradicts itself */
    POOL_UNORDERED   /* upstream's verdict depends on the order of a map */
};

struct source_pool {
    const char *driver, *name;
    enum pool_state state;
    bool has_binding_conditions;
    const struct allocate_slice *const *slices; /* of its generation, by name */
    const bool *is_here;                        /* of each: it concerns the node */
    size_t n_slices;
    bool sees_all;                 /* the slices of other nodes, too, where there are some */
    struct counter_left *counters; /* NULL: not computed yet */
    size_t n_counters;
    struct offer *offers; /* of a usable one: in upstream's order */
    size_t n_offers;
};

/* A struct allocate_want as the search keeps it. */
struct want_state {
    const struct allocate_want *want;
    size_t claim, request; /* their indices */
    const char *request_name;
    size_t first_request; /* of the claim's requests of that name */
    bool is_alternative;
    size_t index;                     /* among the wants of the claim */
    size_t n_devices;                 /* to allocate */
    struct offer **all;               /* if all are wanted; n_devices of them */
    unsigned char *matches;           /* enum match by offer; NULL: none is known */
    const struct offer *last_matched; /* the last one that was evaluated; NULL: none */
};

struct constraint_state {
    const struct allocate_constraint *constraint;
    const char *slash;   /* of its attribute; NULL: there is none */
    const bool *applies; /* by the index of a want */
    size_t n_devices;
    const struct cel_fact *fact; /* of the first device, if all must match */
    /* If all must differ: the fact of the last device of each request, as upstream. */
    const struct cel_fact **facts;
};

struct claim_search {
    const struct allocate_claim *claim;
    size_t question_index;
    struct want_state **requests; /* their wants */
    struct constraint_state *constraints;
    struct allocate_results results;
};

struct run {
    const struct allocate_question *question;
    struct arena *arena;
    struct source_pool *pools; /* in upstream's order */
    size_t n_pools;
    size_t n_offers;
    struct claim_search *claims; /* those to allocate */
    size_t n_claims;
    struct allocate_answer answer; /* its verdict counts once an outcome is STOPPED */
};

enum attempt {
    NO,
    YES,
    EXCEEDED, /* upstream's errAllocationResultMaxSizeExceeded */
    STOPPED   /* the answer has the verdict */
};

/* allocate.c. The last two return STOPPED. */
/* Counts work; false, with the verdict, if it is too much. */
bool allocate_spend(struct run *run, uint64_t steps);
enum attempt allocate_fail(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum attempt allocate_do_not_judge(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "namespace/name". */
const char *allocate_claim_name(struct run *run, const struct allocate_claim *claim);

/* allocate_pools.c: sets the pools. YES or STOPPED. */
enum attempt allocate_pools_gather(struct run *run);

/* Sets the claims' states. YES or STOPPED. */
enum attempt requests_prepare(struct run *run);

/* allocate_match.c */
/* Returns whether the device suits the want, by selectors and node alone. NO, YES or STOPPED. */
enum attempt match_device(struct run *run, struct want_state *want, const struct offer *offer);
/* Returns whether the want tolerates the device's taints. */
enum attempt match_taints(struct run *run, const struct want_state *want,
                          const struct allocate_device *device);

/* allocate_counters.c. Whether its capacities are enough: NO, YES or STOPPED. */
enum attempt capacity_suffices(struct run *run, const struct want_state *want,
                               const struct offer *offer);
/* Both are for devices that allow multiple allocations. */
void capacity_take(struct run *run, const struct allocate_want *want, struct offer *offer);
void capacity_give_back(const struct allocate_want *want, struct offer *offer);

/* YES or STOPPED. The claim's wants are set. */
enum attempt constraints_prepare(struct run *run, struct claim_search *claim);
/* NO, YES or STOPPED. All of the claim's constraints, or none. */
enum attempt constraints_add(struct run *run, struct claim_search *claim,
                             const struct want_state *want, const struct allocate_device *device);
void constraints_remove(struct claim_search *claim, const struct want_state *want);

/* For a device of a usable pool. NO: there is not enough of a counter of the pool, of
 * whatever set. */
enum attempt allocate_counters_take(struct run *run, const struct offer *offer);
void allocate_counters_give_back(const struct offer *offer);

/* allocate_search.c: NO, YES or STOPPED. */
enum attempt search_all(struct run *run);

#endif

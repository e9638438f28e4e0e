/*
 * gpu_time: for how long pods have had GPUs, summed in GPU-milliseconds.
 *
 * A pod counts from the moment at which the ledger shows it on a node until it ends, as many GPUs
 * as it requests; a share or a slice counts as one. Devices of resource claims do not count. The
 * sums begin with the ledger: what pods had before is not known, and would count again after each
 * start. A copy of the ledger goes on with its sums. All times are those of cluster_set_now().
 */
#ifndef LEDGER_GPU_TIME_H
#define LEDGER_GPU_TIME_H

#include "ledger/cluster.h"

/* Different sums that are kept. Further pods count in the sum without namespace and model of their
 * kind, of which there is one for each kind. A sum without GPUs for GPU_TIME_IDLE_MS makes room. */
#define GPU_TIME_MAX ((size_t)4096)
#define GPU_TIME_IDLE_MS ((int64_t)3600000)

struct gpu_time {
    const char *namespace_; /* "": others */
    const char *model;      /* as model_pool_name() of the pod's first GPU resource; "": unknown */
    const char *kind;       /* "guaranteed", "borrowed"; "unlimited": no quota counts the pod */
    int64_t gpu_ms;
};
/* Up to now_ms, in the order in which they began; the array and its strings are in the arena.
 * Returns their number: 0 before cluster_set_now(). */
size_t gpu_time_copy(const struct cluster *cluster, int64_t now_ms, struct arena *arena,
                     struct gpu_time **ret_times);

#endif

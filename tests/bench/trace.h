/*
 * trace: the public openb trace of GPU clusters (Alibaba, "Beware of Fragmentation", USENIX ATC
 * 2023) as facts: nodes, and the pods' requests. Whole GPUs only: a request for part of a GPU
 * counts as one.
 */
#ifndef BENCH_TRACE_H
#define BENCH_TRACE_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

struct trace_pod {
    int64_t milli_cores, memory_bytes, gpus;
    const char *models; /* "T4|P100"; "": any */
    double duration_s;  /* negative: unknown */
    struct shape_facts shape;
};

struct trace {
    struct node_facts *nodes;
    size_t n_nodes;
    int64_t n_gpus;
    struct trace_pod *pods;
    size_t n_pods;
};

/* Reads openb_node_list_gpu_node.csv and openb_pod_list_VARIANT.csv in the folder. Returns 0 or a
 * negative errno; the message names file and line. */
int trace_read(const char *folder, const char *variant, struct arena *arena,
               struct trace *ret_trace, struct err *err);

#endif

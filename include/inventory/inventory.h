/*
 * inventory: owns the ledger and its lock, and feeds it.
 *
 * Now from a file (kubectl get nodes,pods,namespaces,priorityclasses -A -o yaml, or json); the live
 * feed comes with the live cluster. Under the lock: core calls only; no I/O, no JSON, no logging.
 */
#ifndef INVENTORY_INVENTORY_H
#define INVENTORY_INVENTORY_H

#include "base/buf.h"
#include "base/err.h"
#include "core/cluster.h"

#include <stddef.h>
#include <stdint.h>

struct inventory;

struct inventory_limits {
    size_t max_file_bytes;
    size_t max_object_bytes;
    size_t max_nodes;
    size_t max_pods;
};

/* An object that was left out, and why. */
struct inventory_problem {
    const char *kind;
    const char *name; /* "namespace/name" or "name" */
    const char *what;
};

/* policy is borrowed. The inventory is empty and not ready. */
struct inventory *inventory_new(const struct policy *policy, const struct inventory_limits *limits);
void inventory_free(struct inventory *inventory);

/* Reads a whole cluster file into a second ledger and swaps it in: all or nothing. 0, or a negative
 * errno (the old ledger stays): the message names the file, line and column of the first fault.
 * Objects left out are logged and kept as problems. Not to be called by two threads at once. */
int inventory_load_file(struct inventory *inventory, const char *path, struct err *err);

/* NULL where it is ready, else what is waited for. */
const char *inventory_waiting_for(struct inventory *inventory);

/* What may be read together with the ledger, under the lock. */
struct inventory_view {
    const struct cluster *cluster;
    const struct inventory_problem *problems;
    size_t n_problems;     /* of the list, which has an end */
    size_t n_all_problems; /* all there were */
    int64_t as_of_s;       /* when the data was read, seconds since 1970 */
    const char *source;    /* "file:PATH" */
};

/* Locks for reading; every call needs its inventory_done(). Until then the thread must call nothing
 * else of this header but that. */
struct inventory_view inventory_read(struct inventory *inventory);
void inventory_done(struct inventory *inventory);

/* A copy to think on, without the lock; freed with inventory_fork_free() only. */
struct cluster *inventory_fork(struct inventory *inventory);
void inventory_fork_free(struct inventory *inventory, struct cluster *fork);

/* Gauges per node and model: Prometheus text. */
void inventory_metrics(struct inventory *inventory, struct buf *out);

#endif

/*
 * snapshot_copy: all of a ledger, copied under its lock to be written without it. Private to api.
 */
#ifndef API_SNAPSHOT_COPY_H
#define API_SNAPSHOT_COPY_H

#include "inventory/inventory.h"
#include "objects/identity.h"
#include "objects/snapshot.h"
#include "pod_copy.h"

struct snapshot_device_class {
    const char *name, *resource;
};

struct snapshot_reservation {
    const char *uid, *namespace_, *name, *node_name;
    const char *replica_of; /* as in pod_facts */
    struct shape_facts shape;
    int64_t made_ms; /* clock_ms() */
};

/* Each in the ledger's order. */
struct snapshot_copy {
    struct arena *arena;
    struct node_facts *nodes;
    size_t n_nodes;
    struct pod_copies pods;
    struct snapshot_reservation *reservations; /* the oldest first */
    size_t n_reservations;
    struct namespace_facts *namespaces;
    size_t n_namespaces;
    struct priority_class_facts *classes;
    size_t n_classes;
    struct snapshot_device_class *device_classes;
    size_t n_device_classes;
    struct snapshot_problem *problems;
    size_t n_problems, n_all_problems;
    struct snapshot_lines reckoned;
};

/* All in the arena, but for pods (pod_copies_fini()). */
struct snapshot_copy snapshot_copy(struct inventory *inventory, struct arena *arena);

#endif

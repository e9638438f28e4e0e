/*
 * inventory_holders: the pods that hold GPUs, or that room is kept for, in GET /v1/inventory.
 * Copied under the inventory's lock, written as JSON after it. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_HOLDERS_H
#define API_CLUSTER_INVENTORY_HOLDERS_H

#include "api/pod_gpus.h"
#include "ledger/reservation.h"

#include <jansson.h>

/* Facts of the pods of holders, however they hold GPUs. */
struct holder_traits {
    const char *controller; /* as in struct pod; NULL: none */
    int64_t priority;
    int64_t created_s; /* 0: unknown */
    bool terminating;
};

struct holder_traits holder_traits_copy(const struct pod *pod, struct arena *arena);
/* Adds priority, terminating, created and controller. */
void holder_traits_add_json(const struct holder_traits *traits, json_t *holder);

struct holder {
    const char *namespace_, *name, *uid;
    struct pod_gpus gpus;
    struct holder_traits traits; /* not of reservations */
    int64_t made_ms;             /* of a reservation */
    const char *node_name;       /* of a pod on a missing node */
};

struct holder_list {
    struct holder *items;
    size_t n;
};

/* Of a node: pods with GPUs on it, pods with GPUs that are nominated to it, and those that are
 * being bound to it. */
struct node_holders {
    struct holder_list pods, nominations, reservations;
};

struct node_holders node_holders_copy(const struct cluster *cluster, const struct node *node,
                                      struct arena *arena);
/* Pods with GPUs on nodes that do not exist. */
struct holder_list holders_copy_astray(const struct cluster *cluster, struct arena *arena);

/* Of pods on the node, without the devices that claims give them:
 * inventory_claims_add_holders(). */
json_t *holders_json(const struct holder_list *holders);
json_t *holders_json_nominations(const struct holder_list *holders);
json_t *holders_json_reservations(const struct holder_list *holders);
json_t *holders_json_astray(const struct holder_list *holders);

#endif

/*
 * inventory_problems: the list of problems in GET /v1/inventory: objects that were left out, and
 * devices that do not count or that nobody uses. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_PROBLEMS_H
#define API_CLUSTER_INVENTORY_PROBLEMS_H

#include "api/cluster/inventory_claims.h"
#include "api/cluster/inventory_devices.h"

/* Problems of devices in an answer; further ones are only counted. */
#define DEVICE_PROBLEMS_MAX ((size_t)1000)

struct problem_list {
    json_t *items;
    size_t n_all;
    size_t n_of_devices;
};

void problem_list_add(struct problem_list *list, const struct inventory_problem *problem);
/* If the node publishes GPUs twice. */
void problem_list_add_devices(struct problem_list *list, const char *node_name,
                              const struct driver_list *rows, struct arena *arena);
/* Unusable pools and unused claims. */
void problem_list_add_claims(struct problem_list *list, const struct claims_copy *claims);

#endif

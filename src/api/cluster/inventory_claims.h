/*
 * inventory_claims: the claims that hold GPUs of dynamic resource allocation, in GET /v1/inventory.
 * Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_CLAIMS_H
#define API_CLUSTER_INVENTORY_CLAIMS_H

#include "api/cluster/inventory_holders.h"
#include "dra/devices.h"
#include "inventory/inventory.h"
#include "types/selector.h"

#include <jansson.h>

/* Pools that are unusable on a node; further ones are only counted. */
#define UNUSABLE_POOLS_MAX ((size_t)1000)

struct claim_holder {
    const char *uid;
    const char *name;      /* of the pod; "": unknown */
    bool is_in_ledger;     /* else the rest is not known */
    const char *node_name; /* of the pod; "": none */
    struct holder_traits traits;
    struct claim_holder *next;
};

struct claim_copy {
    const char *namespace_, *name;
    const char *node_name; /* inventory_claims_node() */
    const char *labels;    /* as in claim_facts */
    bool is_unused, terminating;
    bool is_selected;               /* by its labels */
    struct claimed_device *devices; /* GPUs; without their parsed models */
    size_t n_devices;
    size_t n_held; /* without admin access */
    struct claim_holder *holders;
    size_t n_all_holders;
    struct claim_copy *next;
};

struct claims_copy {
    struct arena *arena;
    struct claim_copy *claims;
    size_t n_omitted, n_unused_omitted;
    size_t n_unlabelled;             /* not selected, as the ledger does not keep their labels */
    struct inventory_problem *pools; /* unusable ones */
    size_t n_pools, n_all_pools;
    bool has_more; /* of a page: claims follow it */
};

/* All that fit; the term selects among them. In the arena, by namespace and name. Takes the
 * inventory's lock several times, so that others need not wait for long: pods may be gone that
 * their claims still name. */
struct claims_copy inventory_claims_copy(struct inventory *inventory,
                                         const struct selector_term *labels, struct arena *arena);

struct claims_page {
    /* Under the inventory's lock. */
    bool (*admits)(const void *context, const struct device_claim *claim);
    const void *context;
    const char *after_namespace, *after_name; /* only later ones; "": all */
    size_t limit;                             /* > 0; a page of large claims has fewer */
};
/* The same of a page, without pools. */
struct claims_copy inventory_claims_page(struct inventory *inventory,
                                         const struct claims_page *page, struct arena *arena);

/* Of its first GPU with a node; "": none. */
const char *inventory_claims_node(const struct device_claim *claim);

json_t *inventory_claims_json_of(const struct claim_copy *claim);
/* A list of the selected claims. */
json_t *inventory_claims_json(const struct claims_copy *copy);
/* Appends {path, message} if claims were not selected because their labels are not kept. */
void inventory_claims_add_warning(const struct claims_copy *copy, json_t *warnings);
/* Whether the claim matches no selector, as the ledger does not keep its labels. */
bool inventory_claims_lack_labels(const struct selector_term *labels,
                                  const struct device_claim *claim);
/* Adds devices to the holders of the nodes, and pods that hold nothing else. */
void inventory_claims_add_holders(const struct claims_copy *copy, json_t *nodes);

#endif

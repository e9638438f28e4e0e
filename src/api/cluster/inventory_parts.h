/*
 * inventory_parts: the parts of GET /v1/inventory, as copies and as JSON. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_PARTS_H
#define API_CLUSTER_INVENTORY_PARTS_H

#include "api/pod_gpus.h"
#include "decide/fragmentation.h"
#include "decide/topology.h"
#include "dra/devices.h"
#include "inventory/inventory.h"
#include "ledger/pod_groups.h"
#include "ledger/reservation.h"
#include "types/gpu_model.h"
#include "types/selector.h"

#include <jansson.h>

/* ---- nodes of the inventory for other answers ---- */

struct nodes_page {
    /* Under the inventory's lock. */
    bool (*admits)(const void *context, const struct node *node);
    const void *context;
    const char *after_name; /* only later ones; "": all */
    size_t limit;           /* > 0 */
};
/* A page of the nodes with GPUs, by name, as in GET /v1/inventory, with their labels, and without
 * pods. */
json_t *inventory_json_of_nodes(struct inventory *inventory, const struct nodes_page *page,
                                struct arena *arena, bool *ret_has_more);

/* ---- the groups of pods of GET /v1/inventory ---- */

#define INVENTORY_GROUPS_MAX ((size_t)1000)

struct group_list {
    struct group_row {
        const char *key; /* "namespace/name" */
        struct pod_group group;
    } * items;
    size_t n, n_all; /* before the limit */
};

/* Those that have members; in the arena. Under the inventory's lock. */
struct group_list inventory_groups_copy(const struct cluster *cluster, struct arena *arena);
json_t *inventory_groups_json(const struct group_list *groups);

/* ---- inventory holders ---- */
/* The pods that hold GPUs, or that room is kept for, in GET /v1/inventory. Copied under the
 * inventory's lock, written as JSON after it. */

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

/* ---- the claims that hold GPUs of dynamic resource allocation, in GET /v1/inventory ---- */

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

/* ---- inventory devices ---- */
/* The GPUs of dynamic resource allocation in GET /v1/inventory, by driver and model. Copied
 * under the inventory's lock, written as JSON after it. */

/* The devices of one driver in one place. */
struct driver_devices {
    struct device_group group;
    struct free_gpus *of_free; /* by model: its free ones */
    bool is_shadowed;          /* see struct node_device_group */
};

struct driver_list {
    struct driver_devices *items;
    size_t n;
    bool in_use_known; /* cluster_knows() claims; else allocated, blocked and free are null */
    struct shared_devices shared;
    struct device_taint *taints;
    size_t n_taints;
};

/* Of the texts of consumed capacities of an answer. */
#define INVENTORY_CONSUMED_BYTES_MAX ((size_t)16 << 20)

/* Of a node; NULL: devices that several nodes may reach. room: what is left of
 * INVENTORY_CONSUMED_BYTES_MAX. */
struct driver_list inventory_devices_copy(const struct inventory_view *view,
                                          const struct node *node, struct arena *arena,
                                          size_t *room);
/* Of the devices that count as GPUs; 0 while it is unknown which are in use. */
int64_t inventory_devices_usable(const struct driver_list *rows);
/* Adds usable, stranded and closed. */
void inventory_devices_add_split(json_t *json, const struct free_gpus *split);
/* {"gpu.nvidia.com": {"total": 8, ..., "models": {"H100-80GB-HBM3": {"total": 8, ...}}}} */
json_t *inventory_devices_json(const struct driver_list *rows);

/* ["gpu.nvidia.com gpu-3: KEY=VALUE:EFFECT (DeviceTaintRule NAME)"], equal taints once; NULL: none.
 * Without the inventory's lock. */
json_t *inventory_devices_taints_json(const struct device_taint *taints, size_t n);

/* ---- inventory problems ---- */
/* The list of problems in GET /v1/inventory: objects that were left out, and devices that do not
 * count or that nobody uses. */

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

/* ---- inventory models ---- */
/* The rows of nodes of an inventory, and their totals by model and resource, and by domain of
 * the policy's topology.levels. */

struct node_row {
    const char *name;
    struct gpu_model gpu_model;
    const char *label_key, *label_value; /* of the model; "": none */
    char model[128];                     /* this and the next two: by finish_rows() */
    const char *model_label;             /* "KEY=VALUE" */
    const char *sharing;
    bool ready, unschedulable;
    const char *quarantine; /* node_mark_word(); NULL: none */
    const char *quarantine_because;
    size_t n_shape_traps;
    const char *conditions; /* as in node_facts */
    const char **taints;    /* "KEY=VALUE:EFFECT" */
    size_t n_taints;
    size_t worth;         /* gpu_worth() of its first GPUs */
    struct label *labels; /* only without pods */
    size_t n_labels;
    struct resource_row {
        const char *name;
        bool is_gpu;
        struct gpu_model gpu_model;       /* of GPUs */
        const char *model_text, *sharing; /* by finish_rows() */
        const char *pool, *unit;          /* of GPUs: struct model_pool, gpu_unit_word() */
        int64_t capacity, allocatable, used, reserved, free;
        struct free_gpus of_free; /* of GPUs */
    } * resources;
    size_t n_resources;
    struct driver_list devices;
    struct node_holders holders;
    const char *label; /* the value of ?label=; NULL: it has none, or none is asked for */
};

/* Capacity that a sick GPU or a dead device plugin took away. */
int64_t resource_row_lost(const struct resource_row *row);
/* The totals in the order of worth (types/gpu_model.h). */
json_t *inventory_models_json(const struct node_row *nodes, size_t n, struct arena *arena);

struct domain_list {
    struct domain_row {
        const char *level, *within, *name; /* within: the names of outer ones, "a/b" */
        size_t at;                         /* of the level */
        struct topology_row has;
    } * items;
    size_t n;
};
/* Those with nodes in rows: by level, the outermost first; those with most free GPUs first. In the
 * arena. Under the inventory's lock. */
struct domain_list inventory_domains_copy(const struct cluster *cluster,
                                          const struct topology_row *rows, struct arena *arena);
json_t *inventory_domains_json(const struct domain_list *list);
/* Of all nodes of the fork. NULL: the policy has no levels. */
json_t *inventory_domains_of(const struct cluster *fork, struct arena *arena);

#endif

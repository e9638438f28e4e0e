/*
 * inventory_models: the rows of nodes of an inventory, and their totals by model and resource, and
 * by domain of the policy's topology.levels. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_MODELS_H
#define API_CLUSTER_INVENTORY_MODELS_H

#include "api/cluster/inventory_devices.h"
#include "api/cluster/inventory_holders.h"
#include "decide/topology.h"
#include "types/gpu_model.h"

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
/* The totals in the order of worth (types/gpu_worth.h). */
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

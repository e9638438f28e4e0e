/*
 * inventory_devices: the GPUs of dynamic resource allocation in GET /v1/inventory, by driver and
 * model. Copied under the inventory's lock, written as JSON after it. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_DEVICES_H
#define API_CLUSTER_INVENTORY_DEVICES_H

#include "decide/free_gpus.h"
#include "dra/devices.h"
#include "inventory/inventory.h"

#include <jansson.h>

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

#endif

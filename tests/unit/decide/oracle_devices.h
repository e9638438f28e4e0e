/*
 * oracle_devices: a simple model of slices, claims and device classes of dynamic resource
 * allocation. A node has at most one slice of each driver; every number is computed from these
 * objects on each call.
 */
#ifndef DECIDE_ORACLE_DEVICES_H
#define DECIDE_ORACLE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle;

/* In the order of their names. */
enum oracle_driver { AMD_DRIVER, NVIDIA_DRIVER, N_ORACLE_DRIVERS };
#define ORACLE_DEVICES 4
#define ORACLE_DEVICE_MODELS 3 /* with that of devices of no model, which is 0 */
#define ORACLE_CLAIMS 12
#define ORACLE_RESULTS 3
#define ORACLE_CLASSES 3

/* Every member has eight bytes, as in oracle.h. */
struct oracle_slice {
    int64_t there;
    int64_t unreadable; /* as last seen */
    int64_t n_devices;
    int64_t models[ORACLE_DEVICES];
    int64_t tainted[ORACLE_DEVICES];
};

struct oracle_claimed_device {
    int64_t node, driver, device;
    int64_t is_admin;
};

struct oracle_claim {
    int64_t there;
    int64_t n_results;
    int64_t pod;    /* 1 + the pod for whose extended resources it says that it is; 0: none */
    int64_t holder; /* 1 + a pod that it is reserved for; 0: none */
    struct oracle_claimed_device results[ORACLE_RESULTS];
};

struct oracle_class {
    int64_t there;
    int64_t resource; /* 1 + the enum oracle_resource that it maps; 0: none */
    int64_t driver;   /* by its selectors; as in oracle_templates.h */
};

/* The GPUs that a pool counts, or several pools. */
struct oracle_supply {
    int64_t n_offers; /* resources of nodes, and groups of devices */
    int64_t free;
};

/* The devices of one driver and model on a node. */
struct oracle_group {
    int64_t total, allocated, free;
    int64_t is_shadowed;
};

extern const char *const ORACLE_DRIVER_NAMES[N_ORACLE_DRIVERS];
/* By driver: the enum oracle_resource that its devices stand for. */
extern const size_t ORACLE_DRIVER_RESOURCES[N_ORACLE_DRIVERS];
extern const char *const ORACLE_DEVICE_MODEL_NAMES[ORACLE_DEVICE_MODELS]; /* canonical, sorted */

void oracle_put_slice(struct oracle *oracle, size_t node, size_t driver,
                      const struct oracle_slice *slice);
void oracle_remove_slice(struct oracle *oracle, size_t node, size_t driver);
void oracle_keep_slice(struct oracle *oracle, size_t node, size_t driver);
void oracle_put_claim(struct oracle *oracle, size_t i, const struct oracle_claim *claim);
void oracle_remove_claim(struct oracle *oracle, size_t i);
void oracle_keep_claim(struct oracle *oracle, size_t i);
void oracle_put_class(struct oracle *oracle, size_t i, const struct oracle_class *class);
void oracle_remove_class(struct oracle *oracle, size_t i);
void oracle_begin_classes(struct oracle *oracle);
void oracle_end_classes(struct oracle *oracle);
void oracle_begin_slices(struct oracle *oracle);
void oracle_end_slices(struct oracle *oracle);
void oracle_begin_claims(struct oracle *oracle);
void oracle_end_claims(struct oracle *oracle);

/* The claim uses a GPU, no pod's status names it, and the pod that it is reserved for has neither a
 * node nor a reservation. */
bool oracle_floats(const struct oracle *oracle, size_t i);
/* total 0: no such group. */
struct oracle_group oracle_group(const struct oracle *oracle, size_t node, size_t driver,
                                 size_t model);
/* Whether pods that request the resource get it through claims on the node. */
bool oracle_gives_by_claim(const struct oracle *oracle, size_t node, size_t resource);
/* What the devices of the model (ORACLE_DEVICE_MODELS: of all) offer under the resource. */
struct oracle_supply oracle_supply_of_devices(const struct oracle *oracle, size_t resource,
                                              size_t model);
/* Whether the node's label is of the GPUs that a pod gets by the resource: all labels name models
 * of NVIDIA. */
bool oracle_label_is_of(const struct oracle *oracle, size_t node, size_t resource);
/* The model of all such devices on the node; 0: several, none or unknown. */
size_t oracle_model_of_devices(const struct oracle *oracle, size_t node, size_t resource);
/* Whether an existing node has a device that stands for the resource. */
bool oracle_has_devices(const struct oracle *oracle, size_t resource);

#endif

/*
 * device_view: the devices of the cluster as selectors see them, copied from the ledger, with those
 * of a manifest: devices that agree in what the selectors read are one. Private to api.
 */
#ifndef API_DRY_RUN_DEVICE_VIEW_H
#define API_DRY_RUN_DEVICE_VIEW_H

#include "cel/cel.h"
#include "inventory/inventory.h"
#include "types/device_facts.h"

struct seen_device {
    struct cel_device device;
    size_t n; /* so many devices */
    bool lacks_attributes;
};

/* An attribute or a capacity that some device has. */
struct published_name {
    const char *domain, *name;
    bool is_capacity;
    size_t n; /* on so many devices */
};

struct device_view {
    struct seen_device *devices;
    size_t n, size;
    size_t n_all; /* devices */
    struct published_name *names;
    size_t n_names, names_size;
    bool is_hidden; /* hints name nothing of the devices that the selector does not */
};

/* given: slices that hide the ledger's of their names, and of older generations of their pools. All
 * in the arena. Holds the ledger's lock for reading in steps of about a millisecond; a slice
 * that changes meanwhile counts as before or after. */
void device_view_read(struct inventory *inventory, const struct given_devices *given,
                      const struct cel_read *reads, size_t n_reads, struct arena *arena,
                      struct device_view *ret_view);

#endif

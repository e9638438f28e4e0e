/*
 * device_details: what the ledger keeps of a device or a slice without counting it, as one text:
 * taints, the nodes that reach it, policies of capacities, binding conditions. Equal details are
 * equal texts, so devices share them; without any, the text is NULL. Source: Kubernetes API
 * resource.k8s.io/v1, v1beta2 and v1beta1.
 */
#ifndef OBJECTS_DEVICE_DETAILS_H
#define OBJECTS_DEVICE_DETAILS_H

#include "allocate/allocate.h"
#include "base/arena.h"
#include "types/facts.h"

#include <jansson.h>

/* A capacity that has a policy, or whose name is written with the driver's domain. */
struct device_policy {
    const char *name;                     /* as the device has it */
    const struct allocate_policy *policy; /* NULL: none */
};

struct device_details {
    const struct allocate_taint *taints; /* NoSchedule and NoExecute */
    size_t n_taints;
    const struct node_selector *nodes; /* NULL: none */
    const struct device_policy *policies;
    size_t n_policies;
    const char *binding_conditions; /* "ready, attached"; NULL: none */
    const char *not_judged;         /* why it cannot be judged; NULL: it can */
    bool binds_to_node;
};

/* Parts of the details that are not members of the object. */
struct device_details_source {
    bool has_selector; /* its nodeSelector counts, and selects more than one node by its name */
    bool is_rounded;   /* its counters are no whole numbers */
};
/* Reads them from a device's content, or from a slice's spec. In the arena; NULL: none. */
const char *device_details_text(const json_t *content, const char *driver,
                                const struct device_details_source *source, struct arena *arena);
const char *slice_details_text(const json_t *spec, const struct device_details_source *source,
                               struct arena *arena);

/* The consumedCapacity of a result as a text as above. NULL: it has none. */
const char *consumed_capacity_text(const json_t *result, struct arena *arena);
/* Adds what the text says to the consumed amounts. */
void consumed_capacity_add(const char *text, struct allocate_capacity *capacities, size_t n);
/* Adds the member to a result. */
void consumed_capacity_write(const char *text, json_t *result);

/* In the arena. */
struct device_details device_details_read(const char *text, struct arena *arena);
/* Adds them to the object, a device or a spec, of which `capacity` are the capacities by their
 * names with domains. Takes over `capacity`; it may be NULL. */
void device_details_write(const char *text, const char *driver, json_t *object, json_t *capacity);

#endif

/*
 * device_details: what the ledger keeps of a device or a slice without counting it, as one text:
 * taints, the nodes that reach it, policies of capacities, binding conditions. Equal details are
 * equal texts, so devices share them; without any, the text is NULL. Source: Kubernetes API
 * resource.k8s.io/v1, v1beta2 and v1beta1.
 */
#ifndef OBJECTS_DEVICE_DETAILS_H
#define OBJECTS_DEVICE_DETAILS_H

#include "base/arena.h"
#include "dra/device_copy.h"
#include "types/facts.h"

#include <jansson.h>

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

/* For device_copy_new(). */
extern const struct device_details_reader DEVICE_DETAILS_READER;
/* Adds them to the object, a device or a spec, of which `capacity` are the capacities by their
 * names with domains. Takes over `capacity`; it may be NULL. */
void device_details_write(const char *text, const char *driver, json_t *object, json_t *capacity);

#endif

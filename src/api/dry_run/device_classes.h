/*
 * device_classes: the DeviceClasses that the requests of a manifest name. Those of the manifest
 * count as they would be; the others are the cluster's. Private to api.
 */
#ifndef API_DRY_RUN_DEVICE_CLASSES_H
#define API_DRY_RUN_DEVICE_CLASSES_H

#include "inventory/inventory.h"
#include "objects/device_requests.h"

/* A copy of the list, with the cluster's classes after it that it names and does not have: none if
 * it lacks classes. All in the arena. Takes the ledger's lock for reading. */
struct device_request_list device_classes_join(struct inventory *inventory,
                                               const struct device_request_list *requests,
                                               struct arena *arena);
/* The place of the request's class in such a list; n: it has none. */
size_t device_classes_find(const struct device_request_list *list,
                           const struct device_request *request);

#endif

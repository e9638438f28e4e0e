/*
 * pod_devices: the GPUs that claims give a pod, by driver. Under the inventory's lock. Private to
 * api.
 */
#ifndef API_PODS_POD_DEVICES_H
#define API_PODS_POD_DEVICES_H

#include "api/pod_gpus.h"

/* Its claims are allocated to it, and have a GPU without admin access. */
bool pod_devices_has_any(const struct cluster *cluster, const struct pod *pod);
struct pod_gpus pod_devices_copy(const struct cluster *cluster, const struct pod *pod,
                                 struct arena *arena);

#endif

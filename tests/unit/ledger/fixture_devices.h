/*
 * fixture_devices: slices and claims of dynamic resource allocation, written as short texts.
 *
 * The slice of a node and a driver is the only one of its pool, which is named like the node. Its
 * devices are gpu-0, gpu-1 ...
 */
#ifndef LEDGER_FIXTURE_DEVICES_H
#define LEDGER_FIXTURE_DEVICES_H

#include "fixture.h"
#include "types/device_facts.h"

#define NVIDIA_DRIVER "gpu.nvidia.com"
#define AMD_DRIVER "gpu.amd.com"

/* models: of the devices, separated by commas; "H100, H100!": the second is tainted; "?": of no
 * model. Then the ledger checks itself, as after each of these events. */
void fixture_put_slice(struct fixture *fixture, const char *node, const char *driver,
                       const char *models);
/* The nodes l4, h100 and both, with 8 L4, 4 H100, and 3 H100 and a L4; and a class of the driver.
 */
void fixture_put_l4_and_h100(struct fixture *fixture);
void fixture_remove_slice(struct fixture *fixture, const char *node, const char *driver);
/* A claim in the namespace "default" that has these devices of the node ("gpu-0, gpu-1*": the
 * second by admin access); none: it is not allocated. */
void fixture_put_claim(struct fixture *fixture, const char *name, const char *node,
                       const char *driver, const char *devices);
/* The same, for the extended resources of the pod with that UID, as its metadata say. */
void fixture_put_claim_of(struct fixture *fixture, const char *name, const char *node,
                          const char *driver, const char *devices, const char *uid);
void fixture_remove_claim(struct fixture *fixture, const char *name);

/* "gpu.nvidia.com H100 8: 2 allocated, 6 free", one per group, separated by "; "; "shadowed" at the
 * end of one that is. */
const char *fixture_groups(struct fixture *fixture, const struct node *node);

/* A claim that wants n devices of the class, and has none. */
void fixture_put_unallocated_claim(struct fixture *fixture, const char *name, int64_t n_devices,
                                   const char *class_name);

#endif

/*
 * gpu_vendor: who makes a GPU model, by the domain of the vendor's resources and labels.
 */
#ifndef TYPES_GPU_VENDOR_H
#define TYPES_GPU_VENDOR_H

#include <stdbool.h>

/* "nvidia.com" of "nvidia-l4" and "A100"; "": unknown. */
const char *gpu_vendor_of_model(const char *name);
/* Whether a resource's domain is the vendor's: "intel.com" has "gpu.intel.com". "" has none. */
bool gpu_vendor_has(const char *vendor, const char *domain);

#endif

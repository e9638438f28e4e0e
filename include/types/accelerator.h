/*
 * accelerator: resource names of accelerators that are known, whether the policy counts them as
 * GPUs or not. Extended resources have no type, so only a list tells an accelerator from a network
 * function. docs/MODELS.md has the sources.
 */
#ifndef TYPES_ACCELERATOR_H
#define TYPES_ACCELERATOR_H

#include "types/policy.h"

/* Whether the resource counts accelerators, or shares or slices of them, and the policy does not
 * list it. Names that nobody knows, and amounts of memory or percentages, are none. */
bool accelerator_is_unlisted(const struct policy *policy, const char *resource);

#endif

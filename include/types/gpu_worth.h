/*
 * gpu_worth: the order in which people see GPU models: the most wanted first. Memory or speed alone
 * would put an L4 before an A100, so it is a list.
 */
#ifndef TYPES_GPU_WORTH_H
#define TYPES_GPU_WORTH_H

#include <stddef.h>

/* The place of a model by its name, with a suffix about sharing or without; shares and slices come
 * right after whole GPUs. 0: not in the list, as it is most likely newer. GPU_WORTH_NONE: "" or no
 * model. */
size_t gpu_worth(const char *model);
#define GPU_WORTH_NONE ((size_t)-1)

#endif

/*
 * visible_gpus: finds containers that ask the NVIDIA container runtime for GPUs by a variable,
 * which nothing counts.
 */
#ifndef OBJECTS_VISIBLE_GPUS_H
#define OBJECTS_VISIBLE_GPUS_H

#include "template_walk.h"
#include "warned.h"

/* Appends warnings about a pod, or about a pod template (path: where it is; "" for a pod). */
void visible_gpus_find(const struct warned *object, const struct pod_template *template);

#endif

/*
 * podless: which kinds make no pods. Of the others without a pod template nobody knows.
 */
#ifndef OBJECTS_TEMPLATES_PODLESS_H
#define OBJECTS_TEMPLATES_PODLESS_H

#include <stdbool.h>

/* Whether objects of the kind make no pods that ask for GPUs, and may name GPUs all the same:
 * quotas, classes, rules of admission. */
bool podless_is(const char *kind, const char *api_version);
/* Whether it is neither such a kind nor one of Kubernetes' own. Without an apiVersion: no. */
bool podless_is_unknown(const char *kind, const char *api_version);
/* Whether controllers make pods with GPUs for such an object although it need not say so: they know
 * the pods from another object, or from a preset. */
bool podless_makes_gpu_pods(const char *kind, const char *api_version);

#endif

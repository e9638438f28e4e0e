/*
 * resource_version: which of two resourceVersions is the later, where that can be known.
 *
 * They are text. Decimal numbers without leading zeros compare as numbers of any length; of others
 * it is only known whether they are the same (Kubernetes API concepts, resource versions).
 */
#ifndef KUBE_WATCH_RESOURCE_VERSION_H
#define KUBE_WATCH_RESOURCE_VERSION_H

#include <stdbool.h>

/* Both are decimal numbers, and a is smaller than b. */
bool resource_version_less(const char *a, const char *b);
/* It is the other, or surely later. */
bool resource_version_is_at_least(const char *version, const char *other);

#endif

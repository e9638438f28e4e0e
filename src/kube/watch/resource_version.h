/*
 * resource_version: compares resourceVersions, as far as they can be compared.
 *
 * Decimal numbers without leading zeros compare as numbers of any length. Other texts are only
 * equal or different (Kubernetes API concepts, resource versions).
 */
#ifndef KUBE_WATCH_RESOURCE_VERSION_H
#define KUBE_WATCH_RESOURCE_VERSION_H

#include <stdbool.h>

/* Both are decimal numbers, and a < b. */
bool resource_version_less(const char *a, const char *b);
/* They are equal, or version is certainly later. */
bool resource_version_is_at_least(const char *version, const char *other);

#endif

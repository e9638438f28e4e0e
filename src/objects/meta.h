/*
 * meta: names and times in an object's metadata.
 */
#ifndef OBJECTS_META_H
#define OBJECTS_META_H

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

/* Longest name in Kubernetes. */
#define META_NAME_BYTES_MAX 253

/* In a snapshot: what stood here is not kept. A domain of ours, so that nobody else uses it. */
#define META_LEFT_OUT "gpu-extender.io/left-out"

/* Copies a name into the arena; unchanged if absent or empty. -EINVAL: no string, or longer than
 * META_NAME_BYTES_MAX. */
int meta_name(const json_t *object, const char *member, struct arena *arena, const char **ret_name,
              struct err *err);

/* RFC 3339 ("2026-03-02T08:14:55Z") to seconds since 1970; 0 if invalid. */
int64_t meta_time_s(const char *text);

#endif

/*
 * meta: what this program reads of an object's metadata: names and times.
 */
#ifndef OBJECTS_META_H
#define OBJECTS_META_H

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

/* The longest name Kubernetes allows. */
#define META_NAME_BYTES_MAX 253

/* A member that is a name, copied into the arena; unchanged where it is missing or empty. -EINVAL:
 * no text, or longer than META_NAME_BYTES_MAX. */
int meta_name(const json_t *object, const char *member, struct arena *arena, const char **ret_name,
              struct err *err);

/* RFC 3339 ("2026-03-02T08:14:55Z") in seconds since 1970; 0 where the text is no such time. */
int64_t meta_time_s(const char *text);

#endif

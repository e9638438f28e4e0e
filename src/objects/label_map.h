/*
 * label_map: a JSON object of strings (labels, spec.nodeSelector) as labels.
 */
#ifndef OBJECTS_LABEL_MAP_H
#define OBJECTS_LABEL_MAP_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>

struct label_map {
    struct label *labels; /* sorted by key */
    size_t n;
};

/* Reads the member, empty if absent; a null value is "". All in the arena. -EINVAL: no object, or a
 * value is no string (`labels["zone"]: is a whole number, ...`). */
int label_map_read(const json_t *object, const char *member, struct arena *arena,
                   struct label_map *ret_map, struct err *err);

#endif

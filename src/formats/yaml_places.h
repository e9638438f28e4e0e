/* yaml_places: records positions of keys and values, for reading by yaml_json.h. */
#ifndef FORMATS_YAML_PLACES_H
#define FORMATS_YAML_PLACES_H

#include "formats/yaml_json.h"

struct yaml_places *yaml_places_new(void) __attribute__((returns_nonnull));

/* name: the container's key, or an index in decimal. A second call replaces the first. */
void yaml_places_add(struct yaml_places *places, const json_t *container, const char *name,
                     struct text_position key, struct text_position value);

/* Copies the positions of from's key to to's (a merge). */
void yaml_places_copy(struct yaml_places *places, const json_t *from, const json_t *to,
                      const char *key);

#endif

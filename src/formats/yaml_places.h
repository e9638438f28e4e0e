/* yaml_places: where keys and values stand; the writing half of what yaml_json.h offers. */
#ifndef FORMATS_YAML_PLACES_H
#define FORMATS_YAML_PLACES_H

#include "formats/yaml_json.h"

struct yaml_places *yaml_places_new(void) __attribute__((returns_nonnull));

/* container's key, or index in decimal; a second call for the same replaces the first. */
void yaml_places_add(struct yaml_places *places, const json_t *container, const char *name,
                     struct text_position key, struct text_position value);

/* What is known of from's key holds for to's as well (a merge). */
void yaml_places_copy(struct yaml_places *places, const json_t *from, const json_t *to,
                      const char *key);

#endif

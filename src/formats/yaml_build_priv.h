/*
 * yaml_build_priv: what yaml_build.c (any node, sequences, documents) and yaml_mapping.c (mappings,
 * merges, the list of items) know of each other.
 */
#ifndef FORMATS_YAML_BUILD_PRIV_H
#define FORMATS_YAML_BUILD_PRIV_H

#include "drop_paths.h"
#include "yaml_build.h"

struct yaml_build {
    struct yaml_source *source;
    const struct yaml_options *options;
    const struct json_stream_handler *handler;
    struct yaml_places *places;
    struct yaml_anchors *anchors;
    struct yaml_keys *keys; /* of all open mappings, the innermost last */
    size_t n_nodes;         /* of the object that is being read */
    size_t n_alias_nodes;
    size_t depth;
    size_t deepest; /* that was reached in the anchored value that is being built */
};

#define YAML_BUILD_NOWHERE ((struct drop_place){.first = NULL})

/* value; aborts where it is NULL: out of memory. */
json_t *yaml_build_must(json_t *value) __attribute__((returns_nonnull));
/* The value that the event begins. place: what is dropped inside. */
int yaml_build_node(struct yaml_build *build, const struct yaml_source_event *event,
                    struct drop_place place, json_t **ret_value, struct err *err);
/* The same without a value. What is anchored is built all the same: an alias may want it. */
int yaml_build_skip(struct yaml_build *build, const struct yaml_source_event *event,
                    struct err *err);
/* One level deeper; the caller takes one off build->depth at the end. */
int yaml_build_enter(struct yaml_build *build, const struct yaml_source_event *event,
                     struct err *err);
int yaml_build_hand_over_list(const struct yaml_build *build, json_t *so_far,
                              struct text_position at, struct err *err);
int yaml_build_hand_over(const struct yaml_build *build, json_t *item, struct text_position at,
                         struct err *err);

/* The mapping that was just entered, to its end. */
int yaml_mapping_read(struct yaml_build *build, struct drop_place place, json_t **ret_value,
                      struct err *err);

#endif

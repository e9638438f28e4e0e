/*
 * yaml_build_priv: shared by yaml_build.c (nodes, sequences, documents) and yaml_mapping.c
 * (mappings, merges, the list of items).
 */
#ifndef FORMATS_YAML_BUILD_PRIV_H
#define FORMATS_YAML_BUILD_PRIV_H

#include "drop_paths.h"
#include "json_cost.h"
#include "yaml_build.h"

struct yaml_build {
    struct yaml_source *source;
    const struct yaml_options *options;
    const struct json_stream_handler *handler;
    struct yaml_places *places;
    struct yaml_anchors *anchors;
    struct yaml_keys *keys; /* of all open mappings, innermost last */
    size_t n_values;        /* of the current object */
    bool is_item;           /* the current object is one of the list of items */
    bool is_over;           /* its rest is passed over: it has more than max_values */
    size_t n_bytes;         /* of the texts of all keys and values so far */
    struct json_cost cost;  /* of all values and keys so far, with n_bytes */
    size_t n_alias_values;
    size_t n_alias_bytes;
    size_t depth;
    size_t deepest; /* depth reached in the current anchored value */
};

#define YAML_BUILD_NOWHERE ((struct drop_place){.first = NULL})

/* Returns value; aborts if it is NULL (out of memory). */
json_t *yaml_build_must(json_t *value) __attribute__((returns_nonnull));
/* Counts values and bytes of memory. at: for the message. */
int yaml_build_count(struct yaml_build *build, size_t n_values, size_t n_bytes,
                     struct text_position at, struct err *err);
/* Builds the value that the event starts. place: selects the members to drop. */
int yaml_build_node(struct yaml_build *build, const struct yaml_source_event *event,
                    struct drop_place place, json_t **ret_value, struct err *err);
/* Reads a value without returning it. An anchored value is still built, because an alias may
 * follow, unless the object is over its limit. */
int yaml_build_skip(struct yaml_build *build, const struct yaml_source_event *event,
                    struct err *err);
/* Enters one level; the caller decrements build->depth at its end. */
int yaml_build_enter(struct yaml_build *build, const struct yaml_source_event *event,
                     struct err *err);
int yaml_build_hand_over_list(const struct yaml_build *build, json_t *so_far,
                              struct text_position at, struct err *err);

/* Reads a mapping to its end, after yaml_build_enter(). */
int yaml_mapping_read(struct yaml_build *build, struct drop_place place, json_t **ret_value,
                      struct err *err);

#endif

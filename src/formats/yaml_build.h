/*
 * yaml_build: builds JSON values from YAML events: tags, merges, anchors, aliases, limits.
 *
 * Aliases share the anchor's value, and their expanded size counts. The handler gets the members of
 * a document's "items" one at a time. yaml_json.c separates documents.
 */
#ifndef FORMATS_YAML_BUILD_H
#define FORMATS_YAML_BUILD_H

#include "drop_paths.h"
#include "formats/json_stream.h"
#include "formats/yaml_json.h"
#include "json_cost.h"
#include "yaml_source.h"

#include <jansson.h>

/* The anchored values of a document, and their size with aliases expanded.
 *
 * Values are shared, never copied, and live until the next document. */

/* The value of an alias. */
struct anchor_target {
    json_t *value;   /* borrowed */
    size_t n_values; /* with aliases expanded */
    size_t n_bytes;  /* of their texts, the same */
    size_t height;   /* nesting depth of lists and mappings */
};

struct anchor;
struct yaml_anchors;

/* Starts an anchor at `at`, whose value is incomplete. Until close, an alias to it is an error with
 * the text why_not (borrowed). It replaces an anchor of the same name. -EMSGSIZE: too many in one
 * text. */
int yaml_anchors_open(struct yaml_anchors *anchors, const char *name, const char *why_not,
                      struct text_position at, struct anchor **ret_anchor, struct err *err);
/* Keeps a value as long as the anchors; takes over the reference. */
void yaml_anchors_keep(struct yaml_anchors *anchors, json_t *value);

/* A stack of the open mappings' keys, with their positions. */
struct seen_key {
    char *text;
    struct text_position at;
};

struct yaml_keys;

struct yaml_keys *yaml_keys_new(void) __attribute__((returns_nonnull));
void yaml_keys_free(struct yaml_keys *keys);

void yaml_keys_truncate(struct yaml_keys *keys, size_t count);

/* The JSON value of a scalar by its tag (!!str, !!int, !!bool, !!null, !!float), or without one by
 * the rules of plain scalars. Other tags are errors. *ret_value is the caller's. -EINVAL: the tag
 * is unknown, or contradicts the text, which may also be .inf or .nan. */
int yaml_tags_scalar(const struct yaml_source_event *event, json_t **ret_value, struct err *err);
/* -EINVAL: a sequence or mapping has a tag other than its own. */
int yaml_tags_check(const struct yaml_source_event *event, struct err *err);

/* name: the container's key, or an index in decimal. A second call replaces the first. */
void yaml_places_add(struct yaml_places *places, const json_t *container, const char *name,
                     struct text_position key, struct text_position value);

/* Copies the positions of from's key to to's (a merge). */
void yaml_places_copy(struct yaml_places *places, const json_t *from, const json_t *to,
                      const char *key);

/* yaml_build.c has nodes, sequences and documents; yaml_mapping.c has mappings, merges and the list
 * of items. */
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

/* Borrows all arguments. handler and places may be NULL: items are not streamed, places not
 * recorded. */
struct yaml_build *yaml_build_new(struct yaml_source *source, const struct yaml_options *options,
                                  const struct json_stream_handler *handler,
                                  struct yaml_places *places) __attribute__((returns_nonnull));
void yaml_build_free(struct yaml_build *build);

/* Reads a document to its SOURCE_DOCUMENT_END; its SOURCE_DOCUMENT_BEGIN was read before. *ret_root
 * is the caller's; it lacks "items" that the handler got. */
int yaml_build_document(struct yaml_build *build, json_t **ret_root, struct text_position *ret_at,
                        struct err *err);
/* Hands over the object that was read last, to the handler of items or of envelopes, or as a large
 * one. */
int yaml_build_hand_over(struct yaml_build *build, json_t *object, struct text_position at,
                         struct err *err);

#endif

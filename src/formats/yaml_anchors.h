/*
 * yaml_anchors: the anchored values of a document, and their size with aliases expanded.
 *
 * Values are shared, never copied, and live until the next document.
 */
#ifndef FORMATS_YAML_ANCHORS_H
#define FORMATS_YAML_ANCHORS_H

#include "formats/yaml_json.h"

/* The value of an alias. */
struct anchor_target {
    json_t *value;   /* borrowed */
    size_t n_values; /* with aliases expanded */
    size_t n_bytes;  /* of their texts, the same */
    size_t height;   /* nesting depth of lists and mappings */
};

struct anchor;
struct yaml_anchors;

struct yaml_anchors *yaml_anchors_new(void) __attribute__((returns_nonnull));
void yaml_anchors_free(struct yaml_anchors *anchors);
/* Forgets all anchors; call at the start of a document. */
void yaml_anchors_clear(struct yaml_anchors *anchors);

/* Starts an anchor at `at`, whose value is incomplete. Until close, an alias to it is an error with
 * the text why_not (borrowed). It replaces an anchor of the same name. -EMSGSIZE: too many in one
 * text. */
int yaml_anchors_open(struct yaml_anchors *anchors, const char *name, const char *why_not,
                      struct text_position at, struct anchor **ret_anchor, struct err *err);
void yaml_anchors_close(struct yaml_anchors *anchors, struct anchor *anchor,
                        struct anchor_target target);
/* Keeps a value as long as the anchors; takes over the reference. */
void yaml_anchors_keep(struct yaml_anchors *anchors, json_t *value);

/* -EINVAL, with `at` in the message: the anchor is unknown, or not allowed here. */
int yaml_anchors_find(const struct yaml_anchors *anchors, const char *name, struct text_position at,
                      struct anchor_target *ret_target, struct err *err);

#endif

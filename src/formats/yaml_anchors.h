/*
 * yaml_anchors: the anchored values of one document, and what an alias to each would expand to.
 *
 * Values are shared, never copied, and stay alive until the next document.
 */
#ifndef FORMATS_YAML_ANCHORS_H
#define FORMATS_YAML_ANCHORS_H

#include "formats/yaml_json.h"

/* What an alias stands for. */
struct anchor_target {
    json_t *value;  /* borrowed */
    size_t n_nodes; /* keys and values in it, aliases expanded */
    size_t height;  /* levels of lists and mappings */
};

struct anchor;
struct yaml_anchors;

struct yaml_anchors *yaml_anchors_new(void) __attribute__((returns_nonnull));
void yaml_anchors_free(struct yaml_anchors *anchors);
/* Another document begins: no anchor is known. */
void yaml_anchors_clear(struct yaml_anchors *anchors);

/* The name is met at `at`, its value is not complete: an alias to it is refused with the words
 * why_not (borrowed). A later anchor of the same name takes its place. -EMSGSIZE: too many in one
 * text. */
int yaml_anchors_open(struct yaml_anchors *anchors, const char *name, const char *why_not,
                      struct text_position at, struct anchor **ret_anchor, struct err *err);
void yaml_anchors_close(struct yaml_anchors *anchors, struct anchor *anchor,
                        struct anchor_target target);
/* A value lives as long as the anchors do; the reference is taken over. */
void yaml_anchors_keep(struct yaml_anchors *anchors, json_t *value);

/* -EINVAL, with `at` in the message: there is no such anchor, or it may not be used here. */
int yaml_anchors_find(const struct yaml_anchors *anchors, const char *name, struct text_position at,
                      struct anchor_target *ret_target, struct err *err);

#endif

/*
 * yaml_tags: the JSON value of a scalar by its tag (!!str, !!int, !!bool, !!null, !!float), or by
 * yaml_scalar's rules where it has none. All other tags are refused.
 */
#ifndef FORMATS_YAML_TAGS_H
#define FORMATS_YAML_TAGS_H

#include "yaml_source.h"

#include <jansson.h>

/* *ret_value is the caller's. -EINVAL: the tag is unknown, or does not fit the text. */
int yaml_tags_scalar(const struct yaml_source_event *event, json_t **ret_value, struct err *err);
/* Of a sequence or a mapping: it has no tag, or its own one. */
int yaml_tags_check(const struct yaml_source_event *event, struct err *err);

#endif

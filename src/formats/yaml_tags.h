/*
 * yaml_tags: the JSON value of a scalar by its tag (!!str, !!int, !!bool, !!null, !!float), or
 * without one by yaml_scalar's rules. Other tags are errors.
 */
#ifndef FORMATS_YAML_TAGS_H
#define FORMATS_YAML_TAGS_H

#include "yaml_source.h"

#include <jansson.h>

/* *ret_value is the caller's. -EINVAL: the tag is unknown, or contradicts the text, which
 * may also be .inf or .nan. */
int yaml_tags_scalar(const struct yaml_source_event *event, json_t **ret_value, struct err *err);
/* -EINVAL: a sequence or mapping has a tag other than its own. */
int yaml_tags_check(const struct yaml_source_event *event, struct err *err);

#endif

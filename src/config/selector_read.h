/*
 * selector_read: a label selector of the policy file (Kubernetes API, LabelSelector). Private to
 * config.
 */
#ifndef CONFIG_SELECTOR_READ_H
#define CONFIG_SELECTOR_READ_H

#include "mapping.h"

/* Adds its requirements to the term. -EINVAL sets reading->err. */
int selector_read(const struct mapping_reading *reading, const struct yaml_value *at,
                  struct selector_term *term);

#endif

/*
 * random_objects: nodes, ResourceSlices, ResourceClaims, DeviceTaintRules and DeviceClasses, as the
 * API server has them. There are few names, so they meet often. Each is a new reference.
 */
#ifndef CLAIMS_RANDOM_OBJECTS_H
#define CLAIMS_RANDOM_OBJECTS_H

#include "dice.h"

#include <jansson.h>
#include <stddef.h>

#define OBJECTS_NODES 3
#define OBJECTS_CLASSES 2

/* Not random. */
json_t *object_node(size_t i);

/* Of a pool that the number mostly decides. */
json_t *random_slice(struct dice *dice, size_t i);
/* What drivers do with all the slices of a pool: one generation, each device's name once, and
 * counters that are there. */
void repair_pool(struct dice *dice, json_t **slices, size_t n);
/* An allocated one. */
json_t *random_claim(struct dice *dice, size_t i);
json_t *random_rule(struct dice *dice, size_t i);
json_t *random_class(struct dice *dice, size_t i);
/* The claims of a new pod. */
json_t *random_asked(struct dice *dice);

#endif

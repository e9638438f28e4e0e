/*
 * given_random: nodes and pods of many kinds, the same for the same seed.
 */
#ifndef CORE_GIVEN_RANDOM_H
#define CORE_GIVEN_RANDOM_H

#include "dice.h"
#include "given.h"

/* With GPUs of one resource or of two, of several models, some with taints; some are in use. */
void given_random_node(struct given *given, struct dice *dice, const char *name);
/* Of a pod that needs GPUs or none, and may have wishes. */
struct shape_facts given_random_shape(struct given *given, struct dice *dice);

#endif

/*
 * given_random: random nodes and pods, equal for equal seeds.
 */
#ifndef LEDGER_GIVEN_RANDOM_H
#define LEDGER_GIVEN_RANDOM_H

#include "dice.h"
#include "given.h"

#define GIVEN_OWNER "owner"

/* With GPUs of one or two resources and of several models, some with taints or a cordon, some in
 * use, of these some by a replica of GIVEN_OWNER. */
void given_random_node(struct given *given, struct dice *dice, const char *name);
/* Of a pod with or without GPUs, perhaps with preferences. */
struct shape_facts given_random_shape(struct given *given, struct dice *dice);

#endif

/*
 * given_random: nodes and pods of many kinds, the same for the same seed.
 */
#ifndef LEDGER_GIVEN_RANDOM_H
#define LEDGER_GIVEN_RANDOM_H

#include "dice.h"
#include "given.h"

#define GIVEN_OWNER "owner"

/* With GPUs of one resource or of two, of several models, some with taints or a cordon; some are in
 * use, and of these some by a replica of GIVEN_OWNER. */
void given_random_node(struct given *given, struct dice *dice, const char *name);
/* Of a pod that needs GPUs or none, and may have wishes. */
struct shape_facts given_random_shape(struct given *given, struct dice *dice);

#endif

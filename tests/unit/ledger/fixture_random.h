/*
 * fixture_random: random nodes and pods, equal for equal seeds.
 */
#ifndef LEDGER_FIXTURE_RANDOM_H
#define LEDGER_FIXTURE_RANDOM_H

#include "dice.h"
#include "fixture.h"

#define FIXTURE_OWNER "owner"

/* With GPUs of one or two resources and of several models, some with taints or a cordon, some in
 * use, of these some by a replica of FIXTURE_OWNER; some with devices of DRA. */
void fixture_random_node(struct fixture *fixture, struct dice *dice, const char *name);
/* Of a pod with or without GPUs, perhaps with preferences. */
struct shape_facts fixture_random_shape(struct fixture *fixture, struct dice *dice);

#endif

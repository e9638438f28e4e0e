/*
 * in_force: the policy of one call. Private to extender.
 */
#ifndef EXTENDER_IN_FORCE_H
#define EXTENDER_IN_FORCE_H

#include "extender/extender.h"

/* The policy in force now, valid until the exchange is over. Call it once, before the answer. */
const struct policy *in_force(const struct extender *extender, struct exchange *exchange);

#endif

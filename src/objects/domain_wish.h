/*
 * domain_wish: the annotation gpu-extender.io/domain: "require LEVEL" or "prefer LEVEL".
 */
#ifndef OBJECTS_DOMAIN_WISH_H
#define OBJECTS_DOMAIN_WISH_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

/* LEVEL is a key of the policy's topology.levels, or the part after its '/'; of several, the
 * innermost. -EINVAL: another text; err says what would be right. */
int domain_wish_read(const char *text, const struct policy *policy, struct arena *arena,
                     struct domain_wish *ret_wish, struct err *err);

#endif

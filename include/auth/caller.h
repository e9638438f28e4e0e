/*
 * caller: who asks, as a number: a keyed digest of the user's name and groups. It does not depend
 * on how the user was authenticated, nor on the order of the groups.
 */
#ifndef AUTH_CALLER_H
#define AUTH_CALLER_H

#include <stdint.h>

/* groups: ends with NULL. Never 0. */
uint64_t caller_of(const char *name, const char *const *groups);

#endif

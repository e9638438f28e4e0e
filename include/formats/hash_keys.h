/*
 * hash_keys: random keys of all hash tables, so that nobody outside can make their entries collide.
 */
#ifndef FORMATS_HASH_KEYS_H
#define FORMATS_HASH_KEYS_H

#include "base/err.h"

/* Call it before the first table, JSON object and thread. */
int hash_keys_make(struct err *err);

#endif

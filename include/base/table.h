/*
 * table: uthash with the program's keyed hash (hash.h). The only file that includes <uthash.h>
 * (tests/lint/includes.py): with uthash's own functions, tenants could construct collisions.
 *
 * A table is iterated in insertion order, whatever the key.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/hash.h"

#define HASH_FUNCTION(key, len, hashv) ((hashv) = (unsigned)hash_bytes((key), (len)))

#include <uthash.h>

#endif

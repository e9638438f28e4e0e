/*
 * shape_copy: shape facts as a digest, to compare them, and copied, to keep them: a shape of the
 * ledger is only there as long as its lock is held.
 */
#ifndef CORE_SHAPE_COPY_H
#define CORE_SHAPE_COPY_H

#include "base/arena.h"
#include "base/hash.h"
#include "core/facts.h"

/* By the process's secret key: two shapes whose digests are equal are equal, as nobody can make two
 * that are not. The demand must be in one order (by name). */
struct siphash128 shape_digest(const struct shape_facts *facts);
/* The same for every key, to put shapes in an order that does not differ from run to run. Not a
 * digest: whoever tries can make two that have the same. */
uint64_t shape_order(const struct shape_facts *facts);
/* Everything the copy points to lives in the arena. */
struct shape_facts shape_copy(const struct shape_facts *facts, struct arena *arena);

#endif

/*
 * shape_copy: shape facts written as bytes, to compare them, and copied, to keep them: a shape of
 * the ledger is only there as long as its lock is held.
 */
#ifndef CORE_SHAPE_COPY_H
#define CORE_SHAPE_COPY_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/facts.h"

/* Two shapes are equal when their keys are. The demand must be in one order (by name). */
void shape_write_key(const struct shape_facts *facts, struct buf *out);
/* Everything the copy points to lives in the arena. */
struct shape_facts shape_copy(const struct shape_facts *facts, struct arena *arena);

#endif

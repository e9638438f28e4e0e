/*
 * shape_copy: digests of shape facts for comparison, and copies that outlive the ledger's lock.
 */
#ifndef LEDGER_SHAPE_COPY_H
#define LEDGER_SHAPE_COPY_H

#include "base/arena.h"
#include "base/hash.h"
#include "types/facts.h"

/* Keyed with the process's secret: equal digests mean equal shapes, as no tenant can construct a
 * collision. The demand must be sorted by name. */
struct siphash128 shape_digest(const struct shape_facts *facts);
/* Independent of the key, to sort shapes in the same order in every run. Not a digest: a tenant can
 * construct two shapes with the same value. */
uint64_t shape_order(const struct shape_facts *facts);
/* All that the copy points to is in the arena. */
struct shape_facts shape_copy(const struct shape_facts *facts, struct arena *arena);

/* The same for parts of other facts. text may be NULL. */
void shape_digest_number(struct siphash *hash, int64_t number);
void shape_digest_text(struct siphash *hash, const char *text);
void shape_digest_term(struct siphash *hash, const struct selector_term *term);
struct selector_term shape_copy_term(const struct selector_term *term, struct arena *arena);
struct label *shape_copy_labels(const struct label *labels, size_t n, struct arena *arena);

#endif

/*
 * exact_sum: an exact sum of many amounts, read as at most INT64_MAX. Private to ledger.
 *
 * A tenant may request INT64_MAX of a resource. A saturating sum would have to be recomputed from
 * all pods when one leaves; this one only needs the amount that left.
 */
#ifndef LEDGER_SHAPES_EXACT_SUM_H
#define LEDGER_SHAPES_EXACT_SUM_H

#include "ledger/cluster.h"

/* amount must be >= 0. */
static inline void exact_sum_add(struct exact_sum *sum, int64_t amount)
{
    const uint64_t low = (uint64_t)sum->low + (uint64_t)amount;
    sum->n_over += low > INT64_MAX;
    sum->low = (int64_t)(low & INT64_MAX);
}

/* amount must have been added before. */
static inline void exact_sum_take(struct exact_sum *sum, int64_t amount)
{
    sum->n_over -= sum->low < amount;
    sum->low = (int64_t)(((uint64_t)sum->low - (uint64_t)amount) & INT64_MAX);
}

static inline void exact_sum_join(struct exact_sum *sum, const struct exact_sum *other)
{
    exact_sum_add(sum, other->low);
    sum->n_over += other->n_over;
}

static inline int64_t exact_sum_shown(const struct exact_sum *sum)
{
    return sum->n_over > 0 ? INT64_MAX : sum->low;
}

static inline bool exact_sum_equal(const struct exact_sum *a, const struct exact_sum *b)
{
    return a->low == b->low && a->n_over == b->n_over;
}

#endif

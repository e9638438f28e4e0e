/*
 * amount: sums and products that saturate at INT64_MAX.
 */
#ifndef TYPES_AMOUNT_H
#define TYPES_AMOUNT_H

#include <stdint.h>

/* a + b; neither may be negative. */
static inline int64_t amount_add(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* amount * n; neither may be negative. */
static inline int64_t amount_times(int64_t amount, int64_t n)
{
    int64_t product = 0;
    return __builtin_mul_overflow(amount, n, &product) ? INT64_MAX : product;
}

#endif

/*
 * quantity: Kubernetes resource quantities as integers, exactly.
 *
 * Source: k8s.io/apimachinery/pkg/api/resource, "Quantity": <signedNumber><suffix>, where the
 * suffix is one of n u m "" k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent e3 / E3 ("1E" is the
 * suffix exa, "1E3" is an exponent). Surrounding white space is skipped, as Kubernetes' JSON
 * decoder does. No floating point.
 *
 * Intended differences from Kubernetes: a value beyond int64_t is an error (Kubernetes caps binary
 * quantities and lets others wrap); a number needs a digit (Kubernetes' scanner takes "Ti" for 0,
 * but not "Pi"); an exponent beyond 32 bits is rejected.
 */
#ifndef TYPES_QUANTITY_H
#define TYPES_QUANTITY_H

#include "base/err.h"

#include <stdint.h>

/* The value rounded up to an integer, as Quantity.Value() does (bytes, counts); negative values
 * round away from 0. 0, -EINVAL (no quantity) or -ERANGE (too large); the message quotes the text
 * and says what is right. */
int quantity_value(const char *text, int64_t *ret_value, struct err *err);
/* The value times 1000, rounded up, as Quantity.MilliValue() does (CPU). Errors as above. */
int quantity_milli(const char *text, int64_t *ret_milli, struct err *err);
/* A non-negative integer (GPU counts): "1.5" and "500m" give -EINVAL; "2000m", "1k" and "2.0" are
 * valid. */
int quantity_whole(const char *text, int64_t *ret_value, struct err *err);

/* Formats bytes: "40Gi", "81559Mi", "1000" (the largest exact binary suffix). text must have 32
 * bytes and is returned. */
const char *quantity_bytes_text(int64_t bytes, char *text);

/* Sums and products that saturate at INT64_MAX. Neither argument may be negative. */
static inline int64_t amount_add(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t amount_times(int64_t amount, int64_t n)
{
    int64_t product = 0;
    return __builtin_mul_overflow(amount, n, &product) ? INT64_MAX : product;
}

#endif

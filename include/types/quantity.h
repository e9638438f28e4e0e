/*
 * quantity: Kubernetes resource quantities as integers, exactly.
 *
 * Source: k8s.io/apimachinery/pkg/api/resource, "Quantity": <signedNumber><suffix>, where the
 * suffix is one of n u m "" k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent e3 / E3 ("1E" is the
 * suffix exa, "1E3" is an exponent). White space around it is skipped, as Kubernetes' JSON decoder
 * does. No floating point anywhere.
 *
 * Where this is not what Kubernetes does, on purpose: what does not fit an int64_t is an error
 * (Kubernetes caps binary quantities and lets others wrap); a number needs a digit (Kubernetes'
 * scanner takes "Ti" for 0, but not "Pi"); an exponent beyond 32 bits is refused.
 */
#ifndef TYPES_QUANTITY_H
#define TYPES_QUANTITY_H

#include "base/err.h"

#include <stdint.h>

/* The value rounded up to a whole number, as Quantity.Value() does (bytes, counts); what is
 * negative is rounded away from 0 too. 0, -EINVAL (not a quantity) or -ERANGE (does not fit); the
 * message quotes the text and says what is right. */
int quantity_value(const char *text, int64_t *ret_value, struct err *err);
/* The value times 1000, rounded up, as Quantity.MilliValue() does (CPU). Errors as above. */
int quantity_milli(const char *text, int64_t *ret_milli, struct err *err);
/* A whole number that is not negative (GPU counts): "1.5" and "500m" are refused with -EINVAL,
 * "2000m", "1k" and "2.0" are whole. */
int quantity_whole(const char *text, int64_t *ret_value, struct err *err);

/* Bytes for people: "40Gi", "81559Mi", "1000" (the largest binary suffix that is exact). text must
 * hold 32 bytes. Returns text. */
const char *quantity_bytes_text(int64_t bytes, char *text);

#endif

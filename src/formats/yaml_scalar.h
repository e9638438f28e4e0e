/*
 * yaml_scalar: the type of a plain scalar, by kubectl's rules (go-yaml v2).
 *
 * Text only. Fractions, exponents, .inf, .nan and timestamps are text here.
 */
#ifndef FORMATS_YAML_SCALAR_H
#define FORMATS_YAML_SCALAR_H

#include <stddef.h>
#include <stdint.h>

enum scalar_kind { SCALAR_TEXT, SCALAR_NULL, SCALAR_TRUE, SCALAR_FALSE, SCALAR_INTEGER };

struct yaml_scalar {
    enum scalar_kind kind;
    int64_t integer;
};

/* Integers are decimal, 0x, 0o, 0b, or octal with a leading zero, with '_' allowed between digits.
 * Integers beyond 64 bits are text. */
struct yaml_scalar yaml_scalar_resolve(const char *text, size_t len);

#endif

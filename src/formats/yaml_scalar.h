/*
 * yaml_scalar: what a plain scalar means, by the rules that kubectl reads with (go-yaml v2).
 *
 * Pure text. What has a fraction or an exponent, .inf, .nan and timestamps are text here.
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

/* Integers are decimal, 0x, 0o, 0b or octal by a leading zero, '_' between digits allowed; those
 * that do not fit 64 bits are text. */
struct yaml_scalar yaml_scalar_resolve(const char *text, size_t len);

#endif

/*
 * yaml_scalar: the type of a plain scalar, by kubectl's rules (go-yaml v2).
 *
 * Base 60 and timestamps are text, as there. tests/yaml has its answers.
 */
#ifndef FORMATS_YAML_SCALAR_H
#define FORMATS_YAML_SCALAR_H

#include <stddef.h>
#include <stdint.h>

enum scalar_kind {
    SCALAR_TEXT,
    SCALAR_NULL,
    SCALAR_TRUE,
    SCALAR_FALSE,
    SCALAR_INTEGER,
    SCALAR_REAL,
    SCALAR_NOT_FINITE, /* .inf, .nan: JSON has no such numbers */
};

struct yaml_scalar {
    enum scalar_kind kind;
    int64_t integer;
    double real;
};

/* Integers are decimal, 0x, 0o, 0b, or octal with a leading zero, with '_' allowed. Those beyond 64
 * bits are real. A scalar of more than 400 characters is text. */
struct yaml_scalar yaml_scalar_resolve(const char *text, size_t len);

#endif

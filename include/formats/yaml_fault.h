/*
 * yaml_fault: error messages with the position in a file read by yaml_read().
 */
#ifndef FORMATS_YAML_FAULT_H
#define FORMATS_YAML_FAULT_H

#include "base/err.h"
#include "formats/yaml_json.h"

#include <jansson.h>

/* The file. */
struct yaml_file {
    const char *name;
    const struct yaml_places *places; /* NULL: the values come from no file */
};

/* A value in it. */
struct yaml_value {
    json_t *container; /* NULL: the value is the whole file */
    const char *key;   /* in the container; for a list's item its index */
    const char *path;
    json_t *value; /* NULL: the key alone is at fault */
};

/* The message begins with "FILE:LINE:COLUMN: path: ", the position of the value (of the key if
 * value is NULL); without places it begins with "path: ". Returns -EINVAL. */
int yaml_fault(const struct yaml_file *file, const struct yaml_value *at, struct err *err,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "... path: is VALUE, should be RIGHT". Not for secrets. Returns -EINVAL. */
int yaml_wrong(const struct yaml_file *file, const struct yaml_value *at, const char *right,
               struct err *err);

#endif

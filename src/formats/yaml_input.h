/*
 * yaml_input: the bytes on their way to libyaml, and where in the text they stand.
 *
 * libyaml decodes what it is given before it scans it, and tells where bytes cannot be decoded by
 * their offset only. What it may not have decoded yet is kept here, so that an offset becomes line
 * and column; no more of the text is kept. A byte order mark at the beginning is skipped.
 */
#ifndef FORMATS_YAML_INPUT_H
#define FORMATS_YAML_INPUT_H

#include "formats/bytes.h"
#include "formats/json_stream.h"

struct yaml_input;

struct yaml_input *yaml_input_new(bytes_read *read, void *context) __attribute__((returns_nonnull));
void yaml_input_free(struct yaml_input *input);

/* For libyaml's read handler: size must be all its room at the first call, and after that its room
 * less what it has not decoded yet. -EMSGSIZE: too many directives, or what read returned. */
int yaml_input_read(struct yaml_input *input, char *bytes, size_t size, size_t *ret_n,
                    struct err *err);

/* offset: of a byte that was given and is not decoded yet, or of the end. Columns are characters.
 */
struct text_position yaml_input_position(const struct yaml_input *input, size_t offset);

#endif

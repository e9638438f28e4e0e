/*
 * yaml_input: feeds bytes to libyaml, and finds their line and column.
 *
 * libyaml decodes before it scans, and reports undecodable bytes by offset only. This keeps the
 * bytes that may be undecoded, so that an offset yields line and column, and no more. It skips a
 * byte order mark at the start.
 */
#ifndef FORMATS_YAML_INPUT_H
#define FORMATS_YAML_INPUT_H

#include "formats/bytes.h"
#include "formats/json_stream.h"

struct yaml_input;

struct yaml_input *yaml_input_new(bytes_read *read, void *context) __attribute__((returns_nonnull));
void yaml_input_free(struct yaml_input *input);

/* For libyaml's read handler. size must be libyaml's whole buffer in the first call, later the
 * buffer minus undecoded bytes. -EMSGSIZE: too many directives; or the error of read. */
int yaml_input_read(struct yaml_input *input, char *bytes, size_t size, size_t *ret_n,
                    struct err *err);

/* offset: of a byte that was returned but may be undecoded, or of the end. Columns count
 * characters. */
struct text_position yaml_input_position(const struct yaml_input *input, size_t offset);

#endif

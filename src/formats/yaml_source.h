/*
 * yaml_source: libyaml's events in our own types, so that only one file includes yaml.h.
 *
 * Syntax only: anchors, tags and scalars as written, except that NUL becomes U+FFFD (encoding.h).
 */
#ifndef FORMATS_YAML_SOURCE_H
#define FORMATS_YAML_SOURCE_H

#include "base/err.h"
#include "formats/documents.h"
#include "formats/json_stream.h"

#include <stdbool.h>
#include <stddef.h>

enum yaml_source_kind {
    SOURCE_TEXT_BEGIN,
    SOURCE_TEXT_END,
    SOURCE_DOCUMENT_BEGIN,
    SOURCE_DOCUMENT_END,
    SOURCE_SCALAR,
    SOURCE_ALIAS,
    SOURCE_SEQUENCE_BEGIN,
    SOURCE_SEQUENCE_END,
    SOURCE_MAPPING_BEGIN,
    SOURCE_MAPPING_END,
};

/* Strings are valid until the next event. */
struct yaml_source_event {
    enum yaml_source_kind kind;
    const char *text; /* of a scalar */
    size_t len;
    bool is_plain;           /* neither quoted nor a block */
    const char *anchor;      /* name of the anchor, or of the alias; or NULL */
    const char *tag;         /* in full, or NULL */
    struct text_position at; /* columns count characters */
};

struct yaml_source;

struct yaml_source *yaml_source_new(bytes_read *read, void *context)
    __attribute__((returns_nonnull));
void yaml_source_free(struct yaml_source *source);

/* -EINVAL: "LINE:COLUMN: what is wrong"; -EMSGSIZE: too many directives; or the error of read. */
int yaml_source_next(struct yaml_source *source, struct yaml_source_event *ret_event,
                     struct err *err);
/* Lists and mappings of flow style that are open where the parser reads, which may be up to 1 KiB
 * after the event. */
size_t yaml_source_flow_depth(const struct yaml_source *source);
/* Whether the text cannot be parsed on: no event follows. */
bool yaml_source_is_broken(const struct yaml_source *source);

#endif

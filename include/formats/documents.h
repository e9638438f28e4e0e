/*
 * documents: objects from JSON or YAML input, one or several documents, read in pieces.
 *
 * JSON if the first non-blank byte is '{' or '[', else YAML, to the end. YAML that starts with a
 * brace is only read from a text in memory, if a line "---" separates its documents (as kubectl
 * reads manifests). A byte order mark is skipped.
 * UTF-16 is read, too.
 * Memory holds one object at a time (and leading white space).
 */
#ifndef FORMATS_DOCUMENTS_H
#define FORMATS_DOCUMENTS_H

#include "base/err.h"
#include "formats/json_stream.h"

#include <stddef.h>

/* ---- input of this folder's readers, in pieces ---- */

/* Reads up to size bytes (size > 0). *ret_n 0: the end, also in repeated calls. A negative errno
 * ends the reading; fill err. */
typedef int bytes_read(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err);

/* A text in memory. */
struct bytes_at_hand {
    const char *text; /* may be NULL if len is 0 */
    size_t len;
};

/* A bytes_read; the context is a struct bytes_at_hand, which keeps the unread rest. */
int bytes_read_at_hand(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err);

/* ---- documents ---- */

struct document_options {
    const char *const *drop;                 /* as in json_stream.h */
    const char *const *keep;                 /* JSON, the same */
    const char *const *keep_least;           /* the same */
    const struct json_budget *object_budget; /* the same */
    const struct json_budget *budget;        /* of both */
    struct json_cost *spent;                 /* of both */
    size_t max_object_bytes;                 /* JSON */
    size_t max_values;                       /* YAML, as in yaml_json.h */
    size_t max_alias_values;                 /* the same */
    size_t max_depth;
    size_t json_flags; /* as in json_stream.h */
};

/* Errors of json_stream.h and yaml_json.h, of read() and of the handler. Text of white space and
 * comments alone is no error and calls no handler. */
int documents_each(bytes_read *read, void *context, const struct document_options *options,
                   const struct json_stream_handler *handler, struct err *err);
/* The same for text in memory. */
int documents_each_text(const char *text, size_t len, const struct document_options *options,
                        const struct json_stream_handler *handler, struct err *err);

#endif

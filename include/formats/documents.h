/*
 * documents: objects out of bytes that are JSON or YAML, one or several documents, read in pieces.
 *
 * JSON where the first byte that is no white space is '{' or '[', else YAML, to the end: JSON
 * documents with "---" between them, and YAML that begins with a brace, are not read. A byte order
 * mark is skipped. No more of the text is held than an object at a time (and white space that it
 * begins with).
 */
#ifndef FORMATS_DOCUMENTS_H
#define FORMATS_DOCUMENTS_H

#include "formats/bytes.h"
#include "formats/json_stream.h"

struct document_options {
    const char *const *drop; /* as in json_stream.h */
    size_t max_object_bytes; /* JSON */
    size_t max_nodes;        /* YAML, as in yaml_json.h */
    size_t max_depth;
    size_t json_flags; /* as in json_stream.h */
};

/* Errors as json_stream.h and yaml_json.h say, and what read or the handler returned. A text of
 * nothing but white space and comments is no error, and nothing is handed over. */
int documents_each(bytes_read *read, void *context, const struct document_options *options,
                   const struct json_stream_handler *handler, struct err *err);
/* The same for a text that is at hand. */
int documents_each_text(const char *text, size_t len, const struct document_options *options,
                        const struct json_stream_handler *handler, struct err *err);

#endif

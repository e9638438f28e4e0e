/*
 * json_stream: cuts JSON objects, one at a time, from bytes that arrive in pieces.
 *
 * A validating byte scanner (RFC 8259) with line and column. It accepts two shapes of input:
 *   - a list: {"kind": ..., "metadata": ..., "items": [ {...}, {...} ]}; each element of the
 *     top-level "items" is delivered once it is complete, and the rest of the outer object, without
 *     "items", at its end (the envelope);
 *   - a sequence of objects with white space between (watch events, or several documents in one
 *     file), each of either shape.
 * An object without "items" is delivered whole, as the envelope. Memory holds one object at a time.
 * Named subtrees (the options' drop) are skipped and read as absent. U+0000 in a string is read as
 * U+FFFD, as it would end a C string.
 */
#ifndef FORMATS_JSON_STREAM_H
#define FORMATS_JSON_STREAM_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct json_stream;

/* A position in the input, counted from 1; columns are bytes. */
struct text_position {
    size_t line;
    size_t column;
};

struct json_stream_handler {
    /* Values are borrowed for the call (json_incref() to keep). A negative return ends the scan
     * with that error; fill err. `at` is where the value begins. Each may be NULL. */
    /* The items of a list begin; so_far has the members before them. */
    int (*on_list)(void *context, json_t *so_far, struct text_position at, struct err *err);
    int (*on_item)(void *context, json_t *item, struct text_position at, struct err *err);
    int (*on_envelope)(void *context, json_t *envelope, struct text_position at, struct err *err);
    /* An object exceeds max_object_bytes; part has its complete members so far. True: skip the
     * rest. False, or no handler: the scan ends with -EMSGSIZE. */
    bool (*on_large_item)(void *context, const json_t *part);
    bool (*on_large_envelope)(void *context, const json_t *part);
    /* YAML only, which is readable after it: a document has a fault, such as a key that is here
     * twice. 0: go on with the next one; some of its items may have been delivered. No handler: the
     * scan ends with the fault. */
    int (*on_fault)(void *context, const struct err *fault);
    void *context;
};

struct json_stream_options {
    /* Subtrees to skip, as paths relative to an item, with '.' between keys:
     * "metadata.managedFields", "status.images"; keys may contain '.'. "spec.containers[].env"
     * descends into each object of a list. Paths with a common beginning must be adjacent.
     * NULL-terminated; NULL: keep all. For an envelope the same paths are relative to it. */
    const char *const *drop;
    size_t max_object_bytes; /* of one object without dropped parts; more is -EMSGSIZE */
    size_t max_depth;        /* nesting of arrays and objects; more is -EINVAL */
    size_t json_flags;       /* for jansson: JSON_REJECT_DUPLICATES, or 0 (the last one wins) */
};

struct json_stream *json_stream_new(const struct json_stream_options *options,
                                    const struct json_stream_handler *handler);
void json_stream_free(struct json_stream *stream);

/* Takes any number of bytes, cut anywhere. After an error the stream must be freed. -EINVAL:
 * "LINE:COLUMN: what is wrong" at the first fault; faults that only jansson finds (duplicate keys,
 * too large numbers) are reported at their object. "items" must not occur twice. -EMSGSIZE: over a
 * limit. Or a handler's error. */
int json_stream_feed(struct json_stream *stream, const char *bytes, size_t len, struct err *err);
/* Whether the input so far ends after a complete object. */
bool json_stream_is_between(const struct json_stream *stream);
/* The end of the input: an error within an object, or if there was no object. */
int json_stream_end(struct json_stream *stream, struct err *err);

#endif

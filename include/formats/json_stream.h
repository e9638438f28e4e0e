/*
 * json_stream: cuts JSON objects one at a time out of bytes that arrive in pieces.
 *
 * A validating byte scanner (RFC 8259) with line and column. It understands two shapes of input:
 *   - a list: {"kind": ..., "metadata": ..., "items": [ {...}, {...} ]}; each element of the
 *     top-level "items" is handed over as soon as it is complete, and the rest of the outer object,
 *     without "items", at its end (the envelope);
 *   - a sequence of objects, one after another with white space between (watch events, or several
 *     documents in one file), each either of the two shapes.
 * An object without "items" is handed over whole, as the envelope. Memory is one object at a time.
 * Named subtrees (the options' drop) are skipped without being stored, and read as absent. The
 * character U+0000 in a string is read as U+FFFD, as strings end at it.
 */
#ifndef FORMATS_JSON_STREAM_H
#define FORMATS_JSON_STREAM_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct json_stream;

/* A place in the input, both counted from 1; columns are bytes. */
struct text_position {
    size_t line;
    size_t column;
};

struct json_stream_handler {
    /* The value is borrowed for the call (json_incref() to keep). A negative return ends the scan
     * with that error; fill err. `at` is where the value begins. Each may be NULL. */
    /* Where the items of a list begin: the members that the outer object has had before them. */
    int (*on_list)(void *context, json_t *so_far, struct text_position at, struct err *err);
    int (*on_item)(void *context, json_t *item, struct text_position at, struct err *err);
    int (*on_envelope)(void *context, json_t *envelope, struct text_position at, struct err *err);
    /* Of an object that is larger than max_object_bytes: the members that came whole before it was.
     * True: the rest of it is skipped. False, or no handler: the scan ends, -EMSGSIZE. */
    bool (*on_large_item)(void *context, const json_t *part);
    bool (*on_large_envelope)(void *context, const json_t *part);
    void *context;
};

struct json_stream_options {
    /* Subtrees to skip, as paths relative to an item, with '.' between keys:
     * "metadata.managedFields", "status.images"; keys may hold '.' themselves.
     * "spec.containers[].env" leads into each object of a list. Paths that begin alike
     * must stand together. NULL-terminated; NULL = keep all. Where an object is handed over as an
     * envelope, the same paths are relative to it. */
    const char *const *drop;
    size_t max_object_bytes; /* of one object, after dropping; more is -EMSGSIZE */
    size_t max_depth;        /* nesting of arrays and objects; more is -EINVAL */
    size_t json_flags;       /* for jansson: JSON_REJECT_DUPLICATES, or 0 (the last one wins) */
};

struct json_stream *json_stream_new(const struct json_stream_options *options,
                                    const struct json_stream_handler *handler);
void json_stream_free(struct json_stream *stream);

/* Any number of bytes, cut anywhere. After an error the stream must be freed.
 * -EINVAL: "LINE:COLUMN: what is wrong", the place of the first fault; what only jansson sees (keys
 * that come twice, numbers that are too large) is told at the place of its object. "items" may not
 * come twice. -EMSGSIZE: a limit. Or what a handler returned. */
int json_stream_feed(struct json_stream *stream, const char *bytes, size_t len, struct err *err);
/* Everything that was fed ended with a whole object: nothing is half read. */
bool json_stream_is_between(const struct json_stream *stream);
/* The end of the input: an error if it lies inside an object, or if nothing was there at all. */
int json_stream_end(struct json_stream *stream, struct err *err);

#endif

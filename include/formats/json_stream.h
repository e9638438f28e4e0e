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
 * U+FFFD, as it would end a C string. Budgets (json_parse.h) hold before jansson sees an object.
 */
#ifndef FORMATS_JSON_STREAM_H
#define FORMATS_JSON_STREAM_H

#include "base/err.h"
#include "formats/json_parse.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct json_stream;

/* A position in the input, counted from 1; columns are bytes. */
struct text_position {
    size_t line;
    size_t column;
};

/* An object over a limit. */
struct json_over {
    const char *why; /* "has 740012 values, should have at most 50000 (limits.objectValues)" */
    /* The object has ended, and the part has all subtrees of the options' keep: their sum is known.
     * False: it has those of keep_least, perhaps not all. */
    bool is_counted;
};

struct json_stream_handler {
    /* Values are borrowed for the call (json_incref() to keep). A negative return ends the scan
     * with that error; fill err. `at` is where the value begins. Each may be NULL. */
    /* The items of a list begin; so_far has the members before them. */
    int (*on_list)(void *context, json_t *so_far, struct text_position at, struct err *err);
    int (*on_item)(void *context, json_t *item, struct text_position at, struct err *err);
    int (*on_envelope)(void *context, json_t *envelope, struct text_position at, struct err *err);
    /* An object exceeds object_budget or max_object_bytes. True: go on after it. False, or no
     * handler: the scan ends with -EMSGSIZE. */
    bool (*on_large_item)(void *context, const json_t *part, const struct json_over *over);
    bool (*on_large_envelope)(void *context, const json_t *part, const struct json_over *over);
    /* YAML only, which is readable after it: a document has a fault, such as a key that is here
     * twice. 0: go on with the next one; some of its items may have been delivered. No handler: the
     * scan ends with the fault. */
    int (*on_fault)(void *context, const struct err *fault);
    void *context;
};

/* Requests of a pod are a map with keys that a tenant invents, and must be counted. An API server
 * accepts 3 MiB, which are fewer than four times 50,000 of them. */
#define JSON_KEPT_BUDGETS ((size_t)4)

struct json_stream_options {
    /* Subtrees to skip, as paths relative to an item, with '.' between keys:
     * "metadata.managedFields", "status.images"; keys may contain '.', and "*" is any key.
     * "spec.containers[].env" descends into each object of a list. Paths with a common beginning
     * must be adjacent.
     * NULL-terminated; NULL: keep all. For an envelope the same paths are relative to it. */
    const char *const *drop;
    /* The only subtrees to read, in the same form, with NULL for drop. NULL: all. */
    const char *const *only;
    /* With only: ends after the first object that its paths lead into, inside or the outermost.
     * What follows is not read, not even for faults. */
    bool ends_early;
    /* Of an object over object_budget: the subtrees that must be counted, in the same form. They
     * may have JSON_KEPT_BUDGETS times its values. NULL: none. */
    const char *const *keep;
    const char *const *keep_least;           /* what names an object over a limit; NULL: nothing */
    const struct json_budget *object_budget; /* of one object without dropped parts; NULL: none */
    const struct json_budget *budget;        /* of all objects together, the same; NULL: none */
    struct json_cost *spent; /* of the budget, by earlier texts; this one's is added; NULL: none */
    size_t max_object_bytes; /* of one object without dropped parts; more is -EMSGSIZE */
    size_t max_depth;        /* nesting of arrays and objects; more is -EINVAL */
    size_t json_flags;       /* for jansson: JSON_REJECT_DUPLICATES, or 0 (the last one wins) */
};

/* Parses a text that is one object by the options; their `budget` does not count. -EMSGSIZE:
 * *ret_value has the subtrees of keep_least, and the message is that of json_over. Other errors are
 * those of json_stream_feed(). The caller owns *ret_value. */
int json_stream_read(const char *text, size_t len, const struct json_stream_options *options,
                     json_t **ret_value, struct err *err);

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

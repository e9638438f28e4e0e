/*
 * yaml_json: reads YAML into jansson values, as kubectl does (sigs.k8s.io/yaml).
 *
 * YAML 1.1 booleans (yes, on, y ...); duplicate keys are rejected; merge keys (<<) and aliases are
 * supported within a budget. Keys become strings as in kubectl: an unquoted y: is "true". Plain
 * numbers become JSON numbers, as in kubectl: integers if they have no fraction and fit (2.0, 1e3),
 * else real; .inf and .nan are errors. tests/yaml compares all this with kubectl's code. U+0000 is
 * read as U+FFFD. Columns are characters, where JSON's are bytes. A leading byte order mark is
 * skipped.
 */
#ifndef FORMATS_YAML_JSON_H
#define FORMATS_YAML_JSON_H

#include "base/err.h"
#include "formats/documents.h"
#include "formats/json_parse.h"
#include "formats/json_stream.h"

#include <jansson.h>
#include <stddef.h>

/* Positions of keys and values. */
struct yaml_places;

struct yaml_options {
    /* As in json_stream_options: never built. Aliases and merges contribute what their anchor
     * has. */
    const char *const *drop;
    size_t max_depth; /* nesting with aliases expanded; more is -EINVAL */
    /* Values of one object with aliases expanded. More is -EMSGSIZE, unless the handler takes large
     * ones: it gets what was read so far, the rest is passed over, and its anchors are unknown. */
    size_t max_values;
    const char *values_key; /* the policy key of max_values, for messages; NULL: there is none */
    /* The same of all alias expansions of the text together; 0: max_values. */
    size_t max_alias_values;
    /* Of all documents together, aliases expanded; NULL: none. More is -EMSGSIZE. */
    const struct json_budget *budget;
    struct json_cost *spent; /* as in json_stream_options */
    /* NULL, or gets the positions in what is being delivered: before the handler is called. The
     * caller frees them with yaml_places_free(). */
    struct yaml_places **ret_places;
};

/* Delivers every document of the text, in order, to the handler of json_stream.h: elements of a
 * top-level "items" one at a time, then the envelope. Skips empty documents. Documents that are no
 * mapping are delivered as envelopes too; the handler must reject them. Anchored values live until
 * the end of their document and are shared by delivered values: do not change them. -EINVAL:
 * "LINE:COLUMN: what is wrong". -EMSGSIZE: over a limit (of the options, or a fixed one on anchors,
 * directives, and nesting after a fault). Or an error of read() or a handler. */
int yaml_each(bytes_read *read, void *context, const struct yaml_options *options,
              const struct json_stream_handler *handler, struct err *err);

/* Reads one document (a second is -EINVAL), with the position of every key and value. The caller
 * owns *ret_root (json_decref()), NULL for empty text, and frees *ret_places with
 * yaml_places_free(). */
int yaml_read(const char *text, size_t len, const struct yaml_options *options, json_t **ret_root,
              struct yaml_places **ret_places, struct err *err);
void yaml_places_free(struct yaml_places *places);

/* The position of container's key or of its value; {0, 0} if unknown. In an array the key is the
 * decimal index. */
struct text_position yaml_place_of_key(const struct yaml_places *places, const json_t *container,
                                       const char *key);
struct text_position yaml_place_of_value(const struct yaml_places *places, const json_t *container,
                                         const char *key);

/* Error messages with the position in a file read by yaml_read(). */

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

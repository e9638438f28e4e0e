/*
 * yaml_json: YAML read into jansson's values, the way kubectl reads it (sigs.k8s.io/yaml).
 *
 * YAML 1.1 booleans (yes, on, y ...), duplicate keys refused, merge keys (<<) and aliases supported
 * with a budget on what they expand to. Keys become strings as kubectl makes them: an unquoted y:
 * is "true". A plain scalar with a fraction or an exponent stays text: quantities such as 1.5 or
 * 1e3 must not pass through floating point. Plain integers that fit become JSON integers, all
 * others text. The character U+0000 is read as U+FFFD. Columns are characters, where JSON's are
 * bytes. A byte order mark at the beginning is skipped.
 */
#ifndef FORMATS_YAML_JSON_H
#define FORMATS_YAML_JSON_H

#include "base/err.h"
#include "formats/bytes.h"
#include "formats/json_stream.h"

#include <jansson.h>
#include <stddef.h>

struct yaml_options {
    /* As in json_stream_options: never built at all. What an alias or a merge brings in is as it
     * stands at its anchor. */
    const char *const *drop;
    size_t max_depth; /* nesting, aliases expanded; more is -EINVAL */
    /* Keys and values of one object, aliases expanded, and all that the aliases of the text expand
     * to together; more is -EMSGSIZE. */
    size_t max_nodes;
};

/* Every document of the text, in order, through the handler of json_stream.h: elements of a
 * top-level "items" one at a time, then the envelope. Empty documents are skipped. Documents that
 * are no mapping are handed over as envelopes too: it is for the handler to refuse them. Anchored
 * values live until their document's end and are shared by what is handed over: read, do not
 * change. -EINVAL: "LINE:COLUMN: what is wrong", -EMSGSIZE: a limit (of the options, or a fixed one
 * on anchors and directives), or what read or a handler returned. */
int yaml_each(bytes_read *read, void *context, const struct yaml_options *options,
              const struct json_stream_handler *handler, struct err *err);

/* Where things stand in a document read by yaml_read(). */
struct yaml_places;

/* One document (a second one is -EINVAL), whole, with the place of every key and value.
 * *ret_root is the caller's (json_decref()), NULL for an empty text; *ret_places is freed by
 * yaml_places_free(). */
int yaml_read(const char *text, size_t len, const struct yaml_options *options, json_t **ret_root,
              struct yaml_places **ret_places, struct err *err);
void yaml_places_free(struct yaml_places *places);

/* Where container's key, or its value, stands; {0, 0} if unknown. For an array the key is
 * its index in decimal. */
struct text_position yaml_place_of_key(const struct yaml_places *places, const json_t *container,
                                       const char *key);
struct text_position yaml_place_of_value(const struct yaml_places *places, const json_t *container,
                                         const char *key);

#endif

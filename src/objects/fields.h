/*
 * fields: what the readers of all kinds need.
 */
#ifndef OBJECTS_FIELDS_H
#define OBJECTS_FIELDS_H

#include "base/arena.h"
#include "base/err.h"
#include "objects/pod.h"
#include "types/facts.h"

#include <jansson.h>
#include <stdint.h>

/* ---- quoted ---- */

/* Foreign text for messages: quoted, escaped, truncated. */

/* text in double quotes with JSON escapes. Longer text is cut to 60 bytes at a character boundary,
 * plus "...". In the arena. */
const char *quoted(struct arena *arena, const char *text);
/* The same without quotes and escapes, for parts of paths or lists. */
const char *quoted_plain(struct arena *arena, const char *text);

/* ---- element ---- */

/* Typed access to array elements, like formats/json_values.h for members.
 *
 * Messages begin with "NAME[INDEX]: ". A null element leaves the output unchanged and is no error:
 * Kubernetes reads null as an empty object or string. */

/* Returns 0 and the borrowed value, or -EINVAL for another type. */
int element_object(const json_t *array, size_t index, const char *name, json_t **ret_object,
                   struct err *err);
int element_string(const json_t *array, size_t index, const char *name, const char **ret_text,
                   struct err *err);

/* ---- label map ---- */

/* A JSON object of strings (labels, spec.nodeSelector) as labels. */

struct label_map {
    struct label *labels; /* sorted by key */
    size_t n;
};

/* Reads the member, empty if absent; a null value is "". All in the arena. -EINVAL: no object, or a
 * value is no string (`labels["zone"]: is a whole number, ...`). */
int label_map_read(const json_t *object, const char *member, struct arena *arena,
                   struct label_map *ret_map, struct err *err);

/* ---- meta ---- */

/* Names and times in an object's metadata. */

/* Longest name in Kubernetes. */
#define META_NAME_BYTES_MAX 253

/* In a snapshot: what stood here is not kept. A domain of ours, so that nobody else uses it. */
#define META_LEFT_OUT "gpu-extender.io/left-out"

/* Copies a name into the arena; unchanged if absent or empty. -EINVAL: no string, or longer than
 * META_NAME_BYTES_MAX. */
int meta_name(const json_t *object, const char *member, struct arena *arena, const char **ret_name,
              struct err *err);

/* RFC 3339 ("2026-03-02T08:14:55Z") to seconds since 1970; 0 if invalid. */
int64_t meta_time_s(const char *text);

/* ---- quantity json ---- */

/* Quantities in JSON: a string or a number, of which kubectl sends the shortest text
 * that reads as the same double. Messages have no path; the caller prepends it. */

#define QUANTITY_JSON_NUMBER_BYTES 32

/* The quantity's text: borrowed from the value, or written into number, which must have
 * QUANTITY_JSON_NUMBER_BYTES. -EINVAL: neither string nor number. */
int quantity_json_text(const json_t *value, char *number, const char **ret_text, struct err *err);

/* The amount in the resource's unit (types/facts.h), rounded up. -EINVAL: no quantity, or negative;
 * -ERANGE: too large. */
int quantity_json_amount(const json_t *value, const char *resource, int64_t *ret_amount,
                         struct err *err);

/* ---- lines ---- */

/* Collects lines of text, of which the first are kept and the others counted. */

#define LINES_MAX 100

/* Initialise with {.arena = arena}. */
struct lines {
    struct arena *arena;
    const char *items[LINES_MAX];
    size_t n; /* may exceed LINES_MAX */
};

void lines_add(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In the arena. With too many lines, the last one gives the number left out. */
struct text_list lines_list(struct lines *lines);

#endif

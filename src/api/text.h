/*
 * text: parts of text answers: members of our own JSON, ages, shortened lists. Private to api.
 */
#ifndef API_TEXT_H
#define API_TEXT_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The string, borrowed; "" if absent. */
const char *text_member(const json_t *object, const char *key);
/* The integer in decimal; "" if absent. */
const char *text_number(const json_t *object, const char *key, struct arena *arena);
/* The number with three decimals; "" if absent. */
const char *text_decimal(const json_t *object, const char *key, struct arena *arena);

/* Both integers of the member: "12 -> 10"; one of them if they are equal. An absent one is "-". */
const char *text_change(const json_t *before, const json_t *after, const char *key,
                        struct arena *arena);
/* "NAMESPACE/NAME", of an object with these members. */
const char *text_pod(const json_t *pod, struct arena *arena);
/* "a/1": a domain with those that it is within. */
const char *text_domain(const json_t *domain, struct arena *arena);

/* Rounded down: "55.8" of thousandths of cores, "6Gi" of bytes. */
const char *text_cores(int64_t milli, struct arena *arena);
const char *text_gib(int64_t bytes, struct arena *arena);

/* "45s", "12m", "7h5m", "3d4h" */
const char *text_age(int64_t seconds, struct arena *arena);

/* RFC 3339, with milliseconds. at_ms: since 1970. */
const char *text_moment(int64_t at_ms, struct arena *arena);

/* The warnings of an answer, a line each. */
void text_write_warnings(const json_t *answer, struct arena *arena, struct buf *out);
/* The strings of a list, a line each, which begins so. */
void text_write_list(const json_t *list, const char *beginning, struct arena *arena,
                     struct buf *out);
/* What is wrong with the nodes, as a table after an empty line: the quarantine, their conditions,
 * and the taints of their devices. name: the member with the node's name. Only the first, unless
 * wide. */
void text_write_reports(const json_t *nodes, const char *name, bool wide, struct arena *arena,
                        struct buf *out);
/* The place "9:4:" that a fault begins with. Returns how long it is; 0: it has none. */
size_t text_place(const char *fault, size_t *ret_line, size_t *ret_column);
/* A copy of foreign text by buf_add_one_line(). */
const char *text_one_line(const char *text, struct arena *arena);

#define TEXT_NAMES_SHOWN ((size_t)6)

struct name_list {
    const char *text; /* initialize with "" */
    size_t n;
};

/* Whether further names are only counted; then text_names_add() accepts NULL. */
bool text_names_are_full(const struct name_list *shown);
void text_names_add(struct name_list *shown, const char *name, struct arena *arena);
/* "a, b, c, d, e, f and 3 more" */
const char *text_names(const struct name_list *shown, struct arena *arena);
/* "a", or "a and 8 more" for 9 names in all */
const char *text_first(const char *first, size_t n, struct arena *arena);

#endif

/*
 * string_table: strings that many objects share (node and namespace names, labels, names of
 * devices), each kept once and reference-counted. Equal strings of a table are one pointer.
 */
#ifndef TYPES_STRING_TABLE_H
#define TYPES_STRING_TABLE_H

#include "types/facts.h"

struct string;

struct string_table {
    struct string *table;
};

/* Returns the interned string and takes a reference. Each call needs one unref. */
const char *string_table_intern(struct string_table *strings, const char *text);
/* The interned string, without a reference; NULL: there is none. */
const char *string_table_find(const struct string_table *strings, const char *text);
/* Takes one more reference to an interned string, and returns it. */
const char *string_table_ref(const char *text);
void string_table_unref(struct string_table *strings, const char *text);

/* Returns labels sorted by key with interned strings. The caller releases them with
 * unref_labels. */
struct label *string_table_intern_labels(struct string_table *strings, const struct label *labels,
                                         size_t n);
void string_table_unref_labels(struct string_table *strings, struct label *labels, size_t n);
bool string_table_equal_labels(const struct label *a, size_t n_a, const struct label *b,
                               size_t n_b);

#endif

/*
 * string_table: texts that many objects of a ledger share (names of nodes and namespaces, labels),
 * each kept once and counted by its users. Private to ledger.
 */
#ifndef LEDGER_STRING_TABLE_H
#define LEDGER_STRING_TABLE_H

#include "types/facts.h"

struct string;

struct string_table {
    struct string *table;
};

/* The text, kept until what is returned here is unreferenced as often as it was interned. */
const char *string_table_intern(struct string_table *strings, const char *text);
void string_table_unref(struct string_table *strings, const char *text);

/* Sorted by key, their texts interned. */
struct label *string_table_intern_labels(struct string_table *strings, const struct label *labels,
                                         size_t n);
void string_table_unref_labels(struct string_table *strings, struct label *labels, size_t n);
bool string_table_equal_labels(const struct label *a, size_t n_a, const struct label *b,
                               size_t n_b);

#endif

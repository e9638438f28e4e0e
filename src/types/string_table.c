/* string_table: see include/types/string_table.h. */
#include "types/string_table.h"
#include "base/mem.h"
#include "base/table.h"
#include "types/selector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct string {
    size_t refs;
    UT_hash_handle hh;
    char text[];
};

/* Too frequent to be worth counting. */
static const char EMPTY[] = "";

const char *string_table_intern(struct string_table *strings, const char *text)
{
    if (!*text)
        return EMPTY;
    struct string *string = NULL;
    HASH_FIND_STR(strings->table, text, string);
    if (!string) {
        string = MEM_NEW_WITH_TEXT(struct string, text, text);
        HASH_ADD_STR(strings->table, text, string);
    }
    string->refs++;
    return string->text;
}

const char *string_table_find(const struct string_table *strings, const char *text)
{
    struct string *string = NULL;
    if (!*text)
        return EMPTY;
    HASH_FIND_STR(strings->table, text, string);
    return string ? string->text : NULL;
}

const char *string_table_ref(const char *text)
{
    if (text != EMPTY)
        CONTAINER_OF(text, struct string, text[0])->refs++;
    return text;
}

void string_table_unref(struct string_table *strings, const char *text)
{
    if (text == EMPTY)
        return;
    struct string *string = CONTAINER_OF(text, struct string, text[0]);
    if (--string->refs > 0)
        return;
    HASH_DEL(strings->table, string);
    free(string);
}

struct label *string_table_intern_labels(struct string_table *strings, const struct label *labels,
                                         size_t n)
{
    struct label *kept = MEM_ARRAY(struct label, n);
    for (size_t i = 0; i < n; i++) {
        kept[i].key = string_table_intern(strings, labels[i].key);
        kept[i].value = string_table_intern(strings, labels[i].value);
    }
    labels_sort(kept, n);
    return kept;
}

void string_table_unref_labels(struct string_table *strings, struct label *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        string_table_unref(strings, labels[i].key);
        string_table_unref(strings, labels[i].value);
    }
    free(labels);
}

bool string_table_equal_labels(const struct label *a, size_t n_a, const struct label *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++) {
        if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
            return false;
    }
    return true;
}

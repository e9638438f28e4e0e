/*
 * label_text: the labels of an object as one text, of which many objects may have the same.
 */
#ifndef OBJECTS_LABEL_TEXT_H
#define OBJECTS_LABEL_TEXT_H

#include "base/arena.h"
#include "types/facts.h"

#include <jansson.h>

/* The labels of one object. */
#define LABEL_TEXT_BYTES_MAX ((size_t)2048)
#define LABEL_TEXT_LABELS_MAX ((size_t)64)

/* "KEY=VALUE" and a newline for each label of the metadata, sorted by key; "": there are none.
 * NULL: they exceed a maximum, or no selector could mean them. In the arena. */
const char *label_text_read(const json_t *metadata, struct arena *arena);

struct label_set {
    size_t n;
    struct label labels[LABEL_TEXT_LABELS_MAX]; /* sorted by key */
    char text[LABEL_TEXT_BYTES_MAX + 1];        /* that they point to */
};
/* Reads such a text; of NULL there are none. */
void label_text_split(const char *text, struct label_set *ret_set);

#endif

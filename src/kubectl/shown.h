/*
 * shown: answers on standard output. Control characters of stored names never reach a terminal.
 */
#ifndef KUBECTL_SHOWN_H
#define KUBECTL_SHOWN_H

#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

/* Of tables that are not wide, and their sentences. */
#define SHOWN_COLUMNS ((size_t)80)

struct shown_style {
    bool has_headings; /* headings begin a table, and are in capitals */
    bool has_colour;   /* bold headings */
    bool is_wrapped;   /* sentences wrap as tables do */
};

/* A table of the API. */
void shown_add_table(const char *text, const struct shown_style *style, struct buf *out);
/* The JSON text as it is, with control characters escaped. */
void shown_add_json(const char *text, struct buf *out);
void shown_add_yaml(const json_t *value, struct buf *out);

#endif

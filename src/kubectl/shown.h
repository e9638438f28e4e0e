/*
 * shown: answers on standard output. Control characters of stored names never reach a terminal.
 */
#ifndef KUBECTL_SHOWN_H
#define KUBECTL_SHOWN_H

#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

struct shown_style {
    bool has_headings;
    bool has_colour; /* bold headings, verdicts in colours */
};

/* Tables of the API, with marked headings. */
void shown_add_table(const char *text, const struct shown_style *style, struct buf *out);
/* The JSON text as it is, with control characters escaped. */
void shown_add_json(const char *text, struct buf *out);
void shown_add_yaml(const json_t *value, struct buf *out);

#endif

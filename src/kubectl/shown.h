/*
 * shown: answers on standard output. Control characters of stored names never reach a terminal.
 */
#ifndef KUBECTL_SHOWN_H
#define KUBECTL_SHOWN_H

#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

/* A table of the API. Headings begin a table, and no name of Kubernetes is in capitals. */
void shown_add_table(const char *text, bool has_headings, struct buf *out);
/* The JSON text as it is, with control characters escaped. */
void shown_add_json(const char *text, struct buf *out);
void shown_add_yaml(const json_t *value, struct buf *out);

#endif

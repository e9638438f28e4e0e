/*
 * provenance: the source and age of an answer's data, and whether they are used for decisions.
 * Private to api.
 */
#ifndef API_PROVENANCE_H
#define API_PROVENANCE_H

#include "base/buf.h"
#include "inventory/inventory.h"

#include <jansson.h>

struct provenance {
    int64_t as_of_s;
    const char *source;
    bool live;
    struct err unusable; /* why kube-scheduler gets no decisions; "": it does */
};

/* Call before reading the data, so that asOf is never too late. In the arena. */
struct provenance provenance_of(struct inventory *inventory, struct arena *arena);
/* A JSON object with asOf, source, live, usable and unusableBecause. */
json_t *provenance_json(const struct provenance *provenance);
/* Writes a warning above a table if its data are not used for decisions, with their age. */
void provenance_write_warning(const json_t *answer, struct arena *arena, struct buf *out);

#endif

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
    struct err unusable;         /* why kube-scheduler gets no decisions; "": it does */
    struct err claims_uncounted; /* inventory_counts_claims(); "": they are counted */
    const char *claims_note;     /* inventory_view.claims_note */
};

/* Call before reading the data, so that asOf is never too late. In the arena. */
struct provenance provenance_of(struct inventory *inventory, struct arena *arena);
/* A JSON object with asOf, source, live, usable and unusableBecause. */
json_t *provenance_json(const struct provenance *provenance);
/* Adds claimsCounted, claimsNotCountedBecause and claimsNote. */
void provenance_add_claims(const struct provenance *provenance, json_t *answer);
/* Writes a warning above a table if its data are not used for decisions, with their age; and
 * claimsNotCountedBecause or claimsNote, if the answer has one. */
void provenance_write_warning(const json_t *answer, struct arena *arena, struct buf *out);

#endif

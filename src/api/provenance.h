/*
 * provenance: what an answer rests on: where the data is from, how old it is, and whether pods are
 * judged by it. Private to api.
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
    struct err unusable; /* why pods are not judged by the data for kube-scheduler; "": they are */
};

/* To be asked before the data is read, which is then no older than is said. In the arena. */
struct provenance provenance_of(struct inventory *inventory, struct arena *arena);
/* An object with asOf, source, live, usable and unusableBecause. */
json_t *provenance_json(const struct provenance *provenance);
/* The first lines of a table, where no decisions are made by what follows, and how old that is. */
void provenance_write_warning(const json_t *answer, struct arena *arena, struct buf *out);

#endif

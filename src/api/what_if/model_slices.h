/*
 * model_slices: the ResourceSlices of the model nodes of added nodes. Private to api.
 */
#ifndef API_WHAT_IF_MODEL_SLICES_H
#define API_WHAT_IF_MODEL_SLICES_H

#include "base/arena.h"
#include "base/table.h"
#include "ledger/edit.h"

struct model_slices {
    const char *node;
    struct edit_slices slices; /* in the arena; texts are the ledger's */
    UT_hash_handle hh;
};

/* Adds a model to the table. */
void model_slices_want(struct model_slices **table, const char *node, struct arena *arena);
/* Visits each slice of the ledger once. */
void model_slices_read(struct model_slices *table, const struct cluster *ledger,
                       struct arena *arena);
/* NULL: it is no model. */
struct model_slices *model_slices_find(struct model_slices *table, const char *node);

#endif

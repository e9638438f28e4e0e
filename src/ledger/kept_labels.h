/*
 * kept_labels: the labels of a node or a namespace, as the ledger keeps them. Private to ledger.
 */
#ifndef LEDGER_KEPT_LABELS_H
#define LEDGER_KEPT_LABELS_H

#include "types/facts.h"
#include "words.h"

/* Sorted by key, their texts held as words. */
struct label *kept_labels_new(struct words *words, const struct label *labels, size_t n);
void kept_labels_free(struct words *words, struct label *labels, size_t n);
bool kept_labels_equal(const struct label *a, size_t n_a, const struct label *b, size_t n_b);

#endif

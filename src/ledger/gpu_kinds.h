/*
 * gpu_kinds: which vendors' GPUs a node has, and which of its labels are about which of them:
 * struct gpu_kind in include/ledger/cluster.h. Private to ledger.
 */
#ifndef LEDGER_GPU_KINDS_H
#define LEDGER_GPU_KINDS_H

#include "ledger/cluster.h"
#include "types/string_table.h"

/* Whether the key is of the vendor's domain: "beta.amd.com/gpu.vram" of "amd.com". */
bool gpu_kinds_is_of_vendor(const char *key, const char *domain);
/* Sets gpus and others, with the models that labels name. The view must be set. */
void gpu_kinds_find(struct string_table *strings, const struct node_facts *facts,
                    struct node_traits *traits);
/* Makes the kinds of a shallow copy its own. */
void gpu_kinds_copy(struct string_table *strings, struct node_traits *copy);
void gpu_kinds_free(struct string_table *strings, struct node_traits *traits);
/* Of the same labels. */
bool gpu_kinds_equal(const struct node_traits *a, const struct node_traits *b);
/* The GPUs of that domain, also if the traits do not tell vendors apart; NULL: none. */
const struct gpu_kind *gpu_kinds_of_domain(const struct node_traits *traits, const char *domain);

#endif

/* facts: the oracle's objects as facts for dra/. */
#ifndef DEVICES_FACTS_H
#define DEVICES_FACTS_H

#include "base/arena.h"
#include "oracle.h"

/* "slice-3" and so on. */
const char *facts_name(struct arena *arena, const char *kind, size_t i);
struct slice_facts facts_of_slice(struct arena *arena, const struct oracle_slice *slice, size_t i);
struct claim_facts facts_of_claim(struct arena *arena, const struct oracle_claim *claim, size_t i);
struct device_taint_facts facts_of_rule(struct arena *arena, const struct oracle_rule *rule,
                                        size_t i);

#endif

/*
 * peer_terms: decodes what decides which pods may be near each other: a pod's labels, its required
 * affinity and anti-affinity between pods, and its hard topology spread constraints.
 *
 * Errors as in affinity.h. Preferences are left out.
 */
#ifndef OBJECTS_PEER_TERMS_H
#define OBJECTS_PEER_TERMS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>

/* metadata, spec: of a pod. On an error the labels are read if they could be. -E2BIG: the API
 * server allows it, but it has too many terms to judge. */
int peer_terms_read(const json_t *metadata, const json_t *spec, struct arena *arena,
                    struct peer_facts *ret_facts, struct err *err);
/* matchLabels and matchExpressions of the member; *ret_is_none: it is absent. */
int peer_terms_read_selector(const json_t *object, const char *member, struct arena *arena,
                             struct selector_term *ret_term, bool *ret_is_none, struct err *err);

#endif

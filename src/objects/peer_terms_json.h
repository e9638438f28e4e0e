/*
 * peer_terms_json: writes a pod's terms about other pods as the spec that they are read from.
 * Private to objects.
 */
#ifndef OBJECTS_PEER_TERMS_JSON_H
#define OBJECTS_PEER_TERMS_JSON_H

#include "types/facts.h"

#include <jansson.h>

/* Adds to affinity, and sets topologySpreadConstraints. */
void peer_terms_to_spec(const struct peer_facts *facts, json_t *spec);

#endif

/*
 * query_names: names in the query of a list that the cluster does not have: a list that is empty
 * because of a misspelt name must not look like an empty cluster. Private to api.
 */
#ifndef API_QUERY_NAMES_H
#define API_QUERY_NAMES_H

#include "api/api.h"
#include "http/exchange.h"

#include <jansson.h>

/* Adds `warnings`: a {path, message} for each of ?node=, ?resource=, ?model= and ?namespace= that
 * the cluster does not have, with the nearest that it has. Takes the inventory's lock. */
void query_names_add(const struct api *api, struct exchange *exchange, json_t *answer);
/* "; did you mean X?"; "": none is near. */
const char *query_names_near_node(const struct api *api, struct exchange *exchange,
                                  const char *name);

#endif

/*
 * pod_price: what it costs to judge a pod, estimated in advance, for the limits of an answer.
 * Private to api.
 */
#ifndef API_PODS_POD_PRICE_H
#define API_PODS_POD_PRICE_H

#include "types/facts.h"

/* On one node; 1 for an ordinary pod. Tenants may write hundreds of thousands of values into an
 * affinity, and each is compared with each node. */
size_t pod_price(const struct shape_facts *facts);

/* Other pods that are counted in the time of a verdict. */
#define PEERS_OF_A_VERDICT 8

#endif

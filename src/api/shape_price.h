/*
 * shape_price: how long it takes to judge a pod, before that is done. Private to api.
 *
 * A tenant may write hundreds of thousands of values into an affinity, and each node is compared
 * with each of them.
 */
#ifndef API_SHAPE_PRICE_H
#define API_SHAPE_PRICE_H

#include "core/facts.h"

/* Of one node; 1 for an ordinary pod. */
size_t shape_price(const struct shape_facts *facts);

#endif

/*
 * answer: JSON out of the door. Private to extender.
 */
#ifndef EXTENDER_ANSWER_H
#define EXTENDER_ANSWER_H

#include "http/exchange.h"

#include <jansson.h>

/* HTTP 200 with the value, which it takes over. */
void answer_json(struct exchange *exchange, json_t *value);
/* HTTP 200 with {"Error": text}: the only error that kube-scheduler reads (contract 0.1 no. 3). */
void answer_scheduler_error(struct exchange *exchange, const char *text);

#endif

/*
 * answer: JSON out of the door. Private to extender.
 *
 * Answers to thousands of names are written straight into text: as jansson values they cost more
 * than the decision (docs/BENCHMARKS.md).
 */
#ifndef EXTENDER_ANSWER_H
#define EXTENDER_ANSWER_H

#include "base/buf.h"
#include "http/exchange.h"

/* For the buffer of an answer: the limit on the question's body bounds it. */
#define ANSWER_MAX_BYTES (SIZE_MAX / 2)

/* HTTP 200 with the text, which is JSON; it takes the buffer's memory over. */
void answer_text(struct exchange *exchange, struct buf *text);
/* HTTP 200 with {"Error": text}: the only error that kube-scheduler reads (contract 0.1 no. 3). */
void answer_scheduler_error(struct exchange *exchange, const char *text);

#endif

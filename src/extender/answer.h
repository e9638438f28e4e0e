/*
 * answer: JSON out of the door, and what is put on record of it. Private to extender.
 *
 * Answers to thousands of names are written straight into text: as jansson values they cost more
 * than the decision (docs/BENCHMARKS.md).
 */
#ifndef EXTENDER_ANSWER_H
#define EXTENDER_ANSWER_H

#include "base/buf.h"
#include "decide/rank.h"
#include "extender/extender.h"
#include "http/exchange.h"

/* For the buffer of an answer: the limit on the question's body bounds it. */
#define ANSWER_MAX_BYTES BUF_UNBOUNDED

/* HTTP 200 with the text, which is JSON; it takes the buffer's memory over. */
void answer_text(struct exchange *exchange, struct buf *text);
/* HTTP 200 with {"Error": text}: the only error that kube-scheduler reads (contract 0.1 no. 3). */
void answer_scheduler_error(struct exchange *exchange, const char *text);

/* ---- put on record for people ---- */

/* Of a pod that is asked about; what is not set is for the caller to fill in. */
struct decision answer_record_of(enum decision_verb verb, const struct pod_facts *pod);
/* The first of ranked ones that are there. names: those that their positions are of. */
void answer_record_best(struct decision *decision, const struct ranked_node *ranked, size_t n,
                        const char *const *names);
/* Answered now; began_us: clock_us() when it was asked. */
void answer_record(const struct extender *extender, struct decision *decision, int64_t began_us);

/* What became of the call. */
void answer_count(struct extender *extender, enum decision_verb verb, enum verb_result result);

#endif

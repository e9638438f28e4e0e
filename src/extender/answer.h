/*
 * answer: writes JSON answers, and records them. Private to extender.
 *
 * Answers with thousands of names are written straight to text: as jansson values they would cost
 * more than the decision (docs/dev/BENCHMARKS.md).
 */
#ifndef EXTENDER_ANSWER_H
#define EXTENDER_ANSWER_H

#include "base/buf.h"
#include "decide/rank.h"
#include "extender/extender.h"
#include "http/exchange.h"

/* The limit on the request body bounds the answer. */
#define ANSWER_MAX_BYTES BUF_UNBOUNDED

/* Answers HTTP 200 with the JSON text and takes over the buffer's memory. */
void answer_text(struct exchange *exchange, struct buf *text);
/* HTTP 200 with {"Error": text}: the only error that kube-scheduler reads (PROTOCOL 2.1). */
void answer_scheduler_error(struct exchange *exchange, const char *text);

/* ---- the record of decisions ---- */

/* A record for this pod. The caller fills in the unset members. */
struct decision answer_record_of(enum decision_verb verb, const struct pod_facts *pod);
/* Records the first ranked nodes that exist. names: the names that ranked[].position refers to. */
void answer_record_best(struct decision *decision, const struct ranked_node *ranked, size_t n,
                        const struct hashed_text *names);
/* Stores the decision as answered now. began_us: clock_us() at the start of the call. */
void answer_record(const struct extender *extender, struct decision *decision, int64_t began_us);

/* Counts the result of one call. */
void answer_count(struct extender *extender, enum decision_verb verb, enum verb_result result);

#endif

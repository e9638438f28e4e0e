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
#include "extender/args.h"
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
/* Records the first places whose nodes exist. names: the names that their positions refer to. */
void answer_record_best(struct decision *decision, struct rank_place *const *places, size_t n,
                        const struct hashed_text *names);
/* Stores the decision as answered now. began_us: clock_us() at the start of the call. */
void answer_record(const struct extender *extender, struct decision *decision, int64_t began_us);

/* Counts the result of one call. */
void answer_count(struct extender *extender, enum decision_verb verb, enum verb_result result);

/* ---- the policy of one call ---- */

/* The policy in force now, valid until the exchange is over. Call it once, before the answer. */
const struct policy *in_force(const struct extender *extender, struct exchange *exchange);

/* ---- records what mode: enforce would have done with a pod that is only observed ---- */

/* Call it before the answer, so that the watch cannot show the pod's node first.
 * verdicts: in the order of args->names; NULL: the data allow no decision. would_retry: if no node
 * is left, kube-scheduler would have been asked to retry. */
void observes_filter(const struct extender *extender, const struct args *args,
                     const enum reason *verdicts, bool would_retry);

#endif

/*
 * note: an answer to kube-scheduler, put on record for people. Private to extender.
 */
#ifndef EXTENDER_NOTE_H
#define EXTENDER_NOTE_H

#include "core/rank.h"
#include "extender/extender.h"

/* Of a pod that is asked about; what is not set is for the caller to fill in. */
struct decision note_of_pod(enum decision_verb verb, const struct pod_facts *pod);
/* The first of ranked ones that are there. names: those that their positions are of. */
void note_best(struct decision *decision, const struct ranked_node *ranked, size_t n,
               const char *const *names);
/* Answered now; began_us: clock_us() when it was asked. */
void note_answer(const struct extender *extender, struct decision *decision, int64_t began_us);

/* What became of the call. */
void note_result(struct extender *extender, enum decision_verb verb, enum verb_result result);

#endif

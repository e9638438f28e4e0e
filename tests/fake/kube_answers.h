/* kube_answers: constructors of outcomes of a request to the API server. */
#ifndef KUBE_ANSWERS_H
#define KUBE_ANSWERS_H

#include "kube/request.h"

#include <string.h>

/* Borrows the body. */
static inline struct kube_answer kube_answered(int64_t at_ms, unsigned status, const char *body)
{
    return (struct kube_answer){.outcome = KUBE_ANSWERED,
                                .at_ms = at_ms,
                                .status = status,
                                .retry_after_s = -1,
                                .body = body,
                                .body_len = strlen(body),
                                .why = ""};
}

/* For the other outcomes. */
static inline struct kube_answer kube_unanswered(int64_t at_ms, enum kube_outcome outcome,
                                                 const char *why)
{
    return (struct kube_answer){
        .outcome = outcome, .at_ms = at_ms, .retry_after_s = -1, .body = "", .why = why};
}

#endif

/*
 * question: a request whose answer is collected whole and told once: what a loop's sender sends.
 */
#ifndef KUBE_QUESTION_H
#define KUBE_QUESTION_H

#include "stream.h"

/* Any thread. A stream for a loop's streams, with the question as its handler; both end together.
 */
struct kube_stream *question_new(const struct kube_request *request, size_t max_answer_bytes,
                                 kube_done *done, void *context);

#endif

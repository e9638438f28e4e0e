/*
 * request_text: what is told of a request that came to nothing.
 */
#ifndef KUBE_REQUEST_TEXT_H
#define KUBE_REQUEST_TEXT_H

#include "base/buf.h"
#include "kube/request.h"

/* Replaces what is in out: "PUT /apis/...: 403: the Status's message". */
void request_explain(struct buf *out, const char *method, const char *path,
                     const struct kube_answer *answer);

#endif

/*
 * request_text: the object in an answer of the API server, or the reason why there is none.
 */
#ifndef KUBE_LEADERSHIP_REQUEST_TEXT_H
#define KUBE_LEADERSHIP_REQUEST_TEXT_H

#include "base/buf.h"
#include "kube/request.h"

#include <jansson.h>

/* Returns the JSON of an answer with status 200 or 201; the caller owns it. NULL: the request got
 * another status or no answer, or the body is no JSON. */
json_t *request_text_object(const struct kube_answer *answer);
/* Replaces the text in out with the failure: "PUT /apis/...: 403: the Status's message". */
void request_text_explain(struct buf *out, const char *method, const char *path,
                          const struct kube_answer *answer);

#endif

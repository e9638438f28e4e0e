/*
 * request_text: what an answer of the API server says: the object in it, or why there is none.
 */
#ifndef KUBE_LEADERSHIP_REQUEST_TEXT_H
#define KUBE_LEADERSHIP_REQUEST_TEXT_H

#include "base/buf.h"
#include "kube/request.h"

#include <jansson.h>

/* The JSON of an answer of 200 or 201, the caller's; NULL: it is another, or has none. */
json_t *request_text_object(const struct kube_answer *answer);
/* Replaces what is in out: "PUT /apis/...: 403: the Status's message". */
void request_text_explain(struct buf *out, const char *method, const char *path,
                          const struct kube_answer *answer);

#endif

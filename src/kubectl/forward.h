/*
 * forward: answers a request of the page by asking the same of kubectl, or of a service by its URL,
 * as the user of kubectl gpu.
 */
#ifndef KUBECTL_FORWARD_H
#define KUBECTL_FORWARD_H

#include "arguments.h"
#include "child.h"
#include "http/exchange.h"

struct forward {
    const struct arguments *arguments;
    struct child_bound bound; /* of each request */
};

/* A route below /v1/: context is the struct forward. Errors of the API are passed on, but a 401 is
 * a 502: it is not the browser that lacks credentials. The answer has an ETag; answers that differ
 * only in the time have the same. Blocks until there is an answer. */
void forward_handle(void *context, struct exchange *exchange);

#endif

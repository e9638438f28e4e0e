/*
 * head: the URL and the header lines of a request, as text; only lines that libcurl does not add
 * itself.
 */
#ifndef KUBE_TRANSPORT_HEAD_H
#define KUBE_TRANSPORT_HEAD_H

#include "client.h"
#include "endpoint.h"

#define HEAD_MAX_LINES 5

struct head {
    char *url;
    char *lines[HEAD_MAX_LINES]; /* "Accept: application/json"; "Expect:" removes that header */
    size_t n_lines;
};

void head_init(struct head *head, const struct endpoint *endpoint,
               const struct transfer_request *request);
void head_fini(struct head *head);

/* Reads Retry-After, in seconds; -1: a date, or not a number. */
int64_t head_retry_after_s(const char *value);

#endif

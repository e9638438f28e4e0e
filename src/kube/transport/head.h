/*
 * head: what a request says in front of its body, as text: its URL and the lines of its header that
 * an HTTP library does not make by itself.
 */
#ifndef KUBE_TRANSPORT_HEAD_H
#define KUBE_TRANSPORT_HEAD_H

#include "client.h"
#include "endpoint.h"

#define HEAD_MAX_LINES 5

struct head {
    char *url;
    char *lines[HEAD_MAX_LINES]; /* "Accept: application/json"; "Expect:" is to be left out */
    size_t n_lines;
};

void head_init(struct head *head, const struct endpoint *endpoint,
               const struct transfer_request *request);
void head_fini(struct head *head);

/* Of an answer: the value of Retry-After in seconds; -1: none, which a date counts as. */
int64_t head_retry_after_s(const char *value);

#endif

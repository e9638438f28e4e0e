/*
 * answer_text: what an HTTP library says of an answer, or of why there is none, as it may be used
 * and told.
 */
#ifndef KUBE_ANSWER_TEXT_H
#define KUBE_ANSWER_TEXT_H

#include <stdint.h>

/* The value of Retry-After in seconds; -1: none, which a date counts as. */
int64_t answer_text_retry_after_s(const char *value);
/* The first line of it, cut in place; NULL: there is none that may be told, as an address in it may
 * have a password. */
const char *answer_text_fault(char *text);

#endif

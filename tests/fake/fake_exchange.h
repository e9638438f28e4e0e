/*
 * fake_exchange: handlers asked without HTTP. Stands in for the http library's exchange in tests;
 * what a handler may do with an exchange only until its answer is gone once it has answered, so
 * that AddressSanitizer sees who looks back.
 */
#ifndef FAKE_EXCHANGE_H
#define FAKE_EXCHANGE_H

#include "http/exchange.h"

#include <stdbool.h>

typedef void handle_exchange(void *context, struct exchange *exchange);

struct fake_question {
    const char *body;
    size_t len;
    const char *output; /* the value of ?output=; NULL: it is not there */
    const char *const (
        *query)[2]; /* the rest of it, names and values; ended by a name that is NULL; NULL: none */
    const char *path;          /* NULL: "/" */
    const char *method;        /* NULL: "POST" */
    const char *authorization; /* the header; NULL: it is not there */
};

/* The status of an exchange that was not answered but handed on to its handler. */
#define FAKE_PASSED 0U

struct fake_answer {
    unsigned status;
    const char *content_type;
    char *body; /* NUL-terminated */
    size_t len;
    unsigned flags;
};

/* Aborts where the handler does not answer exactly once before it returns. */
struct fake_answer fake_ask(handle_exchange *handle, void *context,
                            const struct fake_question *question);
/* The same where the answer may come later: fake_end() takes it. */
struct exchange *fake_begin(handle_exchange *handle, void *context,
                            const struct fake_question *question);
/* Not to be asked while another thread may answer. */
bool fake_is_answered(const struct exchange *exchange);
/* Aborts where there is no answer yet. */
struct fake_answer fake_end(struct exchange *exchange);
void fake_answer_fini(struct fake_answer *answer);

#endif

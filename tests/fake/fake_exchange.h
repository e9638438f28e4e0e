/*
 * fake_exchange: calls handlers without HTTP, in place of the http library's exchange. One that
 * defers its exchange is called again at once, on the same thread. Data that a
 * handler may use only until its answer are freed when it answers, so that AddressSanitizer detects
 * later use.
 */
#ifndef FAKE_EXCHANGE_H
#define FAKE_EXCHANGE_H

#include "http/exchange.h"

#include <stdbool.h>

typedef void handle_exchange(void *context, struct exchange *exchange);

struct fake_question {
    const char *body;
    size_t len;
    const char *output;            /* the value of ?output=; NULL: absent */
    const char *const (*query)[2]; /* other names and values; a NULL name ends them; NULL: none */
    const char *path;              /* NULL: "/" */
    const char *method;            /* NULL: "POST" */
    const char *authorization;     /* the header; NULL: absent */
    uint64_t network;              /* of the client */
};

/* Status of an exchange that was passed to its handler instead of answered. */
#define FAKE_PASSED 0U

struct fake_answer {
    unsigned status;
    const char *content_type;
    char *body; /* NUL-terminated */
    size_t len;
    unsigned flags;
    bool has_tag; /* an ETag */
    bool was_deferred;
    uint64_t caller; /* by the gate */
};

/* Aborts unless the handler answers exactly once before it returns. */
struct fake_answer fake_ask(handle_exchange *handle, void *context,
                            const struct fake_question *question);
/* The same for an answer that may come later; fake_end() takes it. */
struct exchange *fake_begin(handle_exchange *handle, void *context,
                            const struct fake_question *question);
/* Not while another thread may answer. */
bool fake_is_answered(const struct exchange *exchange);
/* Aborts if there is no answer yet. */
struct fake_answer fake_end(struct exchange *exchange);
void fake_answer_fini(struct fake_answer *answer);

#endif

/*
 * exchange: one HTTP request and its answer, without any HTTP library in sight.
 *
 * A handler gets the exchange with the whole body. It answers now, or keeps the pointer and answers
 * later from any thread; it must answer exactly once, also when the client has gone meanwhile
 * (exchange_has_left()). After exchange_answer() the exchange is gone.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

/* All of these are borrowed until the answer is given. */
const char *exchange_method(const struct exchange *exchange);
/* Decoded, without the query. (%00 stays encoded, here and in the query.) */
const char *exchange_path(const struct exchange *exchange);
/* The decoded value of ?name=...; NULL if it is not there, "" if it has no value. */
const char *exchange_query(const struct exchange *exchange, const char *name);
/* The names in the order of the query, by 0, 1, ...; NULL at their end. */
const char *exchange_query_name(const struct exchange *exchange, size_t index);
/* A request header, in any case; NULL if it is not there. */
const char *exchange_header(const struct exchange *exchange, const char *name);
/* NUL-terminated, *ret_len may be NULL. */
const char *exchange_body(const struct exchange *exchange, size_t *ret_len);
/* Unique within the process, in every log line about this request. */
uint64_t exchange_id(const struct exchange *exchange);
/* Memory that lives until the answer is given. */
struct arena *exchange_arena(struct exchange *exchange);

/* Who asks, by the subject of a client certificate that was found good for this very request. */
struct exchange_peer {
    const char *common_name;          /* "" if it has none */
    const char *const *organizations; /* ended by NULL */
};
/* NULL: there is none, or none that is trusted (now). */
const struct exchange_peer *exchange_peer(const struct exchange *exchange);
/* Why there is none, a literal: "there is no client certificate", "the client certificate ..." */
const char *exchange_peer_fault(const struct exchange *exchange);

/* Whether the client has closed its connection, or at least its side of it, or it was reset. From
 * any thread, until the answer is given. */
bool exchange_has_left(struct exchange *exchange);

enum exchange_flags {
    EXCHANGE_CLOSE = 1, /* Connection: close, as the last answer on it */
    EXCHANGE_RETRY = 2, /* Retry-After: 1 */
};

/* Takes ownership of body (malloc'ed; NULL with len 0 = empty). content_type is a literal.
 * Content-Length is always set; a 401 says WWW-Authenticate: Bearer. May be called from any thread,
 * exactly once. */
void exchange_answer(struct exchange *exchange, unsigned status, const char *content_type,
                     char *body, size_t len, unsigned flags);

/* {"error": message} with the status, newline at its end. The message may hold any bytes. */
void exchange_answer_error(struct exchange *exchange, unsigned status, const char *message);
/* The same with 503 and Retry-After: what is asked for is being done for somebody else. */
void exchange_answer_busy(struct exchange *exchange, const char *message);

/* Instead of an answer, by a gate that was asked (server.h): the request goes on to its handler,
 * which runs on a thread of the server. For the gate the exchange is gone then. */
void exchange_pass(struct exchange *exchange);

/* For an answer that is so large that there should be few of them: done(context) is called, from
 * any thread, when the exchange is over and the answer sent or thrown away. To be said before it is
 * answered. */
void exchange_on_end(struct exchange *exchange, void (*done)(void *context), void *context);

#endif

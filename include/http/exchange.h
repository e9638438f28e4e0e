/*
 * exchange: one HTTP request and its answer, independent of any HTTP library.
 *
 * A handler gets the exchange with the complete body. It answers at once, or keeps the pointer and
 * answers later from any thread. It must answer exactly once, even after the client has left
 * (exchange_has_left()). After exchange_answer() the exchange must not be used.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

/* A parameter of a path's query. */
struct parameter {
    const char *name;          /* NULL ends the list */
    const char *const *values; /* ends with NULL. NULL: any value, up to the handler */
    long least, most;          /* of a whole number; 0: no number */
};

/* Why the query does not suit the list of parameters, in the arena; NULL: it does. */
const char *exchange_query_fault(struct exchange *exchange, const struct parameter *known);

/* Strings are borrowed until the answer. */
const char *exchange_method(const struct exchange *exchange);
/* Decoded, without the query. (%00 stays encoded, here and in the query.) */
const char *exchange_path(const struct exchange *exchange);
/* The decoded value of ?name=...; NULL: absent, "": without a value. */
const char *exchange_query(const struct exchange *exchange, const char *name);
/* The value of a parameter with least and most; otherwise if it is absent. */
long exchange_query_number(const struct exchange *exchange, const char *name, long otherwise);
/* The names in the order of the query, by index from 0; NULL past the end. */
const char *exchange_query_name(const struct exchange *exchange, size_t index);
/* A request header, by name in any case; NULL: absent. */
const char *exchange_header(const struct exchange *exchange, const char *name);
/* Calls each(context, name, value) for all headers, in their order. */
void exchange_each_header(const struct exchange *exchange,
                          void (*each)(void *context, const char *name, const char *value),
                          void *context);
/* NUL-terminated; ret_len may be NULL. */
const char *exchange_body(const struct exchange *exchange, size_t *ret_len);
/* The same for a reader that changes it, within its length, and is the last one. */
char *exchange_own_body(struct exchange *exchange, size_t *ret_len);
/* Unique within the process; part of every log line about this request. */
uint64_t exchange_id(const struct exchange *exchange);
/* Memory that lives until the answer. */
struct arena *exchange_arena(struct exchange *exchange);

/* The caller's identity, from the subject of a client certificate verified for this request. */
struct exchange_peer {
    const char *common_name;          /* "" if absent */
    const char *const *organizations; /* NULL-terminated */
};
/* NULL: no certificate, or none that is trusted now. */
const struct exchange_peer *exchange_peer(const struct exchange *exchange);
/* The reason for NULL, a literal: "there is no client certificate", "the client certificate ..." */
const char *exchange_peer_fault(const struct exchange *exchange);

/* The same of a front proxy: verified against the authorities of tls_trust_front() and no others.
 * Only a gate's judge() may call it. NULL: *ret_fault is the reason, a literal. */
const struct exchange_peer *exchange_front(const struct exchange *exchange, const char **ret_fault);

/* The client's network: its IPv4 address, or the /64 of its IPv6 address, as nobody is given less
 * than that. 0: unknown, as in http/local.h. */
uint64_t exchange_network(const struct exchange *exchange);

/* Whether the client has closed or reset its connection, or its sending side. From any thread,
 * until the answer. */
bool exchange_has_left(struct exchange *exchange);

enum exchange_flags {
    EXCHANGE_CLOSE = 1, /* Connection: close, so the last answer on it */
    EXCHANGE_RETRY = 2, /* Retry-After: 1 */
    EXCHANGE_PAGE = 4,  /* a file for a browser, with the headers that confine it */
};

/* Takes ownership of body (malloc'ed; NULL with len 0: empty). content_type is a literal. Sets
 * Content-Length, and WWW-Authenticate: Bearer on a 401. From any thread, exactly once. */
void exchange_answer(struct exchange *exchange, unsigned status, const char *content_type,
                     char *body, size_t len, unsigned flags);

/* A 301 without body: the path, a literal that may be relative, is the header Location. */
void exchange_answer_moved(struct exchange *exchange, const char *location);

/* The validator of the answer, borrowed until its end: W/"...", the value of the header ETag. Set
 * it before the answer; a 200 and a 304 carry it. */
void exchange_set_tag(struct exchange *exchange, const char *tag);
/* Whether the client has the answer of this tag, by If-None-Match: then 304 without body will do.
 */
bool exchange_knows_tag(const struct exchange *exchange, const char *tag);

/* For a handler whose answer may take long: returns true if it must return now. The server's thread
 * for such answers then calls it again for the same exchange, or there is no room and the answer is
 * 503. Returns false on that thread, and where there is none (http/local.h). */
bool exchange_defer(struct exchange *exchange);

/* {"error": message} and a newline; with ?output=table "error: message". Below /apis and /openapi a
 * Status of Kubernetes (metav1.Status). The message may contain any bytes. */
void exchange_answer_error(struct exchange *exchange, unsigned status, const char *message);
/* The same with 503 and Retry-After: the service is busy with such work for other callers. */
void exchange_answer_busy(struct exchange *exchange, const char *message);
/* The same, and the connection closes: another replica has the answer, and the next connection may
 * lead there. */
void exchange_answer_elsewhere(struct exchange *exchange, const char *message);

/* A gate's ask() calls this instead of answering (server.h): the request goes on to its handler, on
 * a thread of the server. The gate must not use the exchange afterwards. */
void exchange_pass(struct exchange *exchange);

/* A number that the gate leaves for the handler; 0 until it is set. */
void exchange_set_note(struct exchange *exchange, int note);
int exchange_note(const struct exchange *exchange);

/* A value that the gate's judge() leaves for its ask() and for the handler; NULL until it is set.
 * It must live until the answer. */
void exchange_set_memo(struct exchange *exchange, const void *memo);
const void *exchange_memo(const struct exchange *exchange);

/* Only in a gate: who asks, equal for all requests of a user. Callers take turns on the thread of
 * exchange_defer(), and each gets half of its places at most; 0, the default, is unknown. */
void exchange_set_caller(struct exchange *exchange, uint64_t caller);

/* Calls done(context), on any thread, when the exchange is over and its answer sent or dropped: to
 * limit the number of large answers, or to release what the request used. Call it before the
 * answer; each call adds one. */
void exchange_on_end(struct exchange *exchange, void (*done)(void *context), void *context);

#endif

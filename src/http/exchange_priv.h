/*
 * exchange_priv: the server's side of an exchange.
 *
 * An exchange has two owners: the transport, from the header to the end of the request; and a gate
 * or the handler, from exchange_lend() to its answer. The last owner frees it, so gates and
 * handlers may answer after the client, and even the server, is gone. Independent of any HTTP
 * library.
 */
#ifndef HTTP_EXCHANGE_PRIV_H
#define HTTP_EXCHANGE_PRIV_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/mutex.h"
#include "http/exchange.h"
#include "http/server.h"

#include <stdatomic.h>
#include <stdbool.h>

struct worker;

struct answer {
    unsigned status;
    const char *content_type;
    const char *allow;    /* of a 405, else NULL */
    const char *tag;      /* exchange_set_tag(), else NULL */
    const char *location; /* of a 301, else NULL */
    char *body;           /* malloc'ed, NULL when empty */
    size_t len;
    bool close;
    bool retry;   /* Retry-After */
    bool is_page; /* headers that confine a page */
};

/* How a transport suspends a connection until its answer is there, and resumes it. */
struct parking {
    void (*suspend)(void *connection);
    void (*resume)(void *connection); /* from any thread */
    void *connection;
};

struct exchange_pair {
    const char *name;
    const char *value;
    struct exchange_pair *next;
};

/* exchange_on_end() */
struct exchange_end {
    void (*done)(void *context);
    void *context;
    struct exchange_end *next;
};

struct exchange {
    /* Constant after the header. */
    uint64_t id;
    struct arena *arena;
    const char *method;
    const char *path;
    struct exchange_pair *headers;
    struct exchange_pair *query;
    const struct route *route; /* NULL: unknown path */
    struct worker *worker;     /* NULL: there is none */
    const struct exchange_peer *peer;
    const char *peer_fault;
    enum gate_verdict verdict;
    bool has_tls;     /* of the connection */
    bool is_loopback; /* the listening address */
    uint64_t network; /* of the client */
    int note;         /* of the gate */
    const void *memo; /* of the gate */
    uint64_t caller;  /* by the gate; 0: unknown */
    /* Verifies the certificate of the session; NULL after judge(), as the session may end. */
    const struct exchange_peer *(*front)(void *session, struct arena *arena,
                                         const char **ret_fault);
    void *session;

    /* Only on the transport's thread. */
    struct buf body;
    uint64_t started_ns;
    size_t max_parameters; /* how many it may have, if it has more; else 0 */
    size_t received_bytes; /* of the body, kept or not */
    size_t held_bytes;     /* of the body, counted in bodies */
    size_t answer_bytes;   /* of a large answer, counted in bodies */
    size_t linger_bytes;   /* after a cut-off: still to be read and dropped */
    bool lent;
    bool cut_off;
    bool recorded;
    bool deferred;  /* by exchange_defer(); only its handler accesses it */
    bool under_way; /* counted in in_flight */
    bool listed;    /* in in_flight's list of parked ones */

    /* Guarded by in_flight.lock. */
    struct exchange *prev;
    struct exchange *next;

    atomic_uint n_owners;
    struct mutex lock; /* guards the rest */
    bool answered;
    bool passed;     /* by its gate; the transport's thread has not seen it yet */
    bool taken_back; /* the server has answered instead of the handler */
    struct answer answer;
    struct parking parked;              /* resume NULL: not parked */
    bool (*has_left)(void *connection); /* NULL: do not access the connection */
    void *watched;                      /* the connection */

    const char *tag;           /* set before the answer */
    const char *location;      /* as well */
    struct exchange_end *ends; /* added before the answer; called by the last owner */
};

/* Copies its arguments. The transport owns the result. */
struct exchange *exchange_new(const char *method, const char *path, size_t max_body_bytes);
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);
void exchange_add_query(struct exchange *exchange, const char *name, const char *value);
/* has_left() returns whether the client has closed the connection. It may be called on any thread
 * until this is called with NULL, before the connection ends. */
void exchange_watch(struct exchange *exchange, bool (*has_left)(void *connection),
                    void *connection);
/* Makes a gate or a handler the second owner. */
void exchange_lend(struct exchange *exchange);
/* The gate that judged the exchange has not answered, and no longer owns it. */
void exchange_return(struct exchange *exchange);
/* Returns true once after exchange_pass(): the exchange may be lent to its handler. */
bool exchange_take_pass(struct exchange *exchange);
/* Removes one owner; the last frees all. */
void exchange_drop(struct exchange *exchange);

/* As exchange_answer_error(); flags: EXCHANGE_CLOSE and EXCHANGE_RETRY. */
struct answer exchange_error(const struct exchange *exchange, unsigned status, const char *message,
                             unsigned flags);
/* Answers with an error as the server; allow may be NULL. Not after exchange_lend(). */
void exchange_refuse(struct exchange *exchange, unsigned status, const char *message,
                     const char *allow, unsigned flags);
bool exchange_is_answered(struct exchange *exchange);
/* The answer must exist; the caller owns its body. */
struct answer exchange_take_answer(struct exchange *exchange);

/* Suspends the connection until the answer or the pass. Returns false and does nothing if either is
 * there. */
bool exchange_park(struct exchange *exchange, const struct parking *parking);
/* Answers 503 unless there is an answer; a later answer of the gate or handler is dropped. Returns
 * whether it did. */
bool exchange_take_back(struct exchange *exchange);

/* ---- routes ---- */
/* Finds the row of the route table for a method and a path on a listener. The longest matching
 * path decides; the only pattern is a trailing '/', which matches all below it. */

struct route_match {
    const struct route *route; /* of that path, perhaps with another method; NULL: unknown path */
    const char *allow;         /* the methods of that path, if the method is not among them */
};

struct route_match routes_find(const struct route *routes, unsigned listeners, const char *method,
                               const char *path, struct arena *arena);
/* The routes of a listener, for messages: "POST /scheduler/filter, GET /v1/pods/...". */
const char *routes_text(const struct route *routes, unsigned listeners, struct arena *arena);

#endif

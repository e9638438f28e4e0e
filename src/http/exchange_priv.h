/*
 * exchange_priv: what the server's own side sees of an exchange.
 *
 * An exchange has two owners, the transport (from the header to the end of the request) and, from
 * exchange_lend() to its answer, a gate or the handler. The last one frees it, so those may answer
 * when the client, and even the server, is gone. No HTTP library in sight here either.
 */
#ifndef HTTP_EXCHANGE_PRIV_H
#define HTTP_EXCHANGE_PRIV_H

#include "base/buf.h"
#include "base/mutex.h"
#include "http/exchange.h"
#include "http/server.h"

#include <stdatomic.h>
#include <stdbool.h>

struct answer {
    unsigned status;
    const char *content_type;
    const char *allow; /* of a 405, else NULL */
    char *body;        /* malloc'ed, NULL when empty */
    size_t len;
    bool close;
    bool retry; /* Retry-After */
};

/* How a transport lets go of a connection until its answer is there, and takes it up again. */
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

struct exchange {
    /* Constant once the header is read. */
    uint64_t id;
    struct arena *arena;
    const char *method;
    const char *path;
    struct exchange_pair *headers;
    struct exchange_pair *query;
    const struct route *route; /* NULL: no such path */
    const struct exchange_peer *peer;
    const char *peer_fault;
    enum gate_verdict verdict;

    /* The transport's thread only. */
    struct buf body;
    uint64_t started_ns;
    size_t received_bytes; /* of the body, kept or not */
    size_t held_bytes;     /* of it, counted in bodies */
    size_t answer_bytes;   /* of a large answer, counted there */
    size_t linger_bytes;   /* cut off: so much more is read and thrown away */
    bool lent;
    bool cut_off;
    bool recorded;
    bool under_way; /* counted in in_flight */
    bool listed;    /* as parked, in in_flight */

    /* in_flight's lock. */
    struct exchange *prev;
    struct exchange *next;

    atomic_uint n_owners;
    struct mutex lock; /* guards the rest */
    bool answered;
    bool passed;     /* by its gate, which the transport's thread has not seen yet */
    bool taken_back; /* the server has answered in the handler's place */
    struct answer answer;
    struct parking parked;              /* resume is NULL unless parked */
    bool (*has_left)(void *connection); /* NULL: the connection must not be looked at */
    void *watched;                      /* the connection */

    /* Set before the answer, called by the last owner. */
    void (*on_end)(void *context);
    void *on_end_context;
};

/* Copies what it is given. The transport owns it. */
struct exchange *exchange_new(const char *method, const char *path, size_t max_body_bytes);
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);
void exchange_add_query(struct exchange *exchange, const char *name, const char *value);
/* has_left says of the connection whether its client has closed it, from any thread, until it is
 * NULL here: before the connection ends. */
void exchange_watch(struct exchange *exchange, bool (*has_left)(void *connection),
                    void *connection);
/* Makes a gate or a handler the second owner. */
void exchange_lend(struct exchange *exchange);
/* The gate that judged it did not answer, and has it no more. */
void exchange_return(struct exchange *exchange);
/* True once after exchange_pass(): it may be lent again, to its handler. */
bool exchange_take_pass(struct exchange *exchange);
/* One owner less; the last one frees all. */
void exchange_drop(struct exchange *exchange);

/* {"error": message}, and of the flags EXCHANGE_CLOSE and EXCHANGE_RETRY. */
struct answer exchange_error(unsigned status, const char *message, unsigned flags);
/* Answers {"error": message} for the server itself; allow may be NULL. Not once lent. */
void exchange_refuse(struct exchange *exchange, unsigned status, const char *message,
                     const char *allow, unsigned flags);
bool exchange_is_answered(struct exchange *exchange);
/* The answer, which must be there; its body now belongs to the caller. */
struct answer exchange_take_answer(struct exchange *exchange);

/* Suspends the connection until the answer or the pass comes. False, and nothing done, if one is
 * there. */
bool exchange_park(struct exchange *exchange, const struct parking *parking);
/* Answers 503 in the place of the gate or the handler unless there is an answer; what they say
 * later is dropped. */
bool exchange_take_back(struct exchange *exchange);

#endif

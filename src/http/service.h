/*
 * service: processing of a request from its header to its answer, independent of the HTTP library:
 * route, gate, rejection, handler, counters, log. The transport calls these on the thread of the
 * request's connection, in the order below.
 */
#ifndef HTTP_SERVICE_H
#define HTTP_SERVICE_H

#include "base/mutex.h"
#include "bodies.h"
#include "connection_table.h"
#include "exchange_priv.h"
#include "worker.h"

/* The requests in flight, and those of them that are parked until a later answer or pass. A stop
 * waits for the former and takes back the latter.
 *
 * Lock order: in_flight, exchange, HTTP library. */
struct in_flight {
    struct mutex lock;
    pthread_cond_t changed;
    size_t n;
    bool closed; /* no exchange is parked any more */
    struct exchange *parked;
};

/* Waits until none is left or the time is over. Returns the number left. */
size_t in_flight_wait(struct in_flight *flight, unsigned timeout_ms);
/* Answers all parked exchanges with 503, and later ones instead of parking them. Returns the number
 * answered. */
size_t in_flight_close(struct in_flight *flight);

struct service {
    const struct route *routes;
    size_t max_body_bytes;
    size_t max_user_body_bytes;
    struct bodies bodies;
    struct traffic *traffic;
    struct in_flight in_flight;
    struct worker worker; /* server.c starts and stops it */
    atomic_bool draining;
    atomic_uint_fast64_t next_warning_ns; /* failures before this are logged at debug level */
};

void service_init(struct service *service, const struct route *routes,
                  const struct server_settings *settings);
void service_fini(struct service *service);

/* Whether proxies may see another end of the body than this server: there are several
 * Content-Length or Transfer-Encoding headers, or both. Source: RFC 9112, 6.1 and 6.3. */
bool service_is_ambiguous(const struct exchange *exchange);

/* The header is complete: finds the route, asks its gate, and answers requests that no handler may
 * see. */
void service_open(struct service *service, unsigned listeners, struct exchange *exchange);
/* Most bytes of the request's body. Call it after service_open(). */
size_t service_max_body(const struct service *service, const struct exchange *exchange);
/* Makes room for a body of so many bytes, so that it does not move while it grows. */
void service_expect_body(struct exchange *exchange, size_t n_bytes);
/* Adds a piece of the body, unless no handler needs it (with GET). Answers 503 if too much is
 * held. */
void service_add_body(struct service *service, struct exchange *exchange, const void *bytes,
                      size_t len);
/* A body exceeds the limit: answers 413 unless already answered. */
void service_refuse_body(struct service *service, struct exchange *exchange);
/* The request is complete: calls the gate or the handler. Returns true if the answer is there.
 * Otherwise the connection is suspended; call this again once it is resumed. */
bool service_run(struct service *service, struct exchange *exchange, const struct parking *parking);
/* The answer is about to be sent: counts and logs it; a failure is a warning at most once a second.
 * Replaces a large answer by a 503 if too many large ones are unsent. Returns true if it must say
 * Connection: close. */
bool service_record(struct service *service, struct exchange *exchange, struct answer *answer);
/* The client's number, if the request is admitted to the main routes of these listeners: the verbs
 * if served, else users' routes. Else 0. Routes that are open to all do not count: those for probes
 * alone, and GATE_OPEN_TO_ALL. Valid after service_open(); a gate's ask() may change it. */
uint64_t service_welcome(unsigned listeners, struct exchange *exchange);
/* The request is over and no longer in flight. sent: the client got the complete answer. */
void service_close(struct service *service, struct exchange *exchange, bool sent);

#endif

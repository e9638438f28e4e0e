/*
 * service: what happens to a request between its header and its answer, whatever library carries
 * the bytes: route, gate, refuse, hand to the handler, count, log. The transport calls these, all
 * on the thread of the request's connection, in the order in which they stand here.
 */
#ifndef HTTP_SERVICE_H
#define HTTP_SERVICE_H

#include "bodies.h"
#include "exchange_priv.h"
#include "in_flight.h"
#include "traffic.h"

struct service {
    const struct route *routes;
    size_t max_body_bytes;
    struct bodies bodies;
    struct traffic *traffic;
    struct in_flight in_flight;
    atomic_bool draining;
    atomic_uint_fast64_t next_warning_ns; /* no failure is told in the log before */
};

void service_init(struct service *service, const struct route *routes, size_t max_body_bytes,
                  size_t max_bodies_bytes);
void service_fini(struct service *service);

/* The header is read: finds the route, asks its gate; answers by itself what no handler shall see.
 */
void service_open(struct service *service, unsigned listeners, struct exchange *exchange);
/* A piece of the body, kept if a handler will want it (none does with GET). Answers 503 where too
 * much is held. */
void service_add_body(struct service *service, struct exchange *exchange, const void *bytes,
                      size_t len);
/* A body over the limit is coming, or has: answers 413 unless another refusal stands. */
void service_refuse_body(struct service *service, struct exchange *exchange);
/* The request is complete: asks the gate, runs the handler. True if the answer is there; else the
 * connection is suspended, and this is to be called again when it has been resumed. */
bool service_run(struct service *service, struct exchange *exchange, const struct parking *parking);
/* The answer is about to leave: counts and logs it, a failure as a warning at most every second.
 * True if it must say Connection: close. A large one becomes a 503 where too much of others has not
 * left yet. */
bool service_record(struct service *service, struct exchange *exchange, struct answer *answer);
/* Whether it is let in to what a socket of these listeners is there for: the verbs where it serves
 * them, else people. What is the kubelet's alone is open to all, and makes nobody welcome. From
 * service_open() on; a gate that asks may change it. */
bool service_is_welcome(unsigned listeners, struct exchange *exchange);
/* The request is over; it is not in flight any more. sent: the client got the whole answer. */
void service_close(struct service *service, struct exchange *exchange, bool sent);

#endif

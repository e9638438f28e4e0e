/*
 * in_flight: the requests under way, so that a stop can wait for them, and those of them that are
 * parked until a later answer or pass, so that a stop can take them back.
 *
 * Locks are taken in the order in_flight, exchange, HTTP library.
 */
#ifndef HTTP_IN_FLIGHT_H
#define HTTP_IN_FLIGHT_H

#include "base/mutex.h"
#include "exchange_priv.h"

struct in_flight {
    struct mutex lock;
    pthread_cond_t changed;
    size_t n;
    bool closed; /* nothing is parked any more */
    struct exchange *parked;
};

void in_flight_init(struct in_flight *flight);
void in_flight_fini(struct in_flight *flight);

void in_flight_add(struct in_flight *flight, struct exchange *exchange);
/* Does nothing when it was removed before. */
void in_flight_remove(struct in_flight *flight, struct exchange *exchange);

/* Suspends the connection until the answer or the gate's pass comes. False if one is there (after
 * in_flight_close() the answer always is: 503 if nobody gave another). */
bool in_flight_park(struct in_flight *flight, struct exchange *exchange,
                    const struct parking *parking);
void in_flight_unpark(struct in_flight *flight, struct exchange *exchange);

/* Waits until there are none, or the time is over. The number left. */
size_t in_flight_wait(struct in_flight *flight, unsigned timeout_ms);
/* Answers all that are parked with 503, and from now on whatever would be. The number answered. */
size_t in_flight_close(struct in_flight *flight);

#endif

/*
 * in_flight: the requests in flight, and those of them that are parked until a later answer or
 * pass. A stop waits for the former and takes back the latter.
 *
 * Lock order: in_flight, exchange, HTTP library.
 */
#ifndef HTTP_IN_FLIGHT_H
#define HTTP_IN_FLIGHT_H

#include "base/mutex.h"
#include "exchange_priv.h"

struct in_flight {
    struct mutex lock;
    pthread_cond_t changed;
    size_t n;
    bool closed; /* no exchange is parked any more */
    struct exchange *parked;
};

void in_flight_init(struct in_flight *flight);
void in_flight_fini(struct in_flight *flight);

void in_flight_add(struct in_flight *flight, struct exchange *exchange);
/* Does nothing if already removed. */
void in_flight_remove(struct in_flight *flight, struct exchange *exchange);

/* Suspends the connection until the answer or the gate's pass. Returns false if either is there.
 * After in_flight_close() an answer always is: 503 without another. */
bool in_flight_park(struct in_flight *flight, struct exchange *exchange,
                    const struct parking *parking);
void in_flight_unpark(struct in_flight *flight, struct exchange *exchange);

/* Waits until none is left or the time is over. Returns the number left. */
size_t in_flight_wait(struct in_flight *flight, unsigned timeout_ms);
/* Answers all parked exchanges with 503, and later ones instead of parking them. Returns the number
 * answered. */
size_t in_flight_close(struct in_flight *flight);

#endif

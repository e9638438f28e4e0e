/* in_flight: a counter and a list of parked exchanges, under one lock. See in_flight.h. */
#include "in_flight.h"
#include "base/wait.h"

#include <errno.h>
#include <time.h>
#include <utlist.h>

void in_flight_init(struct in_flight *flight)
{
    *flight = (struct in_flight){0};
    wait_condition_init(&flight->changed);
    mutex_init(&flight->lock);
}

void in_flight_fini(struct in_flight *flight)
{
    (void)pthread_cond_destroy(&flight->changed);
    mutex_fini(&flight->lock);
}

void in_flight_add(struct in_flight *flight, struct exchange *exchange)
{
    exchange->under_way = true;
    mutex_lock(&flight->lock);
    flight->n++;
    mutex_unlock(&flight->lock);
}

static void unlist(struct in_flight *flight, struct exchange *exchange)
{
    if (exchange->listed)
        DL_DELETE(flight->parked, exchange);
    exchange->listed = false;
}

void in_flight_remove(struct in_flight *flight, struct exchange *exchange)
{
    if (!exchange->under_way)
        return;
    exchange->under_way = false;
    mutex_lock(&flight->lock);
    unlist(flight, exchange);
    flight->n--;
    if (flight->n == 0)
        (void)pthread_cond_broadcast(&flight->changed);
    mutex_unlock(&flight->lock);
}

bool in_flight_park(struct in_flight *flight, struct exchange *exchange,
                    const struct parking *parking)
{
    mutex_lock(&flight->lock);
    bool parked = false;
    if (flight->closed)
        (void)exchange_take_back(exchange);
    else
        parked = exchange_park(exchange, parking);
    if (parked) {
        DL_APPEND(flight->parked, exchange);
        exchange->listed = true;
    }
    mutex_unlock(&flight->lock);
    return parked;
}

void in_flight_unpark(struct in_flight *flight, struct exchange *exchange)
{
    if (!exchange->listed)
        return;
    mutex_lock(&flight->lock);
    unlist(flight, exchange);
    mutex_unlock(&flight->lock);
}

static struct timespec deadline_after(unsigned timeout_ms)
{
    struct timespec deadline;
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)(timeout_ms / 1000);
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000;
    }
    return deadline;
}

size_t in_flight_wait(struct in_flight *flight, unsigned timeout_ms)
{
    struct timespec deadline = deadline_after(timeout_ms);
    mutex_lock(&flight->lock);
    while (flight->n > 0) {
        if (pthread_cond_timedwait(&flight->changed, &flight->lock.native, &deadline) == ETIMEDOUT)
            break;
    }
    size_t n = flight->n;
    mutex_unlock(&flight->lock);
    return n;
}

size_t in_flight_close(struct in_flight *flight)
{
    size_t n = 0;
    mutex_lock(&flight->lock);
    flight->closed = true;
    struct exchange *exchange = NULL;
    DL_FOREACH (flight->parked, exchange) {
        if (exchange_take_back(exchange))
            n++;
    }
    mutex_unlock(&flight->lock);
    return n;
}

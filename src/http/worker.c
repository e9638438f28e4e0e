/* worker: see worker.h. */
#include "worker.h"
#include "base/metrics.h"
#include "exchange_priv.h"

#include <string.h>

#define OF_CALLER "too many of your requests wait for long answers: try again"

/* The client has left, or the server has stopped waiting. A client that has only ended its input
 * looks as if it had left, so its answer is in vain only while others wait. */
static bool is_in_vain(struct exchange *exchange, bool do_others_wait)
{
    return exchange_is_answered(exchange) || (do_others_wait && exchange_has_left(exchange));
}

static void give_up(struct exchange *exchange)
{
    exchange_answer_busy(exchange, "the client has ended its input, and other requests wait");
}

static struct exchange *take(struct worker *worker, size_t i) REQUIRES(worker->lock)
{
    struct exchange *exchange = worker->waiting[i].exchange;
    worker->n--;
    memmove(worker->waiting + i, worker->waiting + i + 1,
            (worker->n - i) * sizeof(struct waiting_place));
    return exchange;
}

/* The oldest of the lowest round. */
static size_t next_of(const struct worker *worker) REQUIRES(worker->lock)
{
    size_t next = 0;
    for (size_t i = 1; i < worker->n; i++) {
        if (worker->waiting[i].round < worker->waiting[next].round)
            next = i;
    }
    return next;
}

/* NULL: it stops, and none waits. */
static struct exchange *await_next(struct worker *worker, bool *ret_do_others_wait)
{
    struct exchange *next = NULL;
    mutex_lock(&worker->lock);
    worker->caller = 0;
    while (worker->n == 0 && !worker->is_stopping)
        (void)pthread_cond_wait(&worker->changed, &worker->lock.native);
    if (worker->n > 0) {
        const size_t i = next_of(worker);
        worker->round = worker->waiting[i].round;
        next = take(worker, i);
        worker->caller = next->caller;
    }
    *ret_do_others_wait = worker->n > 0;
    mutex_unlock(&worker->lock);
    return next;
}

static void *run(void *arg)
{
    struct worker *worker = arg;
    struct exchange *exchange = NULL;
    bool do_others_wait = false;
    while ((exchange = await_next(worker, &do_others_wait))) {
        if (is_in_vain(exchange, do_others_wait))
            give_up(exchange);
        else
            exchange->route->handle(exchange->route->context, exchange);
    }
    return NULL;
}

int worker_start(struct worker *worker, struct err *err)
{
    *worker = (struct worker){0};
    mutex_init(&worker->lock);
    (void)pthread_cond_init(&worker->changed, NULL);
    const int r = pthread_create(&worker->thread, NULL, run, worker);
    if (r == 0)
        return 0;
    (void)pthread_cond_destroy(&worker->changed);
    mutex_fini(&worker->lock);
    return err_set(err, r, "cannot start the thread for long answers");
}

void worker_stop(struct worker *worker)
{
    mutex_lock(&worker->lock);
    worker->is_stopping = true;
    (void)pthread_cond_signal(&worker->changed);
    mutex_unlock(&worker->lock);
    (void)pthread_join(worker->thread, NULL);
    (void)pthread_cond_destroy(&worker->changed);
    mutex_fini(&worker->lock);
}

static size_t take_those_in_vain(struct worker *worker, struct exchange *ret_taken[WORKER_PLACES])
    REQUIRES(worker->lock)
{
    const size_t n = worker->n;
    size_t n_taken = 0;
    worker->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct waiting_place place = worker->waiting[i];
        if (is_in_vain(place.exchange, true))
            ret_taken[n_taken++] = place.exchange;
        else
            worker->waiting[worker->n++] = place;
    }
    return n_taken;
}

static uint64_t round_for(const struct worker *worker, uint64_t caller) REQUIRES(worker->lock)
{
    uint64_t round = worker->round;
    if (caller == 0)
        return round;
    if (worker->caller == caller)
        round++;
    for (size_t i = 0; i < worker->n; i++) {
        const struct waiting_place *place = &worker->waiting[i];
        if (place->exchange->caller == caller && place->round >= round)
            round = place->round + 1;
    }
    return round;
}

/* NULL: there is a place for the caller. */
static const char *why_no_place(const struct worker *worker, uint64_t caller) REQUIRES(worker->lock)
{
    size_t n_of_caller = 0;
    if (worker->n == WORKER_PLACES)
        return "too many long answers are being computed: try again";
    for (size_t i = 0; caller > 0 && i < worker->n; i++)
        n_of_caller += worker->waiting[i].exchange->caller == caller;
    return n_of_caller < WORKER_CALLER_PLACES ? NULL : OF_CALLER;
}

/* The newest of the highest round leaves its place; NULL: none is above this round. */
static struct exchange *displace(struct worker *worker, uint64_t round) REQUIRES(worker->lock)
{
    size_t last = 0;
    for (size_t i = 1; i < worker->n; i++) {
        if (worker->waiting[i].round >= worker->waiting[last].round)
            last = i;
    }
    return worker->waiting[last].round > round ? take(worker, last) : NULL;
}

void worker_add(struct worker *worker, struct exchange *exchange)
{
    struct exchange *taken[WORKER_PLACES];
    struct exchange *displaced = NULL;
    size_t n_taken = 0;
    mutex_lock(&worker->lock);
    const uint64_t round = round_for(worker, exchange->caller);
    const char *why = why_no_place(worker, exchange->caller);
    if (why) {
        n_taken = take_those_in_vain(worker, taken);
        why = why_no_place(worker, exchange->caller);
    }
    if (why && worker->n == WORKER_PLACES && (displaced = displace(worker, round)))
        why = NULL;
    if (!why)
        worker->waiting[worker->n++] = (struct waiting_place){exchange, round};
    (void)pthread_cond_signal(&worker->changed);
    mutex_unlock(&worker->lock);
    for (size_t i = 0; i < n_taken; i++)
        give_up(taken[i]);
    if (displaced)
        exchange_answer_busy(displaced, OF_CALLER);
    if (why)
        exchange_answer_busy(exchange, why);
}

void worker_write(struct worker *worker, struct buf *out)
{
    mutex_lock(&worker->lock);
    const size_t n = worker->n;
    mutex_unlock(&worker->lock);
    metrics_gauge(out, "gpu_extender_http_waiting_requests",
                  "Requests that wait for the thread of long answers.", (double)n);
}

/* worker: see worker.h. */
#include "worker.h"
#include "base/metrics.h"
#include "exchange_priv.h"

#include <string.h>

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

/* NULL: it stops, and none waits. */
static struct exchange *await_next(struct worker *worker, bool *ret_do_others_wait)
{
    struct exchange *first = NULL;
    mutex_lock(&worker->lock);
    while (worker->n == 0 && !worker->is_stopping)
        (void)pthread_cond_wait(&worker->changed, &worker->lock.native);
    if (worker->n > 0) {
        first = worker->waiting[0];
        worker->n--;
        memmove(worker->waiting, worker->waiting + 1, worker->n * sizeof(struct exchange *));
    }
    *ret_do_others_wait = worker->n > 0;
    mutex_unlock(&worker->lock);
    return first;
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
        struct exchange *exchange = worker->waiting[i];
        if (is_in_vain(exchange, true))
            ret_taken[n_taken++] = exchange;
        else
            worker->waiting[worker->n++] = exchange;
    }
    return n_taken;
}

/* NULL: there is a place for the caller. */
static const char *why_no_place(const struct worker *worker, const char *caller)
    REQUIRES(worker->lock)
{
    size_t n_of_caller = 0;
    if (worker->n == WORKER_PLACES)
        return "too many long answers are being computed: try again";
    for (size_t i = 0; caller && i < worker->n; i++) {
        const char *other = worker->waiting[i]->caller;
        n_of_caller += other && strcmp(other, caller) == 0;
    }
    if (n_of_caller < WORKER_CALLER_PLACES)
        return NULL;
    return "too many of your requests wait for long answers: try again";
}

void worker_add(struct worker *worker, struct exchange *exchange)
{
    struct exchange *taken[WORKER_PLACES];
    size_t n_taken = 0;
    mutex_lock(&worker->lock);
    const char *why = why_no_place(worker, exchange->caller);
    if (why) {
        n_taken = take_those_in_vain(worker, taken);
        why = why_no_place(worker, exchange->caller);
    }
    if (!why)
        worker->waiting[worker->n++] = exchange;
    (void)pthread_cond_signal(&worker->changed);
    mutex_unlock(&worker->lock);
    for (size_t i = 0; i < n_taken; i++)
        give_up(taken[i]);
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

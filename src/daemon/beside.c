/* beside: see include/daemon/beside.h. */
#include "daemon/beside.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "config/timing.h"
#include "kube/regain.h"

#include <stdbool.h>
#include <stdlib.h>

/* kube-scheduler calls filter within its serial scheduling cycle, so all other pods wait, too. */
#define WAIT_MS 1000
#define SECOND_MS ((int64_t)1000)
#define IDLE_S_MAX ((size_t)5)

struct waiting_verb {
    struct exchange *exchange;
    struct waiting_verb *next;
};

struct beside {
    struct regain *regain;
    struct kube_loop *loop;
    struct mutex lock; /* guards the rest */
    struct waiting_verb *waiting;
    int64_t until_ms; /* end of the waits of this pause; 0: no catch-up runs */
};

static void reject(struct exchange *exchange)
{
    exchange_answer(exchange, 503, "text/plain", NULL, 0, 0);
}

/* Passes these calls to their handlers, or answers 503. Without the lock. */
static void dismiss(struct waiting_verb *waiting, bool passes)
{
    while (waiting) {
        struct waiting_verb *verb = waiting;
        waiting = verb->next;
        if (passes)
            exchange_pass(verb->exchange);
        else
            reject(verb->exchange);
        free(verb);
    }
}

/* A kube_task, after regain's. */
static int64_t tick(void *context, int64_t now_ms)
{
    struct beside *beside = context;
    const bool is_done = regain_is_done(beside->regain);
    struct waiting_verb *waiting = NULL;
    mutex_lock(&beside->lock);
    const bool is_over = beside->until_ms > 0 && now_ms >= beside->until_ms;
    const int64_t again_ms =
        !is_done && !is_over && beside->until_ms > 0 ? beside->until_ms : CLOCK_NEVER;
    if (is_done || is_over) {
        waiting = beside->waiting;
        beside->waiting = NULL;
    }
    if (is_done)
        beside->until_ms = 0;
    mutex_unlock(&beside->lock);
    if (waiting && !is_done)
        LOG(LOG_WARN, "beside", LOG_MSG("verbs are rejected until the ledger is up to date"));
    dismiss(waiting, is_done);
    return again_ms;
}

int64_t beside_leave_ms(const struct settings *settings)
{
    const struct settings_scheduler *scheduler = &settings->scheduler;
    const int64_t gap_ms = (int64_t)(scheduler->lease_s - scheduler->renew_s) * SECOND_MS;
    return gap_ms - timing_of(settings).act_ms;
}

static int64_t idle_ms(const struct settings_scheduler *scheduler)
{
    const size_t gap_s = scheduler->lease_s - scheduler->renew_s;
    return (int64_t)(gap_s < IDLE_S_MAX ? gap_s : IDLE_S_MAX) * SECOND_MS;
}

struct beside *beside_new(const struct settings *settings, struct kube_loop *loop,
                          struct kube_watch *pods)
{
    struct beside *beside = MEM_NEW(struct beside);
    const struct regain_settings regain = {.pods = kube_watch_to_catch_up(pods),
                                           .idle_ms = idle_ms(&settings->scheduler),
                                           .start_ms = clock_ms() + timing_of(settings).hold_ms};
    beside->loop = loop;
    mutex_init(&beside->lock);
    beside->regain = regain_new(&regain, kube_loop_sender(loop));
    kube_loop_add_task(loop, regain_tick, beside->regain);
    kube_loop_add_task(loop, tick, beside);
    LOG(LOG_INFO, "beside", LOG_MSG("one of several instances, each beside a kube-scheduler"));
    return beside;
}

void beside_free(struct beside *beside)
{
    if (!beside)
        return;
    dismiss(beside->waiting, false);
    regain_free(beside->regain);
    mutex_fini(&beside->lock);
    free(beside);
}

/* False: the waits of this pause have ended. */
static bool join(struct beside *beside, struct exchange *exchange, int64_t now_ms)
{
    mutex_lock(&beside->lock);
    if (beside->until_ms == 0)
        beside->until_ms = now_ms + WAIT_MS;
    const bool waits = now_ms < beside->until_ms;
    if (waits) {
        struct waiting_verb *verb = MEM_NEW(struct waiting_verb);
        verb->exchange = exchange;
        verb->next = beside->waiting;
        beside->waiting = verb;
    }
    mutex_unlock(&beside->lock);
    return waits;
}

void beside_ask(struct beside *beside, struct exchange *exchange)
{
    const int64_t now_ms = clock_ms();
    if (regain_heard(beside->regain, now_ms)) {
        exchange_pass(exchange);
        return;
    }
    if (!join(beside, exchange, now_ms))
        reject(exchange);
    kube_loop_wake(beside->loop);
}

void beside_metrics(const struct beside *beside, struct buf *out)
{
    if (beside)
        regain_metrics(beside->regain, out);
}

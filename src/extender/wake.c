/* wake: see include/extender/wake.h. */
#include "extender/wake.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/table.h"

#include <inttypes.h>
#include <stdlib.h>

#define QUESTION_MS 5000
#define SECOND_MS INT64_C(1000)
#define US_PER_MS 1000.0
/* A wake may take kube-scheduler a twentieth of its time. */
#define TIMES_COST 20
/* Calls further apart than this are not consecutive attempts: kube-scheduler was idle. */
#define IDLE_US INT64_C(500000)
/* The mean attempt is about that of so many calls. */
#define ATTEMPTS_MEANT 64
#define BODY "{\"metadata\":{\"annotations\":{\"gpu-extender.io/wake\":\"%016" PRIx64 "\"}}}"

enum failure { FORBIDDEN, NOT_FOUND, CONFLICT, TOO_MANY, OTHER, TOO_COSTLY, N_FAILURES };

static const char *const FAILURES[N_FAILURES] = {
    [FORBIDDEN] = "403", [NOT_FOUND] = "404", [CONFLICT] = "409",
    [TOO_MANY] = "429",  [OTHER] = "other",   [TOO_COSTLY] = "too_costly",
};

static const char *const CAUSES[N_WAKE_CAUSES] = {
    [WAKE_POLICY] = "policy", [WAKE_NAMESPACE] = "namespace",
    [WAKE_CLAIMS] = "claims", [WAKE_QUARANTINE] = "quarantine",
    [WAKE_GROUP] = "group",   [WAKE_QUOTA_CLAIM] = "quota_claim",
};

/* The table is in order of the last rejection, so all old pods are at its beginning. */
struct rejected_pod {
    uint64_t key; /* of its UID; equal ones count as one pod */
    int64_t at_ms;
    UT_hash_handle hh;
};

struct wake {
    bool (*may_wake)(void *context, int64_t now_ms);
    void *context;
    struct kube_sender sender;
    struct buf path;
    struct mutex lock; /* guards the rest; innermost */
    struct rejected_pod *pods;
    int64_t noted_ms[N_WAKE_CAUSES]; /* CLOCK_NEVER: not noted */
    bool sent[N_WAKE_CAUSES];        /* causes of the wake in flight, or of the last one */
    bool is_in_flight;
    int64_t last_ms; /* when the last wake was sent; 0: none was */
    uint64_t number;
    int64_t asked_us; /* 0: never */
    double attempt_us;
    int n_attempts;
    struct counter n_wakes[N_WAKE_CAUSES], n_left_out[N_FAILURES];
};

struct wake *wake_new(const struct wake_settings *settings, struct kube_sender sender)
{
    struct wake *wake = MEM_NEW(struct wake);
    wake->may_wake = settings->may_wake;
    wake->context = settings->context;
    wake->sender = sender;
    buf_init(&wake->path, BUF_UNBOUNDED); /* names are bounded */
    buf_printf(&wake->path, "/apis/storage.k8s.io/v1/namespaces/%s/csistoragecapacities/%s",
               settings->namespace_, settings->name);
    mutex_init(&wake->lock);
    wake->number = settings->seed;
    for (size_t i = 0; i < N_WAKE_CAUSES; i++)
        wake->noted_ms[i] = CLOCK_NEVER;
    return wake;
}

static void drop(struct wake *wake, struct rejected_pod *pod)
{
    HASH_DEL(wake->pods, pod);
    free(pod);
}

void wake_free(struct wake *wake)
{
    if (!wake)
        return;
    while (wake->pods)
        drop(wake, wake->pods);
    mutex_fini(&wake->lock);
    buf_fini(&wake->path);
    free(wake);
}

/* ---- what kube-scheduler asks ---- */

void wake_asked(struct wake *wake, int64_t now_us)
{
    if (!wake)
        return;
    mutex_lock(&wake->lock);
    const int64_t gap_us = now_us - wake->asked_us;
    const bool is_next = wake->asked_us > 0 && gap_us >= 0 && gap_us <= IDLE_US;
    wake->asked_us = now_us;
    wake->n_attempts += is_next && wake->n_attempts < ATTEMPTS_MEANT;
    if (is_next)
        wake->attempt_us += ((double)gap_us - wake->attempt_us) / wake->n_attempts;
    mutex_unlock(&wake->lock);
}

static void forget(struct wake *wake, uint64_t key) REQUIRES(wake->lock)
{
    struct rejected_pod *pod = NULL;
    HASH_FIND(hh, wake->pods, &key, sizeof key, pod);
    if (pod)
        drop(wake, pod);
}

void wake_rejected(struct wake *wake, const char *uid, int64_t now_ms)
{
    if (!wake)
        return;
    const uint64_t key = hash_text(uid);
    mutex_lock(&wake->lock);
    forget(wake, key);
    if (HASH_COUNT(wake->pods) < WAKE_PODS_MAX) {
        struct rejected_pod *pod = MEM_NEW(struct rejected_pod);
        *pod = (struct rejected_pod){.key = key, .at_ms = now_ms};
        HASH_ADD(hh, wake->pods, key, sizeof pod->key, pod);
    }
    mutex_unlock(&wake->lock);
}

void wake_settled(struct wake *wake, const char *uid)
{
    if (!wake)
        return;
    mutex_lock(&wake->lock);
    forget(wake, hash_text(uid));
    mutex_unlock(&wake->lock);
}

/* ---- when to wake ---- */

void wake_note(struct wake *wake, enum wake_cause cause, int64_t at_ms)
{
    if (!wake)
        return;
    const int64_t noted_ms = at_ms + WAKE_SETTLE_MS;
    mutex_lock(&wake->lock);
    if (noted_ms < wake->noted_ms[cause])
        wake->noted_ms[cause] = noted_ms;
    mutex_unlock(&wake->lock);
    wake->sender.wake(wake->sender.sender);
}

static int64_t first_noted_ms(const struct wake *wake) REQUIRES(wake->lock)
{
    int64_t first_ms = CLOCK_NEVER;
    for (size_t i = 0; i < N_WAKE_CAUSES; i++) {
        if (wake->noted_ms[i] < first_ms)
            first_ms = wake->noted_ms[i];
    }
    return first_ms;
}

/* Takes the causes whose time has come. */
static void take_noted(struct wake *wake, int64_t now_ms) REQUIRES(wake->lock)
{
    for (size_t i = 0; i < N_WAKE_CAUSES; i++) {
        wake->sent[i] = wake->noted_ms[i] <= now_ms;
        if (wake->sent[i])
            wake->noted_ms[i] = CLOCK_NEVER;
    }
}

static size_t count_pods(struct wake *wake, int64_t now_ms) REQUIRES(wake->lock)
{
    while (wake->pods && now_ms - wake->pods->at_ms >= WAKE_KEEP_MS)
        drop(wake, wake->pods);
    return HASH_COUNT(wake->pods);
}

static int64_t pace_ms(size_t n_pods, double attempt_us)
{
    const double ms = TIMES_COST * (double)n_pods * attempt_us / US_PER_MS;
    return ms > (double)WAKE_LEAST_MS ? (int64_t)ms : WAKE_LEAST_MS;
}

int64_t wake_earliest_ms(struct wake *wake, int64_t now_ms)
{
    if (!wake)
        return now_ms;
    mutex_lock(&wake->lock);
    const int64_t gap_ms = pace_ms(count_pods(wake, now_ms), wake->attempt_us);
    const int64_t next_ms = wake->last_ms > 0 ? wake->last_ms + gap_ms : now_ms;
    mutex_unlock(&wake->lock);
    return next_ms > now_ms ? next_ms : now_ms;
}

/* Returns whether to send; else when to look again. */
static bool is_due(struct wake *wake, bool may_wake, int64_t now_ms, int64_t *ret_until_ms)
    REQUIRES(wake->lock)
{
    const int64_t first_ms = wake->is_in_flight ? CLOCK_NEVER : first_noted_ms(wake);
    *ret_until_ms = first_ms;
    if (first_ms > now_ms)
        return false;
    const size_t n_pods = may_wake ? count_pods(wake, now_ms) : 0;
    const int64_t gap_ms = pace_ms(n_pods, wake->attempt_us);
    const bool helps = n_pods > 0 && gap_ms <= WAKE_MOST_MS;
    *ret_until_ms = wake->last_ms > 0 ? wake->last_ms + gap_ms : now_ms;
    if (helps && *ret_until_ms > now_ms)
        return false;
    take_noted(wake, now_ms);
    *ret_until_ms = first_noted_ms(wake);
    counter_add(&wake->n_left_out[TOO_COSTLY], n_pods > 0 && !helps);
    return helps;
}

/* ---- the request ---- */

static enum failure failure_of(const struct kube_answer *answer)
{
    if (answer->outcome != KUBE_ANSWERED)
        return OTHER;
    switch (answer->status) {
    case 403:
        return FORBIDDEN;
    case 404:
        return NOT_FOUND;
    case 409:
        return CONFLICT;
    case 429:
        return TOO_MANY;
    default:
        return OTHER;
    }
}

/* Trying again helps neither without the object nor without the right. */
static void judge_failure(struct wake *wake, const struct kube_answer *answer) REQUIRES(wake->lock)
{
    const enum failure failure = failure_of(answer);
    const int64_t wait_ms = answer->retry_after_s > 0 ? answer->retry_after_s * SECOND_MS : 0;
    counter_add(&wake->n_left_out[failure], 1);
    for (size_t i = 0; i < N_WAKE_CAUSES && failure != FORBIDDEN && failure != NOT_FOUND; i++) {
        if (wake->sent[i] && wake->noted_ms[i] > answer->at_ms + wait_ms)
            wake->noted_ms[i] = answer->at_ms + wait_ms;
    }
}

static void answered(void *context, const struct kube_answer *answer)
{
    struct wake *wake = context;
    const bool is_done = answer->outcome == KUBE_ANSWERED && answer->status == 200;
    mutex_lock(&wake->lock);
    wake->is_in_flight = false;
    for (size_t i = 0; i < N_WAKE_CAUSES; i++)
        counter_add(&wake->n_wakes[i], is_done && wake->sent[i]);
    if (!is_done)
        judge_failure(wake, answer);
    mutex_unlock(&wake->lock);
    if (!is_done)
        LOG(LOG_WARN, "wake", LOG_MSG("kube-scheduler is not told to ask again"),
            LOG_STR("path", buf_text(&wake->path)), LOG_NUM("status", answer->status),
            LOG_STR("why", answer->why));
}

static void send(struct wake *wake, uint64_t number)
{
    struct buf body;
    buf_init(&body, BUF_UNBOUNDED);
    buf_printf(&body, BODY, number);
    const struct kube_request request = {.method = "PATCH",
                                         .path = buf_text(&wake->path),
                                         .body = buf_text(&body),
                                         .body_len = body.len,
                                         .timeout_ms = QUESTION_MS};
    wake->sender.send(wake->sender.sender, &request, answered, wake);
    buf_fini(&body);
}

static void log_sent(const bool sent[N_WAKE_CAUSES], size_t n_pods, double attempt_us)
{
    for (size_t i = 0; i < N_WAKE_CAUSES; i++) {
        if (sent[i])
            LOG(LOG_INFO, "wake", LOG_MSG("kube-scheduler is told to ask again"),
                LOG_STR("cause", CAUSES[i]), LOG_NUM("pods", (int64_t)n_pods),
                LOG_NUM("attempt_us", (int64_t)attempt_us));
    }
}

int64_t wake_tick(void *context, int64_t now_ms)
{
    struct wake *wake = context;
    int64_t until_ms = CLOCK_NEVER;
    const bool may_wake = wake->may_wake(wake->context, now_ms);
    mutex_lock(&wake->lock);
    const bool sends = is_due(wake, may_wake, now_ms, &until_ms);
    const size_t n_pods = HASH_COUNT(wake->pods);
    const double attempt_us = wake->attempt_us;
    if (sends) {
        wake->is_in_flight = true;
        wake->last_ms = now_ms;
        wake->number++;
    }
    mutex_unlock(&wake->lock);
    if (!sends)
        return until_ms;
    log_sent(wake->sent, n_pods, attempt_us); /* only this thread writes these two */
    send(wake, wake->number);
    return CLOCK_NEVER;
}

void wake_metrics(const struct wake *wake, struct buf *out)
{
    static const char WAKES[] = "gpu_extender_wakes_total";
    static const char LEFT_OUT[] = "gpu_extender_wakes_left_out_total";
    metrics_head(out, WAKES, "counter",
                 "Times that kube-scheduler was told to ask about rejected pods again, by cause.");
    for (size_t i = 0; i < N_WAKE_CAUSES; i++) {
        const struct metric_label labels[] = {{"cause", CAUSES[i]}, {0}};
        metrics_sample(out, WAKES, labels, wake ? (double)counter_value(&wake->n_wakes[i]) : 0);
    }
    metrics_head(out, LEFT_OUT, "counter",
                 "Times that it was not told, by the API server's status; too_costly: there were "
                 "too many rejected pods.");
    for (size_t i = 0; i < N_FAILURES; i++) {
        const struct metric_label labels[] = {{"why", FAILURES[i]}, {0}};
        metrics_sample(out, LEFT_OUT, labels,
                       wake ? (double)counter_value(&wake->n_left_out[i]) : 0);
    }
}

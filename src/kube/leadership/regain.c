/* regain: see include/kube/regain.h. */
#include "kube/regain.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "catcher.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "kube/watch/pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The default name of kube-scheduler's Lease. */
#define LEASE "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
#define LEASE_MS 1000
#define TERM_BYTES ((size_t)512)
#define TIME_BYTES ((size_t)64)

enum regain_step { IDLE, LEASE_WANTED, CATCHING_UP };

/* The Lease as read. */
struct reign {
    char term[TERM_BYTES];    /* "": unreadable */
    char renewed[TIME_BYTES]; /* as written there */
};

struct regain {
    struct regain_settings settings;
    struct kube_sender sender;

    /* Only on the sender's thread: */
    enum regain_step step;
    uint64_t working_on; /* the number of the pause that the step serves */
    bool asks;           /* the GET of the Lease is in flight */
    struct catcher catcher;
    struct reign seen;    /* as read for this pause */
    struct reign known;   /* when the ledger last was up to date */
    struct log_dedup log; /* failures to read the Lease */

    struct mutex lock; /* guards the rest */
    int64_t heard_ms;  /* the last verb; 0: none */
    uint64_t wanted;   /* pauses so far */
    uint64_t done;     /* the last pause after which the ledger is up to date */
    struct counter n_unchanged, n_caught_up;
};

struct regain *regain_new(const struct regain_settings *settings, struct kube_sender sender)
{
    struct regain *regain = MEM_NEW(struct regain);
    regain->settings = *settings;
    regain->sender = sender;
    catcher_init(&regain->catcher, &settings->pods, sender);
    mutex_init(&regain->lock);
    return regain;
}

void regain_free(struct regain *regain)
{
    if (!regain)
        return;
    mutex_fini(&regain->lock);
    free(regain);
}

bool regain_heard(struct regain *regain, int64_t now_ms)
{
    mutex_lock(&regain->lock);
    if (regain->heard_ms == 0 || now_ms - regain->heard_ms >= regain->settings.idle_ms)
        regain->wanted++;
    regain->heard_ms = now_ms;
    const bool is_done = regain->done == regain->wanted;
    mutex_unlock(&regain->lock);
    return is_done;
}

bool regain_is_done(struct regain *regain)
{
    mutex_lock(&regain->lock);
    const bool is_done = regain->done == regain->wanted;
    mutex_unlock(&regain->lock);
    return is_done;
}

/* ---- the Lease ---- */

/* Reads the holder and its term: "UID HOLDER TRANSITIONS". Each kube-scheduler process has a new
 * identity, and transitions count each change of the holder. So equal terms mean that no other
 * kube-scheduler has led in between (PROTOCOL 7.2). */
static void read_reign(const json_t *root, struct reign *ret_reign)
{
    const size_t size = sizeof ret_reign->term;
    const char *uid = "";
    const char *holder = "";
    const char *renewed = "";
    const json_t *spec = json_member(root, "spec");
    (void)json_get_string(json_member(root, "metadata"), "uid", &uid, NULL);
    (void)json_get_string(spec, "holderIdentity", &holder, NULL);
    (void)json_get_string(spec, "renewTime", &renewed, NULL);
    const long long n = json_integer_value(json_member(spec, "leaseTransitions"));
    const int len =
        *uid && *holder ? snprintf(ret_reign->term, size, "%s %s %lld", uid, holder, n) : 0;
    if (len <= 0 || (size_t)len >= size)
        ret_reign->term[0] = '\0';
    (void)snprintf(ret_reign->renewed, sizeof ret_reign->renewed, "%s", renewed);
}

/* A Lease that nobody renews is no longer kube-scheduler's: that one may have another name now.
 * kube-scheduler renews every few seconds, more often than a pause is long. */
static bool is_same_reign(const struct regain *regain)
{
    const struct reign *seen = &regain->seen;
    return *seen->term && strcmp(seen->term, regain->known.term) == 0 &&
           strcmp(seen->renewed, regain->known.renewed) != 0;
}

static void finish(struct regain *regain, struct counter *n)
{
    regain->known = regain->seen;
    regain->step = IDLE;
    counter_add(n, 1);
    mutex_lock(&regain->lock);
    regain->done = regain->working_on;
    mutex_unlock(&regain->lock);
}

static void log_fault(struct regain *regain, const struct kube_answer *answer)
{
    char why[256] = "";
    if (answer->outcome != KUBE_ANSWERED)
        (void)snprintf(why, sizeof why, "%s", answer->why);
    else if (answer->status != 200 || !*regain->seen.term)
        (void)snprintf(why, sizeof why, "HTTP status %u", answer->status);
    if (log_dedup_is_news(&regain->log, why))
        LOG(LOG_WARN, "beside",
            LOG_MSG("kube-scheduler's Lease is unreadable: every pause costs a full list of pods"),
            LOG_STR("lease", "kube-system/kube-scheduler"), LOG_STR("why", why));
}

static void on_lease(void *context, const struct kube_answer *answer)
{
    struct regain *regain = context;
    json_t *root = NULL;
    regain->asks = false;
    regain->seen = (struct reign){0};
    if (answer->outcome == KUBE_ANSWERED && answer->status == 200)
        (void)json_parse(answer->body, answer->body_len, 0, &JSON_ANSWER, &root, NULL);
    read_reign(root, &regain->seen);
    json_decref(root);
    log_fault(regain, answer);
    if (is_same_reign(regain)) {
        finish(regain, &regain->n_unchanged);
        return;
    }
    regain->step = CATCHING_UP;
}

/* ---- the task ---- */

/* A second pause during a catch-up waits for the first: a list that takes longer than a pause would
 * never end otherwise. */
static void take_news(struct regain *regain)
{
    mutex_lock(&regain->lock);
    const uint64_t wanted = regain->wanted;
    mutex_unlock(&regain->lock);
    if (regain->step == CATCHING_UP && catcher_is_done(&regain->catcher, regain->working_on))
        finish(regain, &regain->n_caught_up);
    if (regain->step != IDLE || regain->working_on == wanted)
        return;
    regain->working_on = wanted;
    regain->step = LEASE_WANTED;
}

static void ask_lease(struct regain *regain)
{
    const struct kube_request lease = {.method = "GET", .path = LEASE, .timeout_ms = LEASE_MS};
    regain->asks = true;
    regain->sender.send(regain->sender.sender, &lease, on_lease, regain);
}

int64_t regain_tick(void *regain_context, int64_t now_ms)
{
    struct regain *regain = regain_context;
    if (now_ms < regain->settings.start_ms)
        return regain->settings.start_ms;
    if (regain->asks)
        return CLOCK_NEVER;
    take_news(regain);
    if (regain->step == LEASE_WANTED)
        ask_lease(regain);
    else if (regain->step == CATCHING_UP)
        (void)catcher_work(&regain->catcher, regain->working_on);
    return CLOCK_NEVER;
}

void regain_metrics(struct regain *regain, struct buf *out)
{
    static const char METRIC[] = "gpu_extender_beside_pauses_total";
    const struct metric_label unchanged[] = {{"ledger", "current"}, {NULL, NULL}};
    const struct metric_label caught_up[] = {{"ledger", "caught_up"}, {NULL, NULL}};
    metrics_head(out, METRIC, "counter",
                 "Pauses without a verb, by the ledger's state before the next answer: current, as "
                 "kube-scheduler's Lease was unchanged, or caught_up.");
    metrics_sample(out, METRIC, unchanged, (double)counter_value(&regain->n_unchanged));
    metrics_sample(out, METRIC, caught_up, (double)counter_value(&regain->n_caught_up));
}

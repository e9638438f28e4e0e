/* leadership: see include/kube/leadership.h. */
#include "kube/leadership.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "catcher.h"
#include "kube/watch/object_watch.h"
#include "kube/watch/pace.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum role { FOLLOWER, ACQUIRING, LEADER };

struct leadership {
    struct leadership_settings settings;
    struct kube_sender sender;
    struct lease *lease;
    struct slice *slice; /* NULL: none */
    struct object_watch lease_watch;
    struct object_watch slice_watch;
    int64_t unusable_ms;  /* since when the ledger is unusable; CLOCK_NEVER: it is usable */
    struct err unusable;  /* the reason */
    bool stands_back;     /* decides nothing, even with the Lease */
    bool may_decide;      /* as last reported */
    bool is_released;     /* as last reported */
    struct log_dedup log; /* of the Lease */
    struct log_dedup slice_log;
    struct catcher catcher; /* numbered by the term */

    struct mutex holder_lock;
    char *holder; /* of the Lease, as last seen; guarded by holder_lock */

    atomic_int_fast64_t until_ms; /* may decide until then; 0: not at all */
    atomic_int role;
    atomic_bool wants_release;
    struct counter n_terms, n_losses, n_failures;
};

static kube_done on_lease_answer;
static kube_done on_slice_answer;

struct leadership *leadership_new(const struct leadership_settings *settings,
                                  struct kube_sender sender)
{
    struct leadership *leadership = MEM_NEW(struct leadership);
    leadership->settings = *settings;
    leadership->sender = sender;
    leadership->lease = lease_new(&settings->lease);
    leadership->unusable_ms = CLOCK_NEVER;
    mutex_init(&leadership->holder_lock);
    leadership->holder = mem_strdup("");
    catcher_init(&leadership->catcher, &settings->pods, sender);
    if (settings->slice.service)
        leadership->slice = slice_new(&settings->slice);
    return leadership;
}

void leadership_serves(struct leadership *leadership, unsigned port, unsigned users_port)
{
    if (leadership->slice)
        slice_serve(leadership->slice, port, users_port);
}

void leadership_free(struct leadership *leadership)
{
    if (!leadership)
        return;
    lease_free(leadership->lease);
    slice_free(leadership->slice);
    object_watch_fini(&leadership->lease_watch);
    object_watch_fini(&leadership->slice_watch);
    mutex_fini(&leadership->holder_lock);
    free(leadership->holder);
    free(leadership);
}

/* ---- effects of the Lease ---- */

/* Another replica may act from then on. */
static int64_t authority_ms(const struct leadership *leadership, const struct lease_status *status)
{
    return status->renewed_ms + leadership->settings.decide_ms;
}

static void report_turn(struct leadership *leadership, const struct lease_status *status,
                        bool may_decide)
{
    leadership->may_decide = may_decide;
    if (may_decide)
        LOG(LOG_INFO, "leader", LOG_MSG("leading: answering kube-scheduler"),
            LOG_NUM("term", status->term));
    else
        LOG(atomic_load(&leadership->wants_release) ? LOG_INFO : LOG_WARN, "leader",
            LOG_MSG("no longer leading: rejecting kube-scheduler's calls"),
            LOG_STR("holder", status->holder),
            LOG_STR("why", leadership->stands_back ? leadership->unusable.text : status->why));
    leadership->settings.turned(leadership->settings.context, may_decide);
}

static void log_once(struct log_dedup *dedup, const char *why, const char *message)
{
    if (log_dedup_is_news(dedup, why))
        LOG(LOG_WARN, "leader", LOG_MSG(message), LOG_STR("why", why));
}

static void keep_holder(struct leadership *leadership, const char *holder)
{
    if (strcmp(leadership->holder, holder) == 0) /* only this thread writes */
        return;
    char *copy = mem_strdup(holder);
    mutex_lock(&leadership->holder_lock);
    char *old = leadership->holder;
    leadership->holder = copy;
    mutex_unlock(&leadership->holder_lock);
    free(old);
}

const char *leadership_holder(struct leadership *leadership, struct arena *arena)
{
    mutex_lock(&leadership->holder_lock);
    const char *holder = arena_strdup(arena, leadership->holder);
    mutex_unlock(&leadership->holder_lock);
    return holder;
}

static void count(struct leadership *leadership, const struct lease_status *status)
{
    counter_add(&leadership->n_terms, status->term - counter_value(&leadership->n_terms));
    counter_add(&leadership->n_losses, status->losses - counter_value(&leadership->n_losses));
    counter_add(&leadership->n_failures, status->failures - counter_value(&leadership->n_failures));
    log_once(&leadership->log, status->why, "the Lease could not be read or written");
    if (leadership->slice)
        log_once(&leadership->slice_log, slice_why(leadership->slice),
                 "the EndpointSlice could not be read or written");
}

/* Updates the values that other threads read, and reports changes. */
static void publish(struct leadership *leadership, int64_t now_ms)
{
    const struct lease_status status = lease_status(leadership->lease);
    const bool holds = status.leads && !leadership->stands_back;
    const bool is_ready = holds && catcher_is_done(&leadership->catcher, status.term);
    const int64_t until_ms = is_ready ? authority_ms(leadership, &status) : 0;
    atomic_store(&leadership->until_ms, until_ms);
    atomic_store(&leadership->role, is_ready ? LEADER : holds ? ACQUIRING : FOLLOWER);
    count(leadership, &status);
    keep_holder(leadership, status.holder);
    if (leadership->may_decide != (now_ms < until_ms))
        report_turn(leadership, &status, now_ms < until_ms);
    if (atomic_load(&leadership->wants_release) && lease_has_left(leadership->lease) &&
        !leadership->is_released) {
        leadership->is_released = true;
        leadership->settings.released(leadership->settings.context);
    }
}

/* ---- requests ---- */

static void on_lease_answer(void *context, const struct kube_answer *answer)
{
    struct leadership *leadership = context;
    lease_answered(leadership->lease, answer);
    publish(leadership, answer->at_ms);
}

static void on_slice_answer(void *context, const struct kube_answer *answer)
{
    struct leadership *leadership = context;
    slice_answered(leadership->slice, answer);
}

static void send(struct leadership *leadership, const struct kube_request *request, kube_done *done)
{
    leadership->sender.send(leadership->sender.sender, request, done, leadership);
}

/* A new term abandons the catch-up of the one before. */
static void catch_up(struct leadership *leadership)
{
    const struct lease_status status = lease_status(leadership->lease);
    if (status.leads && catcher_work(&leadership->catcher, status.term))
        LOG(LOG_INFO, "leader", LOG_MSG("Lease acquired: the ledger is catching up"),
            LOG_NUM("term", status.term));
}

/* ---- the goal ---- */

/* How long it leads with an unusable ledger. */
static int64_t patience_ms(const struct leadership *leadership)
{
    if (leadership->unusable_ms == CLOCK_NEVER || leadership->stands_back)
        return CLOCK_NEVER;
    return leadership->unusable_ms + leadership->settings.lease.renew_deadline_ms;
}

static bool is_to_lead(struct leadership *leadership, int64_t now_ms)
{
    const struct leadership_settings *settings = &leadership->settings;
    leadership->unusable.text[0] = '\0';
    if (atomic_load(&leadership->wants_release))
        return false;
    if (settings->usable(settings->context, &leadership->unusable)) {
        leadership->unusable_ms = CLOCK_NEVER;
        return true;
    }
    if (leadership->unusable_ms == CLOCK_NEVER)
        leadership->unusable_ms = now_ms;
    return lease_status(leadership->lease).leads && !leadership->stands_back &&
           now_ms < patience_ms(leadership);
}

/* Returns when to call again. */
static int64_t take_aim(struct leadership *leadership, int64_t now_ms)
{
    const struct leadership_settings *settings = &leadership->settings;
    int64_t quiet_ms = now_ms;
    enum lease_aim aim = LEASE_LEAD;
    leadership->stands_back = !is_to_lead(leadership, now_ms);
    if (leadership->stands_back) {
        atomic_store(&leadership->until_ms, 0); /* before quiet_ms() looks at what is under way */
        quiet_ms = settings->quiet_ms(settings->context, now_ms);
        aim = now_ms < quiet_ms ? LEASE_KEEP : LEASE_LEAVE;
    }
    lease_set_aim(leadership->lease, now_ms, aim);
    return aim == LEASE_KEEP ? quiet_ms : patience_ms(leadership);
}

static int64_t work_on_lease(struct leadership *leadership, int64_t now_ms)
{
    struct leadership_settings *settings = &leadership->settings;
    const json_t *object = NULL;
    if (leadership->is_released)
        return CLOCK_NEVER;
    if (object_watch_take(&leadership->lease_watch, &object))
        lease_seen(leadership->lease, now_ms, object);
    const struct lease_action action =
        lease_next(leadership->lease, now_ms, settings->wall_ms(settings->context));
    if (action.sends)
        send(leadership, &action.request, on_lease_answer);
    return action.until_ms;
}

static int64_t work_on_slice(struct leadership *leadership, int64_t now_ms)
{
    const json_t *object = NULL;
    if (!leadership->slice)
        return CLOCK_NEVER;
    slice_lead(leadership->slice, now_ms, lease_status(leadership->lease).leads);
    if (object_watch_take(&leadership->slice_watch, &object))
        slice_seen(leadership->slice, now_ms, object);
    const struct slice_action action = slice_next(leadership->slice, now_ms);
    if (action.sends)
        send(leadership, &action.request, on_slice_answer);
    return action.until_ms;
}

/* When turned(false) is due. */
static int64_t turn_ms(const struct leadership *leadership)
{
    return leadership->may_decide ? (int64_t)atomic_load(&leadership->until_ms) : CLOCK_NEVER;
}

static int64_t sooner(int64_t a_ms, int64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

int64_t leadership_tick(void *leadership_context, int64_t now_ms)
{
    struct leadership *leadership = leadership_context;
    const int64_t aim_ms = take_aim(leadership, now_ms);
    const int64_t lease_ms = work_on_lease(leadership, now_ms);
    const int64_t slice_ms = work_on_slice(leadership, now_ms);
    catch_up(leadership);
    publish(leadership, now_ms);
    return sooner(sooner(aim_ms, lease_ms), sooner(slice_ms, turn_ms(leadership)));
}

/* ---- from any thread ---- */

void leadership_release(struct leadership *leadership)
{
    atomic_store(&leadership->wants_release, true);
}

bool leadership_may_decide(const struct leadership *leadership, int64_t now_ms)
{
    return now_ms < (int64_t)atomic_load(&leadership->until_ms);
}

const char *leadership_role(const struct leadership *leadership, int64_t now_ms)
{
    if (leadership_may_decide(leadership, now_ms))
        return "leader";
    return atomic_load(&leadership->role) == FOLLOWER ? "follower" : "becoming the leader";
}

void leadership_metrics(const struct leadership *leadership, int64_t now_ms, struct buf *out)
{
    metrics_gauge(out, "gpu_extender_leader",
                  "1 if this replica leads and answers kube-scheduler, else 0.",
                  leadership_may_decide(leadership, now_ms));
    metrics_counter(out, "gpu_extender_lease_acquisitions_total",
                    "Times that this replica acquired the Lease.", &leadership->n_terms);
    metrics_counter(out, "gpu_extender_lease_losses_total",
                    "Times that this replica lost the Lease without releasing it.",
                    &leadership->n_losses);
    metrics_counter(out, "gpu_extender_lease_failures_total",
                    "Times that the Lease could not be read or written.", &leadership->n_failures);
}

/* ---- watches ---- */

struct reflector_store leadership_lease_store(struct leadership *leadership)
{
    return object_watch_store(&leadership->lease_watch, "leases");
}

struct reflector_store leadership_slice_store(struct leadership *leadership)
{
    return object_watch_store(&leadership->slice_watch, "endpointslices");
}

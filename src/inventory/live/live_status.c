/* live_status: see live_status.h. */
#include "inventory/live/live_status.h"
#include "base/clock.h"
#include "inventory/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE_MS 30000

void live_status_init(struct live_status *status, int64_t max_lag_ms)
{
    *status = (struct live_status){.max_lag_ms = max_lag_ms,
                                   .began_ms = clock_ms(),
                                   .claims_counted = true,
                                   .templates_known = true};
    mutex_init(&status->mutex);
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++)
        (void)snprintf(status->kinds[i].waiting_for, sizeof status->kinds[i].waiting_for,
                       "the first list of %s", INVENTORY_KINDS[i].listed.name);
}

void live_status_fini(struct live_status *status)
{
    mutex_fini(&status->mutex);
}

/* The text may quote a server, but must be one line and a JSON string. */
static void make_plain(char *text)
{
    for (char *p = text; *p; p++)
        *p = (unsigned char)*p < 0x80 && (unsigned char)*p >= ' ' ? *p : '?';
}

static void put_why(const struct kind_status *kind, struct err *err)
{
    const struct err what = *err;
    if (kind->why.text[0])
        (void)err_set(err, EAGAIN, "%s: %s", what.text, kind->why.text);
}

static int64_t lag_ms(const struct live_status *status, size_t kind, int64_t now_ms)
{
    return reflector_lag_ms(atomic_load(&status->lag_since_ms[kind]), now_ms);
}

/* From any thread, without the lock. N_CLUSTER_KINDS: none of these kinds is behind. */
static size_t first_behind(const struct live_status *status, const struct kind_use *use)
{
    const int64_t now_ms = status->max_lag_ms > 0 ? clock_ms() : 0;
    size_t i = 0;
    while (i < N_CLUSTER_KINDS && (INVENTORY_KINDS[i].use != use || status->max_lag_ms == 0 ||
                                   lag_ms(status, i, now_ms) <= status->max_lag_ms))
        i++;
    return i;
}

static bool keeps_up(const struct live_status *status, const struct kind_use *use, struct err *err)
{
    const size_t i = first_behind(status, use);
    if (i == N_CLUSTER_KINDS)
        return true;
    (void)err_set(err, EAGAIN,
                  "the %s are behind: events of the API server have waited unread for more than "
                  "%lld s (kubernetes.watchLagSeconds)",
                  INVENTORY_KINDS[i].listed.name, (long long)(status->max_lag_ms / 1000));
    return false;
}

/* Decisions wait for the first list of every kind. Of a kind that is not essential, a refusal ends
 * that, and after a while any failure; of an optional one, any failure at once. */
static bool is_awaited(const struct live_status *status, size_t kind)
{
    const struct reflector_status *reflector = &status->kinds[kind].reflector;
    if (reflector->synced || INVENTORY_KINDS[kind].use->is_essential ||
        reflector->trouble == TROUBLE_NONE)
        return !reflector->synced;
    return !INVENTORY_KINDS[kind].use->is_optional && reflector->trouble != TROUBLE_REFUSED &&
           clock_ms() - status->began_ms < PATIENCE_MS;
}

static bool has_first_lists(const struct live_status *status, struct err *err)
{
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        const struct kind_status *kind = &status->kinds[i];
        if (!is_awaited(status, i))
            continue;
        (void)err_set(err, EAGAIN, "not ready: waiting for %s", kind->waiting_for);
        put_why(kind, err);
        return false;
    }
    return true;
}

static bool is_followed(const struct live_status *status, size_t i, struct err *err)
{
    const struct kind_status *kind = &status->kinds[i];
    if (kind->reflector.synced && !kind->reflector.stale)
        return true;
    (void)err_set(err, EAGAIN, "the %s are %s", INVENTORY_KINDS[i].listed.name,
                  kind->reflector.synced ? "stale" : "not listed");
    put_why(kind, err);
    return false;
}

/* Reports the first problem of these kinds: not followed, behind, too many. */
static bool is_current(const struct live_status *status, const struct kind_use *use,
                       struct err *err)
{
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        if (INVENTORY_KINDS[i].use == use && !is_followed(status, i, err))
            return false;
    }
    if (!keeps_up(status, use, err))
        return false;
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        const struct err *too_many = &status->kinds[i].too_many;
        if (INVENTORY_KINDS[i].use != use || !too_many->text[0])
            continue;
        *err = *too_many;
        return false;
    }
    return true;
}

/* A text stays the same while its cause does. */
static bool is_complete(const struct live_status *status, struct err *err)
{
    return has_first_lists(status, err) && is_current(status, &KINDS_FOR_DECISIONS, err);
}

static int64_t all_complete_ms(const struct live_status *status)
{
    int64_t first_ms = CLOCK_NEVER;
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        const int64_t fresh_ms = status->kinds[i].reflector.fresh_ms;
        if (INVENTORY_KINDS[i].use->is_essential && fresh_ms < first_ms)
            first_ms = fresh_ms;
    }
    return first_ms;
}

static enum live_turn judge(struct live_status *status) REQUIRES(status->mutex)
{
    struct err err;
    const bool usable = is_complete(status, &err);
    const bool was_usable = atomic_exchange(&status->usable, usable);
    if (usable == was_usable)
        return LIVE_AS_BEFORE;
    return usable ? LIVE_USABLE_AGAIN : LIVE_UNUSABLE_NOW;
}

enum live_turn live_status_set(struct live_status *status, enum cluster_kind kind,
                               const struct reflector_status *reflector, const char *too_many)
{
    struct kind_status *mine = &status->kinds[kind];
    mutex_lock(&status->mutex);
    mine->reflector = *reflector;
    mine->reflector.why = NULL;
    (void)err_set(&mine->why, EAGAIN, "%s", reflector->why ? reflector->why : "");
    make_plain(mine->why.text);
    (void)err_set(&mine->too_many, E2BIG, "%s", too_many);
    atomic_store(&status->complete_ms, all_complete_ms(status));
    const enum live_turn turn = judge(status);
    mutex_unlock(&status->mutex);
    return turn;
}

enum live_turn live_status_lags(struct live_status *status, enum cluster_kind kind,
                                int64_t lag_since_ms)
{
    atomic_store(&status->lag_since_ms[kind], lag_since_ms);
    if (atomic_load(&status->usable) ==
        (first_behind(status, &KINDS_FOR_DECISIONS) == N_CLUSTER_KINDS))
        return LIVE_AS_BEFORE;
    mutex_lock(&status->mutex);
    const enum live_turn turn = judge(status);
    mutex_unlock(&status->mutex);
    return turn;
}

const char *live_status_waiting_for(struct live_status *status)
{
    const char *what = NULL;
    if (atomic_load(&status->usable))
        return NULL;
    mutex_lock(&status->mutex);
    for (size_t i = 0; i < N_CLUSTER_KINDS && !what; i++)
        what = is_awaited(status, i) ? status->kinds[i].waiting_for : NULL;
    mutex_unlock(&status->mutex);
    return what;
}

bool live_status_usable(struct live_status *status, struct err *ret_why)
{
    struct err why;
    if (atomic_load(&status->usable) &&
        first_behind(status, &KINDS_FOR_DECISIONS) == N_CLUSTER_KINDS)
        return true;
    mutex_lock(&status->mutex);
    const bool usable = is_complete(status, &why);
    mutex_unlock(&status->mutex);
    if (!usable)
        *ret_why = why;
    return usable;
}

static bool counts_claims(const struct live_status *status, struct err *ret_why)
{
    struct err why;
    const bool counts = is_current(status, &KINDS_FOR_CLAIMS, &why);
    if (!counts)
        (void)err_set(ret_why, EAGAIN, "claims are not counted: %s", why.text);
    return counts;
}

bool live_status_counts_claims(struct live_status *status, struct err *ret_why)
{
    mutex_lock(&status->mutex);
    const bool counts = counts_claims(status, ret_why);
    mutex_unlock(&status->mutex);
    return counts;
}

bool live_status_serves_oldest(struct live_status *status, enum cluster_kind kind)
{
    const char *const *older = INVENTORY_KINDS[kind].listed.older;
    mutex_lock(&status->mutex);
    const size_t n_unserved = status->kinds[kind].reflector.n_unserved;
    mutex_unlock(&status->mutex);
    return older && n_unserved > 0 && !older[n_unserved];
}

enum live_turn live_status_claims_turn(struct live_status *status, struct err *ret_why)
{
    bool is_awaiting = false;
    mutex_lock(&status->mutex);
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++)
        is_awaiting |= INVENTORY_KINDS[i].use == &KINDS_FOR_CLAIMS && is_awaited(status, i);
    const bool counted = status->claims_counted;
    if (!is_awaiting)
        status->claims_counted = counts_claims(status, ret_why);
    const bool counts = status->claims_counted;
    mutex_unlock(&status->mutex);
    if (counts == counted)
        return LIVE_AS_BEFORE;
    return counts ? LIVE_USABLE_AGAIN : LIVE_UNUSABLE_NOW;
}

enum live_turn live_status_templates_turn(struct live_status *status, struct err *ret_why)
{
    mutex_lock(&status->mutex);
    const bool were_known = status->templates_known;
    if (!is_awaited(status, CLUSTER_CLAIM_TEMPLATES))
        status->templates_known = is_current(status, &KINDS_FOR_TEMPLATES, ret_why);
    const bool are_known = status->templates_known;
    mutex_unlock(&status->mutex);
    if (are_known == were_known)
        return LIVE_AS_BEFORE;
    return are_known ? LIVE_USABLE_AGAIN : LIVE_UNUSABLE_NOW;
}

int64_t live_status_as_of_s(const struct live_status *status)
{
    const int64_t complete_ms = atomic_load(&status->complete_ms);
    if (complete_ms == 0)
        return 0;
    return (int64_t)time(NULL) - (clock_ms() - complete_ms) / 1000;
}

void live_status_get(struct live_status *status, enum cluster_kind kind,
                     struct kind_status *ret_kind)
{
    mutex_lock(&status->mutex);
    *ret_kind = status->kinds[kind];
    ret_kind->awaited = is_awaited(status, kind);
    ret_kind->lag_ms = lag_ms(status, kind, clock_ms());
    ret_kind->behind = status->max_lag_ms > 0 && ret_kind->lag_ms > status->max_lag_ms;
    mutex_unlock(&status->mutex);
}

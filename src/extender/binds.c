/* binds: see include/extender/binds.h; how it is cut into files: binds_priv.h. */
#include "extender/binds.h"
#include "base/clock.h"
#include "base/mem.h"
#include "binds_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Reservations are looked after so often. */
#define CARE_MS 1000

struct binds *binds_new(const struct binds_settings *settings, struct inventory *inventory,
                        const struct policy *policy, struct kube_sender sender)
{
    /* The API server takes ?timeout=0s for no limit of ours. */
    assert(settings->post_life_ms >= 1000);
    struct binds *binds = MEM_NEW(struct binds);
    binds->bound_by = mem_strdup(settings->bound_by);
    binds->timing = (struct bind_timing){settings->post_life_ms, settings->confirm_ms};
    binds->timeout_ms = settings->timeout_ms;
    binds->leave_ms = settings->leave_ms;
    binds->seed = settings->seed;
    binds->may_post = settings->may_post;
    binds->may_post_context = settings->may_post_context;
    binds->held_until_ms = settings->held_until_ms;
    binds->held_context = settings->held_context;
    binds->inventory = inventory;
    binds->policy = policy;
    binds->sender = sender;
    binds->due_ms = CLOCK_NEVER;
    (void)pthread_mutex_init(&binds->lock, NULL);
    (void)pthread_mutex_init(&binds->sending, NULL);
    return binds;
}

void binds_free(struct binds *binds)
{
    if (!binds)
        return;
    struct entry *entry = NULL;
    struct entry *next = NULL;
    HASH_ITER (hh, binds->entries, entry, next)
        binds_entry_remove(entry);
    (void)pthread_mutex_destroy(&binds->lock);
    (void)pthread_mutex_destroy(&binds->sending);
    free(binds->bound_by);
    free(binds);
}

struct entry *binds_entry_new(struct binds *binds, const struct bind_args *args)
{
    struct entry *entry = MEM_NEW(struct entry);
    entry->binds = binds;
    entry->uid = mem_strdup(args->uid);
    entry->namespace_ = mem_strdup(args->namespace_);
    entry->name = mem_strdup(args->name);
    entry->node_name = mem_strdup(args->node_name);
    entry->outcome = BIND_OUTCOME_FAILED;
    entry->why = mem_strdup("");
    HASH_ADD_KEYPTR(hh, binds->entries, entry->uid, strlen(entry->uid), entry);
    return entry;
}

void binds_entry_remove(struct entry *entry)
{
    entry->binds->n_resting -= entry->rests;
    HASH_DEL(entry->binds->entries, entry);
    free(entry->uid);
    free(entry->namespace_);
    free(entry->name);
    free(entry->node_name);
    free(entry->why);
    free(entry);
}

struct bind_args binds_entry_args(const struct entry *entry)
{
    return (struct bind_args){.uid = entry->uid,
                              .namespace_ = entry->namespace_,
                              .name = entry->name,
                              .node_name = entry->node_name};
}

uint64_t binds_entry_seed(const struct entry *entry)
{
    return ++entry->binds->seed;
}

void binds_entry_fails(struct entry *entry, enum bind_outcome outcome, const char *why)
{
    free(entry->why);
    entry->why = mem_strdup(why);
    entry->outcome = outcome;
}

void binds_entry_move(struct entry *entry, const char *node_name)
{
    char *copy = mem_strdup(node_name);
    free(entry->node_name);
    entry->node_name = copy;
}

/* Whether the ledger shows the pod on the node. */
static bool is_here(struct binds *binds, const char *uid, const char *node_name)
{
    const struct inventory_view view = inventory_read(binds->inventory);
    const struct pod *pod = cluster_find_pod(view.cluster, uid);
    const bool here = pod && strcmp(pod->node_name, node_name) == 0;
    inventory_done(binds->inventory);
    return here;
}

static bool is_held(struct binds *binds, const char *uid)
{
    const struct inventory_view view = inventory_read(binds->inventory);
    const bool held = cluster_find_reservation(view.cluster, uid) != NULL;
    inventory_done(binds->inventory);
    return held;
}

static struct waiter *waiter_new(const struct turn *turn, const struct bind_args *args,
                                 bind_answer *answer, void *context)
{
    struct waiter *waiter = MEM_NEW(struct waiter);
    waiter->answer = answer;
    waiter->hung_up = args->hung_up;
    waiter->context = context;
    waiter->uid = mem_strdup(args->uid);
    waiter->namespace_ = mem_strdup(args->namespace_);
    waiter->name = mem_strdup(args->name);
    waiter->node_name = mem_strdup(args->node_name);
    waiter->called_ms = turn->now_ms;
    waiter->deadline_ms = turn->now_ms + turn->binds->timeout_ms;
    return waiter;
}

/* One pod goes to one node at a time. */
static void join(struct turn *turn, struct entry *entry, struct waiter *waiter)
{
    const bool is_same = strcmp(entry->node_name, waiter->node_name) == 0;
    if (is_same && entry->rests) {
        binds_turn_tell(turn, waiter, BIND_OUTCOME_ALREADY_BOUND, NULL);
        return;
    }
    if (!is_same && entry->attempt.until_ms > turn->now_ms) {
        binds_turn_tell(turn, waiter, BIND_OUTCOME_CONFLICT,
                        "gpu-extender: the pod is being bound to another node");
        return;
    }
    DL_APPEND(entry->waiters, waiter);
    const struct bind_step step =
        is_same ? bind_attempt_joined(&entry->attempt, turn->now_ms, waiter->deadline_ms)
                : bind_attempt_hurry(&entry->attempt, turn->now_ms);
    binds_steps_take(turn, entry, step, NULL);
}

static void begin(struct turn *turn, const struct bind_args *args, struct waiter *waiter)
{
    struct binds *binds = turn->binds;
    if (HASH_COUNT(binds->entries) - binds->n_resting >= BINDS_OPEN_MAX) {
        binds_turn_tell(turn, waiter, BIND_OUTCOME_BUSY,
                        "gpu-extender: too many bindings are under way: retry");
        return;
    }
    struct entry *entry = binds_entry_new(binds, args);
    DL_APPEND(entry->waiters, waiter);
    const struct bind_step step = bind_attempt_begin(&entry->attempt, &binds->timing,
                                                     binds_entry_seed(entry), waiter->deadline_ms);
    binds_steps_take(turn, entry, step, NULL);
}

static void call(struct turn *turn, const struct bind_args *args, struct waiter *waiter)
{
    struct binds *binds = turn->binds;
    struct entry *entry = NULL;
    struct err err;
    if (binds->stopped) {
        binds_turn_tell(turn, waiter, BIND_OUTCOME_BUSY, "gpu-extender: the service is stopping");
        return;
    }
    if (bind_wire_check(args, &err) < 0) {
        err_prefix(&err, "gpu-extender: request: ");
        binds_turn_tell(turn, waiter, BIND_OUTCOME_REFUSED, err.text);
        return;
    }
    HASH_FIND_STR(binds->entries, args->uid, entry);
    if (entry && entry->rests && !is_held(binds, args->uid)) {
        binds_entry_remove(entry); /* the ledger knows better */
        entry = NULL;
    }
    if (entry)
        join(turn, entry, waiter);
    else
        begin(turn, args, waiter);
}

void binds_call(struct binds *binds, const struct bind_args *args, int64_t now_ms,
                bind_answer *answer, void *context)
{
    struct turn turn;
    binds_turn_init(&turn, binds, now_ms);
    binds_turn_lock(&turn);
    call(&turn, args, waiter_new(&turn, args, answer, context));
    binds_turn_end(&turn);
}

/* The watch may have brought what the API server has not answered yet. */
static void tell_the_late(struct turn *turn, struct entry *entry)
{
    struct waiter *waiter = NULL;
    struct waiter *next = NULL;
    DL_FOREACH_SAFE (entry->waiters, waiter, next) {
        if (waiter->deadline_ms > turn->now_ms)
            continue;
        if (is_here(turn->binds, entry->uid, waiter->node_name))
            binds_steps_tell(turn, entry, waiter, BIND_OUTCOME_BOUND, NULL);
        else
            binds_steps_tell(turn, entry, waiter,
                             entry->attempt.holds ? BIND_OUTCOME_UNKNOWN : BIND_OUTCOME_FAILED,
                             *entry->why ? entry->why : "the API server has not answered");
    }
}

/* Whether the ledger has settled it. Where room is no longer held, though nothing of ours gave it
 * up, the pod was seen on a node, or gone. */
static bool settled_by_ledger(struct turn *turn, struct entry *entry)
{
    struct binds *binds = turn->binds;
    if (is_here(binds, entry->uid, entry->node_name))
        entry->outcome = BIND_OUTCOME_BOUND;
    else if (entry->waiters || !entry->attempt.holds || is_held(binds, entry->uid))
        return false;
    counter_add(&binds->settled_by_ledger, 1);
    const struct bind_step end = {.next = BIND_END, .tell = BIND_TELL_BOUND};
    binds_steps_take(turn, entry, end, NULL);
    return true;
}

/* The entry may be gone then. */
static void wake(struct turn *turn, struct entry *entry)
{
    struct bind_step step = {.next = BIND_WAIT};
    if (!entry->rests && entry->attempt.wake_ms <= turn->now_ms) {
        if (entry->attempt.state == BIND_WAITING_TO_ASK && settled_by_ledger(turn, entry))
            return;
        step = bind_attempt_time(&entry->attempt, turn->now_ms);
    }
    binds_steps_take(turn, entry, step, NULL);
}

static void visit_all(struct turn *turn)
{
    struct entry *entry = NULL;
    struct entry *next = NULL;
    turn->binds->due_ms = CLOCK_NEVER;
    HASH_ITER (hh, turn->binds->entries, entry, next) {
        tell_the_late(turn, entry);
        wake(turn, entry);
    }
}

int64_t binds_tick(void *binds_context, int64_t now_ms)
{
    struct binds *binds = binds_context;
    struct turn turn;
    int64_t again_ms = CLOCK_NEVER;
    binds_turn_init(&turn, binds, now_ms);
    binds_turn_lock(&turn);
    if (!binds->stopped) {
        if (now_ms >= binds->due_ms)
            visit_all(&turn);
        if (now_ms >= binds->care_ms) {
            binds_care(&turn);
            binds->care_ms = now_ms + CARE_MS;
        }
        again_ms = binds->due_ms < binds->care_ms ? binds->due_ms : binds->care_ms;
    }
    binds_turn_end(&turn);
    return again_ms;
}

bool binds_has_callers(struct binds *binds)
{
    bool has = false;
    (void)pthread_mutex_lock(&binds->lock);
    for (const struct entry *entry = binds->entries; entry && !has; entry = entry->hh.next)
        has = entry->waiters != NULL;
    (void)pthread_mutex_unlock(&binds->lock);
    return has;
}

int64_t binds_quiet_ms(struct binds *binds, int64_t now_ms)
{
    int64_t quiet_ms = now_ms;
    const struct entry *entry = NULL;
    (void)pthread_mutex_lock(&binds->lock);
    for (entry = binds->entries; entry; entry = entry->hh.next) {
        const int64_t entry_ms = bind_attempt_quiet_ms(&entry->attempt, now_ms);
        quiet_ms = entry_ms > quiet_ms ? entry_ms : quiet_ms;
    }
    (void)pthread_mutex_unlock(&binds->lock);
    return quiet_ms;
}

void binds_stop(struct binds *binds)
{
    struct turn turn;
    struct entry *entry = NULL;
    struct entry *next = NULL;
    binds_turn_close(binds);
    binds_turn_init(&turn, binds, 0);
    binds_turn_lock(&turn);
    binds->stopped = true;
    HASH_ITER (hh, binds->entries, entry, next) {
        while (entry->waiters)
            binds_steps_tell(&turn, entry, entry->waiters, BIND_OUTCOME_UNKNOWN,
                             "the service is stopping");
    }
    binds_turn_end(&turn);
}

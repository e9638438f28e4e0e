/* binds: see include/extender/binds.h. Calls, timers, reservations and counters. */
#include "extender/binds.h"
#include "base/clock.h"
#include "base/mem.h"
#include "extender/bind/bind_entry.h"
#include "extender/bind/bind_event.h"
#include "extender/bind/bind_wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Interval between checks of reservations. */
#define RECONCILE_MS 1000

struct binds *binds_new(const struct binds_settings *settings, struct inventory *inventory,
                        struct kube_sender sender)
{
    /* The API server ignores ?timeout=0s. */
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
    binds->sender = sender;
    binds->due_ms = CLOCK_NEVER;
    mutex_init(&binds->lock);
    mutex_init(&binds->sending);
    return binds;
}

void binds_free(struct binds *binds)
{
    if (!binds)
        return;
    struct bind_entry *entry = NULL;
    struct bind_entry *next = NULL;
    HASH_ITER (hh, binds->entries, entry, next)
        bind_entry_remove(entry);
    mutex_fini(&binds->lock);
    mutex_fini(&binds->sending);
    free(binds->bound_by);
    free(binds);
}

/* Whether the ledger shows the pod on the node. */
static bool is_here(struct binds *binds, const char *uid, const char *node_name)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(binds->inventory);
    const struct pod *pod = cluster_find_pod(view.cluster, uid);
    const bool here = pod && strcmp(pod->node_name, node_name) == 0;
    return here;
}

static bool is_held(struct binds *binds, const char *uid)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(binds->inventory);
    const bool held = cluster_find_reservation(view.cluster, uid) != NULL;
    return held;
}

static struct bind_caller *caller_new(const struct bind_event *event, const struct bind_args *args,
                                      bind_answer *answer, void *context)
{
    struct bind_caller *caller = MEM_NEW(struct bind_caller);
    caller->answer = answer;
    caller->context = context;
    caller->args = bind_entry_copy_args(args);
    caller->called_ms = event->now_ms;
    caller->deadline_ms = event->now_ms + event->binds->timeout_ms;
    return caller;
}

/* A pod is bound to one node at a time. */
static void join(struct bind_event *event, struct bind_entry *entry, struct bind_caller *caller)
{
    const bool is_same = strcmp(entry->args.node_name, caller->args.node_name) == 0;
    if (is_same && entry->is_bound) {
        bind_event_answer(event, caller, BIND_OUTCOME_ALREADY_BOUND, NULL);
        return;
    }
    if (!is_same && entry->attempt.until_ms > event->now_ms) {
        bind_event_answer(event, caller, BIND_OUTCOME_CONFLICT,
                          "gpu-extender: the pod is being bound to another node");
        return;
    }
    DL_APPEND(entry->callers, caller);
    const struct bind_step step =
        is_same ? bind_attempt_joined(&entry->attempt, event->now_ms, caller->deadline_ms)
                : bind_attempt_hurry(&entry->attempt, event->now_ms);
    bind_steps_take(event, entry, step, NULL);
}

static void begin(struct bind_event *event, const struct bind_args *args,
                  struct bind_caller *caller)
{
    struct binds *binds = event->binds;
    if (HASH_COUNT(binds->entries) - binds->n_bound >= BINDS_OPEN_MAX) {
        bind_event_answer(event, caller, BIND_OUTCOME_BUSY,
                          "gpu-extender: too many bindings are under way: retry");
        return;
    }
    struct bind_entry *entry = bind_entry_new(binds, args);
    DL_APPEND(entry->callers, caller);
    const struct bind_step step = bind_attempt_begin(&entry->attempt, &binds->timing,
                                                     bind_entry_seed(entry), caller->deadline_ms);
    bind_steps_take(event, entry, step, NULL);
}

static void call(struct bind_event *event, const struct bind_args *args, struct bind_caller *caller)
{
    struct binds *binds = event->binds;
    struct bind_entry *entry = NULL;
    struct err err;
    if (binds->stopped) {
        bind_event_answer(event, caller, BIND_OUTCOME_BUSY,
                          "gpu-extender: the service is stopping");
        return;
    }
    if (bind_wire_check(args, &err) < 0) {
        err_prefix(&err, "gpu-extender: request: ");
        bind_event_answer(event, caller, BIND_OUTCOME_REFUSED, err.text);
        return;
    }
    HASH_FIND_STR(binds->entries, args->uid, entry);
    if (entry && entry->is_bound && !is_held(binds, args->uid)) {
        bind_entry_remove(entry); /* the ledger is newer */
        entry = NULL;
    }
    if (entry)
        join(event, entry, caller);
    else
        begin(event, args, caller);
}

void binds_call(struct binds *binds, const struct bind_args *args, int64_t now_ms,
                bind_answer *answer, void *context)
{
    struct bind_event event;
    bind_event_init(&event, binds, now_ms);
    bind_event_lock(&event);
    call(&event, args, caller_new(&event, args, answer, context));
    bind_event_end(&event);
}

/* Answers callers at their deadline. The watch may already show an outcome that the API server has
 * not answered. */
static void answer_the_late(struct bind_event *event, struct bind_entry *entry)
{
    struct bind_caller *caller = NULL;
    struct bind_caller *next = NULL;
    DL_FOREACH_SAFE (entry->callers, caller, next) {
        if (caller->deadline_ms > event->now_ms)
            continue;
        if (is_here(event->binds, entry->args.uid, caller->args.node_name))
            bind_steps_answer(event, entry, caller, BIND_OUTCOME_BOUND, NULL);
        else
            bind_steps_answer(event, entry, caller,
                              entry->attempt.holds ? BIND_OUTCOME_UNKNOWN : BIND_OUTCOME_FAILED,
                              *entry->why ? entry->why : "the API server has not answered");
    }
}

/* Whether the ledger has settled the attempt. If the reservation ended without us, the pod was seen
 * on a node, or deleted. */
static bool settled_by_ledger(struct bind_event *event, struct bind_entry *entry)
{
    struct binds *binds = event->binds;
    if (is_here(binds, entry->args.uid, entry->args.node_name))
        entry->outcome = BIND_OUTCOME_BOUND;
    else if (entry->callers || !entry->attempt.holds || is_held(binds, entry->args.uid))
        return false;
    counter_add(&binds->settled_by_ledger, 1);
    const struct bind_step end = {.next = BIND_END, .report = BIND_REPORT_BOUND};
    bind_steps_take(event, entry, end, NULL);
    return true;
}

/* May free the entry. */
static void wake(struct bind_event *event, struct bind_entry *entry)
{
    struct bind_step step = {.next = BIND_WAIT};
    if (!entry->is_bound && entry->attempt.wake_ms <= event->now_ms) {
        if (entry->attempt.state == BIND_WAITING_TO_ASK && settled_by_ledger(event, entry))
            return;
        step = bind_attempt_time(&entry->attempt, event->now_ms);
    }
    bind_steps_take(event, entry, step, NULL);
}

static void visit_all(struct bind_event *event)
{
    struct bind_entry *entry = NULL;
    struct bind_entry *next = NULL;
    event->binds->due_ms = CLOCK_NEVER;
    HASH_ITER (hh, event->binds->entries, entry, next) {
        answer_the_late(event, entry);
        wake(event, entry);
    }
}

/* ---- reservations unconfirmed for too long ----
 *
 * The ledger releases a reservation when it sees the pod bound. Without this check a lost watch
 * event or an undone binding would keep it forever. */

/* Checks in progress at once. */
#define CHECKS_MAX 64

/* A copy of an old reservation. In the event's arena. */
struct old_room {
    struct bind_args args;
    uint64_t serial;
    int64_t age_ms;
    struct bind_entry *entry; /* a bound one; NULL: none */
    struct old_room *next;
};

static struct old_room *copy_room(struct bind_event *event, const struct reservation *reservation)
{
    struct old_room *room = ARENA_NEW(event->arena, struct old_room);
    room->args =
        (struct bind_args){.uid = arena_strdup(event->arena, reservation->uid),
                           .namespace_ = arena_strdup(event->arena, reservation->namespace_),
                           .name = arena_strdup(event->arena, reservation->name),
                           .node_name = arena_strdup(event->arena, reservation->node_name)};
    room->serial = reservation->serial;
    room->age_ms = event->now_ms - reservation->made_ms;
    return room;
}

/* Old reservations, oldest first, that no attempt is checking. */
static struct old_room *find_old(struct bind_event *event, const struct cluster *cluster)
{
    struct binds *binds = event->binds;
    struct old_room *rooms = NULL;
    size_t n = 0;
    const struct reservation *reservation = NULL;
    while (n < CHECKS_MAX && (reservation = cluster_next_reservation(cluster, reservation)) &&
           event->now_ms - reservation->made_ms >= binds->timing.confirm_ms) {
        struct bind_entry *entry = NULL;
        HASH_FIND_STR(binds->entries, reservation->uid, entry);
        if (entry && (!entry->is_bound || entry->attempt.wake_ms > event->now_ms))
            continue;
        struct old_room *room = copy_room(event, reservation);
        room->entry = entry;
        LL_APPEND(rooms, room);
        n++;
    }
    return rooms;
}

static void forget_what_is_seen(struct binds *binds, const struct cluster *cluster)
{
    struct bind_entry *entry = NULL;
    struct bind_entry *next = NULL;
    HASH_ITER (hh, binds->entries, entry, next) {
        if (entry->is_bound && !cluster_find_reservation(cluster, entry->args.uid))
            bind_entry_remove(entry);
    }
}

static void check_room(struct bind_event *event, const struct old_room *room)
{
    struct binds *binds = event->binds;
    struct bind_entry *entry = room->entry ? room->entry : bind_entry_new(binds, &room->args);
    const char *age = arena_printf(event->arena, "%lld", (long long)room->age_ms);
    entry->serial = room->serial;
    counter_add(&binds->unconfirmed, 1);
    bind_event_note(event, entry, LOG_WARN, "the reservation is unconfirmed: reading the pod",
                    "age_ms", age);
    const struct bind_step step =
        bind_attempt_check(&entry->attempt, &binds->timing, bind_entry_seed(entry), event->now_ms);
    bind_steps_take(event, entry, step, NULL);
}

/* Removes entries that the ledger settled. Returns the old reservations. */
static const struct old_room *look_at_ledger(struct bind_event *event)
{
    struct binds *binds = event->binds;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(binds->inventory);
    forget_what_is_seen(binds, view.cluster);
    return find_old(event, view.cluster);
}

/* Checks old reservations, with or without an entry. */
static void reconcile(struct bind_event *event)
{
    const struct old_room *room = NULL;
    const struct old_room *rooms = look_at_ledger(event);
    LL_FOREACH (rooms, room)
        check_room(event, room);
}

int64_t binds_tick(void *binds_context, int64_t now_ms)
{
    struct binds *binds = binds_context;
    struct bind_event event;
    int64_t again_ms = CLOCK_NEVER;
    bind_event_init(&event, binds, now_ms);
    bind_event_lock(&event);
    if (!binds->stopped) {
        if (now_ms >= binds->due_ms)
            visit_all(&event);
        if (now_ms >= binds->reconcile_ms) {
            reconcile(&event);
            binds->reconcile_ms = now_ms + RECONCILE_MS;
        }
        again_ms = binds->due_ms < binds->reconcile_ms ? binds->due_ms : binds->reconcile_ms;
    }
    bind_event_end(&event);
    return again_ms;
}

bool binds_has_callers(struct binds *binds)
{
    bool has = false;
    mutex_lock(&binds->lock);
    for (const struct bind_entry *entry = binds->entries; entry && !has; entry = entry->hh.next)
        has = entry->callers != NULL;
    mutex_unlock(&binds->lock);
    return has;
}

int64_t binds_quiet_ms(struct binds *binds, int64_t now_ms)
{
    int64_t quiet_ms = now_ms;
    const struct bind_entry *entry = NULL;
    mutex_lock(&binds->lock);
    for (entry = binds->entries; entry; entry = entry->hh.next) {
        const int64_t entry_ms = bind_attempt_quiet_ms(&entry->attempt, now_ms);
        quiet_ms = entry_ms > quiet_ms ? entry_ms : quiet_ms;
    }
    mutex_unlock(&binds->lock);
    return quiet_ms;
}

void binds_stop(struct binds *binds)
{
    struct bind_event event;
    struct bind_entry *entry = NULL;
    struct bind_entry *next = NULL;
    bind_event_close(binds);
    bind_event_init(&event, binds, 0);
    bind_event_lock(&event);
    binds->stopped = true;
    HASH_ITER (hh, binds->entries, entry, next) {
        while (entry->callers)
            bind_steps_answer(&event, entry, entry->callers, BIND_OUTCOME_UNKNOWN,
                              "the service is stopping");
    }
    bind_event_end(&event);
}

static const char *const FINDINGS[N_BIND_FINDINGS] = {
    [FOUND_BOUND] = "bound",     [FOUND_ELSEWHERE] = "elsewhere", [FOUND_GONE] = "gone",
    [FOUND_UNBOUND] = "unbound", [FOUND_NOTHING] = NULL, /* settles nothing */
};

static void add_counter(struct buf *out, const char *name, const char *label, const char *value,
                        const struct counter *counter)
{
    const struct metric_label labels[] = {{label, value}, {0}};
    metrics_sample(out, name, labels, (double)counter_value(counter));
}

static void add_counters(const struct binds *binds, struct buf *out)
{
    metrics_head(out, "gpu_extender_binds_total", "counter", "Answered bind calls, by outcome.");
    for (size_t i = 0; i < N_BIND_OUTCOMES; i++)
        add_counter(out, "gpu_extender_binds_total", "outcome",
                    bind_entry_outcome_name((enum bind_outcome)i), &binds->outcomes[i]);
    metrics_head(out, "gpu_extender_bind_settled_total", "counter",
                 "Bindings answered with an unknown outcome, by what was found later.");
    for (size_t i = 0; i < N_BIND_FINDINGS; i++) {
        if (FINDINGS[i])
            add_counter(out, "gpu_extender_bind_settled_total", "how", FINDINGS[i],
                        &binds->settled[i]);
    }
    add_counter(out, "gpu_extender_bind_settled_total", "how", "ledger", &binds->settled_by_ledger);
    metrics_counter(
        out, "gpu_extender_reservations_unconfirmed_total",
        "Reservations that stayed unconfirmed, so that the pod was read from the API server.",
        &binds->unconfirmed);
}

static size_t count_reservations(struct inventory *inventory)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return cluster_n_reservations(view.cluster);
}

void binds_metrics(struct binds *binds, struct buf *out)
{
    mutex_lock(&binds->lock);
    const size_t n_open = HASH_COUNT(binds->entries) - binds->n_bound;
    mutex_unlock(&binds->lock);
    add_counters(binds, out);
    metrics_gauge(out, "gpu_extender_bind_attempts_open",
                  "Pods whose binding is in progress or has no known outcome.", (double)n_open);
    metrics_gauge(out, "gpu_extender_reservations_open",
                  "Pods whose room is reserved until the ledger sees them bound.",
                  (double)count_reservations(binds->inventory));
    metrics_head(out, "gpu_extender_bind_duration_seconds", "histogram",
                 "Seconds from a bind call to its answer.");
    metrics_histogram(out, "gpu_extender_bind_duration_seconds", NULL, &binds->duration);
}

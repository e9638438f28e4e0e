/* binds_steps: an attempt's steps, carried out. See binds_priv.h. */
#include "base/clock.h"
#include "binds_priv.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

static kube_done on_posted;
static kube_done on_got;

static bool is_heir(const struct entry *entry, const struct waiter *waiter)
{
    return strcmp(waiter->node_name, entry->node_name) != 0;
}

void binds_steps_tell(struct turn *turn, struct entry *entry, struct waiter *waiter,
                      enum bind_outcome outcome, const char *why)
{
    DL_DELETE(entry->waiters, waiter);
    const char *text = outcome == BIND_OUTCOME_UNKNOWN ? "the outcome is not known yet: " : "";
    if (why)
        why = arena_printf(turn->arena, "gpu-extender: %s%s", text, why);
    binds_turn_tell(turn, waiter, outcome, why);
}

static void tell_failed(struct turn *turn, struct entry *entry, struct waiter *waiter)
{
    binds_steps_tell(turn, entry, waiter, entry->outcome, entry->why);
}

/* Who wants it on another node hears that it is bound, and waits on where it failed. */
static void tell_all(struct turn *turn, struct entry *entry, enum bind_tell what)
{
    const char *elsewhere =
        arena_printf(turn->arena, "the pod is bound to node %s already", entry->node_name);
    struct waiter *waiter = NULL;
    struct waiter *next = NULL;
    DL_FOREACH_SAFE (entry->waiters, waiter, next) {
        const bool heir = is_heir(entry, waiter);
        if (what == BIND_TELL_BOUND)
            binds_steps_tell(turn, entry, waiter, heir ? BIND_OUTCOME_CONFLICT : entry->outcome,
                             heir ? elsewhere : NULL);
        else if (!heir)
            tell_failed(turn, entry, waiter);
    }
}

static uint64_t held_serial(struct binds *binds, const char *uid)
{
    const struct inventory_view view = inventory_read(binds->inventory);
    const struct reservation *reservation = cluster_find_reservation(view.cluster, uid);
    const uint64_t serial = reservation ? reservation->serial : 0;
    inventory_done(binds->inventory);
    return serial;
}

/* Room is held for it on another node: what became of that comes first. Who waits here waits for
 * it. */
static struct bind_step settle_the_other(struct turn *turn, struct entry *entry,
                                         const char *node_name)
{
    binds_entry_move(entry, node_name);
    binds_entry_fails(entry, BIND_OUTCOME_UNKNOWN, "the API server was not heard yet");
    entry->serial = held_serial(turn->binds, entry->uid);
    return bind_attempt_check(&entry->attempt, &turn->binds->timing, binds_entry_seed(entry),
                              turn->now_ms);
}

static struct bind_step hold(struct turn *turn, struct entry *entry, const struct pod_facts *facts)
{
    const struct reserve_question question = {
        .uid = entry->uid, .node_name = entry->node_name, .facts = facts, .now_ms = turn->now_ms};
    struct reserve_result result = {0};
    const enum reserve_verdict verdict =
        inventory_reserve(turn->binds->inventory, &question, turn->arena, &result);
    switch (verdict) {
    case RESERVE_HELD:
        entry->serial = result.serial;
        break;
    case RESERVE_BOUND_HERE:
        entry->outcome = BIND_OUTCOME_ALREADY_BOUND;
        break;
    case RESERVE_BOUND_ELSEWHERE:
        binds_entry_fails(
            entry, BIND_OUTCOME_CONFLICT,
            arena_printf(turn->arena, "the pod is bound to node %s already", result.node_name));
        break;
    case RESERVE_HELD_ELSEWHERE:
        return settle_the_other(turn, entry, result.node_name);
    case RESERVE_REFUSED:
        binds_entry_fails(entry, BIND_OUTCOME_REFUSED, result.why);
        break;
    case RESERVE_POD_UNKNOWN:
        break;
    case RESERVE_POD_GONE:
    default:
        binds_entry_fails(entry, BIND_OUTCOME_GONE, "the pod has finished or is being deleted");
        break;
    }
    return bind_attempt_reserved(&entry->attempt, turn->now_ms, verdict, facts != NULL);
}

/* Who still waits, for another node, is told why this one ended. */
static void end(struct turn *turn, struct entry *entry)
{
    while (entry->waiters)
        tell_failed(turn, entry, entry->waiters);
    binds_entry_remove(entry);
}

static void count_resting(struct entry *entry)
{
    const bool rests = entry->attempt.state == BIND_RESTING;
    if (rests && !entry->rests)
        entry->binds->n_resting++;
    if (!rests && entry->rests)
        entry->binds->n_resting--;
    entry->rests = rests;
}

/* Those that rest are looked at by binds_care(). */
static void note_due(struct entry *entry)
{
    int64_t due_ms = entry->rests ? CLOCK_NEVER : entry->attempt.wake_ms;
    const struct waiter *waiter = NULL;
    DL_FOREACH (entry->waiters, waiter)
        due_ms = waiter->deadline_ms < due_ms ? waiter->deadline_ms : due_ms;
    if (due_ms < entry->binds->due_ms)
        entry->binds->due_ms = due_ms;
}

static void carry_out(struct turn *turn, struct entry *entry, const struct bind_step *step)
{
    if (step->tell != BIND_TELL_NOTHING)
        tell_all(turn, entry, step->tell);
    if (step->release)
        inventory_release(turn->binds->inventory, entry->uid, entry->serial);
}

static bool may_post(const struct turn *turn)
{
    const struct binds *binds = turn->binds;
    return !binds->may_post || binds->may_post(binds->may_post_context, turn->now_ms);
}

/* If a POST was sent before, its outcome must still be settled. */
static struct bind_step refuse_to_post(struct turn *turn, struct entry *entry, const char *why)
{
    binds_entry_fails(entry, BIND_OUTCOME_FAILED, why);
    const struct bind_step step =
        bind_attempt_posted(&entry->attempt, turn->now_ms, POSTED_REFUSED, 0);
    carry_out(turn, entry, &step);
    return step;
}

static int64_t held_until_ms(const struct turn *turn)
{
    const struct binds *binds = turn->binds;
    return binds->held_until_ms ? binds->held_until_ms(binds->held_context, turn->now_ms)
                                : turn->now_ms;
}

/* Bindings of the previous process may still take effect. */
static struct bind_step hold_back(struct turn *turn, struct entry *entry)
{
    binds_entry_fails(entry, BIND_OUTCOME_FAILED,
                      "the service has just started, and bindings of the one before may still take "
                      "effect: retry");
    const struct bind_step step =
        bind_attempt_held(&entry->attempt, turn->now_ms, held_until_ms(turn));
    carry_out(turn, entry, &step);
    return step;
}

void binds_steps_take(struct turn *turn, struct entry *entry, struct bind_step step,
                      const struct pod_facts *facts)
{
    carry_out(turn, entry, &step);
    while (step.next == BIND_RESERVE) {
        step = hold(turn, entry, facts);
        carry_out(turn, entry, &step);
    }
    if (step.next == BIND_POST && !may_post(turn)) /* another replica leads, or soon may */
        step = refuse_to_post(turn, entry, "this replica does not lead: retry");
    if (step.next == BIND_POST && !binds_leave_is_awaited(entry, turn->now_ms))
        step = refuse_to_post(turn, entry, "the caller hung up, or its time is over");
    if (step.next == BIND_POST && held_until_ms(turn) > turn->now_ms)
        step = hold_back(turn, entry);
    count_resting(entry);
    const bool forgotten = entry->rests && turn->binds->n_resting > BINDS_RESTING_MAX;
    if (step.next == BIND_END || forgotten) {
        end(turn, entry);
        return;
    }
    if (step.next == BIND_POST)
        binds_turn_post(turn, entry, step.timeout_ms, on_posted);
    else if (step.next == BIND_GET)
        binds_turn_get(turn, entry, step.timeout_ms, on_got);
    note_due(entry);
}

static void take_reply(struct turn *turn, struct entry *entry, const struct bind_reply *reply)
{
    static const enum bind_outcome OUTCOMES[] = {
        [POSTED_BOUND] = BIND_OUTCOME_BOUND,       [POSTED_GONE] = BIND_OUTCOME_GONE,
        [POSTED_CONFLICT] = BIND_OUTCOME_CONFLICT, [POSTED_REFUSED] = BIND_OUTCOME_FAILED,
        [POSTED_UNKNOWN] = BIND_OUTCOME_UNKNOWN,   [POSTED_THROTTLED] = BIND_OUTCOME_FAILED,
        [POSTED_NOT_SENT] = BIND_OUTCOME_FAILED,
    };
    binds_entry_fails(entry, OUTCOMES[reply->posted], reply->why);
    const struct bind_step step =
        bind_attempt_posted(&entry->attempt, turn->now_ms, reply->posted, reply->retry_after_ms);
    binds_steps_take(turn, entry, step, NULL);
}

static void on_posted(void *context, const struct kube_answer *answer)
{
    struct entry *entry = context;
    struct turn turn;
    struct bind_reply reply;
    binds_turn_init(&turn, entry->binds, answer->at_ms);
    bind_wire_read_reply(answer, turn.arena, &reply);
    binds_turn_lock(&turn);
    if (!entry->binds->stopped)
        take_reply(&turn, entry, &reply);
    binds_turn_end(&turn);
}

/* Before the attempt hears of it. */
static void note_sight(struct turn *turn, struct entry *entry, const struct bind_sight *sight)
{
    const struct bind_attempt *attempt = &entry->attempt;
    const bool ours = strcmp(sight->bound_by, turn->binds->bound_by) == 0;
    switch (sight->finding) {
    case FOUND_BOUND:
        entry->outcome = ours ? BIND_OUTCOME_BOUND : BIND_OUTCOME_ALREADY_BOUND;
        if (!ours && (attempt->n_posts > 0 || attempt->wants_facts))
            binds_turn_note(turn, entry, LOG_WARN, "bound to the node asked for by somebody else",
                            "bound_by", sight->bound_by);
        break;
    case FOUND_ELSEWHERE:
        binds_entry_fails(entry, BIND_OUTCOME_CONFLICT, sight->why);
        break;
    case FOUND_UNBOUND:
        if (attempt->asked_ms < attempt->quiet_ms)
            entry->outcome = BIND_OUTCOME_UNKNOWN;
        else if (entry->outcome == BIND_OUTCOME_UNKNOWN)
            entry->outcome = BIND_OUTCOME_FAILED;
        break;
    case FOUND_NOTHING:
        binds_entry_fails(entry, attempt->holds ? BIND_OUTCOME_UNKNOWN : BIND_OUTCOME_FAILED,
                          sight->why);
        break;
    case FOUND_GONE:
    case N_BIND_FINDINGS:
    default:
        binds_entry_fails(entry, BIND_OUTCOME_GONE, sight->why);
        break;
    }
}

/* Those who want the pod on another node hear what became of it on this one. */
static void tell_heirs(struct turn *turn, struct entry *entry, const struct bind_sight *sight)
{
    const char *not_yet =
        arena_printf(turn->arena, "a binding to node %s may still take effect", entry->node_name);
    struct waiter *waiter = NULL;
    struct waiter *next = NULL;
    DL_FOREACH_SAFE (entry->waiters, waiter, next) {
        if (!is_heir(entry, waiter))
            continue;
        if (strcmp(sight->node_name, waiter->node_name) == 0)
            binds_steps_tell(turn, entry, waiter, BIND_OUTCOME_ALREADY_BOUND, NULL);
        else if (sight->finding == FOUND_UNBOUND)
            binds_steps_tell(turn, entry, waiter, BIND_OUTCOME_CONFLICT, not_yet);
        else
            tell_failed(turn, entry, waiter);
    }
}

/* The room on this node is free again: the first of those who wait for another has its turn. */
static void begin_for_heir(struct turn *turn, struct entry *entry, const struct pod_facts *facts)
{
    assert(entry->waiters);
    struct waiter *waiter = NULL;
    struct waiter *next = NULL;
    int64_t until_ms = 0;
    binds_entry_move(entry, entry->waiters->node_name);
    DL_FOREACH_SAFE (entry->waiters, waiter, next) {
        if (is_heir(entry, waiter))
            binds_steps_tell(turn, entry, waiter, BIND_OUTCOME_CONFLICT,
                             "the pod is being bound to another node");
        else if (waiter->deadline_ms > until_ms)
            until_ms = waiter->deadline_ms;
    }
    binds_entry_fails(entry, BIND_OUTCOME_FAILED, "");
    const struct bind_step step = bind_attempt_begin(&entry->attempt, &turn->binds->timing,
                                                     binds_entry_seed(entry), until_ms);
    binds_steps_take(turn, entry, step, facts);
}

static bool has_heirs(const struct entry *entry)
{
    const struct waiter *waiter = NULL;
    DL_FOREACH (entry->waiters, waiter) {
        if (is_heir(entry, waiter))
            return true;
    }
    return false;
}

static void take_sight(struct turn *turn, struct entry *entry, const struct bind_sight *sight)
{
    const bool was_ambiguous = entry->attempt.ambiguous;
    note_sight(turn, entry, sight);
    const struct bind_step step = bind_attempt_found(&entry->attempt, turn->now_ms, sight->finding,
                                                     sight->finished, sight->retry_after_ms);
    if (was_ambiguous && entry->attempt.state != BIND_WAITING_TO_ASK)
        counter_add(&turn->binds->settled[sight->finding], 1);
    if (sight->finding == FOUND_UNBOUND && step.next == BIND_END && has_heirs(entry)) {
        carry_out(turn, entry, &step);
        begin_for_heir(turn, entry, sight->facts);
        return;
    }
    if (sight->finding != FOUND_NOTHING && sight->finding != FOUND_BOUND)
        tell_heirs(turn, entry, sight);
    binds_steps_take(turn, entry, step, sight->facts);
}

static void on_got(void *context, const struct kube_answer *answer)
{
    struct entry *entry = context;
    struct turn turn;
    struct bind_sight sight;
    const struct bind_args args = binds_entry_args(entry);
    binds_turn_init(&turn, entry->binds, answer->at_ms);
    bind_wire_read_pod(answer, &args, entry->binds->policy, turn.arena, &sight);
    binds_turn_lock(&turn);
    if (!entry->binds->stopped)
        take_sight(&turn, entry, &sight);
    binds_turn_end(&turn);
}

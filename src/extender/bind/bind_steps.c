/* bind_steps: see bind_event.h. */
#include "base/clock.h"
#include "extender/bind/bind_entry.h"
#include "extender/bind/bind_event.h"
#include "extender/bind/bind_wire.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

static kube_done on_posted;
static kube_done on_got;

static bool wants_other_node(const struct bind_entry *entry, const struct bind_caller *caller)
{
    return strcmp(caller->args.node_name, entry->args.node_name) != 0;
}

void bind_steps_answer(struct bind_event *event, struct bind_entry *entry,
                       struct bind_caller *caller, enum bind_outcome outcome, const char *why)
{
    DL_DELETE(entry->callers, caller);
    const char *text = outcome == BIND_OUTCOME_UNKNOWN ? "the outcome is unknown: " : "";
    if (why)
        why = arena_printf(event->arena, "gpu-extender: %s%s", text, why);
    bind_event_answer(event, caller, outcome, why);
}

static void answer_failed(struct bind_event *event, struct bind_entry *entry,
                          struct bind_caller *caller)
{
    bind_steps_answer(event, entry, caller, entry->outcome, entry->why);
}

/* Reports a success also to callers for another node. After a failure those keep waiting. */
static void answer_all(struct bind_event *event, struct bind_entry *entry, enum bind_report report)
{
    const char *elsewhere =
        arena_printf(event->arena, "the pod is bound to node %s already", entry->args.node_name);
    struct bind_caller *caller = NULL;
    struct bind_caller *next = NULL;
    DL_FOREACH_SAFE (entry->callers, caller, next) {
        const bool wants_other = wants_other_node(entry, caller);
        if (report == BIND_REPORT_BOUND)
            bind_steps_answer(event, entry, caller,
                              wants_other ? BIND_OUTCOME_CONFLICT : entry->outcome,
                              wants_other ? elsewhere : NULL);
        else if (!wants_other)
            answer_failed(event, entry, caller);
    }
}

static uint64_t held_serial(struct binds *binds, const char *uid)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(binds->inventory);
    const struct reservation *reservation = cluster_find_reservation(view.cluster, uid);
    const uint64_t serial = reservation ? reservation->serial : 0;
    return serial;
}

/* The pod has a reservation on another node. Settle that first; the callers wait. */
static struct bind_step settle_the_other(struct bind_event *event, struct bind_entry *entry,
                                         const char *node_name)
{
    bind_entry_move(entry, node_name);
    bind_entry_fails(entry, BIND_OUTCOME_UNKNOWN, "the API server has not answered yet");
    entry->serial = held_serial(event->binds, entry->args.uid);
    return bind_attempt_check(&entry->attempt, &event->binds->timing, bind_entry_seed(entry),
                              event->now_ms);
}

static struct bind_step reserve(struct bind_event *event, struct bind_entry *entry,
                                const struct pod_facts *facts)
{
    const struct reserve_question question = {
        .uid = entry->args.uid,
        .node_name = entry->args.node_name,
        .facts = facts,
        .has_waited_for_claims = bind_attempt_has_waited_for_claims(&entry->attempt),
        .now_ms = event->now_ms};
    struct reserve_result result = {0};
    bind_entry_judged(entry, inventory_hold_policy(event->binds->inventory));
    const enum reserve_verdict verdict =
        inventory_reserve(event->binds->inventory, &question, event->arena, &result);
    switch (verdict) {
    case RESERVE_HELD:
        entry->serial = result.serial;
        break;
    case RESERVE_HELD_REFUSED:
        entry->serial = result.serial;
        bind_entry_fails(entry, BIND_OUTCOME_REFUSED, result.why);
        break;
    case RESERVE_BOUND_HERE:
        entry->outcome = BIND_OUTCOME_ALREADY_BOUND;
        break;
    case RESERVE_BOUND_ELSEWHERE:
        bind_entry_fails(
            entry, BIND_OUTCOME_CONFLICT,
            arena_printf(event->arena, "the pod is bound to node %s already", result.node_name));
        break;
    case RESERVE_HELD_ELSEWHERE:
        return settle_the_other(event, entry, result.node_name);
    case RESERVE_REFUSED:
        bind_entry_fails(entry, BIND_OUTCOME_REFUSED, result.why);
        break;
    case RESERVE_CLAIMS_UNSEEN:
        bind_entry_fails(
            entry, BIND_OUTCOME_FAILED,
            "a quota covers the pod, and the watch does not show yet that its resource "
            "claims are allocated and reserved for it: retry");
        break;
    case RESERVE_AWAITS_FIRST:
        bind_entry_fails(entry, BIND_OUTCOME_FAILED,
                         "the first pod of the group is being bound: retry");
        break;
    case RESERVE_POD_UNKNOWN:
        break;
    case RESERVE_POD_GONE:
    default:
        bind_entry_fails(entry, BIND_OUTCOME_GONE, "the pod has finished or is being deleted");
        break;
    }
    return bind_attempt_reserved(&entry->attempt, event->now_ms, verdict, facts != NULL);
}

/* Reports the failure to callers for another node that still wait. */
static void end(struct bind_event *event, struct bind_entry *entry)
{
    while (entry->callers)
        answer_failed(event, entry, entry->callers);
    bind_entry_remove(entry);
}

static void count_bound(struct bind_entry *entry)
{
    const bool is_bound = entry->attempt.state == BIND_BOUND;
    if (is_bound && !entry->is_bound)
        entry->binds->n_bound++;
    if (!is_bound && entry->is_bound)
        entry->binds->n_bound--;
    entry->is_bound = is_bound;
}

/* Bound entries are checked in reconcile(). */
static void note_due(struct bind_entry *entry)
{
    int64_t due_ms = entry->is_bound ? CLOCK_NEVER : entry->attempt.wake_ms;
    const struct bind_caller *caller = NULL;
    DL_FOREACH (entry->callers, caller)
        due_ms = caller->deadline_ms < due_ms ? caller->deadline_ms : due_ms;
    if (due_ms < entry->binds->due_ms)
        entry->binds->due_ms = due_ms;
}

static void carry_out(struct bind_event *event, struct bind_entry *entry,
                      const struct bind_step *step)
{
    if (step->report != BIND_REPORT_NOTHING)
        answer_all(event, entry, step->report);
    if (step->release)
        inventory_release(event->binds->inventory, entry->args.uid, entry->serial);
}

static bool may_post(const struct bind_event *event)
{
    const struct binds *binds = event->binds;
    return !binds->may_post || binds->may_post(binds->may_post_context, event->now_ms);
}

/* If a POST was sent before, its outcome must still be settled. */
static struct bind_step refuse_to_post(struct bind_event *event, struct bind_entry *entry,
                                       const char *why)
{
    bind_entry_fails(entry, BIND_OUTCOME_FAILED, why);
    const struct bind_step step =
        bind_attempt_posted(&entry->attempt, event->now_ms, POSTED_REFUSED, 0);
    carry_out(event, entry, &step);
    return step;
}

static int64_t held_until_ms(const struct bind_event *event)
{
    const struct binds *binds = event->binds;
    return binds->held_until_ms ? binds->held_until_ms(binds->held_context, event->now_ms)
                                : event->now_ms;
}

/* Bindings of the previous process may still take effect. */
static struct bind_step hold_back(struct bind_event *event, struct bind_entry *entry)
{
    bind_entry_fails(entry, BIND_OUTCOME_FAILED,
                     "the service has just started, and bindings of its predecessor may still take "
                     "effect: retry");
    const struct bind_step step =
        bind_attempt_held(&entry->attempt, event->now_ms, held_until_ms(event));
    carry_out(event, entry, &step);
    return step;
}

void bind_steps_take(struct bind_event *event, struct bind_entry *entry, struct bind_step step,
                     const struct pod_facts *facts)
{
    carry_out(event, entry, &step);
    while (step.next == BIND_RESERVE) {
        step = reserve(event, entry, facts);
        carry_out(event, entry, &step);
    }
    if (step.next == BIND_POST && !may_post(event)) /* another replica leads, or soon may */
        step = refuse_to_post(event, entry, "this replica is not the leader: retry");
    if (step.next == BIND_POST && !bind_entry_is_awaited(entry, event->now_ms))
        step = refuse_to_post(event, entry, "the caller disconnected, or its deadline has passed");
    if (step.next == BIND_POST && held_until_ms(event) > event->now_ms)
        step = hold_back(event, entry);
    count_bound(entry);
    const bool forgotten = entry->is_bound && event->binds->n_bound > BINDS_BOUND_MAX;
    if (step.next == BIND_END || forgotten) {
        end(event, entry);
        return;
    }
    if (step.next == BIND_POST)
        bind_event_post(event, entry, step.timeout_ms, on_posted);
    else if (step.next == BIND_GET)
        bind_event_get(event, entry, step.timeout_ms, on_got);
    note_due(entry);
}

static void take_reply(struct bind_event *event, struct bind_entry *entry,
                       const struct bind_reply *reply)
{
    static const enum bind_outcome OUTCOMES[] = {
        [POSTED_BOUND] = BIND_OUTCOME_BOUND,       [POSTED_GONE] = BIND_OUTCOME_GONE,
        [POSTED_CONFLICT] = BIND_OUTCOME_CONFLICT, [POSTED_REFUSED] = BIND_OUTCOME_FAILED,
        [POSTED_UNKNOWN] = BIND_OUTCOME_UNKNOWN,   [POSTED_THROTTLED] = BIND_OUTCOME_FAILED,
        [POSTED_NOT_SENT] = BIND_OUTCOME_FAILED,
    };
    bind_entry_fails(entry, OUTCOMES[reply->posted], reply->why);
    const struct bind_step step =
        bind_attempt_posted(&entry->attempt, event->now_ms, reply->posted, reply->retry_after_ms);
    bind_steps_take(event, entry, step, NULL);
}

static void on_posted(void *context, const struct kube_answer *answer)
{
    struct bind_entry *entry = context;
    struct bind_event event;
    struct bind_reply reply;
    bind_event_init(&event, entry->binds, answer->at_ms);
    bind_wire_read_reply(answer, event.arena, &reply);
    bind_event_lock(&event);
    if (!entry->binds->stopped)
        take_reply(&event, entry, &reply);
    bind_event_end(&event);
}

/* Call before the attempt gets the finding. */
static void note_sight(struct bind_event *event, struct bind_entry *entry,
                       const struct bind_sight *sight)
{
    const struct bind_attempt *attempt = &entry->attempt;
    const bool ours = strcmp(sight->bound_by, event->binds->bound_by) == 0;
    switch (sight->finding) {
    case FOUND_BOUND:
        entry->outcome = ours ? BIND_OUTCOME_BOUND : BIND_OUTCOME_ALREADY_BOUND;
        if (!ours && (attempt->n_posts > 0 || attempt->wants_facts))
            bind_event_note(event, entry, LOG_WARN,
                            "another client bound the pod to the requested node", "bound_by",
                            sight->bound_by);
        break;
    case FOUND_ELSEWHERE:
        bind_entry_fails(entry, BIND_OUTCOME_CONFLICT, sight->why);
        break;
    case FOUND_UNBOUND:
        if (attempt->asked_ms < attempt->quiet_ms)
            entry->outcome = BIND_OUTCOME_UNKNOWN;
        else if (entry->outcome == BIND_OUTCOME_UNKNOWN)
            entry->outcome = BIND_OUTCOME_FAILED;
        break;
    case FOUND_NOTHING:
        bind_entry_fails(entry, attempt->holds ? BIND_OUTCOME_UNKNOWN : BIND_OUTCOME_FAILED,
                         sight->why);
        break;
    case FOUND_GONE:
    case N_BIND_FINDINGS:
    default:
        bind_entry_fails(entry, BIND_OUTCOME_GONE, sight->why);
        break;
    }
}

/* Reports the outcome on this node to callers for another node. */
static void answer_other_nodes(struct bind_event *event, struct bind_entry *entry,
                               const struct bind_sight *sight)
{
    const char *not_yet = arena_printf(event->arena, "a binding to node %s may still take effect",
                                       entry->args.node_name);
    struct bind_caller *caller = NULL;
    struct bind_caller *next = NULL;
    DL_FOREACH_SAFE (entry->callers, caller, next) {
        if (!wants_other_node(entry, caller))
            continue;
        if (strcmp(sight->node_name, caller->args.node_name) == 0)
            bind_steps_answer(event, entry, caller, BIND_OUTCOME_ALREADY_BOUND, NULL);
        else if (sight->finding == FOUND_UNBOUND)
            bind_steps_answer(event, entry, caller, BIND_OUTCOME_CONFLICT, not_yet);
        else
            answer_failed(event, entry, caller);
    }
}

/* The reservation on this node is released. The first caller for another node gets its turn. */
static void begin_on_other_node(struct bind_event *event, struct bind_entry *entry,
                                const struct pod_facts *facts)
{
    assert(entry->callers);
    struct bind_caller *caller = NULL;
    struct bind_caller *next = NULL;
    int64_t until_ms = 0;
    bind_entry_move(entry, entry->callers->args.node_name);
    DL_FOREACH_SAFE (entry->callers, caller, next) {
        if (wants_other_node(entry, caller))
            bind_steps_answer(event, entry, caller, BIND_OUTCOME_CONFLICT,
                              "the pod is being bound to another node");
        else if (caller->deadline_ms > until_ms)
            until_ms = caller->deadline_ms;
    }
    bind_entry_fails(entry, BIND_OUTCOME_FAILED, "");
    const struct bind_step step = bind_attempt_begin(&entry->attempt, &event->binds->timing,
                                                     bind_entry_seed(entry), until_ms);
    bind_steps_take(event, entry, step, facts);
}

static bool has_other_nodes(const struct bind_entry *entry)
{
    const struct bind_caller *caller = NULL;
    DL_FOREACH (entry->callers, caller) {
        if (wants_other_node(entry, caller))
            return true;
    }
    return false;
}

static void take_sight(struct bind_event *event, struct bind_entry *entry,
                       const struct bind_sight *sight)
{
    const bool was_ambiguous = entry->attempt.ambiguous;
    note_sight(event, entry, sight);
    const struct bind_step step = bind_attempt_found(&entry->attempt, event->now_ms, sight->finding,
                                                     sight->finished, sight->retry_after_ms);
    if (was_ambiguous && entry->attempt.state != BIND_WAITING_TO_ASK)
        counter_add(&event->binds->settled[sight->finding], 1);
    if (sight->finding == FOUND_UNBOUND && step.next == BIND_END && has_other_nodes(entry)) {
        carry_out(event, entry, &step);
        begin_on_other_node(event, entry, sight->facts);
        return;
    }
    if (sight->finding != FOUND_NOTHING && sight->finding != FOUND_BOUND)
        answer_other_nodes(event, entry, sight);
    bind_steps_take(event, entry, step, sight->facts);
}

static void on_got(void *context, const struct kube_answer *answer)
{
    struct bind_entry *entry = context;
    struct bind_event event;
    struct bind_sight sight;
    const struct policy *policy CLEANUP(policy_drop_ptr) =
        inventory_hold_policy(entry->binds->inventory);
    bind_event_init(&event, entry->binds, answer->at_ms);
    bind_wire_read_pod(answer, &entry->args, policy, event.arena, &sight);
    bind_event_lock(&event);
    if (!entry->binds->stopped)
        take_sight(&event, entry, &sight);
    bind_event_end(&event);
}

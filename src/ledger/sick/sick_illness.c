/* sick_illness: evidence, quarantine and shape traps of one node. See include/ledger/sick_nodes.h.
 */
#include "base/mem.h"
#include "ledger/sick/sick_priv.h"

#include <stdlib.h>
#include <utlist.h>

#define MINUTE_MS INT64_C(60000)
#define SECOND_MS INT64_C(1000)

bool node_mark_traps(const struct node_mark *mark, const struct sick_shape *asked)
{
    const struct sick_shape *other = NULL; /* a matching trap of another owner */
    for (size_t i = 0; i < mark->n_traps; i++) {
        const struct sick_shape *trap = &mark->traps[i].shape;
        if (asked->qos != trap->qos || asked->gpus < trap->gpus ||
            asked->milli_cores < trap->milli_cores || asked->memory_bytes < trap->memory_bytes)
            continue;
        if (trap->owner == asked->owner || (other && other->namespace_ != trap->namespace_))
            return true;
        other = other ? other : trap;
    }
    return false;
}

static bool has_mark(const struct illness *illness)
{
    return illness->mark.state != QUARANTINE_NONE || illness->mark.is_capped ||
           illness->mark.n_traps > 0;
}

static struct illness *find_or_add(struct sick_nodes *sick, struct sick_node *node)
{
    if (!node->illness) {
        node->illness = MEM_NEW(struct illness);
        node->illness->node = node;
        DL_APPEND(sick->ill, node->illness);
    }
    return node->illness;
}

void illness_free(struct sick_nodes *sick, struct illness *illness)
{
    DL_DELETE(sick->ill, illness);
    if (has_mark(illness))
        sick->marked(sick->context, illness->node->name, NULL);
    illness->node->illness = NULL;
    free(illness);
}

static void free_if_over(struct sick_nodes *sick, struct illness *illness)
{
    if (!has_mark(illness) && illness->n_evidence == 0 && illness->n_closings == 0)
        illness_free(sick, illness);
}

void illness_report(struct sick_nodes *sick, struct illness *illness)
{
    const char *name = illness->node->name;
    sick->marked(sick->context, name, has_mark(illness) ? &illness->mark : NULL);
    free_if_over(sick, illness);
}

static void be_due(struct sick_nodes *sick, int64_t at_ms)
{
    if (at_ms < sick->due_ms)
        sick->due_ms = at_ms;
}

static void set_state(struct illness *illness, enum quarantine_state state)
{
    sick_node_count(illness->node, -1);
    illness->mark.state = state;
    sick_node_count(illness->node, 1);
}

/* Evidence. */

static int64_t window_ms(const struct sick_nodes *sick)
{
    return (int64_t)sick->policy->quarantine.window_s * SECOND_MS;
}

static void drop_evidence(struct illness *illness, size_t i)
{
    illness->evidence[i] = illness->evidence[--illness->n_evidence];
}

static void forget_evidence(const struct sick_nodes *sick, struct illness *illness, int64_t now_ms)
{
    for (size_t i = illness->n_evidence; i-- > 0;) {
        if (illness->evidence[i].at_ms + window_ms(sick) <= now_ms)
            drop_evidence(illness, i);
    }
}

static size_t count_of(const struct illness *illness, uint64_t namespace_)
{
    size_t n = 0;
    for (size_t i = 0; i < illness->n_evidence; i++)
        n += illness->evidence[i].namespace_ == namespace_;
    return n;
}

/* The oldest of the namespace with most evidence. */
static size_t most_expendable(const struct illness *illness)
{
    size_t found = 0;
    size_t n_found = 0;
    for (size_t i = 0; i < illness->n_evidence; i++) {
        const size_t n = count_of(illness, illness->evidence[i].namespace_);
        if (n > n_found ||
            (n == n_found && illness->evidence[i].at_ms < illness->evidence[found].at_ms)) {
            found = i;
            n_found = n;
        }
    }
    return found;
}

static void add_evidence(struct illness *illness, const struct sick_shape *shape, int64_t now_ms)
{
    for (size_t i = 0; i < illness->n_evidence; i++) {
        if (illness->evidence[i].owner == shape->owner) {
            illness->evidence[i].at_ms = now_ms;
            return;
        }
    }
    if (illness->n_evidence == SICK_EVIDENCE_MAX)
        drop_evidence(illness, most_expendable(illness));
    illness->evidence[illness->n_evidence++] =
        (struct sick_evidence){shape->owner, shape->namespace_, now_ms};
}

static bool suffices(const struct sick_nodes *sick, const struct illness *illness)
{
    const struct quarantine_policy *rules = &sick->policy->quarantine;
    size_t n_namespaces = 0;
    for (size_t i = 0; i < illness->n_evidence; i++) {
        size_t first = 0;
        while (illness->evidence[first].namespace_ != illness->evidence[i].namespace_)
            first++;
        n_namespaces += first == i;
    }
    return illness->n_evidence >= rules->owners && n_namespaces >= rules->namespaces;
}

/* Quarantine. */

static bool is_within(const struct avoidance_cap *cap, size_t n, size_t n_nodes)
{
    const size_t share = n_nodes * (size_t)cap->share_milli / 1000;
    return n <= (share > cap->nodes ? share : cap->nodes);
}

static bool is_spare(const struct sick_node *node)
{
    return node->is_ready && !node->is_cordoned;
}

static bool may_close(const struct sick_nodes *sick, const struct sick_node *node)
{
    const struct sick_model *model = node->model;
    return node->has_gpus && model->n_spare > is_spare(node) &&
           is_within(&sick->policy->quarantine.cap, model->n_kept + 1, model->n_nodes);
}

static int64_t closed_ms(const struct sick_nodes *sick, unsigned n_closings)
{
    size_t minutes = sick->policy->quarantine.first_min;
    while (n_closings-- > 0 && minutes < sick->policy->quarantine.longest_min)
        minutes *= 2;
    if (minutes > sick->policy->quarantine.longest_min)
        minutes = sick->policy->quarantine.longest_min;
    return (int64_t)minutes * MINUTE_MS;
}

static void close_node(struct sick_nodes *sick, struct illness *illness, int64_t now_ms)
{
    struct node_mark *mark = &illness->mark;
    set_state(illness, QUARANTINE_CLOSED);
    mark->is_capped = false;
    mark->since_ms = now_ms;
    mark->until_ms = now_ms + closed_ms(sick, illness->n_closings++);
    illness->n_evidence = 0;
    sick->n_marked[mark->cause]++;
    be_due(sick, mark->until_ms);
}

void illness_blame(struct sick_nodes *sick, struct sick_node *node, const struct sick_shape *shape,
                   enum refusal cause, int64_t now_ms)
{
    struct illness *illness = find_or_add(sick, node);
    if (illness->mark.state == QUARANTINE_CLOSED)
        return;
    forget_evidence(sick, illness, now_ms);
    add_evidence(illness, shape, now_ms);
    illness->mark.cause = cause;
    if (illness->mark.state != QUARANTINE_NONE ||
        (suffices(sick, illness) && may_close(sick, node)))
        close_node(sick, illness, now_ms);
    else
        illness->mark.is_capped = suffices(sick, illness);
    be_due(sick, now_ms + window_ms(sick));
    illness_report(sick, illness);
}

void illness_arrived(struct sick_nodes *sick, struct sick_node *node, uint64_t uid, int64_t now_ms)
{
    struct illness *illness = node->illness;
    if (!illness || illness->mark.state != QUARANTINE_PROBATION)
        return;
    set_state(illness, QUARANTINE_TRIED);
    illness->trial = uid;
    illness->trial_ms = now_ms;
    be_due(sick, now_ms + SICK_FAILS_MS);
    illness_report(sick, illness);
}

/* Shape traps. */

static void drop_traps(struct sick_nodes *sick, struct illness *illness, int64_t until_ms)
{
    const size_t n_before = illness->mark.n_traps;
    sick_node_count(illness->node, -1);
    for (size_t i = n_before; i-- > 0;) {
        if (illness->mark.traps[i].until_ms <= until_ms)
            illness->mark.traps[i] = illness->mark.traps[--illness->mark.n_traps];
    }
    sick_node_count(illness->node, 1);
    sick->n_lifted += illness->mark.n_traps < n_before;
}

/* The owner's trap of the same class, else a free one, else the one that ends first. */
static size_t place_of_trap(const struct node_mark *mark, const struct sick_shape *shape)
{
    size_t first = 0;
    for (size_t i = 0; i < mark->n_traps; i++) {
        if (mark->traps[i].shape.owner == shape->owner && mark->traps[i].shape.qos == shape->qos)
            return i;
        if (mark->traps[i].until_ms < mark->traps[first].until_ms)
            first = i;
    }
    return mark->n_traps < SICK_TRAPS_MAX ? mark->n_traps : first;
}

void illness_trap(struct sick_nodes *sick, struct sick_node *node, const struct sick_shape *shape,
                  int64_t now_ms)
{
    const struct sick_model *model = node->model;
    const bool is_new = !node->illness || node->illness->mark.n_traps == 0;
    if (is_new && !is_within(&sick->policy->shape_trap.cap, model->n_trapped + 1, model->n_nodes))
        return;
    struct illness *illness = find_or_add(sick, node);
    struct node_mark *mark = &illness->mark;
    const size_t place = place_of_trap(mark, shape);
    sick_node_count(node, -1);
    mark->traps[place] = (struct shape_trap){*shape, now_ms + SICK_TRAP_MS};
    mark->n_traps += place == mark->n_traps;
    sick_node_count(node, 1);
    sick->n_marked[REFUSAL_TOPOLOGY]++;
    be_due(sick, now_ms + SICK_TRAP_MS);
    illness_report(sick, illness);
}

void illness_end_traps(struct sick_nodes *sick, struct sick_node *node)
{
    struct illness *illness = node->illness;
    if (!illness || illness->mark.n_traps == 0)
        return;
    drop_traps(sick, illness, INT64_MAX);
    illness_report(sick, illness);
}

/* Ends. */

static void open_node(struct sick_nodes *sick, struct illness *illness)
{
    if (illness->mark.state == QUARANTINE_NONE)
        return;
    set_state(illness, QUARANTINE_NONE);
    sick->n_lifted++;
    be_due(sick, 0); /* another may be put in quarantine */
}

void illness_started(struct sick_nodes *sick, struct sick_node *node)
{
    struct illness *illness = node->illness;
    if (!illness)
        return;
    drop_traps(sick, illness, INT64_MAX);
    illness->n_evidence = 0;
    illness->n_closings = 0;
    illness->mark.is_capped = false;
    if (illness->mark.state != QUARANTINE_CLOSED)
        open_node(sick, illness);
    illness_report(sick, illness);
}

void illness_lift(struct sick_nodes *sick, struct sick_node *node, bool forgives)
{
    struct illness *illness = node->illness;
    if (!illness)
        return;
    drop_traps(sick, illness, INT64_MAX);
    illness->n_evidence = 0;
    illness->mark.is_capped = false;
    if (forgives)
        illness->n_closings = 0;
    open_node(sick, illness);
    illness_report(sick, illness);
}

void illness_spare_last(struct sick_nodes *sick, const struct sick_model *model)
{
    const struct illness *first = NULL;
    for (const struct illness *illness = sick->ill; illness && model->n_spare == 0;
         illness = illness->next) {
        if (illness->node->model == model && illness->mark.state != QUARANTINE_NONE &&
            is_spare(illness->node) && (!first || illness->mark.until_ms < first->mark.until_ms))
            first = illness;
    }
    if (first)
        illness_lift(sick, first->node, false);
}

/* Time. */

static void let_through(struct sick_nodes *sick, struct illness *illness)
{
    set_state(illness, QUARANTINE_PROBATION);
    sick->n_lifted++;
}

/* At the next of these times something may change. */
static int64_t next_ms(const struct sick_nodes *sick, const struct illness *illness)
{
    int64_t at_ms = INT64_MAX;
    if (illness->mark.state == QUARANTINE_CLOSED)
        at_ms = illness->mark.until_ms;
    if (illness->mark.state == QUARANTINE_TRIED)
        at_ms = illness->trial_ms + SICK_FAILS_MS;
    for (size_t i = 0; i < illness->mark.n_traps; i++) {
        if (illness->mark.traps[i].until_ms < at_ms)
            at_ms = illness->mark.traps[i].until_ms;
    }
    for (size_t i = 0; i < illness->n_evidence; i++) {
        if (illness->evidence[i].at_ms + window_ms(sick) < at_ms)
            at_ms = illness->evidence[i].at_ms + window_ms(sick);
    }
    return at_ms;
}

static void pass_time(struct sick_nodes *sick, struct illness *illness, int64_t now_ms)
{
    struct node_mark *mark = &illness->mark;
    if (mark->state == QUARANTINE_CLOSED && mark->until_ms <= now_ms)
        let_through(sick, illness);
    if (mark->state == QUARANTINE_TRIED && illness->trial_ms + SICK_FAILS_MS <= now_ms)
        let_through(sick, illness);
    drop_traps(sick, illness, now_ms);
    forget_evidence(sick, illness, now_ms);
    mark->is_capped &= suffices(sick, illness);
    if (mark->is_capped && may_close(sick, illness->node))
        close_node(sick, illness, now_ms);
}

int64_t sick_nodes_tick(struct sick_nodes *sick, int64_t now_ms)
{
    struct illness *illness = NULL;
    struct illness *next = NULL;
    if (now_ms < sick->due_ms)
        return sick->due_ms;
    sick_arrivals_forget(&sick->bound, now_ms - SICK_FAILS_MS);
    sick_arrivals_forget(&sick->other, now_ms - SICK_FAILS_MS);
    sick->due_ms = INT64_MAX;
    DL_FOREACH_SAFE (sick->ill, illness, next) {
        const struct node_mark before = illness->mark;
        pass_time(sick, illness, now_ms);
        be_due(sick, next_ms(sick, illness));
        if (before.state != illness->mark.state || before.n_traps != illness->mark.n_traps ||
            before.is_capped != illness->mark.is_capped)
            illness_report(sick, illness);
        else
            free_if_over(sick, illness);
    }
    return sick->due_ms;
}

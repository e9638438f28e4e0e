/* flapping_rules: the marks of each replica, against what has happened. See flapping.h. */
#include "base/clock.h"
#include "base/mem.h"
#include "flapping.h"
#include "ledger/quarantine.h"
#include "world.h"

#include <string.h>

#define MINUTE_MS INT64_C(60000)
/* From filter to the end of a binding. */
#define BINDING_MS 20000

/* ---- what has happened ---- */

static bool is_on(const struct flap_event *event, const char *node)
{
    return strcmp(event->node, node) == 0;
}

/* Whether something of these kinds has happened on the node between these times. */
static bool has_happened(const struct world *world, const char *node, unsigned kinds,
                         int64_t after_ms, int64_t before_ms)
{
    const struct flap_event *event = world->flapping->last;
    for (; event && event->at_ms > after_ms; event = event->before) {
        if (kinds & 1U << event->what && event->at_ms < before_ms && is_on(event, node))
            return true;
    }
    return false;
}

#define KIND(what) (1U << FLAP_##what)

/* Whether a replica that knows it by now knew of things of these kinds before, or forgot it by
 * them. Of what it may have learned in another order, nothing. */
static bool is_void(const struct world *world, const struct flap_event *event, unsigned ends)
{
    const int64_t now_ms = world_now(world);
    const int64_t settle_ms = 60000;
    return event->is_late ||
           has_happened(world, event->node, ends, event->at_ms + FLAPPING_LATE_MS,
                        now_ms - FLAPPING_LATE_MS) ||
           has_happened(world, event->node, KIND(RUNS),
                        event->at_ms + FLAPPING_SEEN_MS + FLAPPING_LATE_MS,
                        now_ms - FLAPPING_LATE_MS) ||
           has_happened(world, event->node, KIND(CHANGED),
                        event->at_ms - settle_ms + FLAPPING_LATE_MS,
                        event->at_ms - FLAPPING_LATE_MS);
}

struct witnesses {
    unsigned n_owners, n_namespaces;
    bool has_own; /* the owner who is asked about is among them */
};

/* Whether another event in the list, after this one, is of the same owner or namespace. */
static bool is_first(const struct flap_event **events, size_t n, bool of_namespace)
{
    const struct flap_event *event = events[n];
    for (size_t i = 0; i < n; i++) {
        if (strcmp(events[i]->namespace_, event->namespace_) == 0 &&
            (of_namespace || strcmp(events[i]->owner, event->owner) == 0))
            return false;
    }
    return true;
}

struct search {
    const char *node;
    enum flap what;
    int64_t window_ms;
    unsigned ends;   /* kinds of events after which it counts no more */
    unsigned gpus;   /* at most */
    const char *own; /* NULL: none is asked about */
};

#define EVENTS_MAX 256

static struct witnesses find_witnesses(const struct world *world, const struct search *search)
{
    const struct flap_event *found[EVENTS_MAX];
    struct witnesses witnesses = {0};
    const int64_t since_ms = world_now(world) - search->window_ms - FLAPPING_LATE_MS;
    size_t n = 0;
    for (const struct flap_event *event = world->flapping->last;
         event && event->at_ms >= since_ms && n < EVENTS_MAX; event = event->before) {
        if (event->what != search->what || !is_on(event, search->node) ||
            event->gpus > search->gpus || is_void(world, event, search->ends))
            continue;
        found[n] = event;
        witnesses.n_owners += is_first(found, n, false);
        witnesses.n_namespaces += is_first(found, n, true);
        witnesses.has_own |= search->own && strcmp(event->owner, search->own) == 0;
        n++;
    }
    return witnesses;
}

/* ---- quarantines ---- */

static bool is_proved(const struct world *world, const char *node, bool was_probation)
{
    const struct search search = {node,
                                  FLAP_LOST,
                                  was_probation ? SICK_FAILS_MS : 2 * MINUTE_MS,
                                  KIND(CHANGED) | KIND(LIFTED),
                                  UINT32_MAX,
                                  NULL};
    const struct witnesses witnesses = find_witnesses(world, &search);
    return witnesses.n_owners >= (was_probation ? 1 : 3) &&
           witnesses.n_namespaces >= (was_probation ? 1 : 2);
}

static void check_minutes(struct world *world, const char *node, const struct flap_view *before,
                          int64_t minutes)
{
    const int64_t now_ms = world_now(world);
    const int64_t doubled = before->minutes < 4 ? before->minutes * 2 : 4;
    const bool may_be_first =
        before->minutes == 0 || has_happened(world, node, KIND(STARTED) | KIND(LIFTED),
                                             before->since_ms - FLAPPING_LATE_MS, INT64_MAX);
    const bool is_first =
        before->minutes == 0 || has_happened(world, node, KIND(RUNS) | KIND(LIFTED),
                                             before->since_ms + FLAPPING_SEEN_MS + FLAPPING_LATE_MS,
                                             now_ms - FLAPPING_LATE_MS);
    if ((minutes != 1 || !may_be_first) && (minutes != doubled || is_first))
        world_fail(world, "%s is closed for %lld minutes after %lld", node, (long long)minutes,
                   (long long)before->minutes);
}

/* The kept nodes, and those that are left. */
struct share {
    unsigned n, n_kept, n_spare, n_ready_kept;
};

static struct share share_of(const struct world *world, const struct cluster *cluster)
{
    struct share share = {0};
    for (unsigned i = 0; i < world->plan.n_nodes; i++) {
        const struct node *node = cluster_find_node(cluster, world->flapping->nodes[i].name);
        size_t n = 0;
        const struct node_resource *rows = node ? node_resources(node, &n) : NULL;
        bool has_gpus = false;
        for (size_t j = 0; j < n; j++)
            has_gpus |= rows[j].resource->is_gpu && rows[j].capacity > 0;
        if (!has_gpus)
            continue;
        const struct node_mark *mark = node_mark(node);
        const bool is_kept = mark && mark->state != QUARANTINE_NONE;
        const bool is_open = node_traits(node)->ready && !node_traits(node)->unschedulable;
        share.n++;
        share.n_kept += is_kept;
        share.n_spare += !is_kept && is_open;
        share.n_ready_kept += is_kept && is_open;
    }
    return share;
}

static bool is_beyond(const struct world *world, unsigned n, unsigned n_all)
{
    const int64_t share = n_all * world->flapping->cap_milli / 1000;
    return n > (share > 1 ? share : 1);
}

static void check_closing(struct service *service, const struct flap_node *node,
                          const struct node_mark *mark, const struct share *share)
{
    struct world *world = service->world;
    const struct flap_view *before = &node->views[service->number - 1];
    world_tell(world, "service %u: %s is closed until %lld ms", service->number, node->name,
               (long long)mark->until_ms);
    if (!is_proved(world, node->name, before->state != QUARANTINE_NONE))
        world_fail(world, "service %u closes %s without evidence", service->number, node->name);
    if (before->state == QUARANTINE_NONE && is_beyond(world, share->n_kept, share->n))
        world_fail(world, "service %u keeps %u of %u nodes closed", service->number, share->n_kept,
                   share->n);
    check_minutes(world, node->name, before, (mark->until_ms - mark->since_ms) / MINUTE_MS);
}

/* A change of the node ends it; one of any node does that leaves no other open. */
static bool has_cause(const struct world *world, const char *name, bool by_start)
{
    const int64_t since_ms = world_now(world) - FLAPPING_LATE_MS;
    for (unsigned i = 0; i < world->plan.n_nodes; i++) {
        if (has_happened(world, world->flapping->nodes[i].name, KIND(CHANGED) | KIND(OTHER),
                         since_ms, INT64_MAX))
            return true;
    }
    return has_happened(world, name, KIND(LIFTED) | (by_start ? KIND(STARTED) : 0), since_ms,
                        INT64_MAX);
}

static void check_change(struct service *service, const struct flap_node *node,
                         const struct node_mark *mark, const struct share *share)
{
    struct world *world = service->world;
    const struct flap_view *before = &node->views[service->number - 1];
    const enum quarantine_state state = mark ? mark->state : QUARANTINE_NONE;
    const int64_t ends_ms = before->since_ms + before->minutes * MINUTE_MS;
    if (state == QUARANTINE_CLOSED &&
        (before->state != QUARANTINE_CLOSED || mark->since_ms != before->since_ms))
        check_closing(service, node, mark, share);
    else if (before->state == QUARANTINE_CLOSED && state != QUARANTINE_CLOSED &&
             (state == QUARANTINE_NONE || world_now(world) < ends_ms) &&
             !has_cause(world, node->name, false))
        world_fail(world, "service %u opens %s without a cause", service->number, node->name);
    else if (before->state != QUARANTINE_NONE && state == QUARANTINE_NONE &&
             !has_cause(world, node->name, true))
        world_fail(world, "service %u trusts %s without a pod that started", service->number,
                   node->name);
}

static void check_state(struct service *service, const struct flap_node *node,
                        const struct node_mark *mark)
{
    struct world *world = service->world;
    const int64_t now_ms = world_now(world);
    if (!mark || mark->state != QUARANTINE_CLOSED)
        return;
    if (now_ms > mark->until_ms + FLAPPING_LATE_MS)
        world_fail(world, "service %u keeps %s closed for too long", service->number, node->name);
    if (has_happened(world, node->name, KIND(CHANGED) | KIND(LIFTED),
                     mark->since_ms + FLAPPING_LATE_MS, now_ms - FLAPPING_LATE_MS))
        world_fail(world, "service %u keeps %s closed after a change", service->number, node->name);
}

static void look(struct service *service, const struct cluster *cluster, struct flap_node *node,
                 const struct share *share)
{
    const struct node *known = cluster_find_node(cluster, node->name);
    const struct node_mark *mark = known ? node_mark(known) : NULL;
    struct flap_view *view = &node->views[service->number - 1];
    if (view->life != service->life)
        *view = (struct flap_view){.life = service->life};
    check_change(service, node, mark, share);
    check_state(service, node, mark);
    view->state = mark ? mark->state : QUARANTINE_NONE;
    if (view->state == QUARANTINE_CLOSED) {
        view->since_ms = mark->since_ms;
        view->minutes = (mark->until_ms - mark->since_ms) / MINUTE_MS;
    }
}

int64_t flapping_tick(struct service *service, int64_t now_ms)
{
    struct world *world = service->world;
    const int64_t next_ms = inventory_quarantine(service->inventory, now_ms);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(service->inventory);
    const struct share share = share_of(world, view.cluster);
    for (unsigned i = 0; i < world->plan.n_nodes; i++)
        look(service, view.cluster, &world->flapping->nodes[i], &share);
    if (share.n_ready_kept > 0 && share.n_spare == 0)
        world_fail(world, "service %u keeps the last node closed", service->number);
    return next_ms == INT64_MAX ? CLOCK_NEVER : next_ms;
}

/* ---- decisions ---- */

static void check_trap(struct service *service, const char *node, const struct sight *sight)
{
    struct world *world = service->world;
    const struct truth_state *state = truth_now(truth_find(&world->truth, TRUTH_PODS, sight->name));
    const struct search search = {node,         FLAP_TRAPPED,
                                  SICK_TRAP_MS, KIND(ENDED) | KIND(CHANGED) | KIND(LIFTED),
                                  sight->gpus,  state ? flapping_owner(state) : NULL};
    const struct witnesses witnesses = find_witnesses(world, &search);
    if (!witnesses.has_own && witnesses.n_namespaces < 2)
        world_fail(world, "service %u keeps %s off %s by a shape trap without evidence",
                   service->number, sight->uid, node);
}

/* Whether no pod may go to the node: it is closed, or has its one pod on probation. */
static bool is_closed(const struct node *node)
{
    const enum quarantine_state state = node_mark(node) ? node_mark(node)->state : QUARANTINE_NONE;
    size_t n = 0;
    const struct node_resource *rows = node_resources(node, &n);
    bool is_reserved = false;
    for (size_t i = 0; i < n; i++)
        is_reserved |= rows[i].resource->is_gpu && rows[i].reserved > 0;
    return state == QUARANTINE_PROBATION ? is_reserved : state != QUARANTINE_NONE;
}

void flapping_judged(struct service *service, const struct node *node, const struct sight *sight,
                     enum reason reason)
{
    struct world *world = service->world;
    const bool is_avoided = reason == REASON_QUARANTINE || reason == REASON_SHAPE_TRAP;
    if (world->flapping->mode == AVOIDANCE_OBSERVE && is_avoided)
        world_fail(world, "service %u only observes, and keeps %s off %s", service->number,
                   sight->uid, node_name(node));
    if (world->flapping->mode == AVOIDANCE_AVOID && reason == REASON_FITS && is_closed(node))
        world_fail(world, "service %u lets %s on %s, which is closed", service->number, sight->uid,
                   node_name(node));
    if (reason == REASON_QUARANTINE && !is_closed(node))
        world_fail(world, "service %u keeps %s off %s, which is open", service->number, sight->uid,
                   node_name(node));
    if (reason == REASON_SHAPE_TRAP)
        check_trap(service, node_name(node), sight);
}

/* Kube-scheduler may have asked any of them. */
void flapping_took_effect(struct world *world, const char *node)
{
    unsigned n_closed = 0;
    const struct flap_node *on = flapping_node(world, node);
    for (unsigned i = 0; i < world->plan.n_replicas; i++) {
        const struct service *service = &world->services[i];
        const struct flap_view *view = &on->views[i];
        n_closed += service->is_alive && view->life == service->life &&
                    view->state == QUARANTINE_CLOSED &&
                    world_now(world) > view->since_ms + BINDING_MS;
    }
    if (n_closed == world->plan.n_replicas && world->flapping->mode == AVOIDANCE_AVOID)
        world_fail(world, "we bind to %s, which is closed", node);
}

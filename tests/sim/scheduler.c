/* scheduler: see scheduler.h. */
#include "scheduler.h"

#include "quotas.h"
#include "world.h"

#include <string.h>

#define CYCLE_MS 10
#define FIRST_DELAY_MS 1000
#define LAST_DELAY_MS 10000
/* Of a rejected pod, without an event (PROTOCOL 6.1). */
#define REJECTED_MS 300000

/* ---- its view ---- */

static struct sight *sight_of(struct scheduler *scheduler, const struct truth_version *version)
{
    struct sight **at = &scheduler->sights;
    while (*at && strcmp((*at)->uid, version->state.uid) != 0)
        at = &(*at)->next;
    if (*at)
        return *at;
    *at = ARENA_NEW(scheduler->world->arena, struct sight);
    **at = (struct sight){.uid = version->state.uid,
                          .name = version->object->name,
                          .namespace_ = truth_namespace(&version->state),
                          .gpus = version->state.gpus,
                          .priority = version->state.priority,
                          .gang = version->state.gang,
                          .assumed = "",
                          .delay_ms = FIRST_DELAY_MS};
    return *at;
}

/* Once their back-off is over. */
void scheduler_wake(struct scheduler *scheduler)
{
    const int64_t soon_ms = world_now(scheduler->world) + LAST_DELAY_MS;
    for (struct sight *sight = scheduler->sights; sight; sight = sight->next) {
        if (sight->next_try_ms > soon_ms)
            sight->next_try_ms = world_now(scheduler->world) + sight->delay_ms;
    }
}

static void see_pod(struct scheduler *scheduler, const struct truth_version *version)
{
    struct sight *sight = sight_of(scheduler, version);
    const bool was_there = sight->node && sight->node[0] && !sight->is_gone;
    sight->is_gone = version->deleted || version->state.finished;
    sight->is_terminating = version->state.terminating;
    sight->node = version->state.node;
    if (sight->node[0] || sight->is_gone)
        sight->assumed = "";
    if (was_there && sight->is_gone)
        scheduler_wake(scheduler);
}

static void see_node(struct scheduler *scheduler, const struct truth_version *version)
{
    struct node_sight **at = &scheduler->nodes;
    while (*at && strcmp((*at)->name, version->object->name) != 0)
        at = &(*at)->next;
    if (!*at) {
        *at = ARENA_NEW(scheduler->world->arena, struct node_sight);
        (*at)->name = version->object->name;
    }
    (*at)->gpus = version->state.gpus;
    (*at)->is_gone = version->deleted;
    (*at)->is_cordoned = version->state.cordoned || version->state.is_unready;
    scheduler_wake(scheduler);
}

static void see(struct scheduler *scheduler, const struct truth_version *version)
{
    if (version->object->kind == TRUTH_PODS)
        see_pod(scheduler, version);
    else
        see_node(scheduler, version);
}

struct news {
    struct scheduler *scheduler;
    const struct truth_version *version;
};

static void on_news(void *context)
{
    const struct news *news = context;
    see(news->scheduler, news->version);
}

void scheduler_tell(struct world *world, const struct truth_version *version)
{
    struct scheduler *scheduler = world->scheduler;
    struct news *news = ARENA_NEW(world->arena, struct news);
    static const struct world_pace PACE = {
        .usual_ms = 30, .trouble_one_in = 20, .trouble_ms = 2000};
    *news = (struct news){scheduler, version};
    agenda_at(&world->agenda, world_next(world, &PACE, &scheduler->last_ms), on_news, news);
}

/* ---- its decisions ---- */

static const char *place_of(const struct sight *sight)
{
    return sight->node[0] ? sight->node : sight->assumed;
}

static bool has_room(const struct scheduler *scheduler, const struct node_sight *node,
                     unsigned gpus)
{
    unsigned used = gpus;
    if (node->is_gone || node->is_cordoned || node->is_full)
        return false;
    for (const struct sight *sight = scheduler->sights; sight; sight = sight->next) {
        if (!sight->is_gone && strcmp(place_of(sight), node->name) == 0)
            used += sight->gpus;
    }
    return used <= node->gpus;
}

static bool is_open(const struct scheduler *scheduler, const struct node_sight *node, unsigned gpus)
{
    if (scheduler->world->plan.trusting)
        return !node->is_gone && !node->is_cordoned;
    return has_room(scheduler, node, gpus);
}

static bool is_pending(const struct sight *sight)
{
    return !sight->is_gone && !sight->is_terminating && !place_of(sight)[0];
}

const char *scheduler_fault(const struct scheduler *scheduler)
{
    for (const struct sight *sight = scheduler->sights; sight; sight = sight->next) {
        if (sight->assumed[0])
            return arena_printf(scheduler->world->arena, "%s (%s) is assumed on %s for ever",
                                sight->name, sight->uid, sight->assumed);
        for (const struct node_sight *node = scheduler->nodes; node; node = node->next) {
            if (is_pending(sight) && !sight->gang && has_room(scheduler, node, sight->gpus) &&
                quotas_allow(scheduler->world, sight))
                return arena_printf(scheduler->world->arena, "%s (%s) waits, and fits on %s",
                                    sight->name, sight->uid, node->name);
        }
    }
    return NULL;
}

static void try_later(struct scheduler *scheduler, struct sight *sight)
{
    sight->next_try_ms = world_now(scheduler->world) + sight->delay_ms;
    sight->delay_ms = sight->delay_ms * 2 < LAST_DELAY_MS ? sight->delay_ms * 2 : LAST_DELAY_MS;
}

/* The address in the EndpointSlice, which may be outdated. */
static struct service *whom_to_ask(struct world *world)
{
    struct service *leader = world_leader(world);
    return leader && !world_trouble(world, true, 10) ? leader : world_any_service(world);
}

/* ---- bind ---- */

struct binding {
    struct scheduler *scheduler;
    struct sight *sight;
    const char *node;
    struct service *service; /* that was called */
    unsigned life;           /* life of the service */
    int64_t called_ms;
    bool is_answered; /* the service has answered */
    bool is_over;     /* the scheduler is done with it */
};

static void end_binding(struct binding *binding, const char *error)
{
    struct world *world = binding->scheduler->world;
    struct sight *sight = binding->sight;
    if (binding->is_over)
        return;
    binding->is_over = true;
    world_tell(world, "scheduler: bind %s to %s: %s", sight->uid, binding->node,
               error ? error : "done");
    if (!error || strcmp(sight->assumed, binding->node) != 0)
        return;
    sight->assumed = "";
    try_later(binding->scheduler, sight);
}

static bool is_there(const struct binding *binding)
{
    return binding->service->is_alive && binding->service->life == binding->life;
}

static void on_answer(void *context, const char *error)
{
    struct binding *binding = context;
    struct world *world = binding->scheduler->world;
    if (binding->is_answered)
        world_fail(world, "bind of %s was answered twice", binding->sight->uid);
    binding->is_answered = true;
    if (binding->service->life == binding->life)
        binding->service->n_calls--;
    if (!is_there(binding))
        error = "connection reset by peer";
    if (!error && !truth_was_bound(&world->truth, binding->sight->uid, binding->node))
        world_fail(world, "bind of %s to %s was answered well, but it is not there",
                   binding->sight->uid, binding->node);
    end_binding(binding, error);
}

static void on_time_out(void *context)
{
    end_binding(context, "context deadline exceeded");
}

static void on_must_be_answered(void *context)
{
    const struct binding *binding = context;
    struct world *world = binding->scheduler->world;
    const int64_t woke_ms = binding->service->sleeps_until_ms;
    if (!binding->is_answered && is_there(binding) && woke_ms < binding->called_ms)
        world_fail(world, "bind of %s was not answered in time", binding->sight->uid);
}

static void on_bind(void *context)
{
    struct binding *binding = context;
    struct world *world = binding->scheduler->world;
    struct service *service = whom_to_ask(world);
    const struct bind_args args = {.uid = binding->sight->uid,
                                   .namespace_ = binding->sight->namespace_,
                                   .name = binding->sight->name,
                                   .node_name = binding->node};
    struct err why = {"connection refused"};
    if (!service_may_decide(service) || !inventory_usable(service->inventory, &why)) {
        end_binding(binding, why.text);
        return;
    }
    binding->service = service;
    binding->life = service->life;
    service->n_calls++;
    binding->called_ms = world_now(world);
    agenda_in(&world->agenda, SCHEDULER_TIMEOUT_MS, on_time_out, binding);
    agenda_in(&world->agenda, times()->bind_ms + 1, on_must_be_answered, binding);
    binds_call(service->binds, &args, service_now(service), on_answer, binding);
    service_tick(service);
}

static void call_bind(struct scheduler *scheduler, struct sight *sight, int64_t delay_ms)
{
    struct binding *binding = ARENA_NEW(scheduler->world->arena, struct binding);
    *binding = (struct binding){.scheduler = scheduler, .sight = sight, .node = sight->assumed};
    agenda_in(&scheduler->world->agenda, delay_ms, on_bind, binding);
}

static void assume(struct scheduler *scheduler, struct sight *sight, const char *node)
{
    struct world *world = scheduler->world;
    int64_t delay_ms = world_between(world, 1, 10);
    if (world_trouble(world, world->plan.slow_binds, 4))
        delay_ms += world_between(world, 0, 5000);
    world_tell(world, "scheduler: %s (%s) to %s", sight->name, sight->uid, node);
    sight->assumed = node;
    call_bind(scheduler, sight, delay_ms);
    if (world_trouble(world, world->plan.double_calls, 5))
        call_bind(scheduler, sight, delay_ms + world_between(world, 0, 300));
}

/* ---- its cycle ---- */

/* In scenes, it has not come to some pods of groups yet. Their names end with a digit. */
static bool is_ignored(const struct world *world, const struct sight *sight)
{
    const unsigned number = (unsigned)(sight->name[strlen(sight->name) - 1] - '0');
    return sight->gang &&
           (world->ignores_groups || (world->members_asked > 0 && number >= world->members_asked));
}

static struct sight *next_pod(const struct scheduler *scheduler)
{
    struct sight *first = NULL;
    for (struct sight *sight = scheduler->sights; sight; sight = sight->next) {
        if (is_pending(sight) && sight->next_try_ms <= world_now(scheduler->world) &&
            !is_ignored(scheduler->world, sight) &&
            (!first || sight->next_try_ms < first->next_try_ms))
            first = sight;
    }
    return first;
}

static void schedule(struct scheduler *scheduler, struct sight *sight)
{
    struct world *world = scheduler->world;
    struct service *service = whom_to_ask(world);
    const char *chosen = NULL;
    const char *names[PLAN_NODES_MAX];
    size_t n_names = 0;
    unsigned n = 0;
    for (const struct node_sight *node = scheduler->nodes; node; node = node->next) {
        if (!is_open(scheduler, node, sight->gpus))
            continue;
        names[n_names++] = node->name;
        if (service_fits(service, sight, node->name) && dice_one_in(&world->dice, ++n))
            chosen = node->name;
    }
    service_filtered(service, sight, names, n_names, chosen != NULL);
    /* By a plugin that runs after filter. */
    const bool is_rejected = chosen && sight->gang && world->rejects_one_in > 0 &&
                             dice_one_in(&world->dice, world->rejects_one_in);
    if (chosen && !is_rejected)
        assume(scheduler, sight, chosen);
    else
        try_later(scheduler, sight);
    if (!chosen && (sight->gang || world->scene || world->plan.flapping) && world->plan.asks_seldom)
        sight->next_try_ms = world_now(world) + REJECTED_MS;
}

static void on_cycle(void *context)
{
    struct scheduler *scheduler = context;
    struct sight *sight = next_pod(scheduler);
    if (scheduler->is_retired)
        return;
    if (sight)
        schedule(scheduler, sight);
    agenda_in(&scheduler->world->agenda, sight ? CYCLE_MS : 5 * CYCLE_MS, on_cycle, scheduler);
}

void scheduler_start(struct world *world)
{
    struct scheduler *scheduler = ARENA_NEW(world->arena, struct scheduler);
    *scheduler = (struct scheduler){.world = world};
    if (world->scheduler) {
        world_tell(world, "scheduler: another one leads");
        world->scheduler->is_retired = true;
    }
    world->scheduler = scheduler;
    for (const struct truth_object *object = world->truth.objects; object; object = object->next)
        see(scheduler, object->last);
    agenda_in(&world->agenda, CYCLE_MS, on_cycle, scheduler);
}

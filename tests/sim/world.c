/* world: see world.h. */
#include "world.h"

#include "flapping.h"
#include "groups.h"
#include "life.h"

#include <stdarg.h>
#include <stdio.h>

/* Interval of checks of the ledger's sums. */
#define CHECK_MS 2000
/* Tolerance above a working network: simulated trips take up to 20 ms. */
#define SLACK_MS 2000
/* Time until a blind replica notices, plus the time it still leads. */
#define BLIND_MS (SERVICE_SILENCE_MS + times()->renew_ms)
/* More steps within a millisecond are an endless loop. */
#define STEPS_MAX 10000

int64_t world_now(const struct world *world)
{
    return world->agenda.now_ms;
}

int64_t world_between(struct world *world, int64_t least, int64_t most)
{
    return least + (int64_t)dice_below(&world->dice, (unsigned)(most - least + 1));
}

bool world_trouble(struct world *world, bool planned, unsigned one_in)
{
    return planned && !world->is_quiet && dice_one_in(&world->dice, one_in);
}

int64_t world_next(struct world *world, const struct world_pace *pace, int64_t *last_ms)
{
    int64_t at_ms = world_now(world) + world_between(world, 1, pace->usual_ms);
    if (world_trouble(world, world->plan.delays, pace->trouble_one_in))
        at_ms += world_between(world, 0, pace->trouble_ms);
    if (at_ms > *last_ms)
        *last_ms = at_ms;
    return *last_ms;
}

void world_tell(const struct world *world, const char *format, ...)
{
    va_list arguments;
    if (!world->traced)
        return;
    (void)printf("%9.3f ", (double)world_now(world) / 1000);
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    (void)putchar('\n');
}

void world_fail(struct world *world, const char *format, ...)
{
    va_list arguments;
    if (world->failed)
        return;
    world->failed = true;
    va_start(arguments, format);
    (void)vsnprintf(world->failure, sizeof world->failure, format, arguments);
    va_end(arguments);
    world_tell(world, "FAILURE: %s", world->failure);
}

/* ---- replicas ---- */

struct service *world_leader(struct world *world)
{
    for (unsigned i = 0; i < world->plan.n_replicas; i++) {
        if (service_may_decide(&world->services[i]))
            return &world->services[i];
    }
    return NULL;
}

struct service *world_any_service(struct world *world)
{
    return &world->services[dice_below(&world->dice, world->plan.n_replicas)];
}

/* ---- permanent and final conditions ---- */

static void check_sums(struct world *world, struct service *service)
{
    struct err err;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(service->inventory);
    if (cluster_check_in_place(view.cluster, &err) > 0)
        world_fail(world, "the ledger's sums are wrong: %s", err.text);
}

static bool could_anybody_decide(const struct world *world)
{
    bool could = false;
    for (unsigned i = 0; i < world->plan.n_replicas && !could; i++)
        could = service_could_decide(&world->services[i]);
    return could;
}

/* The Lease expires, another replica acquires it, and its ledger catches up: with delays and losses
 * beyond TIMING_TAKEOVER_MS. */
static void check_lead(struct world *world)
{
    const int64_t limit_ms =
        timing_leaderless_ms(times()) + SLACK_MS + (world->plan.blindness ? BLIND_MS : 0);
    const struct service *leader = world_leader(world);
    const bool is_fit = leader && service_could_decide(leader);
    if (is_fit || !could_anybody_decide(world) || !plan_is_in_time(&world->plan))
        world->led_ms = world_now(world);
    if (world_now(world) - world->led_ms > limit_ms)
        world_fail(world, "nobody leads since %lld ms", (long long)world->led_ms);
}

/* A waking service notices first. */
static void check_patience(struct world *world, struct service *service)
{
    const int64_t now_ms = world_now(world);
    if (service->leadership && now_ms > service->sleeps_until_ms && service_may_decide(service) &&
        now_ms - service->unusable_ms > times()->renew_ms)
        world_fail(world, "service %u leads, and cannot decide since %lld ms", service->number,
                   (long long)service->unusable_ms);
}

static void check_service(struct world *world, struct service *service)
{
    if (!service->is_alive)
        return;
    check_sums(world, service);
    groups_check(service);
    check_patience(world, service);
}

static void on_check(void *context)
{
    struct world *world = context;
    for (unsigned i = 0; i < world->plan.n_replicas; i++)
        check_service(world, &world->services[i]);
    check_lead(world);
    agenda_in(&world->agenda, CHECK_MS, on_check, world);
}

static void on_quiet(void *context)
{
    struct world *world = context;
    world_tell(world, "from now on it is quiet");
    world->is_quiet = true;
    flapping_heal(world);
}

static void check_end(struct world *world)
{
    const char *fault = world_leader(world) ? NULL : "nobody leads";
    for (unsigned i = 0; i < world->plan.n_replicas && !fault; i++)
        fault = service_fault(&world->services[i]);
    if (!fault)
        fault = scheduler_fault(world->scheduler);
    if (!fault && world->plan.groups)
        fault = groups_fault(world);
    if (world->scene)
        scenes_end(world);
    if (fault)
        world_fail(world, "in the end, %s", fault);
}

/* ---- time ---- */

static void on_truth(void *context, const struct truth_version *version)
{
    struct world *world = context;
    if (world->scheduler)
        scheduler_tell(world, version);
}

/* Of a scene: with an even seed as of 1.36, else of 1.31. */
static void make_plan(struct world *world)
{
    const struct scene *scene = world->scene;
    if (scene) {
        world->plan = (struct plan){.n_replicas = scene->n_replicas,
                                    .n_nodes = scene->n_nodes,
                                    .gpus = scene->gpus,
                                    .bookmarks = true,
                                    .groups = true,
                                    .asks_seldom = world->seed % 2 == 1};
        return;
    }
    world->plan = plan_make(&world->dice);
    plan_groups(&world->plan, world->seed);
    plan_quotas(&world->plan, world->seed);
    plan_flapping(&world->plan, world->seed, &world->dice);
}

static void begin(struct world *world)
{
    world->dice = (struct dice){world->seed};
    make_plan(world);
    world->arena = arena_new();
    agenda_init(&world->agenda, WORLD_BEGIN_MS);
    truth_init(&world->truth, world->arena);
    server_init(&world->server, world);
    if (!world->plan.is_new)
        server_begin_lease(&world->server);
    truth_listen(&world->truth, on_truth, world);
    if (world->scene)
        scenes_begin(world);
    else
        life_begin(world);
    for (unsigned i = 0; i < world->plan.n_replicas; i++)
        service_init(&world->services[i], world, i + 1);
    world->led_ms = world_now(world) + times()->lease_ms; /* it may be missing for that long */
    scheduler_start(world);
    agenda_in(&world->agenda, CHECK_MS, on_check, world);
    agenda_in(&world->agenda, plan_burst_ms(&world->plan), on_quiet, world);
}

static void live(struct world *world)
{
    int64_t since_ms = 0;
    unsigned n_steps = 0;
    const int64_t for_ms = world->scene ? world->scene->for_ms
                                        : plan_burst_ms(&world->plan) + plan_quiet_ms(&world->plan);
    while (!world->failed && agenda_step(&world->agenda, WORLD_BEGIN_MS + for_ms)) {
        n_steps = world_now(world) == since_ms ? n_steps + 1 : 0;
        since_ms = world_now(world);
        if (n_steps > STEPS_MAX)
            world_fail(world, "the time stands still");
    }
}

void world_run(struct world *world)
{
    begin(world);
    live(world);
    if (!world->failed)
        check_end(world);
    for (unsigned i = 0; i < world->plan.n_replicas; i++)
        service_fini(&world->services[i]);
    flapping_end();
    server_fini(&world->server);
    truth_fini(&world->truth);
    agenda_fini(&world->agenda);
    arena_free(world->arena);
}

/* service: see service.h. */
#include "service.h"

#include "base/clock.h"
#include "decide/fit.h"
#include "decide/quota.h"
#include "flapping.h"
#include "kube_answers.h"
#include "ledger/gangs.h"
#include "quotas.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

/* For releasing the Lease. */
#define RELEASE_MS 3000
/* Interval of checks whether all calls are answered. */
#define DRAIN_MS 10
/* Beside the streams: the loop of binds. */
#define LOOP SERVICE_STREAMS_MAX
/* A loop reads input for at most so long before it runs its tasks. */
#define TAKE_IN_MS 200

/* ---- the loops' tasks ---- */

struct task_wake {
    struct service *service;
    unsigned life;
    size_t task;
};

static void on_wake(void *context)
{
    const struct task_wake *wake = context;
    struct service *service = wake->service;
    if (!service->is_alive || wake->life != service->life)
        return;
    if (world_now(service->world) < service->sleeps_until_ms) {
        agenda_at(&service->world->agenda, service->sleeps_until_ms, on_wake, context);
        return;
    }
    if (service->wakes_ms[wake->task] <= world_now(service->world))
        service->wakes_ms[wake->task] = CLOCK_NEVER;
    if (wake->task < SERVICE_STREAMS_MAX)
        service_pump(service, wake->task);
    else
        service_tick(service);
}

/* ---- its clock ---- */

/* How long its clock has stood still. */
static int64_t missed_ms(const struct service *service)
{
    if (CLOCK_SOURCE == CLOCK_BOOTTIME)
        return 0;
    if (service->suspended_ms == 0)
        return service->missed_ms;
    const int64_t now_ms = world_now(service->world);
    const int64_t until_ms = service->sleeps_until_ms;
    return service->missed_ms + (now_ms < until_ms ? now_ms : until_ms) - service->suspended_ms;
}

int64_t service_now(const struct service *service)
{
    return world_now(service->world) - missed_ms(service);
}

void service_sleep(struct service *service, int64_t until_ms, bool suspended)
{
    const int64_t now_ms = world_now(service->world);
    world_tell(service->world, "service %u: %s until %lld ms", service->number,
               suspended ? "its host is suspended" : "sleeps", (long long)until_ms);
    service->missed_ms = missed_ms(service);
    service->suspended_ms = suspended ? now_ms : 0;
    service->sleeps_until_ms = until_ms;
}

/* at_ms: on its clock. */
static void wake_at(struct service *service, size_t task, int64_t at_ms)
{
    if (at_ms == CLOCK_NEVER)
        return;
    at_ms += missed_ms(service);
    if (at_ms >= service->wakes_ms[task])
        return;
    struct task_wake *wake = ARENA_NEW(service->world->arena, struct task_wake);
    *wake = (struct task_wake){service, service->life, task};
    service->wakes_ms[task] = at_ms;
    agenda_at(&service->world->agenda, at_ms, on_wake, wake);
}

static void cancel(struct service *service, size_t kind)
{
    if (service->streams[kind])
        stream_cancel(service->streams[kind]);
    service->streams[kind] = NULL;
}

void service_pump(struct service *service, size_t kind)
{
    const int64_t now_ms = service_now(service);
    struct reflector_action action = reflector_next(service->reflectors[kind], now_ms);
    for (int i = 0; action.want != REFLECTOR_WAIT; i++) {
        if (i == 10) {
            world_fail(service->world, "the reflector of kind %zu never waits", kind);
            return;
        }
        cancel(service, kind);
        if (action.want == REFLECTOR_REQUEST)
            service->streams[kind] = stream_open(&service->wire, kind, &action.request);
        action = reflector_next(service->reflectors[kind], now_ms);
    }
    if (action.until_ms <= now_ms)
        world_fail(service->world, "the reflector of kind %zu waits for the past", kind);
    wake_at(service, kind, action.until_ms);
    if (service->world->flapping)
        wake_at(service, LOOP, now_ms);
    if (kind == CLUSTER_PODS) {
        const struct catch_up *catch_up = &service->catch_up;
        if (catch_up->number > 0 &&
            reflector_caught_up(service->reflectors[kind]) == catch_up->number)
            catch_up->done(catch_up->context, catch_up->number);
        wake_at(service, LOOP, now_ms);
    }
}

/* Two replicas may not decide at the same time. */
static void check_alone(struct service *service)
{
    struct world *world = service->world;
    if (!service_may_decide(service))
        return;
    for (unsigned i = 0; i < world->plan.n_replicas; i++) {
        struct service *other = &world->services[i];
        if (other != service && service_may_decide(other))
            world_fail(world, "services %u and %u may decide", service->number, other->number);
    }
}

void service_tick(struct service *service)
{
    const int64_t now_ms = service_now(service);
    if (!service->is_alive || world_now(service->world) < service->sleeps_until_ms)
        return;
    wake_at(service, LOOP,
            service->leadership ? leadership_tick(service->leadership, now_ms)
                                : hold_tick(service->hold, now_ms));
    wake_at(service, LOOP, binds_tick(service->binds, now_ms));
    if (service->world->flapping)
        wake_at(service, LOOP, flapping_tick(service, now_ms));
    if (service->gang_plans) {
        wake_at(service, LOOP, gang_plans_tick(service->gang_plans, now_ms));
        wake_at(service, LOOP, wake_tick(service->wake, now_ms));
    }
    check_alone(service);
}

void service_stir(struct service *service)
{
    struct world *world = service->world;
    if (world_trouble(world, world->plan.delays, 4))
        wake_at(service, LOOP, service_now(service) + world_between(world, 1, TAKE_IN_MS));
    else
        service_tick(service);
}

/* Like the reflectors' loop, which wakes the other one. */
static void on_inventory(void *context)
{
    struct service *service = context;
    const int64_t now_ms = world_now(service->world);
    struct err why;
    service->unusable_ms = inventory_usable(service->inventory, &why) ? CLOCK_NEVER : now_ms;
    wake_at(service, LOOP, service_now(service));
}

/* ---- leadership ---- */

static int64_t wall_ms(void *context)
{
    const struct service *service = context;
    return world_now(service->world);
}

static void on_pump_pods(void *context)
{
    struct service *service = context;
    if (service->is_alive && world_now(service->world) >= service->sleeps_until_ms)
        service_pump(service, CLUSTER_PODS);
}

static void on_catch_up(void *context, const struct catch_up *catch_up)
{
    struct service *service = context;
    service->catch_up = *catch_up;
    reflector_catch_up(service->reflectors[CLUSTER_PODS], service_now(service), catch_up->number,
                       catch_up->version);
    agenda_in(&service->world->agenda, 0, on_pump_pods, service);
}

static void on_turn(void *context, bool may_decide)
{
    const struct service *service = context;
    world_tell(service->world, "service %u: %s", service->number,
               may_decide ? "leads" : "leads no more");
}

/* One stop of one life. */
struct stop {
    struct service *service;
    unsigned life;
};

static bool is_under_way(const struct stop *stop)
{
    const struct service *service = stop->service;
    return service->is_alive && service->is_stopping && service->life == stop->life;
}

static void at(struct service *service, int64_t at_ms, agenda_call *call)
{
    struct stop *stop = ARENA_NEW(service->world->arena, struct stop);
    *stop = (struct stop){service, service->life};
    agenda_at(&service->world->agenda, at_ms, call, stop);
}

static void on_end(void *context)
{
    const struct stop *stop = context;
    if (!is_under_way(stop))
        return;
    service_kill(stop->service);
    stop->service->on_stopped(stop->service);
}

static void on_released(void *context)
{
    struct service *service = context;
    at(service, world_now(service->world), on_end);
}

static bool is_usable(void *context, struct err *ret_why)
{
    const struct service *service = context;
    return inventory_usable(service->inventory, ret_why);
}

static int64_t quiet_ms(void *context, int64_t now_ms)
{
    const struct service *service = context;
    return binds_quiet_ms(service->binds, now_ms);
}

static void create_hold(struct service *service)
{
    const struct hold_settings settings = {
        .until_ms = service_now(service) + times()->hold_ms,
        .pods = {"/api/v1/pods", on_catch_up, service},
    };
    service->hold = hold_new(&settings, wire_sender(&service->wire));
}

static int64_t held_until_ms(void *context, int64_t now_ms)
{
    const struct service *service = context;
    return service->hold ? hold_until_ms(service->hold, now_ms) : now_ms;
}

static void create_leadership(struct service *service)
{
    static const char *const NAMES[] = {"", "one", "two", "three"};
    const struct leadership_settings settings = {
        .lease = {.namespace_ = "ns",
                  .name = "gpu",
                  .identity = arena_printf(service->world->arena, "%s_%u", NAMES[service->number],
                                           service->life),
                  .duration_ms = times()->lease_ms,
                  .renew_deadline_ms = times()->renew_ms,
                  .retry_ms = times()->retry_ms,
                  .seed = dice_next(&service->world->dice)},
        .pods = {"/api/v1/pods", on_catch_up, service},
        .decide_ms = times()->decide_ms,
        .usable = is_usable,
        .quiet_ms = quiet_ms,
        .wall_ms = wall_ms,
        .turned = on_turn,
        .released = on_released,
        .context = service,
    };
    service->leadership = NULL;
    service->hold = NULL;
    service->catch_up = (struct catch_up){0};
    if (service->world->plan.n_replicas == 1) {
        create_hold(service);
        return;
    }
    service->leadership = leadership_new(&settings, wire_sender(&service->wire));
    service->lease_store = leadership_lease_store(service->leadership);
}

void service_see_lease(struct service *service, const json_t *object)
{
    struct world *world = service->world;
    if (object) {
        service->lease_store.upsert(service->lease_store.context, object);
        service_stir(service);
        return;
    }
    service->lease_store.removed(service->lease_store.context, NULL);
    service_tick(service);
    if (service_may_decide(service))
        world_fail(world, "service %u decides, and knows that the Lease was deleted",
                   service->number);
}

static bool is_awake(const struct service *service)
{
    return service->is_alive && !service->is_stopping &&
           world_now(service->world) >= service->sleeps_until_ms;
}

bool service_could_decide(const struct service *service)
{
    struct err why;
    return is_awake(service) && inventory_usable(service->inventory, &why);
}

bool service_may_decide(struct service *service)
{
    if (!is_awake(service))
        return false;
    return !service->leadership || leadership_may_decide(service->leadership, service_now(service));
}

bool service_may_bind(struct service *service)
{
    const int64_t now_ms = service_now(service);
    return service_may_decide(service) && held_until_ms(service, now_ms) <= now_ms;
}

static bool may_post(void *context, int64_t now_ms)
{
    const struct service *service = context;
    return !service->leadership || leadership_may_decide(service->leadership, now_ms);
}

/* ---- start and stop ---- */

/* Every other one has a quota, which no burst exceeds. */
static struct policy *add_policy(struct service *service)
{
    struct policy *policy = &service->policies[service->n_policies++];
    policy_init(policy);
    /* Clusters are small: a plan is often most of one. */
    policy->gangs.mode = service->world->plan.groups ? GANGS_PLAN : GANGS_OFF;
    policy->gangs.kept_share_milli =
        service->world->share_milli > 0 ? service->world->share_milli : 1000;
    if (service->world->flapping) {
        flapping_set(policy, service->world);
        return policy;
    }
    if (service->world->plan.quotas) {
        quotas_add(policy, service->world);
        return policy;
    }
    if (service->world->quota_gpus == 0 && service->n_policies % 2 == 1)
        return policy;
    const char **namespaces = ARENA_ARRAY(policy->arena, const char *, 1);
    struct quota_limit *limits = ARENA_ARRAY(policy->arena, struct quota_limit, 1);
    *namespaces = "ml";
    *limits =
        (struct quota_limit){.gpus = service->world->scene ? service->world->quota_gpus : 1000000};
    const struct quota quota = {.name = "all",
                                .namespaces = namespaces,
                                .n_namespaces = 1,
                                .limits = limits,
                                .n_limits = 1};
    if (policy_add_quota(policy, &quota, NULL) < 0)
        abort();
    return policy;
}

void service_init(struct service *service, struct world *world, unsigned number)
{
    *service = (struct service){
        .world = world,
        .number = number,
        .bound_by = arena_printf(world->arena, "%s%u", WORLD_US, number),
    };
    wire_init(&service->wire, service);
    add_policy(service);
    service_start(service);
}

/* Over the object of wake, at once. */
static void on_help(void *context, enum cluster_kind kind)
{
    const struct service *service = context;
    (void)kind;
    scheduler_wake(service->world->scheduler);
}

static void start_reflectors(struct service *service)
{
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        const struct reflector_settings settings = {
            .kind = &INVENTORY_KINDS[i].listed,
            .page_size = SERVICE_PAGE,
            .silence_ms = SERVICE_SILENCE_MS,
            .max_object_bytes = 1 << 16,
            .seed = dice_next(&service->world->dice),
        };
        const struct reflector_store store = inventory_store(service->inventory, i);
        service->reflectors[i] = reflector_new(&settings, &store);
    }
    service->n_streams = N_CLUSTER_KINDS;
    if (!service->world->flapping)
        return;
    const struct reflector_settings failed = {
        .kind = &INVENTORY_FAILED_PODS,
        .page_size = SERVICE_PAGE,
        .silence_ms = SERVICE_SILENCE_MS,
        .max_object_bytes = 1 << 16,
        .seed = dice_next(&service->world->dice),
    };
    const struct reflector_store store = inventory_failed_pods(service->inventory);
    service->reflectors[service->n_streams++] = reflector_new(&failed, &store);
    inventory_on_help(service->inventory, on_help, service);
}

/* ---- groups ---- */

struct woken {
    struct service *service;
    unsigned life;
    kube_done *done;
    void *wake;
};

static void on_woken(void *context)
{
    const struct woken *woken = context;
    struct service *service = woken->service;
    scheduler_wake(service->world->scheduler);
    if (service->is_alive && service->life == woken->life) {
        const struct kube_answer answer = kube_answered(service_now(service), 200, "{}");
        woken->done(woken->wake, &answer);
    }
}

/* A patch of the object of wake reaches kube-scheduler at once. */
static void send_wake(void *context, const struct kube_request *request, kube_done *done,
                      void *wake)
{
    struct service *service = context;
    struct woken *woken = ARENA_NEW(service->world->arena, struct woken);
    (void)request;
    *woken = (struct woken){service, service->life, done, wake};
    agenda_in(&service->world->agenda, 1, on_woken, woken);
}

static void wake_nobody(void *context)
{
    (void)context;
}

static bool may_plan(void *context, int64_t now_ms)
{
    struct service *service = context;
    (void)now_ms;
    return service_may_decide(service);
}

static int64_t no_wall_ms(void)
{
    return 1;
}

/* Of the scene that runs. */
static int64_t planning_ms;

static int64_t planning_clock_ms(void)
{
    static int64_t at_ms;
    return at_ms += planning_ms;
}

static void create_gang_plans(struct service *service)
{
    planning_ms = service->world->planning_ms;
    service->wake = NULL;
    service->groups = NULL;
    service->gang_plans = NULL;
    service->plan_times = NULL;
    if (!service->world->plan.groups)
        return;
    service->wake = wake_new(
        &(struct wake_settings){
            .namespace_ = "ns", .name = "wake", .may_wake = may_plan, .context = service},
        (struct kube_sender){send_wake, wake_nobody, service});
    service->groups = groups_new();
    service->gang_plans =
        gang_plans_new(&(struct gang_plans_settings){.inventory = service->inventory,
                                                     .wake = service->wake,
                                                     .groups = service->groups,
                                                     .may_plan = may_plan,
                                                     .context = service,
                                                     .wall_ms = no_wall_ms,
                                                     .clock_ms = planning_clock_ms});
}

void service_start(struct service *service)
{
    static const struct inventory_limits LIMITS = {
        .max_file_bytes = 1, .max_object_bytes = 1 << 16, .max_nodes = 100, .max_pods = 10000};
    const struct binds_settings settings = {
        .bound_by = service->bound_by,
        .post_life_ms = times()->post_life_ms,
        .timeout_ms = times()->bind_ms,
        .confirm_ms = SERVICE_CONFIRM_MS,
        .seed = dice_next(&service->world->dice),
        .may_post = may_post,
        .may_post_context = service,
        .held_until_ms = held_until_ms,
        .held_context = service,
    };
    world_tell(service->world, "service %u: starts", service->number);
    service->is_alive = true;
    service->is_stopping = false;
    service->n_calls = 0;
    service->unusable_ms = world_now(service->world);
    service->sleeps_until_ms = 0;
    service->suspended_ms = 0;
    service->missed_ms = 0;
    service->life++;
    service->inventory = inventory_new(&service->policies[service->n_policies - 1], &LIMITS);
    inventory_go_live(service->inventory, "https://sim");
    inventory_on_turn(service->inventory, on_inventory, service);
    start_reflectors(service);
    service->binds = binds_new(&settings, service->inventory, wire_sender(&service->wire));
    create_leadership(service);
    create_gang_plans(service);
    for (size_t i = 0; i <= LOOP; i++)
        service->wakes_ms[i] = CLOCK_NEVER;
    for (size_t i = 0; i < service->n_streams; i++)
        service_pump(service, i);
    service_tick(service);
}

void service_reload(struct service *service)
{
    if (!service->is_alive || world_now(service->world) < service->sleeps_until_ms ||
        service->n_policies == SERVICE_POLICIES_MAX)
        return;
    world_tell(service->world, "service %u: reloads its policy", service->number);
    inventory_take_policy(service->inventory, add_policy(service));
    inventory_free_replaced(service->inventory);
    for (size_t i = 0; i < service->n_streams; i++) {
        reflector_list_again(service->reflectors[i]);
        service_pump(service, i);
    }
}

void service_kill(struct service *service)
{
    if (!service->is_alive)
        return;
    world_tell(service->world, "service %u: dies", service->number);
    service->is_alive = false;
    binds_stop(service->binds);
    wire_stop(&service->wire);
    binds_free(service->binds);
    gang_plans_free(service->gang_plans);
    groups_free(service->groups);
    wake_free(service->wake);
    leadership_free(service->leadership);
    hold_free(service->hold);
    for (size_t i = 0; i < service->n_streams; i++) {
        cancel(service, i);
        reflector_free(service->reflectors[i]);
    }
    inventory_free(service->inventory);
}

/* Answers accepted calls first. */
static void on_drain(void *context)
{
    const struct stop *stop = context;
    struct service *service = stop->service;
    const int64_t now_ms = world_now(service->world);
    if (!is_under_way(stop))
        return;
    if (service->n_calls > 0) {
        at(service, now_ms + DRAIN_MS, on_drain);
        return;
    }
    if (!service->leadership) {
        at(service, now_ms, on_end);
        return;
    }
    at(service,
       binds_quiet_ms(service->binds, service_now(service)) + missed_ms(service) + RELEASE_MS,
       on_end);
    leadership_release(service->leadership);
    service_tick(service);
}

void service_stop(struct service *service, void (*on_stopped)(struct service *service))
{
    world_tell(service->world, "service %u: is told to stop", service->number);
    service->is_stopping = true;
    service->on_stopped = on_stopped;
    at(service, world_now(service->world), on_drain);
}

void service_fini(struct service *service)
{
    service_kill(service);
    for (size_t i = 0; i < service->n_policies; i++)
        policy_fini(&service->policies[i]);
}

/* ---- requests ---- */

static struct fit_question question_of(const struct cluster *cluster, const struct sight *sight,
                                       bool flaps, struct arena *arena)
{
    const struct amount demand[] = {{"nvidia.com/gpu", sight->gpus}, {"pods", 1}};
    const struct shape_facts shape = {.demand = arena_copy(arena, demand, 2, sizeof *demand),
                                      .n_demand = 2};
    const struct pod_shape *resolved = cluster_resolve(cluster, &shape, arena);
    const struct reservation *own = cluster_find_reservation(cluster, sight->uid);
    const struct gang_hold *hold =
        sight->gang ? gangs_hold(cluster, "ml", sight->gang, sight->uid, arena) : NULL;
    const struct pod *pod = flaps ? cluster_find_pod(cluster, sight->uid) : NULL;
    return (struct fit_question){
        .shape = resolved,
        .scope = FIT_OURS,
        .own = own,
        .asker = pod ? asker_from_pod(pod)
                     : (struct asker){.uid = sight->uid,
                                      .priority = sight->priority,
                                      .group = hold ? hold->group : NULL},
        .hold = hold,
        .quota =
            quota_begin(cluster, "ml", (struct quota_pod){resolved, sight->priority}, own, arena),
    };
}

bool service_fits(struct service *service, const struct sight *sight, const char *node)
{
    struct err err;
    if (!service->is_alive || !inventory_usable(service->inventory, &err))
        return false;
    struct arena *arena = arena_new();
    const struct inventory_view view = inventory_read(service->inventory);
    const struct node *on = cluster_find_node(view.cluster, node);
    const struct fit_question question =
        question_of(view.cluster, sight, service->world->flapping, arena);
    const enum reason reason = fit_judge(on, &question);
    if (service->world->flapping && on)
        flapping_judged(service, on, sight, reason);
    inventory_done(&view);
    arena_free(arena);
    return reason == REASON_FITS;
}

void service_filtered(struct service *service, const struct sight *sight, const char *const *names,
                      size_t n_names, bool is_handed_on)
{
    struct err err;
    if (!service->is_alive || !service->gang_plans || !inventory_usable(service->inventory, &err))
        return;
    struct arena *arena = arena_new();
    const struct inventory_view view = inventory_read(service->inventory);
    const struct gang_hold *hold = gangs_hold(view.cluster, "ml", sight->gang, sight->uid, arena);
    inventory_done(&view);
    struct hashed_text *offered = ARENA_ARRAY(arena, struct hashed_text, n_names);
    for (size_t i = 0; i < n_names; i++)
        offered[i] = hash_of_text(names[i]);
    gang_plans_filtered(service->gang_plans, &(struct gang_filtered){.namespace_ = "ml",
                                                                     .gang = sight->gang,
                                                                     .uid = sight->uid,
                                                                     .hold = hold,
                                                                     .names = offered,
                                                                     .n_names = n_names,
                                                                     .is_handed_on = is_handed_on});
    if (is_handed_on)
        wake_settled(service->wake, sight->uid);
    else
        wake_rejected(service->wake, sight->uid, service_now(service));
    arena_free(arena);
}

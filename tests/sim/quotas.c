/* quotas: see quotas.h. */
#include "quotas.h"

#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void quotas_add(struct policy *policy, struct world *world)
{
    const unsigned all = world->plan.n_nodes * world->plan.gpus + 1;
    const char **namespaces = ARENA_ARRAY(policy->arena, const char *, 1);
    struct quota_limit *limit = ARENA_NEW(policy->arena, struct quota_limit);
    *namespaces = "ml";
    *limit =
        (struct quota_limit){.gpus = dice_below(&world->dice, all),
                             .borrow = {.is_set = true, .gpus = dice_below(&world->dice, all)}};
    const struct quota quota = {
        .name = "ml", .namespaces = namespaces, .n_namespaces = 1, .limits = limit, .n_limits = 1};
    world_tell(world, "a policy: %lld GPUs are guaranteed, %lld may be borrowed",
               (long long)limit->gpus, (long long)limit->borrow.gpus);
    if (policy_add_quota(policy, &quota, NULL) < 0)
        abort();
}

struct use {
    int64_t guaranteed, borrowed;
};

static void add(struct use *use, unsigned gpus, unsigned priority)
{
    *(priority > 0 ? &use->guaranteed : &use->borrowed) += gpus;
}

/* By the limits of the n-th policy. */
static bool is_within(const struct use *use, const struct service *service, size_t n,
                      unsigned priority)
{
    const struct quota_limit *limit = service->policies[n - 1].quotas[0].limits;
    return (priority > 0 ? use->guaranteed <= limit->gpus : use->borrowed <= limit->borrow.gpus) &&
           use->guaranteed + use->borrowed <= limit->gpus + limit->borrow.gpus;
}

static bool is_ours(const struct truth_state *state)
{
    return strncmp(state->bound_by, WORLD_US, strlen(WORLD_US)) == 0;
}

/* Pods that we have bound, and that the service has posted and got no answer about. What other
 * clients bind it learns later. */
static struct use posted_of(const struct service *service)
{
    struct use use = {0};
    for (const struct truth_object *object = service->world->truth.objects; object;
         object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind == TRUTH_PODS && state && !state->finished &&
            (is_ours(state) || (!state->node[0] && wire_posts(&service->wire, state->uid))))
            add(&use, state->gpus, state->priority);
    }
    return use;
}

static bool is_named(const char *body, const struct truth_object *object)
{
    char quoted[40];
    const struct truth_state *state = truth_now(object);
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", state ? state->uid : "");
    return object->kind == TRUTH_PODS && state && strstr(body, quoted);
}

void quotas_posted(struct service *service, const char *body)
{
    const struct truth_object *object = service->world->truth.objects;
    while (object && !is_named(body, object))
        object = object->next;
    if (!service->world->plan.quotas || !object || truth_now(object)->node[0])
        return;
    /* Posted again, since no answer came: a reload may have lowered the limits meanwhile. */
    const size_t n = wire_first_posted(&service->wire, truth_now(object)->uid);
    const struct use use = posted_of(service);
    if (!is_within(&use, service, service->n_policies, truth_now(object)->priority) &&
        !is_within(&use, service, n, truth_now(object)->priority))
        world_fail(service->world,
                   "service %u posts a binding of %s of priority %u beyond its limits: %lld "
                   "guaranteed and %lld borrowed GPUs are in use",
                   service->number, truth_now(object)->uid, truth_now(object)->priority,
                   (long long)use.guaranteed, (long long)use.borrowed);
}

bool quotas_allow(struct world *world, const struct sight *sight)
{
    struct use use = {0};
    const struct service *leader = world_leader(world);
    if (!world->plan.quotas || !leader)
        return true;
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind == TRUTH_PODS && state && !state->finished && state->node[0])
            add(&use, state->gpus, state->priority);
    }
    add(&use, sight->gpus, sight->priority);
    return is_within(&use, leader, leader->n_policies, sight->priority);
}

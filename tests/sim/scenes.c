/* scenes: see scenes.h. */
#include "scenes.h"

#include "base/buf.h"
#include "ledger/gangs.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 50
#define SECOND_MS INT64_C(1000)

/* ---- what happens ---- */

static void pod(struct world *world, const char *name, const struct truth_state *state)
{
    struct truth_state made = *state;
    made.uid = truth_new_uid(&world->truth);
    made.node = made.bound_by = "";
    truth_put(&world->truth, TRUTH_PODS, name, &made);
}

static void single(struct world *world, unsigned number, unsigned gpus, unsigned priority)
{
    pod(world, arena_printf(world->arena, "single-%u", number),
        &(struct truth_state){.gpus = gpus, .priority = priority});
}

static void member(struct world *world, const char *gang, unsigned number, unsigned size,
                   unsigned gpus)
{
    pod(world, arena_printf(world->arena, "%s-%u", gang, number),
        &(struct truth_state){.gpus = gpus, .gang = gang, .gang_size = size});
}

static void group(struct world *world, const char *gang, unsigned size, unsigned gpus)
{
    for (unsigned i = 0; i < size; i++)
        member(world, gang, i, size, gpus);
}

static struct truth_object *find(struct world *world, const char *name)
{
    return truth_find(&world->truth, TRUTH_PODS, name);
}

/* Writes a pod again. */
static void rewrite(struct world *world, const char *name, const char *gang, unsigned priority)
{
    struct truth_state state = *truth_now(find(world, name));
    state.gang = gang;
    state.priority = priority;
    truth_put(&world->truth, TRUTH_PODS, name, &state);
}

static void finish(struct world *world, const char *name)
{
    const struct truth_object *object = find(world, name);
    struct truth_state state = *truth_now(object);
    state.finished = true;
    truth_put(&world->truth, TRUTH_PODS, name, &state);
}

static bool is_of(const struct truth_object *object, const char *gang)
{
    const struct truth_state *state = truth_now(object);
    return object->kind == TRUTH_PODS && state && state->gang && strcmp(state->gang, gang) == 0;
}

static void remove_group(struct world *world, const char *gang)
{
    for (struct truth_object *object = world->truth.objects; object; object = object->next) {
        if (is_of(object, gang))
            truth_delete(&world->truth, object);
    }
}

static size_t n_bound(const struct world *world, const char *gang)
{
    size_t n = 0;
    for (const struct truth_object *object = world->truth.objects; object; object = object->next)
        n += is_of(object, gang) && truth_now(object)->node[0] && !truth_now(object)->finished;
    return n;
}

static void expect_bound(struct world *world, const char *gang, size_t n)
{
    if (n_bound(world, gang) != n)
        world_fail(world, "of the group %s, %zu pods are bound, not %zu", gang,
                   n_bound(world, gang), n);
}

static int64_t since_begin_ms(const struct world *world)
{
    return world_now(world) - WORLD_BEGIN_MS;
}

/* Whether it is that second, for the first time. */
static bool is_second(const struct world *world, int64_t second)
{
    const int64_t at_ms = since_begin_ms(world);
    return at_ms >= second * SECOND_MS && at_ms < second * SECOND_MS + LOOK_MS;
}

static bool is_after(const struct world *world, int64_t second)
{
    return since_begin_ms(world) >= second * SECOND_MS;
}

static void on_start(void *context)
{
    service_start(context);
}

static void kill_leader(struct world *world)
{
    struct service *leader = world_leader(world);
    if (!leader)
        return;
    service_kill(leader);
    world->led_ms = world_now(world);
    agenda_in(&world->agenda, 2 * SECOND_MS, on_start, leader);
}

/* ---- two groups of more than half the cluster, and pods without GPUs that fill nodes ---- */

static void two_large_begin(struct world *world)
{
    for (unsigned i = 0; i < 10; i++) {
        member(world, "a", i, 10, 1);
        member(world, "b", i, 10, 1);
    }
}

/* For 60 s, one node after the other has no CPU. */
static void fill_nodes(struct world *world)
{
    const int64_t turn = since_begin_ms(world) / (3 * SECOND_MS);
    int64_t i = 0;
    for (struct node_sight *node = world->scheduler->nodes; node; node = node->next, i++)
        node->is_full = !is_after(world, 60) && turn % world->plan.n_nodes == i;
}

static void two_large_look(struct world *world)
{
    const char *first = n_bound(world, "a") > 0 ? "a" : "b";
    fill_nodes(world);
    if (n_bound(world, "a") > 0 && n_bound(world, "b") > 0)
        world_fail(world, "both groups are bound in part");
    if (is_second(world, 100)) {
        expect_bound(world, first, 10);
        remove_group(world, first);
        world->scene_number = strcmp(first, "a") == 0;
    }
}

static void two_large_end(struct world *world)
{
    expect_bound(world, world->scene_number == 1 ? "b" : "a", 10);
}

/* ---- the leader dies between two bindings, and kube-scheduler restarts ---- */

static void leader_dies_begin(struct world *world)
{
    group(world, "a", 6, 1);
}

/* Three times. */
static void leader_dies_look(struct world *world)
{
    const size_t n = n_bound(world, "a");
    if (n <= world->scene_number || n >= 6 || !world_leader(world))
        return;
    world->scene_number = n;
    kill_leader(world);
    scheduler_start(world);
}

static void leader_dies_end(struct world *world)
{
    if (world->scene_number == 0)
        world_fail(world, "no leader died");
}

/* ---- a pod is deleted between the bindings; another takes its name, and one is too many ---- */

static void replaced_begin(struct world *world)
{
    group(world, "a", 4, 1);
}

static void replaced_look(struct world *world)
{
    if (is_second(world, 30))
        expect_bound(world, "a", 5);
    if (world->scene_number > 0 || n_bound(world, "a") == 0)
        return;
    world->scene_number = 1;
    const char *name = truth_now(find(world, "a-3"))->node[0] ? "a-2" : "a-3";
    truth_delete(&world->truth, find(world, name));
    member(world, "a", (unsigned)(name[2] - '0'), 4, 1);
    member(world, "a", 4, 4, 1);
}

/* ---- a plugin of kube-scheduler rejects pods that have a place ---- */

static void in_tree_begin(struct world *world)
{
    world->rejects_one_in = 2;
    group(world, "a", 6, 1);
}

/* ---- pods end one by one; the rest is deleted; the same name again ---- */

static void endings_begin(struct world *world)
{
    group(world, "a", 7, 1);
}

static void endings_look(struct world *world)
{
    if (is_second(world, 20)) {
        expect_bound(world, "a", 7);
        group(world, "b", 7, 1);
        finish(world, "a-0");
    }
    if (is_second(world, 30))
        finish(world, "a-1");
    if (is_second(world, 40)) {
        expect_bound(world, "b", 0);
        remove_group(world, "a");
    }
    if (is_second(world, 41))
        group(world, "a", 7, 1);
    if (is_second(world, 100)) {
        expect_bound(world, "b", 7);
        expect_bound(world, "a", 0);
        remove_group(world, "b");
    }
}

/* ---- a tenant's new group each minute, of which kube-scheduler never asks ---- */

static size_t n_kept(struct service *leader)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(leader->inventory);
    struct gang gang = {0};
    size_t n = 0;
    for (const char *key = gangs_next(view.cluster, NULL, &gang); key;
         key = gangs_next(view.cluster, key, &gang))
        n += gang.n_planned;
    return n;
}

static void tenant_begin(struct world *world)
{
    world->ignores_groups = true;
}

static void tenant_look(struct world *world)
{
    const unsigned minute = (unsigned)(since_begin_ms(world) / (60 * SECOND_MS));
    struct service *leader = world_leader(world);
    world->scene_number += leader ? n_kept(leader) * LOOK_MS : 0; /* GPU-milliseconds */
    if (!is_second(world, (int64_t)minute * 60))
        return;
    if (minute > 0)
        remove_group(world, arena_printf(world->arena, "t%u", minute - 1));
    group(world, arena_printf(world->arena, "t%u", minute), 4, 1);
}

static void tenant_end(struct world *world)
{
    const size_t all_ms = (size_t)world->plan.n_nodes * world->plan.gpus * 3600 * 1000;
    /* At most 5 %, and not much less, as what was kept is forgotten in time. */
    if (world->scene_number * 25 < all_ms || world->scene_number * 20 > all_ms)
        world_fail(world, "%zu GPU-milliseconds were kept, of %zu", world->scene_number, all_ms);
}

/* ---- pods of higher priority take places of a plan, again and again ---- */

static void displaced_begin(struct world *world)
{
    world->ignores_groups = true;
    group(world, "a", 6, 1);
}

static size_t n_plans(const struct world *world)
{
    static const char NAME[] = "\ngpu_extender_group_plans_total ";
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    gang_plans_metrics(world->services[0].gang_plans, &text);
    const char *at = strstr(buf_text(&text), NAME);
    const size_t n = at ? strtoul(at + strlen(NAME), NULL, 10) : 0;
    buf_fini(&text);
    return n;
}

static void displaced_look(struct world *world)
{
    const int64_t turn = since_begin_ms(world) / (5 * SECOND_MS);
    if (!is_after(world, 100) && turn > 0 && is_second(world, turn * 5))
        single(world, (unsigned)turn, 3, 1);
    if (!is_after(world, 100) && turn > 0 && is_second(world, turn * 5 + 2))
        finish(world, arena_printf(world->arena, "single-%lld", (long long)turn));
    if (is_second(world, 35) && n_kept(world_leader(world)) > 0)
        world_fail(world, "a plan that was displaced has its time anew");
    if (is_second(world, 100)) {
        const size_t n = n_plans(world);
        if (n < 5 || n > 45)
            world_fail(world, "in 100 s, %zu plans were made", n);
        world->ignores_groups = false;
    }
}

/* ---- a quota is lowered while a plan holds; the next leader has the old one ---- */

static void lowered_begin(struct world *world)
{
    world->ignores_groups = true;
    world->quota_gpus = 100;
    group(world, "a", 4, 1);
}

static void lowered_look(struct world *world)
{
    struct service *leader = world_leader(world);
    if (is_second(world, 20) && leader) {
        if (n_kept(leader) != 4)
            world_fail(world, "no plan is made");
        world->quota_gpus = 3;
        service_reload(leader);
        world->ignores_groups = false;
    }
    if (is_second(world, 60)) {
        expect_bound(world, "a", 0);
        kill_leader(world);
    }
}

/* ---- 516 pods of groups wait, and others come and go ---- */

#define WAITING_GROUPS 86

static void many_begin(struct world *world)
{
    for (unsigned i = 0; i < 6; i++)
        single(world, i, 4, 0);
}

static size_t n_not_beyond(struct service *leader)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(leader->inventory);
    struct gang gang = {0};
    size_t n = 0;
    for (const char *key = gangs_next(view.cluster, NULL, &gang); key;
         key = gangs_next(view.cluster, key, &gang))
        n += gang.treatment == GANG_BEYOND ? 0 : gang.n_unbound;
    return n;
}

static unsigned n_single_waiting(struct world *world)
{
    unsigned n = 0;
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        n += object->kind == TRUTH_PODS && state && !state->gang && !state->node[0];
    }
    return n;
}

static void many_look(struct world *world)
{
    if (is_second(world, 30) && n_not_beyond(world_leader(world)) > 256)
        world_fail(world, "more than 256 pods of groups wait for events");
    const int64_t second = since_begin_ms(world) / SECOND_MS;
    for (unsigned i = 0; is_second(world, 5) && i < WAITING_GROUPS; i++)
        group(world, arena_printf(world->arena, "g%u", i), 6, 8);
    if (second > 5 && second < 80 && is_second(world, second)) {
        single(world, (unsigned)second, 1, 0);
        if (second > 20)
            finish(world, arena_printf(world->arena, "single-%u", (unsigned)second - 12));
    }
    const unsigned n_pending = n_single_waiting(world);
    if (n_pending > 12)
        world_fail(world, "%u pods without a group wait", n_pending);
    if (is_second(world, 40))
        group(world, "small", 5, 1);
    if (is_second(world, 75))
        expect_bound(world, "small", 5);
}

/* ---- whose turn it is: of higher priority, bound in part, seen first ---- */

static void order_begin(struct world *world)
{
    group(world, "part", 4, 1);
}

static void important(struct world *world, const char *gang, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        pod(world, arena_printf(world->arena, "%s-%u", gang, i),
            &(struct truth_state){.gpus = 1, .gang = gang, .gang_size = size, .priority = 5});
}

static void order_first(struct world *world)
{
    if (is_second(world, 10)) {
        expect_bound(world, "part", 4);
        for (unsigned i = 0; i < 4; i++)
            single(world, i, 1, 0);
    }
    if (is_second(world, 15))
        group(world, "first", 2, 1);
    if (is_second(world, 20))
        group(world, "second", 2, 1);
    if (is_second(world, 25)) {
        truth_delete(&world->truth, find(world, "part-0"));
        member(world, "part", 0, 4, 1);
        finish(world, "single-0");
    }
}

static void order_look(struct world *world)
{
    order_first(world);
    if (is_second(world, 60)) {
        expect_bound(world, "part", 4);
        expect_bound(world, "first", 0);
        important(world, "high", 2);
    }
    if (is_second(world, 65))
        finish(world, "single-1");
    if (is_second(world, 100)) {
        expect_bound(world, "high", 2);
        expect_bound(world, "first", 0);
        finish(world, "single-2");
        finish(world, "single-3");
    }
}

static void order_end(struct world *world)
{
    expect_bound(world, "first", 2);
    expect_bound(world, "second", 0);
}

/* ---- a look for places takes long: many groups never need one, the first has no room, and of two
 * there is for one ---- */

static void costly_begin(struct world *world)
{
    world->planning_ms = 100;
    for (unsigned i = 0; i < 30; i++)
        member(world, arena_printf(world->arena, "part%u", i), 0, 2, 1);
}

static void costly_look(struct world *world)
{
    if (is_second(world, 6))
        single(world, 0, 1, 0);
    if (is_second(world, 8))
        important(world, "huge", 4);
    if (is_second(world, 12)) {
        group(world, "low", 2, 1);
        important(world, "high", 2);
    }
    if (is_second(world, 30)) {
        expect_bound(world, "high", 2);
        expect_bound(world, "low", 0);
        finish(world, "single-0");
    }
}

/* ---- the share that plans may keep: 4 of 16 GPUs, or one larger plan, once in ten minutes ---- */

static void share_begin(struct world *world)
{
    world->ignores_groups = true;
    world->share_milli = 250;
    group(world, "large", 10, 1);
    group(world, "a", 3, 1);
    group(world, "b", 3, 1);
}

/* In two bytes: whether it keeps anything, and how often it began to. */
static void share_look(struct world *world)
{
    struct service *leader = world_leader(world);
    const size_t n = leader ? n_kept(leader) : 0;
    const bool is_large = n >= 10;
    if (n != 0 && n != 3 && n != 10)
        world_fail(world, "plans keep %zu GPUs", n);
    if (is_large && world->scene_number % 2 == 0)
        world->scene_number += 2;
    world->scene_number = world->scene_number / 2 * 2 + is_large;
}

static void share_end(struct world *world)
{
    if (world->scene_number / 2 != 1)
        world_fail(world, "there were %zu large plans", world->scene_number / 2);
}

/* ---- a plan that kube-scheduler does not take is made again after 10, 20, 40 ... s ---- */

static void pauses_begin(struct world *world)
{
    world->ignores_groups = true;
    group(world, "a", 2, 1);
}

static void kept_look(struct world *world)
{
    struct service *leader = world_leader(world);
    const bool keeps = leader && n_kept(leader) > 0;
    world->scene_number = keeps ? world->scene_number + LOOK_MS : 0;
    if (world->scene_number > 45000)
        world_fail(world, "a plan is kept for %zu ms without use", world->scene_number);
}

static void pauses_look(struct world *world)
{
    kept_look(world);
    if (is_second(world, 5))
        rewrite(world, "a-0", "a", 1);
    if (is_second(world, 20) && n_plans(world) != 1)
        world_fail(world, "a plan ended when a pod was written");
    if (is_second(world, 400)) {
        const size_t n = n_plans(world);
        if (n < 5 || n > 6)
            world_fail(world, "in 400 s, %zu plans were made", n);
        world->ignores_groups = false;
    }
}

/* ---- a namespace that kept all GPUs for 90 s without use keeps them for 30 s more ---- */

static void spent_begin(struct world *world)
{
    world->ignores_groups = true;
    world->rejects_one_in = 1;
    group(world, "a", 16, 1);
}

static void spent_look(struct world *world)
{
    kept_look(world);
    world->members_asked = 1 + (unsigned)(since_begin_ms(world) / (20 * SECOND_MS));
    if (is_second(world, 125)) {
        remove_group(world, "a");
        group(world, "b", 16, 1);
        world->ignores_groups = false;
    }
}

/* ---- kube-scheduler asks about one more pod each 20 s, and rejects each ---- */

static void trickle_begin(struct world *world)
{
    world->rejects_one_in = 1;
    group(world, "a", 9, 1);
}

static void trickle_look(struct world *world)
{
    const size_t n = world_leader(world) ? n_kept(world_leader(world)) : 0;
    world->members_asked = 1 + (unsigned)(since_begin_ms(world) / (20 * SECOND_MS));
    world->scene_number = n > 0 ? world->scene_number + LOOK_MS : 0;
    if (is_second(world, 70) && world->scene_number < 60000)
        world_fail(world, "the plan ended at an offer");
    if (world->scene_number > 122000)
        world_fail(world, "a plan is kept for %zu ms", world->scene_number);
}

/* ---- all pods are asked about, and rejected ---- */

static void rejected_begin(struct world *world)
{
    world->rejects_one_in = 1;
    group(world, "a", 2, 1);
}

static void rejected_look(struct world *world)
{
    kept_look(world);
    if (is_second(world, 100))
        world->rejects_one_in = 0;
}

/* ---- pods are bound one each 15 s ---- */

static void slow_begin(struct world *world)
{
    world->rejects_one_in = 1;
    group(world, "a", 4, 1);
}

static void slow_look(struct world *world)
{
    const int64_t turn = since_begin_ms(world) / (15 * SECOND_MS);
    if (is_after(world, 5)) {
        world->rejects_one_in = 0;
        world->members_asked = 1 + (unsigned)turn;
    }
    if (is_second(world, 60) && n_plans(world) != 1)
        world_fail(world, "the plan ended between two bindings");
}

/* ---- a pod whose place is kept goes to another group ---- */

static void regrouped_look(struct world *world)
{
    if (is_second(world, 4))
        rewrite(world, "a-0", "b", 0);
}

/* ---- a pod waits for what a plan keeps, and the plan ends ---- */

static void told_look(struct world *world)
{
    if (is_second(world, 5))
        single(world, 0, 1, 0);
}

static void told_end(struct world *world)
{
    if (!truth_now(find(world, "single-0"))->node[0])
        world_fail(world, "the pod waits");
}

/* ---- nodes that kube-scheduler does not offer, the one and the other ---- */

static void avoided_begin(struct world *world)
{
    group(world, "a", 8, 1);
}

static void avoided_look(struct world *world)
{
    const bool is_other = is_after(world, 20) && !is_after(world, 41);
    for (struct node_sight *node = world->scheduler->nodes; node; node = node->next)
        node->is_full =
            !is_after(world, 75) && strcmp(node->name, is_other ? "node-1" : "node-0") == 0;
    if (is_second(world, 20)) {
        expect_bound(world, "a", 8);
        remove_group(world, "a");
        group(world, "b", 8, 1);
    }
    if (is_second(world, 40)) {
        expect_bound(world, "b", 8);
        remove_group(world, "b");
    }
    if (is_second(world, 41))
        group(world, "c", 10, 1);
}

/* ---- the API server refuses the first binding, and other pods are deleted meanwhile ---- */

static void refused_begin(struct world *world)
{
    world->refuses_from = 1;
    group(world, "a", 3, 1);
}

static void refused_look(struct world *world)
{
    if (world->n_bindings == 0 || world->refuses_from == 0)
        return;
    world->refuses_from = 0;
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(world_leader(world)->inventory);
    for (struct truth_object *object = world->truth.objects; object; object = object->next) {
        if (is_of(object, "a") && !cluster_find_reservation(view.cluster, truth_now(object)->uid))
            truth_delete(&world->truth, object);
    }
}

static void refused_end(struct world *world)
{
    if (world->n_bindings == 0)
        world_fail(world, "nothing was refused");
}

/* ---- it refuses the last, for whose place others come ---- */

static void last_begin(struct world *world)
{
    world->refuses_from = 2;
    group(world, "a", 2, 1);
}

static void last_look(struct world *world)
{
    const unsigned turn = (unsigned)(since_begin_ms(world) / 200);
    if (turn > world->scene_number && !is_after(world, 15) && n_bound(world, "a") > 0) {
        world->scene_number = turn;
        single(world, turn, 1, 0);
    }
    if (is_after(world, 15))
        world->refuses_from = 0;
}

/* ---- controllers: a Job in batches, a StatefulSet in order, more pods than the size ---- */

static void controllers_begin(struct world *world)
{
    member(world, "train", 0, 7, 1);
    member(world, "set", 0, 3, 1);
    for (unsigned i = 0; i < 6; i++)
        member(world, "elastic", i, 4, 1);
}

static void controllers_look(struct world *world)
{
    const unsigned n_set = (unsigned)n_bound(world, "set");
    for (unsigned i = 1; is_second(world, 1) && i < 3; i++)
        member(world, "train", i, 7, 1);
    for (unsigned i = 3; is_second(world, 2) && i < 7; i++)
        member(world, "train", i, 7, 1);
    if (n_set > 0 && n_set < 3 && !find(world, arena_printf(world->arena, "set-%u", n_set)))
        member(world, "set", n_set, 3, 1);
    if (is_second(world, 60)) {
        expect_bound(world, "train", 7);
        expect_bound(world, "elastic", 6);
        expect_bound(world, "set", 0);
    }
}

/* ---- all ---- */

static void nothing(struct world *world)
{
    (void)world;
}

static const struct scene SCENES[] = {
    {"two-large", 1, 4, 4, 240000, two_large_begin, two_large_look, two_large_end, NULL, 0},
    {"leader-dies", 2, 2, 4, 240000, leader_dies_begin, leader_dies_look, leader_dies_end, "a", 6},
    {"replaced", 1, 2, 4, 120000, replaced_begin, replaced_look, nothing, "a", 5},
    {"in-tree", 1, 2, 4, 240000, in_tree_begin, nothing, nothing, "a", 6},
    {"endings", 1, 2, 4, 240000, endings_begin, endings_look, nothing, "a", 7},
    {"tenant", 1, 4, 4, 3590000, tenant_begin, tenant_look, tenant_end, NULL, 0},
    {"displaced", 1, 2, 4, 400000, displaced_begin, displaced_look, nothing, "a", 6},
    {"lowered", 2, 2, 4, 90000, lowered_begin, lowered_look, nothing, "a", 4},
    {"order", 1, 2, 4, 150000, order_begin, order_look, order_end, NULL, 0},
    {"costly", 1, 1, 4, 60000, costly_begin, costly_look, nothing, "low", 2},
    {"share", 1, 4, 4, 500000, share_begin, share_look, share_end, NULL, 0},
    {"pauses", 1, 4, 4, 800000, pauses_begin, pauses_look, nothing, "a", 2},
    {"spent", 1, 4, 4, 260000, spent_begin, spent_look, nothing, "b", 0},
    {"trickle", 1, 4, 4, 126000, trickle_begin, trickle_look, nothing, NULL, 0},
    {"rejected", 1, 4, 4, 300000, rejected_begin, rejected_look, nothing, "a", 2},
    {"slow", 1, 4, 4, 70000, slow_begin, slow_look, nothing, "a", 4},
    {"regrouped", 1, 4, 4, 10000, pauses_begin, regrouped_look, nothing, NULL, 0},
    {"told", 1, 1, 2, 45000, pauses_begin, told_look, told_end, NULL, 0},
    {"avoided", 1, 3, 4, 160000, avoided_begin, avoided_look, nothing, "c", 10},
    {"refused", 1, 1, 4, 60000, refused_begin, refused_look, refused_end, "a", 0},
    {"last", 1, 1, 2, 60000, last_begin, last_look, nothing, "a", 2},
    {"many", 1, 6, 8, 90000, many_begin, many_look, nothing, "g0", 0},
    {"controllers", 1, 6, 4, 700000, controllers_begin, controllers_look, nothing, "set", 3},
};

const struct scene *scenes_get(size_t index)
{
    return index < sizeof SCENES / sizeof *SCENES ? &SCENES[index] : NULL;
}

void scenes_end(struct world *world)
{
    const struct scene *scene = world->scene;
    scene->end(world);
    if (scene->group)
        expect_bound(world, scene->group, scene->n_bound);
}

static void on_look(void *context)
{
    struct world *world = context;
    world->scene->look(world);
    agenda_in(&world->agenda, LOOK_MS, on_look, world);
}

void scenes_begin(struct world *world)
{
    for (unsigned i = 0; i < world->plan.n_nodes; i++) {
        const struct truth_state state = {.uid = truth_new_uid(&world->truth),
                                          .gpus = world->plan.gpus,
                                          .node = "",
                                          .bound_by = ""};
        truth_put(&world->truth, TRUTH_NODES, arena_printf(world->arena, "node-%u", i), &state);
    }
    world->is_quiet = true;
    world->scene->begin(world);
    agenda_in(&world->agenda, LOOK_MS, on_look, world);
}

/*
 * prop_groups: groups of pods under quotas, in random order. Pods of three groups and single pods
 * are filtered, bound by an earlier answer of filter, shown bound, given up, deleted and made anew;
 * PodGroups come, change and go; time passes. After each step:
 *
 *   - what is bound, and what is held for groups, is within each limit together;
 *   - a member whose quota is held, as that of all that its group needs, is bound where it is held.
 *
 * At the end nothing is left of any claim.
 */
#include "base/mem.h"
#include "decide/quota.h"
#include "dice.h"
#include "fixture_question.h"
#include "ledger/claims.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define STEPS 30000
#define STEPS_A_CHECK 500
#define N_PODS 24
#define N_NODES 4
#define N_GROUPS 3
#define CLAIM_MS 60000

static const char *const NODES[N_NODES] = {"h1", "h2", "t1", "t2"};
static const char *const MODELS[N_NODES] = {"H100", "H100", "T4", "T4"};
static const char *const GROUPS[N_GROUPS + 1] = {"x", "y", "z", NULL};
static const char *const NAMES[] = {"a"};
static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 12},
                                            {.resource = GPU, .model = "H100", .gpus = 5}};
#define N_LIMITS (sizeof LIMITS / sizeof *LIMITS)
static const struct quota QUOTA = {
    .name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = LIMITS, .n_limits = N_LIMITS};

struct its {
    struct pod_facts facts;
    bool is_there, is_held;
    uint64_t serial;
    bool passed[N_NODES];
};

struct town {
    struct fixture *fixture;
    struct dice dice;
    int64_t now_ms;
    struct its pods[N_PODS];
    unsigned n_held, n_firm, n_refused;
};

static struct fit_question question_of(const struct town *town, const struct its *its,
                                       struct arena *arena)
{
    const struct fit_question wanted = {
        .shape = cluster_resolve(town->fixture->cluster, &its->facts.shape, arena),
        .scope = FIT_OURS,
        .asker = asker_from_facts(&its->facts),
        .group = its->facts.group,
        .own = cluster_find_reservation(town->fixture->cluster, its->facts.uid)};
    return fit_question_of(town->fixture->cluster, "a", &wanted, town->now_ms, arena);
}

/* As the verb: judges, then claims for the first node, or ends a claim that is not firm. */
static void filter(struct town *town, struct its *its)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct cluster *cluster = town->fixture->cluster;
    const struct fit_question question = question_of(town, its, arena);
    struct claim_question claim = {.pod = &its->facts,
                                   .claims_version = claims_version(cluster),
                                   .now_ms = town->now_ms,
                                   .until_ms = town->now_ms + CLAIM_MS};
    for (size_t i = 0; i < N_NODES; i++) {
        its->passed[i] = fit_judge(cluster_find_node(cluster, NODES[i]), &question) == REASON_FITS;
        if (its->passed[i] && !claim.node_name)
            claim.node_name = NODES[i];
    }
    const struct claim *own = claims_find(cluster, its->facts.uid);
    if (claim.node_name)
        assert_true(quota_claim(cluster, &claim));
    else if (own && own->firm_until_ms <= town->now_ms)
        claims_end(cluster, its->facts.uid);
}

static bool is_firm(const struct town *town, const struct claim *claim)
{
    return claim && claim->firm_until_ms > town->now_ms;
}

/* Where the pod must not be refused for a quota; NULL: nowhere. */
static const char *promised_node(const struct town *town, const struct its *its,
                                 struct arena *arena)
{
    const struct cluster *cluster = town->fixture->cluster;
    const struct claim *own = claims_find(cluster, its->facts.uid);
    const struct group_question question = {.namespace_ = "a",
                                            .group = its->facts.group,
                                            .uid = its->facts.uid,
                                            .now_ms = town->now_ms};
    const struct group_others others = pod_groups_others(cluster, &question, arena);
    if (!is_firm(town, own) || !own->node_name[0])
        return NULL;
    for (size_t i = 0; i < others.n; i++) {
        if (!is_firm(town, others.items[i].claim))
            return NULL;
    }
    return own->node_name;
}

static void bind(struct town *town, struct its *its)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *promised = promised_node(town, its, arena);
    const size_t i = dice_below(&town->dice, N_NODES);
    if (!promised && !its->passed[i])
        return;
    const struct reserve_question question = {
        .uid = its->facts.uid, .node_name = promised ? promised : NODES[i], .now_ms = town->now_ms};
    struct reserve_result result = {0};
    its->is_held = reserve_room(town->fixture->cluster, &question, &result) == RESERVE_HELD;
    its->serial = result.serial;
    if (promised && (result.reason == REASON_QUOTA || result.reason == REASON_QUOTA_CLAIMED))
        fail_msg("%s of %s is refused where its quota is held", its->facts.uid, its->facts.group);
    town->n_held += its->is_held;
    town->n_refused += !its->is_held;
    town->n_firm += promised != NULL;
}

static void show(struct town *town, struct its *its, const char *node)
{
    its->facts.node_name = node;
    its->is_there = true;
    cluster_upsert_pod(town->fixture->cluster, &its->facts);
}

static void end(struct town *town, struct its *its)
{
    cluster_delete_pod(town->fixture->cluster, its->facts.uid);
    its->is_there = its->is_held = false;
}

static void make(struct town *town, struct its *its)
{
    struct fixture *fixture = town->fixture;
    const size_t i = (size_t)(its - town->pods);
    its->facts = fixture_pod_facts(fixture, arena_printf(fixture->arena, "p%zu", i), "",
                                   dice_one_in(&town->dice, 3) ? GPU "=2" : GPU "=1");
    its->facts.namespace_ = "a";
    its->facts.group = GROUPS[i % (N_GROUPS + 1)];
    memset(its->passed, 0, sizeof its->passed);
    show(town, its, "");
}

static void change_group(struct town *town)
{
    const char *name = GROUPS[dice_below(&town->dice, N_GROUPS)];
    struct cluster *cluster = town->fixture->cluster;
    if (dice_one_in(&town->dice, 4)) {
        cluster_delete(cluster, CLUSTER_POD_GROUPS,
                       arena_printf(town->fixture->arena, "a/%s", name));
        return;
    }
    const struct pod_group_facts facts = {"a", name, dice_below(&town->dice, 7)};
    cluster_upsert(cluster, CLUSTER_POD_GROUPS, &facts);
}

static void step_of(struct town *town, struct its *its)
{
    if (!its->is_there) {
        make(town, its);
    } else if (its->facts.node_name[0]) {
        if (dice_one_in(&town->dice, 4))
            end(town, its);
    } else if (dice_one_in(&town->dice, 20)) {
        end(town, its);
    } else if (!its->is_held) {
        if (dice_one_in(&town->dice, 2))
            filter(town, its);
        else
            bind(town, its);
    } else if (dice_one_in(&town->dice, 4)) {
        reservation_release(town->fixture->cluster, its->facts.uid, its->serial);
        its->is_held = false;
    } else {
        show(town, its,
             cluster_find_reservation(town->fixture->cluster, its->facts.uid)->node_name);
        its->is_held = false;
    }
}

static void step(struct town *town)
{
    town->now_ms += dice_below(&town->dice, 400);
    if (dice_one_in(&town->dice, 50))
        change_group(town);
    else if (dice_one_in(&town->dice, 200))
        town->now_ms += GROUP_CLAIMS_MS;
    else
        step_of(town, &town->pods[dice_below(&town->dice, N_PODS)]);
}

/* Without code of quotas. */
static int64_t gpus_in(const struct town *town, const struct quota_limit *limit)
{
    const struct cluster *cluster = town->fixture->cluster;
    int64_t sum = 0;
    for (size_t i = 0; i < N_PODS; i++) {
        const struct its *its = &town->pods[i];
        if (!its->is_there)
            continue;
        const struct reservation *held = cluster_find_reservation(cluster, its->facts.uid);
        const struct claim *claim = claims_find(cluster, its->facts.uid);
        const char *node = its->facts.node_name;
        if (held)
            node = held->node_name;
        else if (!node[0] && is_firm(town, claim))
            node = claim->node_name;
        bool counts = !limit->model && (node[0] || is_firm(town, claim));
        for (size_t n = 0; n < N_NODES && limit->model; n++)
            counts |= strcmp(node, NODES[n]) == 0 && strcmp(MODELS[n], limit->model) == 0;
        sum += counts ? shape_demand(&its->facts.shape, GPU) : 0;
    }
    return sum;
}

static void check_all(const struct town *town, unsigned i)
{
    struct err err = {""};
    for (size_t n = 0; n < N_LIMITS; n++) {
        if (gpus_in(town, &LIMITS[n]) > LIMITS[n].gpus)
            fail_msg("step %u: limit %zu is exceeded", i, n);
    }
    if (i % STEPS_A_CHECK == 0 && cluster_check_in_place(town->fixture->cluster, &err) != 0)
        fail_msg("step %u: %s", i, err.text);
}

static void run(struct fixture *fixture, uint64_t seed)
{
    static struct town town;
    town = (struct town){.fixture = fixture, .dice = {seed}, .now_ms = 1};
    for (unsigned i = 0; i < STEPS; i++) {
        step(&town);
        check_all(&town, i);
    }
    for (size_t i = 0; i < N_PODS; i++)
        cluster_delete_pod(fixture->cluster, town.pods[i].facts.uid ? town.pods[i].facts.uid : "");
    assert_null(claims_next(fixture->cluster, NULL));
    assert_int_equal(cluster_n_reservations(fixture->cluster), 0);
    assert_true(town.n_held > STEPS / 100 && town.n_refused > STEPS / 1000 &&
                town.n_firm > STEPS / 1000);
}

static void test_groups_get_their_quota_together_and_never_more(void **state)
{
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &QUOTA);
    for (size_t i = 0; i < N_NODES; i++)
        fixture_put_node(fixture, NODES[i], "pods=110 " GPU "=16",
                         arena_printf(fixture->arena, "accelerator=%s", MODELS[i]));
    run(fixture, dice_number_from("GROUPS_SEED", 20261129));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_groups_get_their_quota_together_and_never_more,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * prop_quota: bindings never exceed a quota, however many are in progress. A hundred thousand
 * random steps of kube-scheduler and the watch: pods are filtered, bound by an earlier answer of
 * filter, shown bound, given up, deleted and recreated. After each step the use is summed from the
 * pods, without code of quotas.
 */
#include "decide/quota.h"
#include "dice.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define STEPS 100000
#define STEPS_A_CHECK 1000
#define N_PODS 40
#define N_NODES 6
#define NODE_GPUS 8

static const struct {
    const char *name, *model;
} NODES[N_NODES] = {{"h1", "H100"}, {"h2", "H100"}, {"a1", "A100"},
                    {"a2", "A100"}, {"t1", "T4"},   {"unknown", ""}};
static const char *const NAMESPACES[] = {"a", "a-dev", "b", "free"};

/* a and a-dev have two of them. */
static const struct quota_limit TEAM_A[] = {{.resource = GPU, .gpus = 12},
                                            {.resource = GPU, .model = "H100", .gpus = 4},
                                            {.resource = GPU, .model = "A100", .gpus = 7}};
static const struct quota_limit TEAM_B[] = {{.resource = GPU, .model = "H100", .gpus = 5},
                                            {.resource = GPU, .model = "T4", .gpus = 0}};
static const struct quota_limit BOTH[] = {{.resource = GPU, .model = "H100", .gpus = 7}};
static const struct quota QUOTAS[] = {
    {.name = "a", .namespaces = NAMESPACES, .n_namespaces = 2, .limits = TEAM_A, .n_limits = 3},
    {.name = "b", .namespaces = &NAMESPACES[2], .n_namespaces = 1, .limits = TEAM_B, .n_limits = 2},
    {.name = "both", .namespaces = NAMESPACES, .n_namespaces = 3, .limits = BOTH, .n_limits = 1},
};
#define N_QUOTAS (sizeof QUOTAS / sizeof *QUOTAS)

enum phase { WAITING, HELD, BOUND };

struct its {
    struct pod_facts facts;
    int64_t gpus;
    enum phase phase;
    size_t node;          /* HELD, BOUND */
    uint64_t serial;      /* HELD */
    bool passed[N_NODES]; /* last answer of filter */
};

struct town {
    struct fixture *fixture;
    struct dice dice;
    struct its pods[N_PODS];
    unsigned n_held,
        n_stale; /* accepted bindings; those rejected though filter had passed the node */
};

/* Summed from the pods. */

static bool counts(const struct quota *quota, const struct quota_limit *limit,
                   const struct its *its, size_t node)
{
    bool covered = false;
    for (size_t i = 0; i < quota->n_namespaces; i++)
        covered = covered || strcmp(quota->namespaces[i], its->facts.namespace_) == 0;
    return covered && (!limit->model || strcmp(limit->model, NODES[node].model) == 0);
}

static int64_t used_of(const struct town *town, const struct quota *quota,
                       const struct quota_limit *limit)
{
    int64_t used = 0;
    for (size_t i = 0; i < N_PODS; i++) {
        const struct its *its = &town->pods[i];
        used += its->phase != WAITING && counts(quota, limit, its, its->node) ? its->gpus : 0;
    }
    return used;
}

static bool has_room(const struct town *town, const struct its *asking, size_t node)
{
    int64_t used = asking->gpus;
    for (size_t i = 0; i < N_PODS; i++) {
        const struct its *its = &town->pods[i];
        used += its->phase != WAITING && its->node == node ? its->gpus : 0;
    }
    return used <= NODE_GPUS;
}

static bool is_allowed(const struct town *town, const struct its *its, size_t node)
{
    for (size_t i = 0; i < N_QUOTAS; i++) {
        for (size_t j = 0; j < QUOTAS[i].n_limits; j++) {
            const struct quota_limit *limit = &QUOTAS[i].limits[j];
            if (counts(&QUOTAS[i], limit, its, node) &&
                used_of(town, &QUOTAS[i], limit) + its->gpus > limit->gpus)
                return false;
        }
    }
    return true;
}

static void check_all(const struct town *town, unsigned step)
{
    const struct policy *policy = &town->fixture->policy;
    for (size_t i = 0; i < N_QUOTAS; i++) {
        for (size_t j = 0; j < QUOTAS[i].n_limits; j++) {
            const int64_t used = used_of(town, &QUOTAS[i], &QUOTAS[i].limits[j]);
            if (used > QUOTAS[i].limits[j].gpus)
                fail_msg("step %u: quota %s is exceeded", step, QUOTAS[i].name);
            assert_int_equal(quota_used(town->fixture->cluster, &policy->quotas[i],
                                        &policy->quotas[i].limits[j]),
                             used);
        }
    }
}

/* Steps. */

static void filter(struct town *town, struct its *its)
{
    struct arena *arena = arena_new();
    const struct cluster *cluster = town->fixture->cluster;
    struct fit_question question = {.shape = cluster_resolve(cluster, &its->facts.shape, arena),
                                    .scope = FIT_OURS};
    question.quota = quota_begin(cluster, its->facts.namespace_, question.shape, NULL, arena);
    for (size_t i = 0; i < N_NODES; i++) {
        const struct node *node = cluster_find_node(cluster, NODES[i].name);
        its->passed[i] = fit_judge(node, &question) == REASON_FITS;
        assert_int_equal(its->passed[i], has_room(town, its, i) && is_allowed(town, its, i));
    }
    arena_free(arena);
}

/* On a node that filter passed, whatever has happened since. */
static void bind(struct town *town, struct its *its)
{
    const size_t node = dice_below(&town->dice, N_NODES);
    if (!its->passed[node])
        return;
    const struct reserve_question question = {.uid = its->facts.uid, .node_name = NODES[node].name};
    struct reserve_result result = {0};
    const bool fits = has_room(town, its, node) && is_allowed(town, its, node);
    const enum reserve_verdict verdict = reserve_room(town->fixture->cluster, &question, &result);
    assert_int_equal(verdict, fits ? RESERVE_HELD : RESERVE_REFUSED);
    town->n_held += fits;
    town->n_stale += !fits;
    if (fits) {
        its->phase = HELD;
        its->node = node;
        its->serial = result.serial;
    }
}

static void show(struct town *town, struct its *its, const char *node)
{
    its->facts.node_name = node;
    cluster_upsert_pod(town->fixture->cluster, &its->facts);
}

static void make_anew(struct town *town, struct its *its)
{
    cluster_delete_pod(town->fixture->cluster, its->facts.uid);
    its->phase = WAITING;
    show(town, its, "");
}

static void step(struct town *town)
{
    struct its *its = &town->pods[dice_below(&town->dice, N_PODS)];
    if (its->phase == WAITING && dice_one_in(&town->dice, 4)) {
        filter(town, its);
    } else if (its->phase == WAITING) {
        bind(town, its);
    } else if (its->phase == BOUND || dice_one_in(&town->dice, 8)) {
        make_anew(town, its);
    } else if (dice_one_in(&town->dice, 4)) {
        reservation_release(town->fixture->cluster, its->facts.uid, its->serial);
        its->phase = WAITING;
    } else {
        show(town, its, NODES[its->node].name);
        its->phase = BOUND;
    }
}

static void found(struct town *town)
{
    struct fixture *fixture = town->fixture;
    for (size_t i = 0; i < N_QUOTAS; i++)
        fixture_add_quota(fixture, &QUOTAS[i]);
    for (size_t i = 0; i < N_NODES; i++)
        fixture_put_node(fixture, NODES[i].name, "pods=110 " GPU "=8",
                         arena_printf(fixture->arena, "accelerator=%s", NODES[i].model));
    for (unsigned i = 0; i < N_PODS; i++) {
        struct its *its = &town->pods[i];
        its->gpus = 1 + dice_below(&town->dice, 4);
        its->facts = fixture_pod_facts(fixture, arena_printf(fixture->arena, "p%u", i), "",
                                       arena_printf(fixture->arena, GPU "=%d", (int)its->gpus));
        its->facts.namespace_ = NAMESPACES[i % 4];
        cluster_upsert_pod(fixture->cluster, &its->facts);
    }
}

static void test_no_quota_is_ever_exceeded(void **state)
{
    static struct town town;
    town = (struct town){.fixture = *state, .dice = {20171115}};
    found(&town);
    for (unsigned i = 0; i < STEPS; i++) {
        step(&town);
        check_all(&town, i);
        struct err err = {""};
        if (i % STEPS_A_CHECK == 0 && cluster_check_in_place(town.fixture->cluster, &err) != 0)
            fail_msg("step %u: %s", i, err.text);
    }
    assert_true(town.n_held > STEPS / 100 && town.n_stale > STEPS / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_quota_is_ever_exceeded, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

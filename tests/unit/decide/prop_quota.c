/*
 * prop_quota: no binding is posted that exceeds a limit in force, of its class (guaranteed or
 * borrowed) and of both together. A hundred thousand random steps of kube-scheduler and the watch:
 * pods are filtered, bound by an earlier answer of filter, shown bound, given up, deleted and
 * recreated. Now and then the policy is reloaded, with bindings while the ledger is copied; or
 * another replica takes over, whose ledger knows only what the API server shows. The use is summed
 * from the pods, without code of quotas.
 */
#include "decide/quota.h"
#include "dice.h"
#include "fixture_question.h"
#include "ledger/cluster_copy.h"
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

#define LENDS(guaranteed, borrowed, priority)                                                      \
    .gpus = (guaranteed), .borrow = {.is_set = true, .gpus = (borrowed), .max_priority = (priority)}

/* Two policies. In the first a limit that only some lend; in the second others, by priorities of
 * their own, and some limits are lower. a and a-dev have two quotas. */
static const struct quota_limit TEAM_A[][3] = {
    {{.resource = GPU, LENDS(8, 8, 0)},
     {.resource = GPU, .model = "H100", LENDS(4, 3, 0)},
     {.resource = GPU, .model = "A100", .gpus = 7}},
    {{.resource = GPU, LENDS(5, 12, 0)},
     {.resource = GPU, .model = "H100", LENDS(2, 6, 5)},
     {.resource = GPU, .model = "A100", LENDS(4, 2, -1)}}};
static const struct quota_limit TEAM_B[][2] = {
    {{.resource = GPU, .model = "H100", LENDS(5, 4, 5)}, {.resource = GPU, .model = "T4"}},
    {{.resource = GPU, .model = "H100", .gpus = 5}, {.model = "T4", LENDS(0, 4, 0)}}};
static const struct quota_limit BOTH[] = {{.resource = GPU, .model = "H100", .gpus = 9},
                                          {.resource = GPU, .model = "H100", LENDS(6, 4, 0)}};
#define A(i)                                                                                       \
    {                                                                                              \
        .name = "a", .namespaces = NAMESPACES, .n_namespaces = 2, .limits = TEAM_A[i],             \
        .n_limits = 3                                                                              \
    }
#define B(i)                                                                                       \
    {                                                                                              \
        .name = "b", .namespaces = &NAMESPACES[2], .n_namespaces = 1, .limits = TEAM_B[i],         \
        .n_limits = 2                                                                              \
    }
#define C(i)                                                                                       \
    {                                                                                              \
        .name = "both", .namespaces = NAMESPACES, .n_namespaces = 3, .limits = &BOTH[i],           \
        .n_limits = 1                                                                              \
    }
#define N_POLICIES 2
#define N_QUOTAS 3
static const struct quota QUOTAS[N_POLICIES][N_QUOTAS] = {{A(0), B(0), C(0)}, {A(1), B(1), C(1)}};

enum phase { WAITING, HELD, BOUND };

struct its {
    struct pod_facts facts;
    int64_t gpus;
    enum phase phase;
    size_t node;          /* HELD, BOUND */
    uint64_t serial;      /* HELD */
    bool passed[N_NODES]; /* last answer of filter */
};

#define N_PRIORITIES 5
static const int64_t PRIORITIES[N_PRIORITIES] = {-5, 0, 0, 5, 10};

enum class { ABOVE, UP_TO, TOGETHER, N_CLASSES };

struct town {
    struct fixture *fixture;
    struct dice dice;
    struct policy policies[N_POLICIES];
    size_t in_force;
    struct its pods[N_PODS];
    unsigned n_held,
        n_stale; /* accepted bindings; those rejected though filter had passed the node */
    unsigned n_borrowed, n_refused_again, n_reloads, n_fail_overs;
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

static bool is_of(const struct quota_limit *limit, enum class class, int64_t priority)
{
    const bool borrows = limit->borrow.is_set && priority <= limit->borrow.max_priority;
    return class == TOGETHER || borrows == (class == UP_TO);
}

static int64_t most_of(const struct quota_limit *limit, enum class class)
{
    return (class == UP_TO ? 0 : limit->gpus) + (class == ABOVE ? 0 : limit->borrow.gpus);
}

static int64_t used_of(const struct town *town, const struct quota *quota,
                       const struct quota_limit *limit, enum class class)
{
    int64_t used = 0;
    for (size_t i = 0; i < N_PODS; i++) {
        const struct its *its = &town->pods[i];
        if (its->phase != WAITING && counts(quota, limit, its, its->node) &&
            is_of(limit, class, its->facts.priority))
            used += its->gpus;
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

static bool leaves_room(const struct town *town, const struct quota *quota,
                        const struct quota_limit *limit, const struct its *its)
{
    for (enum class class = 0; class < N_CLASSES; class ++) {
        if (is_of(limit, class, its->facts.priority) &&
            used_of(town, quota, limit, class) + its->gpus > most_of(limit, class))
            return false;
    }
    return true;
}

static bool is_allowed(const struct town *town, const struct its *its, size_t node)
{
    const struct quota *quotas = QUOTAS[town->in_force];
    for (size_t i = 0; i < N_QUOTAS; i++) {
        for (size_t j = 0; j < quotas[i].n_limits; j++) {
            const struct quota_limit *limit = &quotas[i].limits[j];
            if (counts(&quotas[i], limit, its, node) && !leaves_room(town, &quotas[i], limit, its))
                return false;
        }
    }
    return true;
}

static void check_all(const struct town *town)
{
    const struct policy *policy = &town->policies[town->in_force];
    const struct cluster *cluster = town->fixture->cluster;
    for (size_t i = 0; i < N_QUOTAS; i++) {
        const struct quota *quota = &policy->quotas[i];
        for (size_t j = 0; j < quota->n_limits; j++) {
            const struct quota_limit *limit = &quota->limits[j];
            assert_int_equal(quota_used(cluster, quota, limit), used_of(town, quota, limit, ABOVE));
            assert_int_equal(quota_borrowed(cluster, quota, limit),
                             used_of(town, quota, limit, UP_TO));
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
    question.quota =
        quota_begin(cluster, its->facts.namespace_,
                    (struct quota_pod){question.shape, its->facts.priority}, NULL, arena);
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
    town->n_borrowed += fits && its->facts.priority <= 0;
    if (fits) {
        its->phase = HELD;
        its->node = node;
        its->serial = result.serial;
    }
}

static void release(struct town *town, struct its *its)
{
    reservation_release(town->fixture->cluster, its->facts.uid, its->serial);
    its->phase = WAITING;
}

/* The API server answered that it is busy. A refused binding is given up. */
static void bind_again(struct town *town, struct its *its)
{
    const struct reserve_question question = {.uid = its->facts.uid,
                                              .node_name = NODES[its->node].name};
    struct reserve_result result = {0};
    its->phase = WAITING; /* its own room does not count against it */
    const bool is_fine = is_allowed(town, its, its->node);
    its->phase = HELD;
    const enum reserve_verdict verdict = reserve_room(town->fixture->cluster, &question, &result);
    assert_int_equal(verdict, is_fine ? RESERVE_HELD : RESERVE_HELD_REFUSED);
    its->serial = result.serial;
    town->n_refused_again += !is_fine;
    if (!is_fine)
        release(town, its);
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

static struct its *any_pod(struct town *town)
{
    return &town->pods[dice_below(&town->dice, N_PODS)];
}

/* While the read loop copies the ledger, pods are bound and given up by the old policy. */
static void reload(struct town *town)
{
    struct cluster *old = town->fixture->cluster;
    const size_t next = (town->in_force + 1) % N_POLICIES;
    struct cluster_copy *copy = cluster_copy_new(old, &town->policies[next]);
    while (!cluster_copy_some(copy, 1 + dice_below(&town->dice, 20))) {
        struct its *its = any_pod(town);
        if (its->phase == WAITING)
            bind(town, its);
        else if (its->phase == HELD)
            release(town, its);
    }
    assert_true(cluster_copy_claims(copy, N_PODS));
    cluster_copy_settle(copy);
    town->fixture->cluster = cluster_copy_end(copy);
    cluster_free(old);
    town->in_force = next;
    town->n_reloads++;
    for (size_t i = 0; i < N_PODS; i++) {
        if (town->pods[i].phase == HELD)
            bind_again(town, &town->pods[i]);
    }
}

static void put_nodes(struct town *town)
{
    for (size_t i = 0; i < N_NODES; i++)
        fixture_put_node(town->fixture, NODES[i].name, "pods=110 " GPU "=8",
                         arena_printf(town->fixture->arena, "accelerator=%s", NODES[i].model));
}

/* Bindings that the old leader had begun have reached the API server, or never will. */
static void fail_over(struct town *town)
{
    cluster_free(town->fixture->cluster);
    town->fixture->cluster = cluster_new(&town->policies[town->in_force]);
    put_nodes(town);
    for (size_t i = 0; i < N_PODS; i++) {
        struct its *its = &town->pods[i];
        if (its->phase == HELD)
            its->phase = dice_one_in(&town->dice, 2) ? BOUND : WAITING;
        show(town, its, its->phase == BOUND ? NODES[its->node].name : "");
    }
    town->n_fail_overs++;
}

static void step(struct town *town)
{
    struct its *its = any_pod(town);
    if (dice_one_in(&town->dice, 800)) {
        reload(town);
    } else if (dice_one_in(&town->dice, 800)) {
        fail_over(town);
    } else if (its->phase == WAITING && dice_one_in(&town->dice, 4)) {
        filter(town, its);
    } else if (its->phase == WAITING) {
        bind(town, its);
    } else if (its->phase == BOUND || dice_one_in(&town->dice, 8)) {
        make_anew(town, its);
    } else if (dice_one_in(&town->dice, 4)) {
        release(town, its);
    } else if (dice_one_in(&town->dice, 4)) {
        bind_again(town, its);
    } else {
        show(town, its, NODES[its->node].name);
        its->phase = BOUND;
    }
}

static void make_policies(struct town *town)
{
    for (size_t i = 0; i < N_POLICIES; i++) {
        policy_init(&town->policies[i]);
        for (size_t j = 0; j < N_QUOTAS; j++)
            assert_int_equal(policy_add_quota(&town->policies[i], &QUOTAS[i][j], NULL), 0);
    }
    cluster_free(town->fixture->cluster);
    town->fixture->cluster = cluster_new(&town->policies[0]);
}

static void found(struct town *town)
{
    struct fixture *fixture = town->fixture;
    make_policies(town);
    put_nodes(town);
    for (unsigned i = 0; i < N_PODS; i++) {
        struct its *its = &town->pods[i];
        its->gpus = 1 + dice_below(&town->dice, 4);
        its->facts = fixture_pod_facts(fixture, arena_printf(fixture->arena, "p%u", i), "",
                                       arena_printf(fixture->arena, GPU "=%d", (int)its->gpus));
        its->facts.namespace_ = NAMESPACES[i % 4];
        its->facts.priority = PRIORITIES[dice_below(&town->dice, N_PRIORITIES)];
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
        check_all(&town);
        struct err err = {""};
        if (i % STEPS_A_CHECK == 0 && cluster_check_in_place(town.fixture->cluster, &err) != 0)
            fail_msg("step %u: %s", i, err.text);
    }
    assert_true(town.n_held > STEPS / 100 && town.n_stale > STEPS / 100);
    assert_true(town.n_refused_again > 20 && town.n_borrowed > STEPS / 100 && town.n_reloads > 50 &&
                town.n_fail_overs > 50);
    cluster_free(town.fixture->cluster);
    town.fixture->cluster = NULL;
    for (size_t i = 0; i < N_POLICIES; i++)
        policy_fini(&town.policies[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_quota_is_ever_exceeded, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

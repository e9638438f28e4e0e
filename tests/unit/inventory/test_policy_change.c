/* Another policy comes into force: everything is judged by it, and what is under way goes on. */
#include "decide/quota.h"
#include "ledger/claims.h"
#include "ledger/gpu_time.h"
#include "live_cluster.h"

#define LABELLED(name, labels)                                                                     \
    "{'metadata':{'name':'" name "','uid':'id-" name "','labels':{" labels                         \
    "}},'status':{'capacity':{'nvidia.com/gpu':'8','pods':'99'}}}"

struct change {
    struct live_cluster live;
    struct policy next;
};

static int set_up(void **state)
{
    struct change *change = calloc(1, sizeof *change);
    if (!change)
        return -1;
    live_init(&change->live);
    policy_init(&change->next);
    *state = change;
    return 0;
}

static int tear_down(void **state)
{
    struct change *change = *state;
    live_fini(&change->live);
    policy_fini(&change->next);
    free(change);
    return 0;
}

static const char *const NAMESPACES[] = {"ml"};

static void add_quota(struct policy *policy, const char *model, int64_t gpus)
{
    const struct quota_limit limit = {.model = model, .gpus = gpus};
    const struct quota quota = {
        .name = "q", .namespaces = NAMESPACES, .n_namespaces = 1, .limits = &limit, .n_limits = 1};
    assert_int_equal(policy_add_quota(policy, &quota, NULL), 0);
}

static void add_alias(struct policy *policy, const char *from, const char *to)
{
    policy->aliases = realloc(policy->aliases, sizeof *policy->aliases);
    assert_non_null(policy->aliases);
    policy->aliases[policy->n_aliases++] = (struct gpu_model_alias){strdup(from), strdup(to)};
}

static void take(struct change *change)
{
    struct inventory *inventory = change->live.inventory;
    inventory_take_policy(inventory, &change->next);
    inventory_free_replaced(inventory);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    assert_ptr_equal(cluster_policy(view.cluster), &change->next);
    assert_int_equal(cluster_check_in_place(view.cluster, NULL), 0);
}

static int64_t used(struct change *change)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(change->live.inventory);
    const struct quota *quota = cluster_policy(view.cluster)->quotas;
    return quota_used(view.cluster, quota, &quota->limits[0]);
}

static void check_model(struct change *change, const char *node, const char *chip)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(change->live.inventory);
    assert_string_equal(node_traits(cluster_find_node(view.cluster, node))->gpus.model.chip, chip);
}

static void test_a_new_quota_counts_what_runs(void **state)
{
    struct change *change = *state;
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, LABELLED("a", "'accelerator':'nvidia-tesla-t4'"),
         NODE("b", "8"));
    LIST(&change->live, CLUSTER_PODS, POD("one", "u1", "a", "3"), POD("two", "u2", "b", "1"),
         POD_IN("other", "three", "u3", "a", "2"));
    add_quota(&change->next, "T4", 4);
    take(change);
    assert_int_equal(used(change), 3);
}

static void test_aliases_and_labels_name_models(void **state)
{
    struct change *change = *state;
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, LABELLED("a", "'accelerator':'big'"),
         LABELLED("b", "'example.com/gpu':'T4'"));
    check_model(change, "a", "BIG");
    add_alias(&change->next, "big", "H100");
    free(change->next.model_labels[0]);
    change->next.model_labels[0] = strdup("example.com/gpu");
    take(change);
    check_model(change, "a", "H100");
    check_model(change, "b", "T4");
}

/* GPU feature discovery removes its labels at each restart. */
static void test_the_last_known_model_survives(void **state)
{
    struct change *change = *state;
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, LABELLED("a", "'accelerator':'nvidia-tesla-t4'"));
    LIST(&change->live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    live_upsert(&change->live, CLUSTER_NODES, LABELLED("a", ""));
    add_quota(&change->next, "T4", 4);
    take(change);
    check_model(change, "a", "");
    assert_int_equal(used(change), 3);
}

/* What the labels say now counts, not what the old policy made of them. */
static void test_a_dropped_alias_counts_no_more(void **state)
{
    struct change *change = *state;
    add_alias(&change->live.policy, "big", "H100");
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, LABELLED("a", "'accelerator':'big'"));
    LIST(&change->live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    check_model(change, "a", "H100");
    add_quota(&change->next, "H100", 4);
    take(change);
    check_model(change, "a", "BIG");
    assert_int_equal(used(change), 0);
}

static const char *controller_of_one(struct change *change)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(change->live.inventory);
    return cluster_find_pod(view.cluster, "u1")->controller;
}

/* /v1/pending groups waiting pods by it. */
static void test_the_controller_of_a_waiting_pod_survives(void **state)
{
    struct change *change = *state;
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_PODS,
         "{'metadata':{'name':'one','uid':'u1','ownerReferences':[{'kind':'Job','name':'train',"
         "'uid':'j1','controller':true}]},'spec':{'containers':[]}}");
    assert_string_equal(controller_of_one(change), "Job/train");
    take(change);
    assert_non_null(controller_of_one(change));
    assert_string_equal(controller_of_one(change), "Job/train");
}

static const struct amount DEMAND[] = {{"nvidia.com/gpu", 2}, {"pods", 1}};
static const struct pod_facts ASKER = {.uid = "u9",
                                       .namespace_ = "ml",
                                       .name = "nine",
                                       .node_name = "",
                                       .nominated_node = "",
                                       .priority_class = "",
                                       .shape = {.demand = DEMAND, .n_demand = 2}};

static void test_reservations_survive_with_their_serials(void **state)
{
    struct change *change = *state;
    struct arena *arena = arena_new();
    struct reserve_result result = {0};
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, LABELLED("a", "'accelerator':'nvidia-tesla-t4'"));
    const struct reserve_question question = {
        .uid = "u9", .node_name = "a", .facts = &ASKER, .now_ms = 5};
    assert_int_equal(inventory_reserve(change->live.inventory, &question, arena, &result),
                     RESERVE_HELD);
    add_quota(&change->next, "T4", 4);
    take(change);
    assert_int_equal(used(change), 2);
    inventory_release(change->live.inventory, "u9", result.serial + 1);
    assert_int_equal(used(change), 2);
    inventory_release(change->live.inventory, "u9", result.serial);
    assert_int_equal(used(change), 0);
    arena_free(arena);
}

static uint64_t version_of_claims(struct change *change)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(change->live.inventory);
    return claims_version(view.cluster);
}

static int64_t claimed(struct change *change)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(change->live.inventory);
    const struct claim *claim = claims_next(view.cluster, NULL);
    return claim ? claim->gpus[0] : -1;
}

static void test_claims_are_made_for_the_new_quotas(void **state)
{
    struct change *change = *state;
    struct policy before;
    policy_init(&before);
    add_quota(&before, NULL, 100);
    inventory_take_policy(change->live.inventory, &before);
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, LABELLED("a", "'accelerator':'nvidia-tesla-t4'"));
    LIST(&change->live, CLUSTER_PODS, POD("nine", "u9", "", "2"));
    const struct claim_question question = {.pod = &ASKER,
                                            .node_name = "a",
                                            .claims_version = version_of_claims(change),
                                            .now_ms = 1,
                                            .until_ms = 1000};
    assert_true(inventory_claim(change->live.inventory, &question));
    assert_int_equal(claimed(change), 2);
    add_quota(&change->next, "T4", 4);
    take(change);
    assert_int_equal(claimed(change), 2);
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(change->live.inventory);
    assert_int_equal(claims_next(view.cluster, NULL)->until_ms, 1000);
    assert_int_equal(claims_next(view.cluster, NULL)->models, 1);
    policy_fini(&before);
}

static int64_t gpu_ms_unlimited(struct change *change)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(change->live.inventory);
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct gpu_time *times = NULL;
    const size_t n = gpu_time_copy(view.cluster, clock_ms(), arena, &times);
    int64_t gpu_ms = 0;
    for (size_t i = 0; i < n; i++)
        gpu_ms += strcmp(times[i].kind, "unlimited") == 0 ? times[i].gpu_ms : 0;
    return gpu_ms;
}

/* A counter that falls counts as begun anew, with all of its value. Nothing but the policy has
 * changed since the pod came. */
static void test_what_was_read_of_gpu_time_stays(void **state)
{
    struct change *change = *state;
    int64_t before = 0;
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, NODE("a", "8"));
    LIST(&change->live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    while (before == 0)
        before = gpu_ms_unlimited(change);
    add_quota(&change->next, NULL, 100);
    take(change);
    assert_true(gpu_ms_unlimited(change) >= before);
}

/* The list goes on over the new ledger: what it does not name is gone at its end. */
static void test_a_list_in_progress_goes_on(void **state)
{
    struct change *change = *state;
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, NODE("a", "8"), NODE("b", "8"));
    LIST(&change->live, CLUSTER_PODS, POD("one", "u1", "a", "3"), POD("two", "u2", "a", "1"));
    live_begin(&change->live, CLUSTER_PODS);
    live_upsert(&change->live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    add_quota(&change->next, NULL, 100);
    take(change);
    assert_int_equal(used(change), 4);
    live_end(&change->live, CLUSTER_PODS);
    assert_int_equal(used(change), 3);
}

/* The fork keeps the old policy, whose memory it uses. */
static void test_a_fork_outlives_the_change(void **state)
{
    struct change *change = *state;
    live_list_nothing(&change->live);
    LIST(&change->live, CLUSTER_NODES, NODE("a", "8"));
    struct cluster *fork = inventory_fork(change->live.inventory, PEERS_NONE);
    inventory_take_policy(change->live.inventory, &change->next);
    assert_ptr_equal(cluster_policy(fork), &change->live.policy);
    assert_non_null(cluster_find_node(fork, "a"));
    inventory_fork_free(change->live.inventory, fork);
    inventory_free_replaced(change->live.inventory);
}

static unsigned n_freed;

static void free_policy(struct policy *policy)
{
    policy_fini(policy);
    free(policy);
    n_freed++;
}

static struct policy *new_policy(void)
{
    struct policy *policy = calloc(1, sizeof *policy);
    assert_non_null(policy);
    policy_init(policy);
    policy->unheld = free_policy;
    return policy;
}

/* So whoever holds a policy may read those that came into force since. */
static void test_a_held_policy_keeps_later_ones(void **state)
{
    struct change *change = *state;
    n_freed = 0;
    for (int i = 0; i < 2; i++)
        inventory_take_policy(change->live.inventory, new_policy());
    assert_int_equal(n_freed, 0);
    inventory_free_replaced(change->live.inventory);
    assert_int_equal(n_freed, 1);
    const struct policy *held = inventory_hold_policy(change->live.inventory);
    for (int i = 0; i < 3; i++)
        inventory_take_policy(change->live.inventory, new_policy());
    inventory_free_replaced(change->live.inventory);
    assert_int_equal(n_freed, 1);
    policy_drop(held);
    assert_int_equal(n_freed, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_new_quota_counts_what_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_aliases_and_labels_name_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_last_known_model_survives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_dropped_alias_counts_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_controller_of_a_waiting_pod_survives, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_reservations_survive_with_their_serials, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_claims_are_made_for_the_new_quotas, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_was_read_of_gpu_time_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_list_in_progress_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_fork_outlives_the_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_held_policy_keeps_later_ones, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* self-check of the ledger: it names each sum, list and name that is wrong. */
#include "decide/quota.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "ledger.h"
#include "ledger/claims.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"

static const char *const NAMES[] = {"a"};

static struct pod_facts facts_of(struct fixture *fixture, const char *uid, const char *node,
                                 const char *owner)
{
    struct pod_facts facts = fixture_facts_in_namespace(fixture, uid, node, GPU "=1");
    facts.replica_of = owner;
    return facts;
}

/* A pod that waits for the node h. */
static void fixture_nominate_pod(struct fixture *fixture, const char *uid)
{
    struct pod_facts facts = facts_of(fixture, uid, "", NULL);
    facts.nominated_node = "h";
    facts.priority = 5;
    fixture_put_pod_facts(fixture, &facts);
}

static void fixture_claim_pod(struct fixture *fixture, const char *uid)
{
    const struct pod_facts facts = facts_of(fixture, uid, "", NULL);
    fixture_put_pod_facts(fixture, &facts);
    assert_true(
        quota_claim(fixture->cluster,
                    &(struct claim_question){.pod = &facts,
                                             .node_name = "h",
                                             .claims_version = claims_version(fixture->cluster),
                                             .now_ms = 0,
                                             .until_ms = 1000}));
}

/* Node h: pods a/1 and a/2 of one owner, a reservation for a/3, a nomination of a/4; two devices of
 * another vendor, of which one is free. a/5 has a claim. gone is a node that only a/6 names. */
static int setup(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 16}};
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "team-a",
                                               .namespaces = NAMES,
                                               .n_namespaces = 1,
                                               .limits = LIMITS,
                                               .n_limits = 1});
    cluster_upsert_namespace(fixture->cluster, &(struct namespace_facts){.name = "a"});
    fixture_put_node(fixture, "h", "pods=110 " GPU "=8", H100);
    const struct pod_facts facts[] = {
        facts_of(fixture, "a/1", "h", "owner"),
        facts_of(fixture, "a/2", "h", "owner"),
        facts_of(fixture, "a/3", "", "owner"),
        facts_of(fixture, "a/6", "gone", NULL),
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        fixture_put_pod_facts(fixture, &facts[i]);
    fixture_must_reserve(fixture, "a/3", "h");
    fixture_nominate_pod(fixture, "a/4");
    fixture_claim_pod(fixture, "a/5");
    cluster_upsert_device_class(
        fixture->cluster, &(struct device_class_facts){"gpu.amd.com", .resource = "amd.com/gpu"});
    fixture_put_slice(fixture, "h", AMD_DRIVER, "MI300X, MI300X");
    fixture_put_claim(fixture, "c", "h", AMD_DRIVER, "gpu-0");
    return 0;
}

static struct node *node_of(struct fixture *fixture, const char *name)
{
    return node_index_find(&fixture->cluster->node_index, name);
}

static struct node_resource *gpus_of(struct fixture *fixture)
{
    return &node_of(fixture, "h")->resources[0];
}

static struct node_device_group *devices_of(struct fixture *fixture)
{
    return &node_of(fixture, "h")->devices[0];
}

static struct pod_entry *pod_of(struct fixture *fixture, const char *uid)
{
    struct pod_entry *pod = NULL;
    HASH_FIND_STR(fixture->cluster->pods, uid, pod);
    assert_non_null(pod);
    return pod;
}

static struct namespace_entry *namespace_of(struct fixture *fixture)
{
    return namespace_usage_find(fixture->cluster, "a");
}

/* Each puts one fault into the ledger. A second call takes it out. */
#define SWAP(type, place, other)                                                                   \
    do {                                                                                           \
        type was_ = (place);                                                                       \
        (place) = (other);                                                                         \
        (other) = was_;                                                                            \
    } while (0)
#define SPOIL(name, change)                                                                        \
    static void name(struct fixture *fixture)                                                      \
    {                                                                                              \
        change;                                                                                    \
    }
static struct traits_entry *no_traits;
static struct node *no_node;
static struct nomination_entry *no_nomination;
static struct pod_entry *no_pods;
static struct reservation_entry *no_reservations;
static struct model_pool *no_pool;
static struct gpu_time_entry *no_time;
static int64_t *no_cells;
static const char *other_text = "other";

static void swap_node(struct fixture *fixture, struct nomination_entry *nomination)
{
    struct node *gone = node_of(fixture, "gone");
    nomination->node = nomination->node == gone ? node_of(fixture, "h") : gone;
}

/* A node that does not exist and that nothing names. */
static void unused_node(struct fixture *fixture)
{
    struct node *unused = node_of(fixture, "unused");
    if (unused)
        node_table_release(fixture->cluster, unused);
    else
        (void)node_table_find_or_add(fixture->cluster, "unused");
}

SPOIL(used, gpus_of(fixture)->used ^= 1)
SPOIL(used_sum, gpus_of(fixture)->used_sum.low ^= 1)
SPOIL(reserved, gpus_of(fixture)->reserved ^= 2)
SPOIL(reserved_sum, gpus_of(fixture)->reserved_sum.low ^= 1)
SPOIL(advertised, gpus_of(fixture)->advertised ^= true)
SPOIL(gpu_rows, node_of(fixture, "h")->n_gpu_resources ^= 1)
SPOIL(n_pods, node_of(fixture, "h")->n_pods ^= 1)
SPOIL(unlisted, node_of(fixture, "gone")->unlisted_gpus.low ^= 2)
SPOIL(traits, SWAP(struct traits_entry *, node_of(fixture, "h")->traits, no_traits))
SPOIL(pods, SWAP(struct pod_entry *, node_of(fixture, "gone")->pods, no_pods))
SPOIL(reservations,
      SWAP(struct reservation_entry *, node_of(fixture, "h")->reservations, no_reservations))
SPOIL(node_of_pod, SWAP(struct node *, pod_of(fixture, "a/1")->node, no_node))
SPOIL(finished, pod_of(fixture, "a/1")->pod.finished ^= true)
SPOIL(settled, pod_of(fixture, "a/3")->pod.terminating ^= true)
SPOIL(node_of_nomination, swap_node(fixture, pod_of(fixture, "a/4")->nomination))
SPOIL(uid_of_nomination,
      SWAP(const char *, pod_of(fixture, "a/4")->nomination->nomination.uid, other_text))
SPOIL(name_of_pod, SWAP(const char *, pod_of(fixture, "a/1")->pod.name, other_text))
SPOIL(nomination,
      SWAP(struct nomination_entry *, pod_of(fixture, "a/4")->nomination, no_nomination))
SPOIL(nominations,
      SWAP(struct nomination_entry *, node_of(fixture, "h")->nominations, no_nomination))
SPOIL(all_nominations,
      SWAP(struct nomination_entry *, fixture->cluster->nominations, no_nomination))
SPOIL(priority, pod_of(fixture, "a/4")->nomination->nomination.priority ^= 1)
SPOIL(claimed, pod_of(fixture, "a/5")->pod.terminating ^= true)
SPOIL(n_nodes, fixture->cluster->n_present_nodes ^= 2)
SPOIL(n_names_of_nodes, fixture->cluster->node_index.n ^= 4)
SPOIL(n_names_of_pods, fixture->cluster->pod_names.n ^= 8)
SPOIL(replicas, pod_of(fixture, "a/1")->pod.owner->nodes[0].n ^= 4)
SPOIL(users_of_owner, pod_of(fixture, "a/1")->pod.owner->refs ^= 4)
SPOIL(free_of_model, gpus_of(fixture)->pool->free ^= 8)
SPOIL(nodes_of_model, gpus_of(fixture)->pool->n_nodes ^= 2)
SPOIL(pool, SWAP(struct model_pool *, gpus_of(fixture)->pool, no_pool))
SPOIL(n_groups, node_of(fixture, "h")->n_devices ^= 1)
SPOIL(devices_total, devices_of(fixture)->total ^= 1)
SPOIL(devices_allocated, devices_of(fixture)->allocated ^= 2)
SPOIL(free_gpus_of_claims, devices_of(fixture)->free ^= 2)
SPOIL(devices_model, SWAP(const char *, devices_of(fixture)->model, other_text))
SPOIL(devices_shadowed, devices_of(fixture)->is_shadowed ^= true)
SPOIL(devices_pool, SWAP(struct model_pool *, devices_of(fixture)->pool, no_pool))
SPOIL(timed, SWAP(struct gpu_time_entry *, pod_of(fixture, "a/1")->timed, no_time))
SPOIL(users, namespace_of(fixture)->n_users ^= 8)
SPOIL(used_by_namespace, namespace_of(fixture)->used[0] ^= 8)
SPOIL(used_of_quota, fixture->cluster->quota_used[0] ^= 8)
SPOIL(quotas, namespace_of(fixture)->n_quotas ^= 1)
SPOIL(cells, SWAP(int64_t *, namespace_of(fixture)->used, no_cells))
SPOIL(there, namespace_of(fixture)->there ^= true)
SPOIL(n_namespaces, fixture->cluster->n_present_namespaces ^= 2)
SPOIL(live, fixture->cluster->shapes->shapes->n_live ^= 8)
SPOIL(shape_refs, fixture->cluster->shapes->shapes->refs ^= 16)

static const struct {
    void (*spoil)(struct fixture *fixture);
    size_t n; /* differences */
    const char *first;
} FAULTS[] = {
    {used, 3, "h: nvidia.com/gpu is 3, should be 2"},
    {used_sum, 1, "h: nvidia.com/gpu is 2, should be 2"},
    {reserved, 3, "h: what is reserved is 3, should be 1"},
    {reserved_sum, 1, "h: what is reserved is 1, should be 1"},
    {advertised, 2, "h: what is seen of it at a glance is 0, should be 1"},
    {gpu_rows, 2, "h: a resource among GPUs is 0, should be 1"},
    {n_pods, 1, "h: pods is 3, should be 2"},
    {unlisted, 1, "gone: GPUs that it does not list is 2, should be 0"},
    {traits, 7, "h: being there is 0, should be 1"},
    {pods, 5, "gone: nvidia.com/gpu is 1, should be 0"},
    {reservations, 4, "h: what is reserved is 1, should be 0"},
    {node_of_pod, 5, "h: a/1 is 1, should be 0"},
    {finished, 5, "h: a/1 is 1, should be 0"},
    {settled, 1, "a/3: a reservation of a pod that is settled is 1, should be 0"},
    {node_of_nomination, 2, "h: a/4 is 1, should be 0"},
    {uid_of_nomination, 1, "a/4: a nomination of its own is 0, should be 1"},
    {nomination, 3, "a/4: a nomination is 0, should be 1"},
    {nominations, 2, "h: what is seen of it at a glance is 0, should be 1"},
    {all_nominations, 1, "cluster: nominations that quotas count is 0, should be 1"},
    {priority, 1, "a/4: the nomination's priority is 4, should be 5"},
    {claimed, 1, "a/5: a claim of a pod that counts otherwise is 1, should be 0"},
    {n_nodes, 1, "cluster: nodes is 3, should be 1"},
    {n_names_of_nodes, 1, "cluster: names of nodes is 6, should be 2"},
    {unused_node, 1, "unused: a node that is neither there nor used is 1, should be 0"},
    {name_of_pod, 1, "a/1: being found by its name is 0, should be 1"},
    {n_names_of_pods, 1, "cluster: names of pods is 14, should be 6"},
    {replicas, 2, "h: replicas of one owner is 7, should be 3"},
    {users_of_owner, 1, "cluster: users of owners is 0, should be 4"},
    {free_of_model, 1, "H100-80GB-HBM3: what is free is 13, should be 5"},
    {nodes_of_model, 1, "cluster: nodes of a model is 3, should be 1"},
    {pool, 4, "h: what is seen of it at a glance is 0, should be 1"},
    {n_groups, 4, "h: its GPUs that claims use is 0, should be 1"},
    {devices_total, 1, "h: its GPUs that claims use is 0, should be 1"},
    {devices_allocated, 1, "h: its GPUs that claims use is 0, should be 1"},
    {free_gpus_of_claims, 2, "h: its GPUs that claims use is 0, should be 1"},
    {devices_model, 2, "h: its GPUs that claims use is 0, should be 1"},
    {devices_shadowed, 3, "h: its GPUs that claims use is 0, should be 1"},
    {devices_pool, 3, "MI300X: what is free is 1, should be 0"},
    {users, 1, "a: users of GPUs is 12, should be 4"},
    {used_by_namespace, 1, "a: what quotas count is 12, should be 4"},
    {used_of_quota, 1, "quotas: what quotas count is 12, should be 4"},
    {quotas, 1, "a: covered by a quota is 0, should be 1"},
    {cells, 1, "a: what quotas count is 0, should be 1"},
    {timed, 1, "cluster: GPUs whose time is summed is 0, should be 1"},
    {there, 1, "cluster: namespaces is 1, should be 0"},
    {n_namespaces, 1, "cluster: namespaces is 3, should be 1"},
    {live, 1, "cluster: live pods is 14, should be 6"},
    {shape_refs, 1, "cluster: users of shapes is 23, should be 7"},
};

static void test_each_fault_is_named(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        struct err err = {""};
        FAULTS[i].spoil(fixture);
        const size_t n = cluster_check(fixture->cluster, &err);
        FAULTS[i].spoil(fixture);
        assert_string_equal(err.text, FAULTS[i].first);
        assert_int_equal(n, FAULTS[i].n);
        fixture_check(fixture);
    }
}

static void test_the_check_in_place_finds_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {""};
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        FAULTS[i].spoil(fixture);
        const size_t n = cluster_check_in_place(fixture->cluster, &err);
        FAULTS[i].spoil(fixture);
        assert_int_equal(n, FAULTS[i].n);
        assert_string_equal(err.text, FAULTS[i].first);
    }
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), 0);
}

/* Rounds end, however small the steps. */
static void test_wrong_devices_are_found_in_steps(void **state)
{
    struct fixture *fixture = *state;
    for (size_t work = 1; work < 40; work += 3) {
        struct err err = {""};
        size_t n_right = 0;
        size_t n_wrong = 0;
        while (!cluster_check_some(fixture->cluster, work, &n_right, &err))
            ;
        assert_int_equal(n_right, 0);
        devices_of(fixture)->total ^= 1;
        while (!cluster_check_some(fixture->cluster, work, &n_wrong, &err))
            ;
        devices_of(fixture)->total ^= 1;
        assert_int_equal(n_wrong, 1);
        assert_string_equal(err.text, "h: its GPUs that claims use is 0, should be 1");
    }
}

/* Quotas count nominated pods one by one. Those without GPUs would only cost time. */
static void test_only_nominations_of_gpus_are_listed(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = fixture_facts_in_namespace(fixture, "a/7", "", "cpu=1");
    facts.nominated_node = "h";
    fixture_put_pod_facts(fixture, &facts);
    assert_non_null(pod_of(fixture, "a/7")->nomination);
    assert_ptr_equal(fixture->cluster->nominations, pod_of(fixture, "a/4")->nomination);
    assert_null(fixture->cluster->nominations->all_next);
}

/* Their number depends on the compiler. */
static void test_a_wrong_number_of_bytes_is_named(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {""};
    fixture->cluster->shapes->demand_bytes++;
    assert_int_equal(cluster_check(fixture->cluster, &err), 1);
    assert_memory_equal(err.text, "cluster: bytes of shapes is ", 28);
    fixture->cluster->shapes->demand_bytes--;
}

#define SETUP_TEST(test) cmocka_unit_test_setup_teardown(test, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SETUP_TEST(test_each_fault_is_named),
        SETUP_TEST(test_the_check_in_place_finds_the_same),
        SETUP_TEST(test_wrong_devices_are_found_in_steps),
        SETUP_TEST(test_only_nominations_of_gpus_are_listed),
        SETUP_TEST(test_a_wrong_number_of_bytes_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

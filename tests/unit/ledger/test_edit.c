/* edit: a ledger with random edits equals one that is made from the edited objects. cluster_copy: a
 * ledger that changes while it is copied. */
#include "dice.h"
#include "dra/devices.h"
#include "fixture.h"
#include "fixture_devices.h"
#include "ledger/cluster_copy.h"
#include "ledger/edit.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define N_NODES 5
#define N_PODS 24
#define N_MAX 400
#define N_EDITS 25
#define N_ROUNDS 60

/* The objects, in the simplest form. */
struct objects {
    struct node_facts nodes[N_MAX];
    size_t n_nodes;
    struct pod_facts pods[N_MAX];
    size_t n_pods;
    size_t n_made; /* names given */
};

static bool stays(const struct pod_facts *pod)
{
    return pod->controller && (strncmp(pod->controller, "DaemonSet/", 10) == 0 ||
                               strncmp(pod->controller, "Node/", 5) == 0);
}

static void drop_pod(struct objects *objects, size_t i)
{
    objects->pods[i] = objects->pods[--objects->n_pods];
}

/* ---- comparing ---- */

static struct cluster *made_of(const struct fixture *fixture, const struct objects *objects)
{
    struct cluster *cluster = cluster_new(&fixture->policy);
    for (size_t i = 0; i < objects->n_nodes; i++)
        cluster_upsert_node(cluster, &objects->nodes[i]);
    for (size_t i = 0; i < objects->n_pods; i++)
        cluster_upsert_pod(cluster, &objects->pods[i]);
    return cluster;
}

static void assert_same_node(const struct node *a, const struct node *b)
{
    size_t n = 0;
    size_t n_other = 0;
    const struct node_resource *rows = node_resources(a, &n);
    const struct node_resource *others = node_resources(b, &n_other);
    assert_non_null(b);
    assert_int_equal(n, n_other);
    assert_int_equal(node_traits(a)->unschedulable, node_traits(b)->unschedulable);
    assert_int_equal(node_traits(a)->view.n_labels, node_traits(b)->view.n_labels);
    assert_int_equal(node_free_gpus(a), node_free_gpus(b));
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < n && strcmp(others[j].resource->name, rows[i].resource->name) != 0)
            j++;
        assert_true(j < n);
        assert_int_equal(rows[i].used, others[j].used);
        assert_int_equal(rows[i].allocatable, others[j].allocatable);
    }
}

static void assert_same(const struct cluster *model, const struct cluster *cluster)
{
    struct err err = {""};
    if (cluster_check_in_place(cluster, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(cluster_n_nodes(model), cluster_n_nodes(cluster));
    assert_int_equal(cluster_n_pods(model), cluster_n_pods(cluster));
    for (const struct node *node = cluster_next_node(model, NULL); node;
         node = cluster_next_node(model, node))
        assert_same_node(node, cluster_find_node(cluster, node_name(node)));
}

/* ---- random objects and edits ---- */

static void put_objects(struct fixture *fixture, struct dice *dice, struct objects *objects)
{
    static const char *const CONTROLLERS[] = {"ReplicaSet/web", "DaemonSet/agent", "Node/n", NULL};
    for (; objects->n_nodes < N_NODES; objects->n_nodes++) {
        const char *name = arena_printf(fixture->arena, "n%zu", objects->n_nodes);
        objects->nodes[objects->n_nodes] = fixture_node_facts(
            fixture, name, arena_printf(fixture->arena, GPU "=%d", (int)dice_below(dice, 9)),
            arena_printf(fixture->arena, "kubernetes.io/hostname=%s,zone=a", name));
        cluster_upsert_node(fixture->cluster, &objects->nodes[objects->n_nodes]);
    }
    for (; objects->n_pods < N_PODS; objects->n_pods++) {
        struct pod_facts *pod = &objects->pods[objects->n_pods];
        const size_t on = dice_below(dice, N_NODES + 1);
        const char *controller = CONTROLLERS[dice_below(dice, 4)];
        /* Copies of pods that stay have names by an order that the model does not know. */
        const int gpus = controller && controller[0] != 'R' ? 1 : 1 + (int)dice_below(dice, 3);
        *pod = fixture_facts_in_namespace(
            fixture,
            arena_printf(fixture->arena, "ns%d/p%zu", (int)dice_below(dice, 2), objects->n_pods),
            on < N_NODES ? objects->nodes[on].name : "",
            arena_printf(fixture->arena, GPU "=%d", gpus));
        pod->controller = controller;
        cluster_upsert_pod(fixture->cluster, pod);
    }
}

static void add_like(struct fixture *fixture, struct dice *dice, struct objects *objects)
{
    const size_t n_before = objects->n_pods;
    const struct node_facts *like = &objects->nodes[dice_below(dice, (uint32_t)objects->n_nodes)];
    const char *name = arena_printf(fixture->arena, "new%zu", objects->n_made++);
    size_t n = 0;
    struct node_facts *node = &objects->nodes[objects->n_nodes++];
    *node = *like;
    node->name = name;
    node->unschedulable = false;
    for (size_t i = 0; i < n_before; i++) {
        if (strcmp(objects->pods[i].node_name, like->name) != 0 || !stays(&objects->pods[i]))
            continue;
        struct pod_facts *pod = &objects->pods[objects->n_pods++];
        *pod = objects->pods[i];
        pod->node_name = name;
        pod->uid = pod->name = arena_printf(fixture->arena, "%s/%zu", name, n++);
    }
    assert_int_equal(edit_add_like(fixture->cluster, like->name, name, NULL).n_pods, n);
}

static void remove_node(struct fixture *fixture, struct dice *dice, struct objects *objects)
{
    const size_t at = dice_below(dice, (uint32_t)objects->n_nodes);
    const char *name = objects->nodes[at].name;
    edit_remove_node(fixture->cluster, name);
    objects->nodes[at] = objects->nodes[--objects->n_nodes];
    for (size_t i = objects->n_pods; i > 0; i--) {
        if (strcmp(objects->pods[i - 1].node_name, name) == 0)
            drop_pod(objects, i - 1);
    }
}

static void edit_pod(struct fixture *fixture, struct dice *dice, struct objects *objects)
{
    const size_t at = dice_below(dice, (uint32_t)objects->n_pods);
    struct pod_facts *pod = &objects->pods[at];
    const char *node = objects->nodes[dice_below(dice, (uint32_t)objects->n_nodes)].name;
    switch (dice_below(dice, 3)) {
    case 0:
        edit_evict(fixture->cluster, pod->uid);
        pod->node_name = "";
        break;
    case 1:
        edit_remove(fixture->cluster, pod->uid);
        drop_pod(objects, at);
        break;
    default:
        edit_place(fixture->cluster, pod->uid, node);
        pod->node_name = node;
        break;
    }
}

static void edit(struct fixture *fixture, struct dice *dice, struct objects *objects)
{
    const uint32_t which = dice_below(dice, 6);
    struct node_facts *node = &objects->nodes[dice_below(dice, (uint32_t)objects->n_nodes)];
    if (which == 0) {
        edit_cordon(fixture->cluster, node->name);
        node->unschedulable = true;
    } else if (which == 1 && objects->n_pods < N_MAX / 2) {
        add_like(fixture, dice, objects);
    } else if (which == 2 && objects->n_nodes > 2) {
        remove_node(fixture, dice, objects);
    } else if (objects->n_pods > 2) {
        edit_pod(fixture, dice, objects);
    }
}

static void add_quota(struct fixture *fixture)
{
    static const char *const NAMES[] = {"ns0"};
    static const struct quota_limit LIMITS[] = {{.gpus = 9}};
    const struct quota quota = {
        .name = "q", .namespaces = NAMES, .n_namespaces = 1, .limits = LIMITS, .n_limits = 1};
    fixture_add_quota(fixture, &quota);
}

static void test_an_edited_ledger_is_that_of_the_edited_objects(void **state)
{
    struct fixture *fixture = *state;
    add_quota(fixture);
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        struct dice dice = {round};
        static struct objects objects;
        objects = (struct objects){.n_made = 0};
        cluster_free(fixture->cluster);
        fixture->cluster = cluster_new(&fixture->policy);
        put_objects(fixture, &dice, &objects);
        for (int i = 0; i < N_EDITS; i++) {
            edit(fixture, &dice, &objects);
            struct cluster *model = made_of(fixture, &objects);
            assert_same(model, fixture->cluster);
            cluster_free(model);
        }
    }
}

/* ---- names that do not exist, and claims ---- */

static void test_unknown_names_change_nothing(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const uint64_t version = cluster_version(fixture->cluster);
    edit_cordon(fixture->cluster, "gone");
    edit_evict(fixture->cluster, "gone");
    edit_remove(fixture->cluster, "gone");
    edit_place(fixture->cluster, "gone", "n1");
    edit_remove_node(fixture->cluster, "gone");
    assert_int_equal(edit_add_like(fixture->cluster, "gone", "new", NULL).bytes, 0);
    assert_int_equal(cluster_version(fixture->cluster), version);
}

static void test_a_new_node_has_its_own_name_and_no_taints_of_a_state(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts facts =
        fixture_node_facts(fixture, "n1", GPU "=8", "kubernetes.io/hostname=n1");
    facts.taints =
        fixture_taints(fixture, "node.kubernetes.io/unschedulable:NoSchedule pool=gpu:NoSchedule",
                       &facts.n_taints);
    facts.unschedulable = true;
    facts.ready = false;
    fixture_put_node_facts(fixture, &facts);
    (void)edit_add_like(fixture->cluster, "n1", "n2", NULL);
    const struct node_traits *traits = node_traits(fixture_find_node(fixture, "n2"));
    assert_true(traits->ready && !traits->unschedulable);
    assert_int_equal(traits->n_taints, 1);
    assert_string_equal(traits->taints[0].key, "pool");
    assert_string_equal(traits->view.labels[0].value, "n2");
}

static void test_a_claim_that_nobody_uses_any_more_waits_for_no_driver(void **state)
{
    struct fixture *fixture = *state;
    const char *holders[] = {"u"};
    const struct claim_result result = {.driver = NVIDIA_DRIVER, .pool = "n1", .device = "gpu-0"};
    const struct claim_facts facts = {.namespace_ = "default",
                                      .name = "c",
                                      .uid = "uid",
                                      .extended_for_uid = "",
                                      .is_allocated = true,
                                      .is_unready = true,
                                      .results = &result,
                                      .n_results = 1,
                                      .holders = holders,
                                      .n_holders = 1,
                                      .n_all_holders = 1};
    struct pod_facts pod = fixture_pod_facts(fixture, "u", "", GPU "=1");
    pod.claims = "c";
    cluster_upsert_resource_claim(fixture->cluster, &facts);
    cluster_upsert_pod(fixture->cluster, &pod);
    edit_remove(fixture->cluster, "u");
    const struct device_claim *claim =
        devices_find_claim(cluster_devices(fixture->cluster), "default", "c");
    assert_non_null(claim);
    assert_false(claim->is_allocated || claim->is_unready);
}

/* ---- a copy of a ledger that changes ---- */

/* The even pods stay as they are; the others come, move and go. */
static void change(struct fixture *fixture, struct dice *dice, struct objects *objects)
{
    struct pod_facts *pod = &objects->pods[2 * dice_below(dice, N_PODS / 2) + 1];
    if (dice_below(dice, 2) == 0) {
        cluster_delete_pod(fixture->cluster, pod->uid);
        return;
    }
    pod->priority++;
    cluster_upsert_pod(fixture->cluster, pod);
}

static void test_a_copy_has_all_that_stays(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        struct dice dice = {round};
        struct err err = {""};
        static struct objects objects;
        objects = (struct objects){.n_made = 0};
        cluster_free(fixture->cluster);
        fixture->cluster = cluster_new(&fixture->policy);
        put_objects(fixture, &dice, &objects);
        struct cluster_copy *copying = cluster_copy_new(fixture->cluster, &fixture->policy);
        while (!cluster_copy_some_anew(copying, 1 + dice_below(&dice, 3)))
            change(fixture, &dice, &objects);
        struct cluster *copy = cluster_copy_end(copying);
        assert_int_equal(cluster_check_in_place(copy, &err), 0);
        assert_int_equal(cluster_n_nodes(copy), N_NODES);
        for (size_t i = 0; i < N_PODS; i += 2) {
            const struct pod *pod = cluster_find_pod(copy, objects.pods[i].uid);
            assert_non_null(pod);
            assert_string_equal(pod->node_name, objects.pods[i].node_name);
        }
        cluster_free(copy);
    }
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        TEST(test_an_edited_ledger_is_that_of_the_edited_objects),
        TEST(test_unknown_names_change_nothing),
        TEST(test_a_new_node_has_its_own_name_and_no_taints_of_a_state),
        TEST(test_a_claim_that_nobody_uses_any_more_waits_for_no_driver),
        TEST(test_a_copy_has_all_that_stays),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}

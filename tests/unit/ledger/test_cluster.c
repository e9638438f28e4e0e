/* cluster: nodes, pods and use in the ledger. Mistakes of other projects: test_ledger_events.c;
 * long random histories: prop_ledger.c. */
#include "base/mem.h"
#include "fixture.h"
#include "ledger/cluster.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static const struct node_resource *resource_of(struct fixture *fixture, const char *node,
                                               const char *resource)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, "");
    struct shape_facts one = facts;
    const struct amount amount = {resource, 1};
    one.demand = &amount;
    one.n_demand = 1;
    return node_find_resource(fixture_find_node(fixture, node),
                              fixture_resolve(fixture, &one)->needs[0].resource);
}

/* Nodes. */

static void test_a_node_has_the_facts_of_its_event(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts facts = fixture_node_facts(fixture, "n1", "cpu=8000 " GPU "=7",
                                                 "zone=b,accelerator=Tesla-K80,arch=x");
    facts.capacity = fixture_amounts(fixture, "cpu=9000 " GPU "=8", &facts.n_capacity);
    facts.taints = fixture_taints(fixture, "a=b:NoSchedule", &facts.n_taints);
    facts.unschedulable = true;
    fixture_put_node_facts(fixture, &facts);

    const struct node *node = fixture_find_node(fixture, "n1");
    const struct node_traits *traits = node_traits(node);
    assert_string_equal(node_name(node), "n1");
    assert_true(traits->unschedulable);
    assert_true(traits->ready);
    assert_int_equal(traits->n_taints, 1);
    assert_string_equal(traits->taints[0].key, "a");
    assert_string_equal(traits->taints[0].value, "b");
    assert_int_equal(traits->taints[0].effect, TAINT_NO_SCHEDULE);
    assert_string_equal(traits->view.node_name, "n1");
    assert_string_equal(labels_find(traits->view.labels, traits->view.n_labels, "zone"), "b");
    assert_string_equal(labels_find(traits->view.labels, traits->view.n_labels, "arch"), "x");
    const struct node_resource *gpus = resource_of(fixture, "n1", GPU);
    assert_true(gpus->resource->is_gpu);
    assert_true(gpus->advertised);
    assert_int_equal(gpus->capacity, 8);
    assert_int_equal(gpus->allocatable, 7);
    assert_int_equal(gpus->used, 0);
    assert_int_equal(node_resource_free(gpus), 7);
    assert_false(resource_of(fixture, "n1", "cpu")->resource->is_gpu);
    assert_int_equal(cluster_n_nodes(fixture->cluster), 1);
}

/* Kubernetes API, NodeStatus: an empty allocatable defaults to capacity. */
static void test_allocatable_defaults_to_the_whole_capacity(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts facts = fixture_node_facts(fixture, "n1", "", "");
    facts.capacity = fixture_amounts(fixture, "cpu=4000 " GPU "=8", &facts.n_capacity);
    fixture_put_node_facts(fixture, &facts);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8);

    facts.allocatable = fixture_amounts(fixture, "cpu=4000", &facts.n_allocatable);
    fixture_put_node_facts(fixture, &facts);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 0);
    assert_int_equal(resource_of(fixture, "n1", GPU)->capacity, 8);

    facts.n_capacity = 0;
    fixture_put_node_facts(fixture, &facts);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), INT64_MIN);
    assert_int_equal(resource_of(fixture, "n1", "cpu")->capacity, 4000);
}

static void check_model(struct fixture *fixture, const char *labels, const char *chip,
                        const char *label)
{
    fixture_put_node(fixture, "n1", GPU "=8", labels);
    const struct node_traits *traits = node_traits(fixture_find_node(fixture, "n1"));
    assert_string_equal(traits->gpus.model.chip, chip);
    assert_string_equal(traits->gpus.label, label);
}

static void test_the_first_label_that_names_a_model_decides(void **state)
{
    struct fixture *fixture = *state;
    check_model(fixture, "", "", "");
    check_model(fixture, "zone=A100", "", "");
    check_model(fixture, "accelerator=nvidia-tesla-v100", "V100", "accelerator");
    check_model(fixture,
                "accelerator=nvidia-tesla-v100,nvidia.com/gpu.product=Tesla-V100-SXM2-32GB", "V100",
                "nvidia.com/gpu.product");
    /* AKS: only brand words, so the next label decides */
    check_model(fixture, "accelerator=nvidia", "", "");
    check_model(fixture, "accelerator=nvidia,cloud.google.com/gke-accelerator=nvidia-l4", "L4",
                "cloud.google.com/gke-accelerator");
    check_model(fixture, "accelerator=", "", "");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.value, "");
    check_model(fixture, "alpha.kubernetes.io/nvidia-gpu-name=Tesla K80", "K80",
                "alpha.kubernetes.io/nvidia-gpu-name");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.value, "Tesla K80");
}

static int64_t gpu_memory_mib(struct fixture *fixture, const char *labels)
{
    fixture_put_node(fixture, "n1", GPU "=8", labels);
    return node_traits(fixture_find_node(fixture, "n1"))->gpus.memory_bytes / 1024 / 1024;
}

static void test_gpu_memory_comes_from_the_label_else_from_the_name(void **state)
{
#define PRODUCT "nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB"
    struct fixture *fixture = *state;
    assert_int_equal(gpu_memory_mib(fixture, PRODUCT ",nvidia.com/gpu.memory=40536"), 40536);
    assert_int_equal(gpu_memory_mib(fixture, PRODUCT), 40 * 1024);
    assert_int_equal(gpu_memory_mib(fixture, "accelerator=A100"), 0);
    assert_int_equal(gpu_memory_mib(fixture, "nvidia.com/gpu.memory=40536"), 40536);
    /* invalid sizes are ignored */
    assert_int_equal(gpu_memory_mib(fixture, PRODUCT ",nvidia.com/gpu.memory="), 40 * 1024);
    assert_int_equal(gpu_memory_mib(fixture, PRODUCT ",nvidia.com/gpu.memory=0"), 40 * 1024);
    assert_int_equal(gpu_memory_mib(fixture, PRODUCT ",nvidia.com/gpu.memory=-5"), 40 * 1024);
    assert_int_equal(gpu_memory_mib(fixture, PRODUCT ",nvidia.com/gpu.memory=lots"), 40 * 1024);
    assert_int_equal(gpu_memory_mib(fixture, PRODUCT ",nvidia.com/gpu.memory=9223372036854775807"),
                     40 * 1024);
#undef PRODUCT
}

static void test_nodes_come_in_the_order_of_their_insertion(void **state)
{
    static const char *const NAMES[] = {"zeta", "alpha", "mid"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 3; i++)
        fixture_put_node(fixture, NAMES[i], "cpu=1", "");
    fixture_put_node(fixture, "zeta", "cpu=2", "");
    const struct node *node = NULL;
    for (size_t i = 0; i < 3; i++) {
        node = cluster_next_node(fixture->cluster, node);
        assert_string_equal(node_name(node), NAMES[i]);
    }
    assert_null(cluster_next_node(fixture->cluster, node));
}

/* Pods. */

static void test_a_running_pod_uses_its_demand(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 memory=100 pods=10 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", "cpu=500 memory=30 " GPU "=2");
    fixture_put_pod(fixture, "p2", "n1", "cpu=250 " GPU "=1");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 3);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 5);
    assert_int_equal(fixture_used(fixture, "n1", "cpu"), 750);
    assert_int_equal(fixture_used(fixture, "n1", "memory"), 30);
    assert_int_equal(fixture_free_amount(fixture, "n1", "pods"), 8);
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 1);
    assert_int_equal(fixture_used(fixture, "n1", "memory"), 0);
}

static void test_a_pod_has_the_facts_of_its_event(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = fixture_pod_facts(fixture, "u-1", "n1", GPU "=2");
    facts.namespace_ = "ml";
    facts.name = "train-0";
    facts.nominated_node = "n7";
    facts.priority_class = "high";
    facts.priority = -10;
    facts.created_s = 1700000000;
    facts.started_s = 1700000005;
    facts.gated = true;
    facts.terminating = true;
    facts.refusal = "container \"main\": 1.5 GPUs";
    fixture_put_pod_facts(fixture, &facts);
    const struct pod *pod = cluster_find_pod(fixture->cluster, "u-1");
    assert_string_equal(pod->uid, "u-1");
    assert_string_equal(pod->namespace_, "ml");
    assert_string_equal(pod->name, "train-0");
    assert_string_equal(pod->node_name, "n1");
    assert_string_equal(pod->nominated_node, "n7");
    assert_string_equal(pod->priority_class, "high");
    assert_string_equal(pod->refusal, "container \"main\": 1.5 GPUs");
    assert_int_equal(pod->priority, -10);
    assert_int_equal(pod->created_s, 1700000000);
    assert_int_equal(pod->started_s, 1700000005);
    assert_true(pod->gated && pod->terminating && !pod->finished);
    assert_int_equal(shape_demand(&pod->shape->facts, GPU), 2);
    assert_int_equal(pod->shape->n_gpu_needs, 1);
    assert_string_equal(pod->shape->needs[0].resource->name, GPU);
    assert_null(cluster_find_pod(fixture->cluster, "train-0"));
}

/* We reject the pod, but it runs, so its use counts. */
static void test_an_invalid_running_pod_counts(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    struct pod_facts facts = fixture_pod_facts(fixture, "p1", "n1", GPU "=2");
    facts.refusal = "requests are not limits";
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
    uint64_t version = cluster_version(fixture->cluster);
    facts.refusal = NULL;
    fixture_put_pod_facts(fixture, &facts);
    assert_null(cluster_find_pod(fixture->cluster, "p1")->refusal);
    assert_true(cluster_version(fixture->cluster) > version);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
}

static void test_pods_without_a_node_are_kept_and_use_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    fixture_put_pod(fixture, "p1", "", GPU "=2");
    assert_int_equal(cluster_n_pods(fixture->cluster), 1);
    assert_int_equal(cluster_n_nodes(fixture->cluster), 1);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 0);
    fixture_put_pod(fixture, "p1", "n1", GPU "=2"); /* bound */
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
    assert_int_equal(cluster_n_pods(fixture->cluster), 1);
}

static void test_a_nomination_uses_no_resources(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    struct pod_facts facts = fixture_pod_facts(fixture, "p1", "", GPU "=2");
    facts.nominated_node = "n1";
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 0);
}

static void test_a_changed_demand_counts_at_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", "cpu=500 " GPU "=2");
    fixture_put_pod(fixture, "p1", "n1", "cpu=1500 " GPU "=2"); /* in-place resize */
    assert_int_equal(fixture_used(fixture, "n1", "cpu"), 1500);
    fixture_put_pod(fixture, "p1", "n1", "memory=7");
    assert_int_equal(fixture_used(fixture, "n1", "cpu"), 0);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 0);
    assert_int_equal(fixture_used(fixture, "n1", "memory"), 7);
}

static void test_the_holders_of_a_node(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    fixture_put_node(fixture, "n2", GPU "=8", "");
    assert_null(node_next_pod(fixture_find_node(fixture, "n1"), NULL));
    fixture_put_pod(fixture, "p1", "n1", GPU "=1");
    fixture_put_pod(fixture, "p2", "n2", GPU "=1");
    fixture_put_pod(fixture, "p3", "n1", GPU "=1");
    const struct pod *pod = node_next_pod(fixture_find_node(fixture, "n1"), NULL);
    assert_string_equal(pod->uid, "p1");
    pod = node_next_pod(fixture_find_node(fixture, "n1"), pod);
    assert_string_equal(pod->uid, "p3");
    assert_null(node_next_pod(fixture_find_node(fixture, "n1"), pod));
}

static void test_iteration_visits_each_pod_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_pod(fixture, "p1", "", "");
    fixture_put_pod(fixture, "p2", "gone", GPU "=1");
    fixture_put_pod(fixture, "p1", "", GPU "=1");
    size_t n = 0;
    for (const struct pod *pod = cluster_next_pod(fixture->cluster, NULL); pod;
         pod = cluster_next_pod(fixture->cluster, pod))
        n++;
    assert_int_equal(n, 2);
}

/* Versions and small tables. */

/* Includes names unknown to the ledger, and one that only a pod names. */
static void test_batch_lookup_equals_single_lookup(void **state)
{
    struct fixture *fixture = *state;
    struct hashed_text names[100] = {hash_of_text("n0")};
    const struct node *found[100] = {NULL};
    cluster_find_nodes(fixture->cluster, names, 1, found);
    assert_null(found[0]);
    for (size_t i = 0; i < 100; i++) {
        names[i] = hash_of_text(arena_printf(fixture->arena, "n%zu", i * 7 % 100));
        if (i % 3 != 0)
            fixture_put_node(fixture, names[i].text, "cpu=1", "");
    }
    fixture_put_pod(fixture, "p", names[3].text, "cpu=1");
    cluster_find_nodes(fixture->cluster, names, 100, found);
    for (size_t i = 0; i < 100; i++) {
        assert_ptr_equal(found[i], cluster_find_node(fixture->cluster, names[i].text));
        assert_int_equal(found[i] != NULL, i % 3 != 0);
    }
}

static void test_every_change_raises_the_version(void **state)
{
    struct fixture *fixture = *state;
    uint64_t version = cluster_version(fixture->cluster);
#define GROWS(event)                                                                               \
    do {                                                                                           \
        event;                                                                                     \
        assert_true(cluster_version(fixture->cluster) > version);                                  \
        version = cluster_version(fixture->cluster);                                               \
    } while (0)
    GROWS(fixture_put_node(fixture, "n1", GPU "=8", ""));
    GROWS(fixture_put_node(fixture, "n1", GPU "=7", ""));
    GROWS(fixture_put_node(fixture, "n1", GPU "=7 cpu=1", ""));
    GROWS(fixture_put_node(fixture, "n1", GPU "=7", ""));
    GROWS(fixture_put_node(fixture, "n1", GPU "=7", "zone=a"));
    GROWS(fixture_put_node(fixture, "n1", GPU "=7", "zone=b"));
    GROWS(fixture_put_pod(fixture, "p1", "", GPU "=1"));
    GROWS(fixture_put_pod(fixture, "p1", "n1", GPU "=1"));
    GROWS(fixture_remove_pod(fixture, "p1"));
    GROWS(fixture_remove_node(fixture, "n1"));
    struct node_facts facts = fixture_node_facts(fixture, "n1", GPU "=8", "");
    GROWS(fixture_put_node_facts(fixture, &facts));
    facts.unschedulable = true;
    GROWS(fixture_put_node_facts(fixture, &facts));
    facts.ready = false;
    GROWS(fixture_put_node_facts(fixture, &facts));
    facts.taints = fixture_taints(fixture, "a=b:NoSchedule", &facts.n_taints);
    GROWS(fixture_put_node_facts(fixture, &facts));
    facts.taints = fixture_taints(fixture, "a=b:NoExecute", &facts.n_taints);
    GROWS(fixture_put_node_facts(fixture, &facts));
    facts.n_capacity = 0; /* capacity equals allocatable then: no change */
    fixture_put_node_facts(fixture, &facts);
    assert_int_equal(cluster_version(fixture->cluster), version);
#undef GROWS
}

static void test_every_fact_of_a_pod_counts_as_a_change(void **state)
{
    struct fixture *fixture = *state;
    const struct pod_facts base = fixture_pod_facts(fixture, "p1", "n1", GPU "=1");
    struct pod_facts changed[14];
    const size_t n = sizeof changed / sizeof *changed;
    for (size_t i = 0; i < n; i++)
        changed[i] = base;
    changed[0].namespace_ = "other";
    changed[1].name = "other";
    changed[2].node_name = "n2";
    changed[3].nominated_node = "n2";
    changed[4].priority_class = "high";
    changed[5].finished = true;
    changed[6].terminating = true;
    changed[7].gated = true;
    changed[8].priority = 1;
    changed[9].created_s = 1;
    changed[10].refusal = "no";
    changed[11].refusal = "never";
    changed[12].shape = fixture_shape_facts(fixture, GPU "=2");
    changed[13].replica_of = "rs";
    for (size_t i = 0; i < n; i++) {
        fixture_put_pod_facts(fixture, i == 11 ? &changed[10] : &base);
        uint64_t version = cluster_version(fixture->cluster);
        fixture_put_pod_facts(fixture, &changed[i]);
        if (cluster_version(fixture->cluster) == version)
            fail_msg("change %zu went unseen", i);
    }
}

/* kube-scheduler's message and the start time are stored and updated, but change no decision. */
static void test_messages_about_a_pod_do_not_raise_the_version(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = fixture_pod_facts(fixture, "p1", "", GPU "=1");
    fixture_put_pod_facts(fixture, &facts);
    const uint64_t version = cluster_version(fixture->cluster);
    const struct pod *pod = cluster_find_pod(fixture->cluster, "p1");
    assert_null(pod->unscheduled_reason);
    assert_null(pod->unscheduled_message);
    facts.unscheduled_reason = "Unschedulable";
    facts.unscheduled_message = "0/1 nodes are available";
    fixture_put_pod_facts(fixture, &facts);
    facts.unscheduled_message = "0/2 nodes are available";
    fixture_put_pod_facts(fixture, &facts);
    pod = cluster_find_pod(fixture->cluster, "p1");
    assert_string_equal(pod->unscheduled_reason, "Unschedulable");
    assert_string_equal(pod->unscheduled_message, "0/2 nodes are available");
    assert_null(pod->not_evaluated);
    facts.not_evaluated = "spec.volumes: data (csi)\n";
    fixture_put_pod_facts(fixture, &facts);
    pod = cluster_find_pod(fixture->cluster, "p1");
    assert_string_equal(pod->not_evaluated, "spec.volumes: data (csi)\n");
    assert_null(pod->controller);
    facts.controller = "Job/train";
    fixture_put_pod_facts(fixture, &facts);
    assert_string_equal(cluster_find_pod(fixture->cluster, "p1")->controller, "Job/train");
    facts.started_s = 7;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(cluster_find_pod(fixture->cluster, "p1")->started_s, 7);
    assert_int_equal(cluster_version(fixture->cluster), version);
    facts = fixture_pod_facts(fixture, "p1", "n1", GPU "=1");
    fixture_put_pod_facts(fixture, &facts);
    assert_null(cluster_find_pod(fixture->cluster, "p1")->not_evaluated);
    assert_null(cluster_find_pod(fixture->cluster, "p1")->unscheduled_message);
    assert_true(cluster_version(fixture->cluster) > version);
}

/* Those of the test below. */
static void check_classes(const struct cluster *cluster)
{
    static const struct {
        const char *name;
        int64_t value;
        bool is_default;
    } CLASSES[] = {
        {"high", 200, false}, {"usual", 50, true}, {"low", -5, true}, {"other", 70, true}};
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const void *object = NULL;
    const void *facts = NULL;
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++) {
        object = cluster_next_object(cluster, CLUSTER_PRIORITY_CLASSES, object, arena, &facts);
        const struct priority_class_facts *class = facts;
        assert_string_equal(class->name, CLASSES[i].name);
        assert_int_equal(class->value, CLASSES[i].value);
        assert_int_equal(class->is_default, CLASSES[i].is_default);
    }
    assert_null(cluster_next_object(cluster, CLUSTER_PRIORITY_CLASSES, object, arena, &facts));
}

static void test_namespaces_and_priority_classes(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    int64_t value = 77;
    assert_false(cluster_has_namespace(cluster, "ml"));
    assert_false(cluster_priority_of_class(cluster, "high", &value));
    assert_false(cluster_priority_of_class(cluster, "", &value));
    assert_int_equal(value, 77);
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "ml"});
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "ml"});
    assert_true(cluster_has_namespace(cluster, "ml"));
    assert_int_equal(cluster_n_namespaces(cluster), 1);

    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"high", 100, false, false});
    assert_false(cluster_priority_of_class(cluster, "", &value));
    assert_true(cluster_priority_of_class(cluster, "high", &value));
    assert_int_equal(value, 100);
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"high", 200, false, false});
    assert_true(cluster_priority_of_class(cluster, "high", &value));
    assert_int_equal(value, 200);
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_PRIORITY_CLASSES), 1);
    /* of several defaults, Kubernetes takes the lowest */
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"usual", 50, true, false});
    cluster_upsert_priority_class(cluster, &(struct priority_class_facts){"low", -5, true, false});
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"other", 70, true, false});
    assert_true(cluster_priority_of_class(cluster, "", &value));
    assert_int_equal(value, -5);
    check_classes(cluster);
}

/* Shows that the self-check can fail. */
static void test_the_self_check_finds_a_wrong_sum(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=2");
    struct node_resource *gpus = (struct node_resource *)(uintptr_t)resource_of(fixture, "n1", GPU);
    gpus->used = 3;
    struct err err = {""};
    /* the model's free GPUs and the hot part are wrong then too */
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), 3);
    assert_string_equal(err.text, "n1: nvidia.com/gpu is 3, should be 2");
    assert_int_equal(cluster_check_in_place(fixture->cluster, NULL), 3);
    gpus->used = 2;
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_node_has_the_facts_of_its_event),
        TEST(test_allocatable_defaults_to_the_whole_capacity),
        TEST(test_the_first_label_that_names_a_model_decides),
        TEST(test_gpu_memory_comes_from_the_label_else_from_the_name),
        TEST(test_nodes_come_in_the_order_of_their_insertion),
        TEST(test_a_running_pod_uses_its_demand),
        TEST(test_a_pod_has_the_facts_of_its_event),
        TEST(test_an_invalid_running_pod_counts),
        TEST(test_pods_without_a_node_are_kept_and_use_nothing),
        TEST(test_a_nomination_uses_no_resources),
        TEST(test_a_changed_demand_counts_at_once),
        TEST(test_the_holders_of_a_node),
        TEST(test_iteration_visits_each_pod_once),
        TEST(test_batch_lookup_equals_single_lookup),
        TEST(test_every_change_raises_the_version),
        TEST(test_every_fact_of_a_pod_counts_as_a_change),
        TEST(test_messages_about_a_pod_do_not_raise_the_version),
        TEST(test_namespaces_and_priority_classes),
        TEST(test_the_self_check_finds_a_wrong_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

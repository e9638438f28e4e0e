/*
 * prop_preempt: random questions of preempt, with lies in them, as kube-scheduler does not check
 * the answer (PROTOCOL 4.2).
 *
 * The answer names only nodes of the question, each with the victims and the number of the
 * question, and no victim that the ledger knows with a priority that is not below the pod's. Where
 * all pods are only observed, the answer equals the question. PREEMPT_ANSWERS in the environment:
 * how many questions, instead of 2,000; PREEMPT_SEED: another seed.
 */
#include "dice.h"
#include "extender/extender.h"
#include "fake_exchange.h"
#include "small_cluster.h"
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NODES 4U
#define PODS_PER_NODE 4U
#define N_PODS (N_NODES * PODS_PER_NODE)
#define N_PRIORITIES 4U

/* Pod p-N has N % N_PRIORITIES as its priority, and two of the eight GPUs of node n-(N /
 * PODS_PER_NODE). */
static char *cluster_text(void)
{
    json_t *items = json_array();
    for (unsigned i = 0; i < N_NODES; i++)
        json_array_append_new(
            items, json_pack("{s:s,s:s,s:{s:o,s:{s:s}},s:{s:{s:s,s:s}}}", "apiVersion", "v1",
                             "kind", "Node", "metadata", "name", json_sprintf("n-%u", i), "labels",
                             "nvidia.com/gpu.product", "Tesla-T4", "status", "allocatable",
                             "nvidia.com/gpu", "8", "pods", "110"));
    for (unsigned i = 0; i < N_PODS; i++)
        json_array_append_new(
            items,
            json_pack("{s:s,s:s,s:{s:o,s:s,s:o},s:{s:o,s:i,s:[{s:s,s:{s:{s:s}}}]}}", "apiVersion",
                      "v1", "kind", "Pod", "metadata", "name", json_sprintf("p-%u", i), "namespace",
                      "ml", "uid", json_sprintf("p-%u", i), "spec", "nodeName",
                      json_sprintf("n-%u", i / PODS_PER_NODE), "priority", (int)(i % N_PRIORITIES),
                      "containers", "name", "c", "resources", "limits", "nvidia.com/gpu", "2"));
    json_t *list = json_pack("{s:s,s:s,s:o}", "apiVersion", "v1", "kind", "List", "items", items);
    char *text = json_dumps(list, 0);
    assert_non_null(text);
    json_decref(list);
    return text;
}

/* Mostly pods of the node; else of another, the asking pod itself, or unknown ones. */
static json_t *random_victims(struct dice *dice, unsigned node, bool is_meta)
{
    json_t *pods = json_array();
    for (unsigned n = dice_below(dice, 5); n > 0; n--) {
        const unsigned own = node * PODS_PER_NODE + dice_below(dice, PODS_PER_NODE);
        const unsigned any = dice_below(dice, N_PODS + 3);
        json_t *uid = dice_one_in(dice, 12)
                          ? json_string("asks")
                          : json_sprintf("p-%u", dice_one_in(dice, 4) ? any : own);
        json_array_append_new(pods, is_meta ? json_pack("{s:o}", "UID", uid)
                                            : json_pack("{s:{s:o}}", "metadata", "uid", uid));
    }
    return json_pack("{s:o,s:i}", "Pods", pods, "NumPDBViolations", (int)dice_below(dice, 3));
}

static json_t *random_question(struct dice *dice, unsigned priority)
{
    const bool is_meta = dice_one_in(dice, 2);
    json_t *map = json_object();
    for (unsigned i = 0; i < N_NODES + 1; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n-%u", i); /* the last one does not exist */
        if (!dice_one_in(dice, 4))
            json_object_set_new(map, name, random_victims(dice, i, is_meta));
    }
    return json_pack("{s:{s:{s:s,s:s,s:s},s:{s:i,s:[{s:s,s:{s:{s:o}}}]}},s:o}", "Pod", "metadata",
                     "name", "asks", "namespace", "ml", "uid", "asks", "spec", "priority",
                     (int)priority, "containers", "name", "c", "resources", "limits",
                     "nvidia.com/gpu", json_sprintf("%u", 1 + dice_below(dice, 8)),
                     is_meta ? "NodeNameToMetaVictims" : "NodeNameToVictims", map);
}

static json_t *answer_to(struct extender *extender, json_t *question)
{
    char *body = json_dumps(question, 0);
    const struct fake_question asked = {.body = body, .len = strlen(body)};
    struct fake_answer answer = fake_ask(extender_preempt, extender, &asked);
    assert_int_equal(answer.status, 200);
    json_t *result = json_loads(answer.body, 0, NULL);
    assert_non_null(result);
    fake_answer_fini(&answer);
    free(body);
    return result;
}

static const char *uid_of(const json_t *pod)
{
    const json_t *metadata = json_object_get(pod, "metadata");
    return json_string_value(metadata ? json_object_get(metadata, "uid")
                                      : json_object_get(pod, "UID"));
}

static bool is_known_with(const char *uid, unsigned priority)
{
    char *end = NULL;
    if (strncmp(uid, "p-", 2) != 0)
        return false;
    const unsigned pod = (unsigned)strtoul(&uid[2], &end, 10);
    return end > &uid[2] && pod < N_PODS && pod % N_PRIORITIES >= priority;
}

static void check_node(const json_t *asked, const json_t *answered, unsigned priority,
                       bool is_observed)
{
    const json_t *pods = json_object_get(asked, "Pods");
    const json_t *named = json_object_get(answered, "Pods");
    assert_true(json_equal(json_object_get(asked, "NumPDBViolations"),
                           json_object_get(answered, "NumPDBViolations")));
    assert_int_equal(json_array_size(named), json_array_size(pods));
    for (size_t i = 0; i < json_array_size(pods); i++) {
        const char *uid = uid_of(json_array_get(named, i));
        assert_string_equal(uid, uid_of(json_array_get(pods, i)));
        if (!is_observed && is_known_with(uid, priority))
            fail_msg("%s would be evicted for a pod of priority %u", uid, priority);
    }
}

/* Returns the number of nodes in the answer. */
static size_t ask_once(struct extender *extender, struct dice *dice, bool is_observed)
{
    const unsigned priority = dice_below(dice, N_PRIORITIES + 1);
    json_t *question = random_question(dice, priority);
    json_t *asked = json_object_get(question, "NodeNameToMetaVictims");
    if (!asked)
        asked = json_object_get(question, "NodeNameToVictims");
    json_t *result = answer_to(extender, question);
    json_t *answered = json_object_get(result, "NodeNameToMetaVictims");
    const size_t n = json_object_size(answered);
    const char *node = NULL;
    json_t *victims = NULL;
    json_object_foreach (answered, node, victims) {
        assert_non_null(json_object_get(asked, node));
        check_node(json_object_get(asked, node), victims, priority, is_observed);
    }
    json_object_foreach (asked, node, victims)
        assert_true(!is_observed || json_array_size(json_object_get(victims, "Pods")) == 0 ||
                    json_object_get(answered, node));
    json_decref(result);
    json_decref(question);
    return n;
}

static void ask_all(enum policy_mode mode, uint64_t seed)
{
    const unsigned n = (unsigned)dice_number_from("PREEMPT_ANSWERS", 2000);
    struct dice dice = {seed};
    struct small_cluster cluster;
    size_t n_nodes = 0;
    char *text = cluster_text();
    small_cluster_init(&cluster, NULL);
    cluster.policy.mode = mode;
    struct err err;
    assert_return_code(small_cluster_load(&cluster, text, &err), errno);
    struct extender extender = {.inventory = cluster.inventory};
    for (unsigned i = 0; i < n; i++)
        n_nodes += ask_once(&extender, &dice, mode == MODE_OBSERVE);
    assert_true(n_nodes > n / 4);
    assert_true(counter_value(&extender.n_preempt_dropped) > n / 4);
    small_cluster_fini(&cluster);
    free(text);
}

static void test_no_answer_names_whom_kube_scheduler_did_not_or_may_not_evict(void **state)
{
    (void)state;
    ask_all(MODE_ENFORCE, dice_number_from("PREEMPT_SEED", 20261129));
}

static void test_an_observed_answer_is_the_question(void **state)
{
    (void)state;
    ask_all(MODE_OBSERVE, dice_number_from("PREEMPT_SEED", 20261130));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_answer_names_whom_kube_scheduler_did_not_or_may_not_evict),
        cmocka_unit_test(test_an_observed_answer_is_the_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

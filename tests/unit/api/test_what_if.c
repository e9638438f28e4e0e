/* api: what-ifs over a small cluster without HTTP. Answers are compared in tests/wire. */
#include "ask.h"

#define POD(name, kind, on)                                                                        \
    "- {kind: Pod, metadata: {name: " name ", namespace: ml, uid: u-" name                         \
    ", labels: {app: web}, ownerReferences: [{kind: " kind ", name: web, uid: o, controller: "     \
    "true}]}, spec: {nodeName: " on ", containers: [{name: c}]}, status: {phase: Running}}\n"
/* clang-format off */
static const char CLUSTER[] =
    "apiVersion: v1\nkind: List\nitems:\n"
    "- {kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 8, pods: 9}}}\n"
    "- {kind: PodDisruptionBudget, metadata: {name: b, namespace: ml}, spec: {selector: {}}}\n"
    POD("web", "Job", "a") POD("agent", "DaemonSet", "a");
/* clang-format on */

/* The exchange, and all that is in its memory, ends with the answer. */
static void test_nothing_of_the_exchange_is_used_after_the_answer(void **state)
{
    static const struct {
        const char *body;
        unsigned status;
    } QUESTIONS[] = {
        {"{\"changes\": [{\"drain\": [\"a\"]}, {\"addNodes\": {\"like\": \"a\"}}]}", 200},
        {"{\"changes\": [{\"drain\": [\"a\"]}, {\"cordon\": [\"gone\"]}]}", 404},
        {"{\"changes\": [{\"drain\": [\"a\"]}], \"workloads\": [1]}", 400},
        {"{\"changes\": [{\"drain\": [1]}]}", 400},
        {"{", 400},
    };
    struct ask *ask = *state;
    struct err err;
    if (small_cluster_load(&ask->cluster, CLUSTER, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++)
        free(ask_text(ask, api_what_if, QUESTIONS[i].body, NULL, QUESTIONS[i].status,
                      "application/json"));
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        ASK_TEST(test_nothing_of_the_exchange_is_used_after_the_answer),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}

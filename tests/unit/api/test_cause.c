/* cause: which of the reasons on several nodes decides. Each row has nodes, and what the pod asks
 * for; tests/wire/test_verdicts.py has the sentences. */
#include "api/verdicts/cause.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define CORDONED "cordoned"
#define NODES_MAX 4

struct described_node {
    const char *name, *amounts, *labels;
    const char *taints; /* or CORDONED */
    const char *used;   /* NULL: no pod is there */
};

struct row {
    const char *what;
    struct described_node nodes[NODES_MAX]; /* up to one without a name */
    const char *demand, *selector;
    const char *node;
    enum verdict_cause cause;
    bool is_alone, lacks_amounts;
};

#define ROOM GPU "=8 cpu=64000 memory=1000 pods=10"
#define T4 "accelerator=T4,zone=a"

static const struct row ROWS[] = {
    {"no nodes", {{NULL, NULL, NULL, NULL, NULL}}, GPU "=1", "", NULL, CAUSE_TOTAL, false, false},
    {"the only one is in use",
     {{"a", ROOM, T4, "", GPU "=6"}},
     GPU "=4",
     "",
     "a",
     CAUSE_FREE_GPUS,
     true,
     false},
    {"the one that lacks the fewest",
     {{"a", ROOM, T4, "", GPU "=6"}, {"b", ROOM, T4, "", GPU "=5"}, {"c", ROOM, T4, "", GPU "=7"}},
     GPU "=4",
     "",
     "b",
     CAUSE_FREE_GPUS,
     true,
     false},
    {"free GPUs before CPU",
     {{"a", ROOM, T4, "", "cpu=63000"}, {"b", ROOM, T4, "", GPU "=8"}},
     GPU "=1 cpu=2000",
     "",
     "b",
     CAUSE_FREE_GPUS,
     true,
     false},
    {"CPU before a total",
     {{"a", GPU "=2 cpu=64000 pods=10", T4, "", NULL}, {"b", ROOM, T4, "", "cpu=63000"}},
     GPU "=4 cpu=2000",
     "",
     "b",
     CAUSE_RESOURCES,
     true,
     false},
    {"the largest total",
     {{"a", GPU "=2 pods=10", T4, "", NULL}, {"b", GPU "=4 pods=10", T4, "", GPU "=4"}},
     GPU "=16",
     "",
     "b",
     CAUSE_TOTAL,
     true,
     false},
    {"a cordoned node before a taint",
     {{"a", ROOM, T4, "team=ml:NoSchedule", NULL}, {"b", ROOM, T4, CORDONED, NULL}},
     GPU "=4",
     "",
     "b",
     CAUSE_CLOSED,
     true,
     false},
    {"a taint before a label",
     {{"a", ROOM, "accelerator=T4,zone=b", "", NULL}, {"b", ROOM, T4, "team=ml:NoSchedule", NULL}},
     GPU "=4",
     "zone In a",
     "b",
     CAUSE_TAINT,
     true,
     false},
    {"two amounts",
     {{"a", ROOM, T4, "", GPU "=6 cpu=63000"}},
     GPU "=4 cpu=2000",
     "",
     "a",
     CAUSE_FREE_GPUS,
     false,
     true},
    {"one obstacle there, two amounts here",
     {{"a", ROOM, T4, "", GPU "=5 cpu=63000"}, {"b", ROOM, T4, "team=ml:NoSchedule", NULL}},
     GPU "=4 cpu=2000",
     "",
     "b",
     CAUSE_TAINT,
     true,
     false},
    {"what rejects most",
     {{"a", ROOM, "accelerator=T4,zone=b", "team=ml:NoSchedule", NULL},
      {"b", ROOM, "accelerator=T4,zone=b", "team=ml:NoSchedule", NULL},
      {"c", GPU "=1 pods=10", "accelerator=T4,zone=b", "", NULL}},
     GPU "=4",
     "zone In a",
     "a",
     CAUSE_TAINT,
     false,
     false},
};

static void put(struct fixture *fixture, const struct described_node *described)
{
    struct node_facts facts =
        fixture_node_facts(fixture, described->name, described->amounts, described->labels);
    facts.unschedulable = strcmp(described->taints, CORDONED) == 0;
    if (!facts.unschedulable)
        facts.taints = fixture_taints(fixture, described->taints, &facts.n_taints);
    fixture_put_node_facts(fixture, &facts);
    if (described->used)
        fixture_put_pod(fixture, described->name, described->name, described->used);
}

static void check(const struct row *row)
{
    void *state = NULL;
    struct models_here models = MODELS_HERE_START;
    (void)fixture_setup(&state);
    struct fixture *fixture = state;
    for (size_t i = 0; i < NODES_MAX && row->nodes[i].name; i++)
        put(fixture, &row->nodes[i]);
    struct shape_facts facts = fixture_shape_facts(fixture, row->demand);
    facts.node_selector = fixture_term(fixture, row->selector);
    const struct fit_question question = fixture_question(fixture, &facts);
    struct candidates candidates = candidates_of(fixture->cluster, &models, fixture->arena);
    candidates_judge(&candidates, &question);
    const struct decisive_cause found = cause_find(&candidates, &question);
    const char *node = found.node ? node_name(found.node) : "none";
    if (candidates.n_fitting > 0 || found.cause != row->cause ||
        strcmp(node, row->node ? row->node : "none") != 0 || found.is_alone != row->is_alone ||
        found.lacks_amounts != row->lacks_amounts)
        fail_msg("%s: %s on %s, alone %d, amounts %d", row->what, cause_name(found.cause), node,
                 found.is_alone, found.lacks_amounts);
    (void)fixture_teardown(&state);
}

static void test_each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        check(&ROWS[i]);
}

static void test_each_cause_has_a_name(void **state)
{
    (void)state;
    for (enum verdict_cause cause = CAUSE_NONE; cause < N_CAUSES; cause++)
        assert_true(cause_name(cause) && (cause == CAUSE_NONE) == (cause_name(cause)[0] == '\0'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_row),
        cmocka_unit_test(test_each_cause_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

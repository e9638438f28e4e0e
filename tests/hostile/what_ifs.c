/* what_ifs: see what_ifs.h. To add one, write a function that makes its body, and a row in the
 * table below. Bounds are about three times the values seen. */
#include "what_ifs.h"
#include "attacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes over the changes. */
static char *body_of(json_t *changes)
{
    json_auto_t *body = json_pack("{s:o}", "changes", changes);
    return json_dumps(body, JSON_COMPACT);
}

static json_t *names_of(size_t n, const char *name)
{
    json_t *names = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(names, json_string(name));
    return names;
}

static void add(json_t *changes, const char *kind, json_t *value)
{
    (void)json_array_append_new(changes, json_pack("{s:o}", kind, value));
}

/* ---- many edits ---- */

static char *the_same_node_again(void)
{
    json_t *changes = json_array();
    add(changes, "drain", names_of(5000, "node-0"));
    add(changes, "cordon", names_of(5000, "node-0"));
    return body_of(changes);
}

/* Each added node is the model of the next. */
static char *copies_of_copies(void)
{
    json_t *changes = json_array();
    char name[32] = "node-0";
    for (size_t i = 0; i < 20; i++) {
        add(changes, "addNodes", json_pack("{s:s, s:i}", "like", name, "count", 250));
        (void)snprintf(name, sizeof name, "node-0-new-%zu", i + 1);
        if (i > 0)
            (void)snprintf(name, sizeof name, "node-0");
    }
    return body_of(changes);
}

static char *many_changes(void)
{
    json_t *changes = json_array();
    for (size_t i = 0; i < 1000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "node-%zu", i % ATTACKED_NODES);
        if (i % 3 == 0)
            add(changes, "addNodes", json_pack("{s:s, s:i}", "like", name, "count", 10));
        else
            add(changes, i % 3 == 1 ? "drain" : "cordon", json_pack("[s]", name));
    }
    return body_of(changes);
}

static char *many_policies(void)
{
    json_t *changes = json_array();
    for (size_t i = 0; i < 100; i++)
        add(changes, "placement", json_pack("{s:s}", "policy", i % 2 ? "spread" : "binpack"));
    return body_of(changes);
}

/* ---- what is no change ---- */

static char *absurd_counts(void)
{
    json_t *changes = json_array();
    for (size_t i = 0; i < 1000; i++)
        add(changes, "addNodes",
            json_pack("{s:s, s:I}", "like", "node-0", "count", (json_int_t)INT64_MAX - (int)i));
    return body_of(changes);
}

static char *deep_values(void)
{
    const size_t n = 500000;
    char *body = malloc(n + 32);
    const int len = body ? snprintf(body, 32, "{\"changes\":") : 0;
    if (!body)
        abort();
    memset(body + len, '[', n);
    body[(size_t)len + n] = '\0';
    return body;
}

static char *wrong_types(void)
{
    json_t *changes = json_array();
    for (size_t i = 0; i < 999; i++)
        add(changes, "cordon", json_pack("[s]", "node-0"));
    add(changes, "drain", json_pack("[s, n, {s:[]}, i, b]", "node-0", "a", 1, 1));
    return body_of(changes);
}

/* Also formats, patterns, paths and terminal codes. */
static char *control_characters(void)
{
    json_t *changes = json_array();
    add(changes, "cordon", json_pack("[s]", "node-0"));
    add(changes, "drain",
        json_pack("[s]", "\x1b[31m%n%s%1000000d*../..\n\x7f\xe2\x80\xae<script>\"\\"));
    return body_of(changes);
}

/* Each is compared with all names for the nearest; only the first is reported. */
static char *names_that_do_not_exist(void)
{
    json_t *changes = json_array();
    add(changes, "removePods", names_of(10000, "tenant/hostile-x"));
    return body_of(changes);
}

static char *long_names(void)
{
    char name[100000];
    json_t *changes = json_array();
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    add(changes, "drain", names_of(80, name));
    return body_of(changes);
}

/* ---- what tenants have there ---- */

static json_t *owned_pod(size_t i, json_t *labels)
{
    char name[32], uid[48];
    (void)snprintf(name, sizeof name, "hostile-%zu", i);
    (void)snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012zu", i);
    return json_pack("{s:s, s:{s:s, s:s, s:s, s:o, s:[{s:s, s:s, s:s, s:b}]}, s:{s:s, s:[{s:s}]}, "
                     "s:{s:s, s:[{s:s, s:s}]}}",
                     "kind", "Pod", "metadata", "name", name, "namespace", "tenant", "uid", uid,
                     "labels", labels, "ownerReferences", "kind", "Job", "name", name, "uid", uid,
                     "controller", 1, "spec", "nodeName", "node-0", "containers", "name", "c",
                     "status", "phase", "Running", "conditions", "type", "Ready", "status", "True");
}

/* Each is of another kind, so that nothing is known of the next. */
static json_t *pods_to_drain(void)
{
    json_t *objects = json_array();
    for (size_t i = 0; i < 5000; i++)
        (void)json_array_append_new(
            objects, owned_pod(i, json_pack("{s:o}", "app", json_sprintf("app-%zu", i))));
    return objects;
}

static json_t *monstrous_budget(size_t i)
{
    json_t *values = json_array();
    for (size_t v = 0; v < 500; v++)
        (void)json_array_append_new(values, json_sprintf("value-%zu-%zu", i, v));
    json_t *expressions = json_array();
    for (size_t e = 0; e < 4; e++)
        (void)json_array_append_new(expressions,
                                    json_pack("{s:s, s:s, s:O}", "key", e % 2 ? "app" : "tier",
                                              "operator", "NotIn", "values", values));
    json_decref(values);
    return json_pack("{s:s, s:{s:s, s:o}, s:{s:{s:o}}, s:{s:i}}", "kind", "PodDisruptionBudget",
                     "metadata", "namespace", "tenant", "name", json_sprintf("hostile-%zu", i),
                     "spec", "selector", "matchExpressions", expressions, "status",
                     "disruptionsAllowed", 1);
}

static json_t *pods_and_budgets(void)
{
    json_t *objects = pods_to_drain();
    for (size_t i = 0; i < 500; i++)
        (void)json_array_append_new(objects, monstrous_budget(i));
    return objects;
}

/* Copied to each added node. */
static json_t *slices_without_devices(void)
{
    json_t *objects = json_array();
    for (size_t i = 0; i < 500; i++)
        (void)json_array_append_new(
            objects,
            json_pack("{s:s, s:{s:o}, s:{s:s, s:s, s:{s:o, s:i, s:i}}}", "kind", "ResourceSlice",
                      "metadata", "name", json_sprintf("hostile-%zu", i), "spec", "driver",
                      "nic.example.com", "nodeName", "node-0", "pool", "name",
                      json_sprintf("pool-%zu", i), "generation", 1, "resourceSliceCount", 1));
    return objects;
}

static char *drain_of_the_node(void)
{
    json_t *changes = json_array();
    add(changes, "drain", json_pack("[s]", "node-0"));
    return body_of(changes);
}

static char *thousands_like_the_node(void)
{
    json_t *changes = json_array();
    add(changes, "addNodes", json_pack("{s:s, s:i}", "like", "node-0", "count", 5000));
    return body_of(changes);
}

#define SHORT_BYTES ((size_t)4 << 10)
#define LONG_BYTES ((size_t)4 << 20)

const struct hostile_what_if WHAT_IFS[] = {
    /* name, target, objects, body, status, CPU ms, bytes of the answer */
    {"what-if-same-node", "10,000 names of one node", NULL, the_same_node_again, 200, 1000,
     LONG_BYTES},
    {"what-if-copies", "5,000 nodes, also like added ones", NULL, copies_of_copies, 200, 600,
     LONG_BYTES},
    {"what-if-changes", "1,000 changes by turns", NULL, many_changes, 200, 600, LONG_BYTES},
    {"what-if-policies", "100 changes of the policy", NULL, many_policies, 200, 200, LONG_BYTES},
    {"what-if-counts", "counts near the largest number", NULL, absurd_counts, 413, 100,
     SHORT_BYTES},
    {"what-if-deep", "500,000 arrays, one in another", NULL, deep_values, 400, 100, SHORT_BYTES},
    {"what-if-types", "a wrong type after 999 changes", NULL, wrong_types, 400, 100, SHORT_BYTES},
    {"what-if-controls", "control characters and formats in a name", NULL, control_characters, 404,
     100, SHORT_BYTES},
    {"what-if-nobody", "10,000 names of a pod that does not exist", pods_to_drain,
     names_that_do_not_exist, 404, 300, SHORT_BYTES},
    {"what-if-long-names", "names of 100,000 characters", NULL, long_names, 404, 600, SHORT_BYTES},
    {"what-if-budgets", "5,000 different pods and 500 budgets of 2,000 values", pods_and_budgets,
     drain_of_the_node, 200, 2500, LONG_BYTES},
    {"what-if-slices", "5,000 nodes with 500 slices without devices", slices_without_devices,
     thousands_like_the_node, 413, 8000, SHORT_BYTES},
};

const size_t N_WHAT_IFS = sizeof WHAT_IFS / sizeof *WHAT_IFS;

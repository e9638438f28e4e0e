/*
 * attacks: see attacks.h. To add one, write a function that makes its pods, and a row in the table
 * below. Bounds are about three times the values seen. Anything that grows with the product of two
 * things that tenants choose exceeds them by far.
 */
#include "attacks.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Valid for four more calls. */
static const char *text_of(const char *prefix, size_t number)
{
    static char texts[4][128];
    static size_t n;
    char *text = texts[n++ % 4];
    (void)snprintf(text, sizeof texts[0], "%s%zu", prefix, number);
    return text;
}

/* The longest name: labels of 63 characters. The API server assigns UIDs of 36. */
static const char *long_name(size_t i)
{
    static char names[2][254];
    char *name = names[i % 2];
    memset(name, 'a', 253);
    for (size_t at = 63; at < 240; at += 64)
        name[at] = '.';
    (void)snprintf(&name[240], sizeof names[0] - 240, "%013zu", i);
    return name;
}

/* A pod with one container without requests. node NULL: pending. */
static json_t *pod_of(size_t i, const char *node)
{
    char uid[40];
    (void)snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012zu", i);
    json_t *pod =
        json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:[{s:s, s:{s:{}}}]}, s:{s:s}}", "apiVersion",
                  "v1", "kind", "Pod", "metadata", "name", text_of("hostile-", i), "namespace",
                  "tenant", "uid", uid, "spec", "containers", "name", "c", "resources", "requests",
                  "status", "phase", node ? "Running" : "Pending");
    if (node)
        (void)json_object_set_new(json_object_get(pod, "spec"), "nodeName", json_string(node));
    return pod;
}

static json_t *node_name_of(size_t i)
{
    return json_string(text_of("node-", i % ATTACKED_NODES));
}

static json_t *pod_on_some_node(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    (void)json_object_set_new(json_object_get(pod, "spec"), "nodeName", node_name_of(i));
    return pod;
}

static json_t *requests_of(json_t *pod)
{
    json_t *containers = json_object_get(json_object_get(pod, "spec"), "containers");
    json_t *resources = json_object_get(json_array_get(containers, 0), "resources");
    return json_object_get(resources, "requests");
}

static json_t *part_of(json_t *pod, const char *parent, const char *name, json_t *part)
{
    (void)json_object_set_new(json_object_get(pod, parent), name, part);
    return part;
}

static void ask(json_t *pod, const char *resource, const char *amount)
{
    (void)json_object_set_new(requests_of(pod), resource, json_string(amount));
}

/* kubelet removes requests that the node lacks, so these pods run. */
static json_t *invented_resources(size_t i)
{
    json_t *pod = pod_on_some_node(i);
    for (size_t r = 0; r < 250; r++)
        ask(pod, text_of("example.com/invented-", r), text_of("1", i));
    return pod;
}

static json_t *invented_mig(size_t i)
{
    json_t *pod = pod_on_some_node(i);
    for (size_t r = 0; r < 250; r++)
        ask(pod, text_of("nvidia.com/mig-", r), "1");
    return pod;
}

static json_t *many_on_one_node(size_t i)
{
    json_t *pod = pod_of(i, "node-0");
    ask(pod, "cpu", text_of("1", i));
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

static json_t *nodes_that_do_not_exist(size_t i)
{
    char node[64];
    (void)snprintf(node, sizeof node, "no-such-node-%zu", i);
    json_t *pod = pod_of(i, node);
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

static json_t *huge_amounts(size_t i)
{
    json_t *pod = pod_of(i, "node-0");
    ask(pod, "nvidia.com/gpu", "9223372036854775807");
    ask(pod, "memory", "9223372036854775807");
    return pod;
}

static json_t *labels(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    json_t *map = part_of(pod, "metadata", "labels", json_object());
    for (size_t l = 0; l < 1000; l++)
        (void)json_object_set_new(map, text_of("example.com/label-", l),
                                  json_string(text_of("value-", i)));
    return pod;
}

static json_t *annotations(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    json_t *map = part_of(pod, "metadata", "annotations", json_object());
    for (size_t l = 0; l < 1000; l++)
        (void)json_object_set_new(map, text_of("gpu-extender.io/annotation-", l),
                                  json_string(text_of("value-", i)));
    return pod;
}

static json_t *tolerations(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    json_t *list = part_of(pod, "spec", "tolerations", json_array());
    for (size_t t = 0; t < 200; t++)
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key",
                                                    text_of("example.com/key-", t), "operator",
                                                    "Equal", "value", text_of("", i)));
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

static json_t *owner_references(size_t i)
{
    json_t *pod = pod_on_some_node(i);
    json_t *list = part_of(pod, "metadata", "ownerReferences", json_array());
    for (size_t o = 0; o < 500; o++)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:b}", "kind", "ReplicaSet", "name", "x", "uid",
                            text_of("owner-", 1000 * i + o), "controller", o == 0));
    return pod;
}

/* All replicas of one owner, each on its own node. */
static json_t *one_owner_everywhere(size_t i)
{
    json_t *pod = nodes_that_do_not_exist(i);
    json_t *list = part_of(pod, "metadata", "ownerReferences", json_array());
    (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b}", "kind", "ReplicaSet",
                                                "name", "x", "uid", "owner", "controller", 1));
    return pod;
}

static json_t *long_names(size_t i)
{
    json_t *pod = pod_of(i, long_name(i));
    json_t *metadata = json_object_get(pod, "metadata");
    (void)json_object_set_new(metadata, "name", json_string(long_name(i)));
    (void)json_object_set_new(json_object_get(pod, "spec"), "priorityClassName",
                              json_string(long_name(i + 1)));
    return pod;
}

static json_t *containers(size_t i)
{
    json_t *pod = pod_on_some_node(i);
    json_t *list = json_object_get(json_object_get(pod, "spec"), "containers");
    for (size_t c = 0; c < 1000; c++)
        (void)json_array_append_new(list, json_pack("{s:s, s:{s:{s:s, s:s}}}", "name",
                                                    text_of("c", c), "resources", "requests", "cpu",
                                                    "1m", "nvidia.com/gpu", text_of("", i % 3)));
    return pod;
}

static json_t *nominated_to_one_node(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    (void)part_of(pod, "status", "nominatedNodeName", json_string("node-0"));
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

static json_t *nominated_elsewhere(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    (void)part_of(pod, "status", "nominatedNodeName", json_string(text_of("no-such-node-", i)));
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

static json_t *zero_names(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    for (size_t r = 0; r < 20000; r++)
        ask(pod, text_of("example.com/", r), "0");
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

/* With a node affinity for one of n_hosts hosts that no other pod names. */
static json_t *pod_with_hosts(size_t i, size_t n_hosts)
{
    json_t *pod = pod_of(i, NULL);
    json_t *values = json_array();
    for (size_t h = 0; h < n_hosts; h++)
        (void)json_array_append_new(values, json_sprintf("%zu-%zu", i, h));
    json_t *required =
        json_pack("{s:[{s:[{s:s, s:s, s:o}]}]}", "nodeSelectorTerms", "matchExpressions", "key",
                  "kubernetes.io/hostname", "operator", "In", "values", values);
    (void)json_object_set_new(json_object_get(pod, "spec"), "affinity",
                              json_pack("{s:{s:o}}", "nodeAffinity",
                                        "requiredDuringSchedulingIgnoredDuringExecution",
                                        required));
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

static json_t *huge_affinity(size_t i)
{
    return pod_with_hosts(i, 100000);
}

static json_t *own_affinity(size_t i)
{
    return pod_with_hosts(i, 1000);
}

/* Quadratic work takes seconds. The thread CPU clock may tick every 10 ms. */
#define HOLD_MS 200
#define FILTER_MS 60

/* The first ones name a few each, which are kept. So all names are known when others name 256 of
 * them and exceed limits.podShapeBytes. */
static json_t *names_of_others(size_t i)
{
    enum { N_KEPT = 8, N_NAMES = 256, N_FEW = N_NAMES / N_KEPT };
    json_t *pod = pod_on_some_node(i);
    const size_t first = i < N_KEPT ? i * N_FEW : 0;
    const size_t n = i < N_KEPT ? N_FEW : N_NAMES;
    char amount[24];
    (void)snprintf(amount, sizeof amount, "%zu", i + 1);
    for (size_t k = first; k < first + n; k++) {
        char name[260];
        (void)snprintf(name, sizeof name, "%s/r", long_name(k));
        ask(pod, name, amount);
    }
    return pod;
}

/* A ResourceClaim of the tenant. */
static json_t *claim_of(size_t i, json_t *requests)
{
    char uid[40];
    (void)snprintf(uid, sizeof uid, "00000000-0000-4000-8001-%012zu", i);
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:{s:o}}, s:{}}", "apiVersion",
                     "resource.k8s.io/v1", "kind", "ResourceClaim", "metadata", "name",
                     text_of("hostile-", i), "namespace", "tenant", "uid", uid, "spec", "devices",
                     "requests", requests, "status");
}

static json_t *claims(size_t i)
{
    json_t *requests = json_array();
    for (size_t r = 0; r < 4; r++) {
        json_t *alternatives = json_array();
        for (size_t a = 0; a < 8; a++)
            (void)json_array_append_new(alternatives,
                                        json_pack("{s:s, s:s, s:I}", "name", text_of("a", a),
                                                  "deviceClassName", text_of("class-", i), "count",
                                                  (json_int_t)INT64_MAX));
        (void)json_array_append_new(requests, json_pack("{s:s, s:o}", "name", text_of("r", r),
                                                        "firstAvailable", alternatives));
    }
    return claim_of(i, requests);
}

static json_t *claim_templates(size_t i)
{
    json_t *requests = json_array();
    for (size_t r = 0; r < 32; r++)
        (void)json_array_append_new(requests,
                                    json_pack("{s:s, s:{s:s, s:I}}", "name", text_of("r", r),
                                              "exactly", "deviceClassName", long_name(i * 32 + r),
                                              "count", (json_int_t)INT64_MAX));
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:{s:o}}}}", "apiVersion",
                     "resource.k8s.io/v1", "kind", "ResourceClaimTemplate", "metadata", "name",
                     long_name(i), "namespace", "tenant", "spec", "spec", "devices", "requests",
                     requests);
}

/* The device k of the pool of a node. */
static json_t *result_of(const char *pool, size_t k)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "request", "r", "driver", "gpu.amd.com", "pool",
                     pool, "device", text_of("gpu-", k), "shareID",
                     "11111111-2222-3333-4444-555555555555");
}

static json_t *allocate(json_t *claim, json_t *results)
{
    return part_of(claim, "status", "allocation",
                   json_pack("{s:{s:o}}", "devices", "results", results));
}

static json_t *claims_of_one_device(size_t i)
{
    json_t *claim = claim_of(i, json_array());
    json_t *results = json_array();
    (void)json_array_append_new(results, result_of("node-0", 0));
    (void)allocate(claim, results);
    return claim;
}

static json_t *claims_of_capacity(size_t i)
{
    json_t *claim = claim_of(i, json_array());
    json_t *results = json_array();
    for (size_t k = 0; k < 32; k++) {
        char name[1000];
        (void)snprintf(name, sizeof name, "%0*zu", (int)sizeof name - 1, 32 * i + k);
        json_t *result = result_of("node-0", k);
        (void)json_object_set_new(result, "consumedCapacity", json_pack("{s:s}", name, "1"));
        (void)json_array_append_new(results, result);
    }
    (void)allocate(claim, results);
    return claim;
}

static json_t *crowded_claims(size_t i)
{
    json_t *claim = claim_of(i, json_array());
    json_t *results = json_array();
    json_t *holders = json_array();
    for (size_t k = 0; k < 32; k++)
        (void)json_array_append_new(results, result_of(text_of("pool-", i), k));
    for (size_t k = 0; k < 256; k++) {
        char uid[40];
        (void)snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012zu", 256 * i + k);
        (void)json_array_append_new(
            holders, json_pack("{s:s, s:s, s:s}", "resource", "pods", "name", "p", "uid", uid));
    }
    (void)allocate(claim, results);
    (void)part_of(claim, "status", "reservedFor", holders);
    return claim;
}

/* A slice of the node i, with a pool of its own, complete with n_slices. */
static json_t *slice_of(size_t i, size_t pool, json_int_t generation, json_int_t n_slices)
{
    json_t *slice =
        json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:{s:s, s:I, s:I}}}", "apiVersion",
                  "resource.k8s.io/v1", "kind", "ResourceSlice", "metadata", "name",
                  text_of("slice-", i), "spec", "driver", "gpu.amd.com", "pool", "name",
                  text_of("node-", pool), "generation", generation, "resourceSliceCount", n_slices);
    (void)part_of(slice, "spec", "nodeName", node_name_of(pool));
    return slice;
}

static json_t *wide_slices(size_t i)
{
    json_t *slice = slice_of(i, i, 1, 1);
    json_t *devices = part_of(slice, "spec", "devices", json_array());
    for (size_t d = 0; d < 128; d++) {
        json_t *attributes = json_object();
        for (size_t a = 0; a < 31; a++)
            (void)json_object_set_new(
                attributes, text_of("attribute-", a),
                json_pack("{s:s}", "string", text_of("value-", 1000 * i + d)));
        (void)json_object_set_new(
            attributes, "productName",
            json_pack("{s:o}", "string", json_sprintf("AMD Instinct MI%zuX", 100 + i)));
        (void)json_array_append_new(
            devices, json_pack("{s:s, s:o}", "name", text_of("gpu-", d), "attributes", attributes));
    }
    return slice;
}

/* Each of its own, and none exists. */
static json_t *pods_with_claims(size_t i)
{
    json_t *pod = pod_of(i, NULL);
    json_t *list = part_of(pod, "spec", "resourceClaims", json_array());
    for (size_t c = 0; c < 64; c++)
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "name", text_of("claim-", c),
                                                    "resourceClaimName", long_name(i * 64 + c)));
    ask(pod, "nvidia.com/gpu", "1");
    return pod;
}

static json_t *set_of(const char *member, size_t number, const char *amount)
{
    return json_pack("{s:s, s:{s:{s:s}, s:{s:s}}}", member, text_of("set-", number), "counters",
                     "memory", "value", amount, "multiprocessors", "value", "9223372036854775807");
}

/* The sets of a pool in the even slices, the devices that consume them in the odd ones. */
static json_t *counters(size_t i)
{
    json_t *slice = slice_of(i, i / 2, 1, 2);
    json_t *list = part_of(slice, "spec", i % 2 == 0 ? "sharedCounters" : "devices", json_array());
    for (size_t k = 0; k < (i % 2 == 0 ? 8 : 64); k++) {
        json_t *item = i % 2 == 0
                           ? set_of("name", k, "9223372036854775807")
                           : json_pack("{s:s, s:[o, o]}", "name", text_of("gpu-", k),
                                       "consumesCounters", set_of("counterSet", k % 8, "16Ei"),
                                       set_of("counterSet", (k + 1) % 8, "1"));
        (void)json_array_append_new(list, item);
    }
    return slice;
}

/* Each slice comes 20 times, with a lower generation each time. */
static json_t *generations(size_t i)
{
    json_t *slice = slice_of(i % 50, i % 50, (json_int_t)(2000 - i), 50);
    json_t *devices = part_of(slice, "spec", "devices", json_array());
    (void)json_object_set_new(json_object_get(json_object_get(slice, "spec"), "pool"), "name",
                              json_string("one"));
    for (size_t d = 0; d < 16; d++)
        (void)json_array_append_new(devices, json_pack("{s:s}", "name", text_of("gpu-", d)));
    return slice;
}

/* 128 devices of 32 attributes and capacities, with values of the longest kind, all different. */
static json_t *longest_attributes(size_t i)
{
    json_t *slice = slice_of(i, i, 1, 1);
    json_t *devices = part_of(slice, "spec", "devices", json_array());
    for (size_t d = 0; d < 128; d++) {
        json_t *attributes = json_object();
        for (size_t a = 0; a < 32; a++)
            (void)json_object_set_new(
                attributes, text_of("example.com/a-name-of-32-characters-----", a),
                json_pack("{s:o}", "string", json_sprintf("%064zu", (i * 128 + d) * 32 + a)));
        (void)json_array_append_new(
            devices, json_pack("{s:s, s:o}", "name", text_of("gpu-", d), "attributes", attributes));
    }
    return slice;
}

/* The same, all of one node. */
static json_t *longest_of_one_node(size_t i)
{
    json_t *slice = longest_attributes(i);
    (void)part_of(slice, "spec", "nodeName", json_string("node-0"));
    return slice;
}

/* Small ones with long names and pools of their own, all of one node. */
static json_t *many_of_one_node(size_t i)
{
    json_t *slice = slice_of(i, i, 1, 1);
    json_t *spec = json_object_get(slice, "spec");
    (void)part_of(slice, "metadata", "name", json_string(long_name(i)));
    (void)json_object_set_new(json_object_get(spec, "pool"), "name", json_string(long_name(i)));
    (void)part_of(slice, "spec", "nodeName", json_string("node-0"));
    (void)part_of(slice, "spec", "devices", json_pack("[{s:s}]", "name", "gpu"));
    return slice;
}

/* 28 devices in groups of seven. */
static json_t *groups_of_devices(size_t i)
{
    json_t *slice = slice_of(i, i, 1, 1);
    json_t *devices = part_of(slice, "spec", "devices", json_array());
    for (size_t d = 0; d < 28; d++)
        (void)json_array_append_new(devices,
                                    json_pack("{s:s, s:{s:{s:I}}}", "name", text_of("gpu-", d),
                                              "attributes", "group", "int", (json_int_t)(d % 4)));
    return slice;
}

/* A selector of about 10,000 bytes: head, parts, tail. */
static json_t *selector_of(const char *head, const char *part, size_t n, const char *tail)
{
    json_t *selector = NULL;
    char *text = MEM_ARRAY(char, n *strlen(part) + strlen(head) + strlen(tail) + 1);
    char *end = stpcpy(text, head);
    for (size_t i = 0; i < n; i++)
        end = stpcpy(end, part);
    (void)stpcpy(end, tail);
    selector = json_pack("{s:{s:s}}", "cel", "expression", text);
    free(text);
    return selector;
}

static json_t *hostile_selector(size_t i)
{
    static const struct {
        const char *head, *part, *tail;
        size_t n;
    } SELECTORS[] = {
        {"", "(", "true", 10000},
        {"true", " ? true : false", "", 600},
        {"true", " || device.attributes['d'].x == 1", "", 300},
        {"'x'.matches('", "(((a{1,9}){1,9}){1,9}|[^a-z]*)*", "')", 300},
        {"device.attributes.all(d, device.attributes[d].exists(n, true", " && n != 'x'", "))", 700},
        {"device.attributes['example.com'].exists(n, n.matches('", "(a|b|cd?)*", "$'))", 900},
        {"device.driver == ''", " || device.driver.contains('abcdefgh')", "", 250},
        {"[", "device.driver, ", "'']  == []", 600},
        {"cel.bind(a, 'aaaaaaaa', ", "cel.bind(a, a + a, ", "a == '')))))))))))", 10},
    };
    const size_t k = i % (sizeof SELECTORS / sizeof *SELECTORS);
    return selector_of(SELECTORS[k].head, SELECTORS[k].part, SELECTORS[k].n, SELECTORS[k].tail);
}

/* Claims with 200 requests and 400 selectors, each as bad as it can be. */
static json_t *hostile_selectors(void)
{
    json_t *claims = json_array();
    json_t *requests = NULL;
    for (size_t r = 0; r < 200; r++) {
        if (r % 25 == 0) {
            requests = json_array();
            (void)json_array_append_new(claims, claim_of(r, requests));
        }
        json_t *exactly =
            json_pack("{s:s, s:[o, o]}", "deviceClassName", text_of("class-", r), "selectors",
                      hostile_selector(2 * r), hostile_selector(2 * r + 1));
        (void)json_array_append_new(
            requests, json_pack("{s:s, s:o}", "name", text_of("r", r), "exactly", exactly));
    }
    return json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "List", "items", claims);
}

/* Reads every value of every device. */
static json_t *reads_all(void)
{
    return claim_of(
        0, json_pack("[{s:s, s:{s:s, s:[o]}}]", "name", "r", "exactly", "deviceClassName", "class",
                     "selectors",
                     selector_of("device.attributes.exists(d, device.attributes[d].exists(n, "
                                 "device.attributes[d][n] == ''))",
                                 "", 0, "")));
}

static json_t *class_of_all(void)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:[o]}}", "apiVersion", "resource.k8s.io/v1", "kind",
                     "DeviceClass", "metadata", "name", "class", "spec", "selectors",
                     selector_of("device.driver == 'gpu.amd.com'", "", 0, ""));
}

/* Pods with five claims, each for the seven devices of a group, of which there are four. */
static json_t *combinations(void)
{
    json_t *items = json_array();
    (void)json_array_append_new(items, class_of_all());
    json_t *names = json_array();
    for (size_t c = 0; c < 5; c++) {
        json_t *claim = claim_of(c, json_pack("[{s:s, s:{s:s, s:i}}]", "name", "r", "exactly",
                                              "deviceClassName", "class", "count", 7));
        (void)json_object_set_new(json_object_get(json_object_get(claim, "spec"), "devices"),
                                  "constraints",
                                  json_pack("[{s:s}]", "matchAttribute", "gpu.amd.com/group"));
        (void)json_array_append_new(items, claim);
        (void)json_array_append_new(names, json_pack("{s:s, s:s}", "name", text_of("c", c),
                                                     "resourceClaimName", text_of("hostile-", c)));
    }
    for (size_t p = 0; p < 20; p++) {
        json_t *pod = pod_of(p, NULL);
        (void)json_object_set(json_object_get(pod, "spec"), "resourceClaims", names);
        (void)json_array_append_new(items, pod);
    }
    json_decref(names);
    return json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "List", "items", items);
}

/* A list with the class, and pods of which each names n claims; claims are made by their number. */
static json_t *pods_with_claims_of(size_t n_pods, size_t n, json_t *(*make)(size_t i))
{
    json_t *items = json_array();
    (void)json_array_append_new(items, class_of_all());
    for (size_t p = 0; p < n_pods; p++) {
        json_t *pod = pod_of(p, NULL);
        json_t *names = part_of(pod, "spec", "resourceClaims", json_array());
        for (size_t c = 0; c < n; c++) {
            (void)json_array_append_new(items, make(n * p + c));
            (void)json_array_append_new(names, json_pack("{s:s, s:s}", "name", text_of("c", c),
                                                         "resourceClaimName",
                                                         text_of("hostile-", n * p + c)));
        }
        (void)json_array_append_new(items, pod);
    }
    return json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "List", "items", items);
}

/* Each claim has expressions of its own: valid ones that work as long as one may. */
static json_t *claim_of_selectors(size_t i)
{
    static const struct {
        const char *head, *part, *tail;
        size_t n;
    } SELECTORS[] = {
        {"device.attributes['example.com'].exists(n, n.matches('", "(a|b|cd?)*", "$'))", 90},
        {"device.attributes['example.com'].exists(n, n.matches('", "(((a{1,9}){1,9})|[^a-z]*)*",
         "x$'))", 9},
        {"device.driver == ''", " || device.driver.contains('abcdefgh')", "", 20},
        {"device.attributes.all(d, device.attributes[d].all(n, true", " && n != 'x'", "))", 60},
        {"", "(", "true", 10000},
        {"cel.bind(a, 'aaaaaaaa', ", "cel.bind(a, a + a, ", "a == '')))))))))))", 10},
    };
    json_t *requests = json_array();
    for (size_t r = 0; r < 4; r++) {
        const size_t k = (i + r) % (sizeof SELECTORS / sizeof *SELECTORS);
        char own[64];
        (void)snprintf(own, sizeof own, "%zu == -1 || ", 4 * i + r);
        json_t *exactly = json_pack(
            "{s:s, s:[o, o]}", "deviceClassName", "class", "selectors",
            selector_of(own, "", 0, "true"),
            selector_of(SELECTORS[k].head, SELECTORS[k].part, SELECTORS[k].n, SELECTORS[k].tail));
        (void)json_array_append_new(
            requests, json_pack("{s:s, s:o}", "name", text_of("r", r), "exactly", exactly));
    }
    return claim_of(i, requests);
}

static json_t *pods_with_selectors(void)
{
    return pods_with_claims_of(20, 2, claim_of_selectors);
}

/* 32 requests with 8 alternatives each, of which only the last may do, and 32 constraints. */
static json_t *claim_of_requests(size_t i)
{
    json_t *requests = json_array();
    json_t *constraints = json_array();
    for (size_t r = 0; r < 32; r++) {
        json_t *alternatives = json_array();
        for (size_t a = 0; a < 8; a++)
            (void)json_array_append_new(alternatives, json_pack("{s:s, s:s, s:i}", "name",
                                                                text_of("a", a), "deviceClassName",
                                                                "class", "count", a < 7 ? 2 : 1));
        (void)json_array_append_new(requests, json_pack("{s:s, s:o}", "name", text_of("r", r),
                                                        "firstAvailable", alternatives));
        (void)json_array_append_new(constraints,
                                    json_pack("{s:s}", "matchAttribute", "gpu.amd.com/group"));
    }
    json_t *claim = claim_of(i, requests);
    (void)json_object_set_new(json_object_get(json_object_get(claim, "spec"), "devices"),
                              "constraints", constraints);
    return claim;
}

static json_t *pods_with_requests(void)
{
    return pods_with_claims_of(20, 2, claim_of_requests);
}

static json_t *budgets(size_t i)
{
    json_t *values = json_array();
    for (size_t v = 0; v < 1500; v++)
        (void)json_array_append_new(values, json_sprintf("value-%zu-%zu", i, v));
    return json_pack("{s:{s:s, s:s}, s:{s:{s:[{s:s, s:s, s:o}]}}}", "metadata", "namespace",
                     "tenant", "name", text_of("hostile-", i), "spec", "selector",
                     "matchExpressions", "key", "app", "operator", "In", "values", values);
}

const struct attack ATTACKS[] = {
    /* name, target, kind, objects, maker, bytes each, hold ms, filter ms, bytes of metrics */
    {"invented-resources", "sums a node: 250 names a pod", CLUSTER_PODS, 2000, invented_resources,
     70000, HOLD_MS, FILTER_MS, 4000},
    {"invented-mig", "metrics and the fast path: 250 GPU names a pod", CLUSTER_PODS, 2000,
     invented_mig, 30000, HOLD_MS, FILTER_MS, 60000},
    {"many-on-one-node", "the self-check and removal: one node", CLUSTER_PODS, 20000,
     many_on_one_node, 3000, HOLD_MS, FILTER_MS, 4000},
    {"no-such-node", "the table of nodes: a name a pod", CLUSTER_PODS, 20000,
     nodes_that_do_not_exist, 2500, HOLD_MS, FILTER_MS, 4000},
    {"huge-amounts", "sums that stop at their maximum", CLUSTER_PODS, 5000, huge_amounts, 2500,
     HOLD_MS, FILTER_MS, 4000},
    {"labels", "memory: 1,000 labels a pod", CLUSTER_PODS, 300, labels, 66000, HOLD_MS, FILTER_MS,
     4000},
    {"annotations", "memory: 1,000 annotations a pod", CLUSTER_PODS, 300, annotations, 12000,
     HOLD_MS, FILTER_MS, 4000},
    {"tolerations", "filter and memory: 200 tolerations a pod", CLUSTER_PODS, 1000, tolerations,
     60000, HOLD_MS, FILTER_MS, 4000},
    {"zero-names", "the sums of one pod: 20,000 names with quantity 0", CLUSTER_PODS, 30,
     zero_names, 8000, HOLD_MS, FILTER_MS, 4000},
    {"names-of-others", "memory: 256 names a pod that other pods keep", CLUSTER_PODS, 300,
     names_of_others, 8000, HOLD_MS, FILTER_MS, 4000},
    {"huge-affinity", "memory and explain: 100,000 values a pod", CLUSTER_PODS, 30, huge_affinity,
     8000, HOLD_MS, FILTER_MS, 4000},
    /* A namespace may keep half of limits.podShapesBytes, 64 MiB: 16 KiB per pod here. */
    {"own-affinity", "memory: another shape of 24 KB with each pod", CLUSTER_PODS, 4000,
     own_affinity, 24000, HOLD_MS, FILTER_MS, 4000},
    {"owner-references", "the table of owners: 500 a pod", CLUSTER_PODS, 300, owner_references,
     4000, HOLD_MS, FILTER_MS, 4000},
    {"one-owner", "an owner's list of nodes: a node a pod", CLUSTER_PODS, 20000,
     one_owner_everywhere, 2500, HOLD_MS, FILTER_MS, 4000},
    {"long-names", "memory: names of 253 characters", CLUSTER_PODS, 5000, long_names, 4000, HOLD_MS,
     FILTER_MS, 4000},
    {"containers", "decoding: 1,000 containers a pod", CLUSTER_PODS, 100, containers, 4000, HOLD_MS,
     FILTER_MS, 4000},
    {"nominated-to-one-node", "what filter must keep for others", CLUSTER_PODS, 5000,
     nominated_to_one_node, 2500, HOLD_MS, FILTER_MS, 4000},
    {"nominated-elsewhere", "the table of nodes: a nomination a pod", CLUSTER_PODS, 5000,
     nominated_elsewhere, 2500, HOLD_MS, FILTER_MS, 4000},
    {"pods-with-claims", "memory and quotas: names of 64 claims a pod", CLUSTER_PODS, 2000,
     pods_with_claims, 30000, HOLD_MS, FILTER_MS, 4000},
    {"claims", "memory: 10,000 claims of one tenant, 32 alternatives each", CLUSTER_CLAIMS, 10000,
     claims, 4000, HOLD_MS, FILTER_MS, 4000},
    {"claim-templates", "memory: 10,000 templates of claims, names of 32 classes each",
     CLUSTER_CLAIM_TEMPLATES, 10000, claim_templates, 12000, HOLD_MS, FILTER_MS, 4000},
    {"one-device", "a device that 10,000 claims share", CLUSTER_CLAIMS, 10000, claims_of_one_device,
     1000, HOLD_MS, FILTER_MS, 4000},
    {"consumed-capacities", "memory: claims with 32 shares, 1,000 bytes of capacities each",
     CLUSTER_CLAIMS, 300, claims_of_capacity, 50000, HOLD_MS, FILTER_MS, 4000},
    {"crowded-claims", "claims with 32 devices and 256 pods each", CLUSTER_CLAIMS, 300,
     crowded_claims, 18000, HOLD_MS, FILTER_MS, 4000},
    {"wide-slices", "128 devices of 32 attributes a slice", CLUSTER_SLICES, 50, wide_slices, 150000,
     HOLD_MS, FILTER_MS, 120000},
    {"counters", "counters that overflow, in 2 sets for each of 64 devices", CLUSTER_SLICES, 100,
     counters, 50000, HOLD_MS, FILTER_MS, 30000},
    {"generations", "one pool of all nodes, whose generations run backwards", CLUSTER_SLICES, 1000,
     generations, 1000, HOLD_MS, FILTER_MS, 4000},
    {"longest-attributes", "memory and the dry run: 128 x 32 values of 64 characters a slice",
     CLUSTER_SLICES, 100, longest_attributes, 2000000, HOLD_MS, FILTER_MS, 60000},
    /* limits.nodeSlicesBytes: 2 MiB. */
    {"slices-of-one-node", "memory: the same of one node, which cannot take the room of others",
     CLUSTER_SLICES, 400, longest_of_one_node, 25000, HOLD_MS, FILTER_MS, 60000},
    {"many-slices", "memory: 20,000 small slices of one node", CLUSTER_SLICES, 20000,
     many_of_one_node, 1000, HOLD_MS, FILTER_MS, 4000},
    {"selectors", "the dry run: 400 selectors of 10 KB", CLUSTER_SLICES, 3, longest_attributes,
     2000000, HOLD_MS, FILTER_MS, 4000},
    {"combinations", "the dry run: 20 pods with 5 claims that fail in all combinations",
     CLUSTER_SLICES, 100, groups_of_devices, 50000, HOLD_MS, FILTER_MS, 60000},
    {"judged-selectors", "dry run, pending, explain: 20 pods with 320 selectors, half distinct",
     CLUSTER_SLICES, 20, longest_attributes, 2000000, HOLD_MS, FILTER_MS, 60000},
    /* A namespace may keep half of an eighth of limits.podShapesBytes: 8 MiB. */
    {"budgets", "memory: 1,000 disruption budgets with a selector of 1,500 values", CLUSTER_BUDGETS,
     1000, budgets, 12000, HOLD_MS, FILTER_MS, 4000},
    {"judged-requests", "the same: 40 claims of 32 requests, 8 alternatives, 32 constraints",
     CLUSTER_SLICES, 100, groups_of_devices, 50000, HOLD_MS, FILTER_MS, 60000},
};

const size_t N_ATTACKS = sizeof ATTACKS / sizeof *ATTACKS;

#define ANSWER_BYTES ((size_t)4 << 20)

static const struct hostile_manifest MANIFESTS[] = {
    {"longest-attributes", reads_all, 6000, 0, ANSWER_BYTES},
    {"selectors", hostile_selectors, 3000, 0, ANSWER_BYTES},
    {"combinations", combinations, 6000, 6000, ANSWER_BYTES},
    {"judged-selectors", pods_with_selectors, 6000, 6000, ANSWER_BYTES},
    {"judged-requests", pods_with_requests, 6000, 6000, ANSWER_BYTES},
};

const struct hostile_manifest *attacks_manifest(const char *attack)
{
    for (size_t i = 0; i < sizeof MANIFESTS / sizeof *MANIFESTS; i++)
        if (strcmp(MANIFESTS[i].attack, attack) == 0)
            return &MANIFESTS[i];
    return NULL;
}

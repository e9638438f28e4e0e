/* oracle_facts: see oracle_facts.h. */
#include "oracle_facts.h"

#include <stdio.h>

static const char *const NODES[ORACLE_NODES] = {"n0", "n1", "n2", "n3", "n4",  "n5",
                                                "n6", "n7", "n8", "n9", "n10", "n11"};
static const char *const MODELS[ORACLE_MODELS] = {"", "NVIDIA-A100-SXM4-80GB", "Tesla-K80",
                                                  "nvidia"};
static const char *const CHIPS[ORACLE_MODELS] = {"", "A100", "K80", ""};
static const char *const ZONES[ORACLE_ZONES] = {"", "a", "b", "c"};
static const char *const REFUSALS[ORACLE_REFUSALS] = {NULL, "half a GPU", "no such thing"};
static const struct taint TAINTS[ORACLE_TAINTS - 1] = {{"a", "b", TAINT_NO_SCHEDULE},
                                                       {"c", "", TAINT_NO_EXECUTE}};
static const struct toleration TOLERATIONS[ORACLE_TOLERATIONS - 1] = {
    {.key = "a", .value = "", .op = TOLERATION_EXISTS, .any_effect = true},
    {.key = NULL, .value = "", .op = TOLERATION_EXISTS, .effect = TAINT_NO_EXECUTE},
};

const char *oracle_facts_uid(size_t pod, char *text)
{
    (void)snprintf(text, 16, "uid-%zu", pod);
    return text;
}

const char *oracle_facts_node_name(int64_t node)
{
    return node == ORACLE_NOWHERE ? "" : NODES[node];
}

const char *oracle_facts_chip(int64_t model)
{
    return CHIPS[model];
}

const char *oracle_facts_zone(int64_t zone)
{
    return ZONES[zone];
}

const char *oracle_facts_pod_name(int64_t name, char *text)
{
    (void)snprintf(text, 16, "train-%d", (int)name);
    return text;
}

const char *oracle_facts_owner(int64_t owner)
{
    static const char *const OWNERS[ORACLE_OWNERS] = {"", "rs-1", "rs-2", "rs-3"};
    return OWNERS[owner];
}

const char *oracle_facts_refusal(int64_t refusal)
{
    return REFUSALS[refusal];
}

static size_t fill_amounts(struct amount *amounts, const int64_t *values, int64_t absent)
{
    size_t n = 0;
    for (size_t r = 0; r < N_ORACLE_RESOURCES; r++) {
        if (values[r] != absent)
            amounts[n++] = (struct amount){ORACLE_RESOURCE_NAMES[r], values[r]};
    }
    return n;
}

struct node_facts oracle_facts_of_node(size_t i, const struct oracle_node *node,
                                       struct oracle_parts *parts)
{
    struct amount *capacity = parts->amounts;
    struct amount *allocatable = parts->amounts + N_ORACLE_RESOURCES;
    struct node_facts facts = {
        .name = NODES[i],
        .labels = parts->labels,
        .taints = TAINTS,
        .n_taints = (size_t)node->n_taints,
        .capacity = capacity,
        .n_capacity = fill_amounts(capacity, node->capacity, ORACLE_ABSENT),
        .allocatable = allocatable,
        .n_allocatable = fill_amounts(allocatable, node->allocatable, ORACLE_ABSENT),
        .unschedulable = node->unschedulable,
        .ready = node->ready,
    };
    if (node->zone > 0)
        parts->labels[facts.n_labels++] = (struct label){"zone", ZONES[node->zone]};
    if (node->model > 0)
        parts->labels[facts.n_labels++] = (struct label){"accelerator", MODELS[node->model]};
    return facts;
}

struct shape_facts oracle_facts_of_shape(const struct oracle_shape *shape,
                                         struct oracle_parts *parts)
{
    struct shape_facts facts = {
        .demand = parts->amounts,
        .n_demand = fill_amounts(parts->amounts, shape->demand, 0),
        .tolerations = TOLERATIONS,
        .n_tolerations = (size_t)shape->n_tolerations,
    };
    parts->requirement = (struct requirement){
        .key = "zone", .op = SELECTOR_IN, .values = &ZONES[shape->zone], .n_values = 1};
    if (shape->zone > 0)
        facts.node_selector = (struct selector_term){&parts->requirement, 1};
    return facts;
}

/* Labels and anti-affinity follow from other facts of the pod, so that they change with events. */
static struct peer_facts peers_of(size_t i, const struct oracle_pod *pod)
{
    static const struct label LABELS[] = {{"app", "a"}, {"pod", "first"}, {"pod", "second"}};
    static const struct peer_term TERMS[] = {{.topology_key = "zone"}, {.topology_key = "host"}};
    return (struct peer_facts){.labels = &LABELS[i % 3],
                               .n_labels = pod->owner == 0 ? 1 : 0,
                               .anti_affinity = &TERMS[i % 2],
                               .n_anti_affinity = pod->priority > 0 ? 1 : 0};
}

struct pod_facts oracle_facts_of_pod(size_t i, const struct oracle_pod *pod,
                                     struct oracle_parts *parts)
{
    return (struct pod_facts){
        .uid = oracle_facts_uid(i, parts->uid),
        .namespace_ = "default",
        .name = oracle_facts_pod_name(pod->name, parts->name),
        .node_name = oracle_facts_node_name(pod->node),
        .nominated_node = oracle_facts_node_name(pod->nominated),
        .extended_claim =
            pod->claim > 0 ? oracle_facts_claim_name((size_t)pod->claim - 1, parts->claim) : NULL,
        .priority_class = "",
        .finished = pod->finished,
        .terminating = pod->terminating,
        .gated = pod->gated,
        .replica_of = oracle_facts_owner(pod->owner),
        .priority = pod->priority,
        .refusal = REFUSALS[pod->refusal],
        .shape = oracle_facts_of_shape(&pod->shape, parts),
        .peers = peers_of(i, pod),
    };
}

/* Slices and claims. */

static const char *const DEVICES[ORACLE_DEVICES] = {"gpu-0", "gpu-1", "gpu-2", "gpu-3"};
static const char *const DEVICE_MODELS[ORACLE_DEVICE_MODELS] = {"", "NVIDIA H100 80GB HBM3", "L4"};

const char *oracle_facts_slice_name(size_t node, size_t driver, char *text)
{
    (void)snprintf(text, 32, "%s-%s", NODES[node], ORACLE_DRIVER_NAMES[driver]);
    return text;
}

struct slice_facts oracle_facts_of_slice(size_t node, size_t driver,
                                         const struct oracle_slice *slice,
                                         struct oracle_device_parts *parts)
{
    for (int64_t i = 0; i < slice->n_devices; i++)
        parts->devices[i] = (struct device_facts){.name = DEVICES[i],
                                                  .model = DEVICE_MODELS[slice->models[i]],
                                                  .profile = "",
                                                  .physical = "",
                                                  .node_name = "",
                                                  .is_tainted = slice->tainted[i]};
    return (struct slice_facts){.name = oracle_facts_slice_name(node, driver, parts->name),
                                .driver = ORACLE_DRIVER_NAMES[driver],
                                .pool = NODES[node],
                                .generation = 1,
                                .n_slices = 1,
                                .node_name = NODES[node],
                                .devices = parts->devices,
                                .n_devices = (size_t)slice->n_devices};
}

const char *oracle_facts_claim_name(size_t i, char *text)
{
    (void)snprintf(text, 32, "claim-%zu", i);
    return text;
}

struct claim_facts oracle_facts_of_claim(size_t i, const struct oracle_claim *claim,
                                         struct oracle_device_parts *parts)
{
    for (int64_t r = 0; r < claim->n_results; r++) {
        const struct oracle_claimed_device *used = &claim->results[r];
        parts->results[r] = (struct claim_result){.driver = ORACLE_DRIVER_NAMES[used->driver],
                                                  .pool = NODES[used->node],
                                                  .device = DEVICES[used->device],
                                                  .is_admin = used->is_admin};
    }
    if (claim->holder > 0)
        parts->holders[0] = oracle_facts_uid((size_t)claim->holder - 1, parts->holder);
    return (struct claim_facts){
        .namespace_ = "default",
        .name = oracle_facts_claim_name(i, parts->name),
        .uid = parts->name,
        .n_devices = claim->n_results,
        .is_allocated = claim->n_results > 0,
        .results = parts->results,
        .n_results = (size_t)claim->n_results,
        .holders = parts->holders,
        .n_holders = claim->holder > 0,
        .n_all_holders = claim->holder > 0,
        .extended_for_uid =
            claim->pod > 0 ? oracle_facts_uid((size_t)claim->pod - 1, parts->pod) : ""};
}

const char *oracle_facts_class_name(size_t i)
{
    static const char *const NAMES[ORACLE_CLASSES] = {"class-0", "class-1", "class-2"};
    return NAMES[i];
}

const char *oracle_facts_class_driver(int64_t driver)
{
    if (driver == ORACLE_NO_GPUS)
        return "nic.example.com";
    return driver > 0 ? ORACLE_DRIVER_NAMES[driver - 1] : "";
}

const char *oracle_facts_template_namespace(size_t i)
{
    return i % 2 == 0 ? "default" : "other";
}

const char *oracle_facts_template_name(size_t i)
{
    static const char *const NAMES[ORACLE_TEMPLATES / 2] = {"t", "t-1", "t-2"};
    return NAMES[i / 2];
}

struct claim_template_facts
oracle_facts_of_template(size_t i, const struct oracle_template *template, struct claim_want *wants)
{
    for (int64_t w = 0; w < template->n_wants; w++) {
        const struct oracle_want *want = &template->wants[w];
        wants[w] = (struct claim_want){oracle_facts_class_name((size_t)want->class),
                                       oracle_facts_class_driver(want->driver), want->n_devices};
    }
    return (struct claim_template_facts){.namespace_ = oracle_facts_template_namespace(i),
                                         .name = oracle_facts_template_name(i),
                                         .wants = wants,
                                         .n_wants = (size_t) template->n_wants};
}

/*
 * snapshot: GET /v1/snapshot: the ledger as a cluster file. Copies the ledger under the lock, then
 * writes object by object into one text without it.
 */
#include "objects/snapshot.h"
#include "api/api.h"
#include "api/pods/pod_copy.h"
#include "api/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "decide/reserve.h"
#include "devices/devices.h"
#include "formats/json_put.h"
#include "inventory/inventory.h"
#include "ledger/shape_copy.h"
#include "objects/identity.h"
#include "objects/to_json.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_MS 1000

struct snapshot_device_class {
    const char *name, *resource, *driver;
    struct selector_texts selectors;
};

struct snapshot_reservation {
    const char *uid, *namespace_, *name, *node_name;
    const char *replica_of; /* as in pod_facts */
    struct shape_facts shape;
    int64_t made_ms; /* clock_ms() */
};

/* Each list in the ledger's order. */
struct snapshot_copy {
    struct arena *arena;
    const struct policy *policy; /* of the ledger; held */
    struct node_facts *nodes;
    size_t n_nodes;
    struct pod_copies pods;
    struct snapshot_reservation *reservations; /* oldest first */
    size_t n_reservations;
    struct namespace_facts *namespaces;
    size_t n_namespaces;
    struct priority_class_facts *classes;
    size_t n_classes;
    const char **runtime_classes;
    size_t n_runtime_classes;
    struct snapshot_device_class *device_classes;
    size_t n_device_classes;
    struct slice_facts *slices;
    size_t n_slices;
    struct claim_facts *claims;
    size_t n_claims;
    struct device_taint_facts *device_taints;
    size_t n_device_taints;
    struct claim_template_facts *claim_templates;
    size_t n_claim_templates;
    struct budget_facts *budgets;
    size_t n_budgets;
    struct snapshot_problem *problems;
    size_t n_problems, n_all_problems;
    bool claims_known, templates_known, budgets_known;
    struct snapshot_lines reckoned;
};

static struct label *copy_labels(const struct label *labels, size_t n, struct arena *arena)
{
    struct label *copies = ARENA_ARRAY(arena, struct label, n);
    for (size_t i = 0; i < n; i++)
        copies[i] = (struct label){arena_strdup(arena, labels[i].key),
                                   arena_strdup(arena, labels[i].value)};
    return copies;
}

static struct taint *copy_taints(const struct node_traits *traits, struct arena *arena)
{
    struct taint *taints = ARENA_ARRAY(arena, struct taint, traits->n_taints);
    for (size_t i = 0; i < traits->n_taints; i++)
        taints[i] =
            (struct taint){arena_strdup(arena, traits->taints[i].key),
                           arena_strdup(arena, traits->taints[i].value), traits->taints[i].effect};
    return taints;
}

static int compare_amounts(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

/* Only advertised resources: pods imply the others. Sorted by name, because the ledger's order
 * depends on the order of events. */
static void copy_amounts(const struct node *node, struct arena *arena, struct node_facts *facts)
{
    size_t n_resources = 0;
    const struct node_resource *resources = node_resources(node, &n_resources);
    struct amount *capacity = ARENA_ARRAY(arena, struct amount, n_resources);
    struct amount *allocatable = ARENA_ARRAY(arena, struct amount, n_resources);
    size_t n = 0;
    for (size_t i = 0; i < n_resources; i++) {
        if (!resources[i].advertised)
            continue;
        const char *name = arena_strdup(arena, resources[i].resource->name);
        capacity[n] = (struct amount){name, resources[i].capacity};
        allocatable[n++] = (struct amount){name, resources[i].allocatable};
    }
    qsort(capacity, n, sizeof *capacity, compare_amounts);
    qsort(allocatable, n, sizeof *allocatable, compare_amounts);
    facts->capacity = capacity;
    facts->allocatable = allocatable;
    facts->n_capacity = facts->n_allocatable = n;
}

static struct node_facts copy_node(const struct node *node, struct arena *arena)
{
    const struct node_traits *traits = node_traits(node);
    struct node_facts facts = {
        .name = arena_strdup(arena, node_name(node)),
        .labels = copy_labels(traits->view.labels, traits->view.n_labels, arena),
        .n_labels = traits->view.n_labels,
        .taints = copy_taints(traits, arena),
        .n_taints = traits->n_taints,
        .unschedulable = traits->unschedulable,
        .ready = traits->ready,
    };
    copy_amounts(node, arena, &facts);
    return facts;
}

static void copy_nodes(const struct cluster *cluster, struct snapshot_copy *copy)
{
    copy->nodes = ARENA_ARRAY(copy->arena, struct node_facts, cluster_n_nodes(cluster));
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        copy->nodes[copy->n_nodes++] = copy_node(node, copy->arena);
}

static void copy_reservations(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    copy->reservations =
        ARENA_ARRAY(arena, struct snapshot_reservation, cluster_n_reservations(cluster));
    for (const struct reservation *held = cluster_next_reservation(cluster, NULL); held;
         held = cluster_next_reservation(cluster, held))
        copy->reservations[copy->n_reservations++] = (struct snapshot_reservation){
            .uid = arena_strdup(arena, held->uid),
            .namespace_ = arena_strdup(arena, held->namespace_),
            .name = arena_strdup(arena, held->name),
            .node_name = arena_strdup(arena, held->node_name),
            .replica_of = arena_strdup(arena, owners_uid(held->owner)),
            .shape = shape_copy(&held->shape->facts, arena),
            .made_ms = held->made_ms,
        };
}

static void copy_namespaces(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    copy->namespaces = ARENA_ARRAY(arena, struct namespace_facts, cluster_n_namespaces(cluster));
    for (const struct namespace *item = cluster_next_namespace(cluster, NULL); item;
         item = cluster_next_namespace(cluster, item))
        copy->namespaces[copy->n_namespaces++] = (struct namespace_facts){
            arena_strdup(arena, item->name), copy_labels(item->labels, item->n_labels, arena),
            item->n_labels};
}

static void copy_classes(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    const char *name = NULL;
    int64_t value = 0;
    bool is_default = false;
    copy->classes =
        ARENA_ARRAY(arena, struct priority_class_facts, cluster_n_priority_classes(cluster));
    while ((name = cluster_next_priority_class(cluster, name, &value, &is_default)))
        copy->classes[copy->n_classes++] = (struct priority_class_facts){
            .name = arena_strdup(arena, name),
            .value = value,
            .is_default = is_default,
            .never_preempts = cluster_class_never_preempts(cluster, name)};
}

static void copy_runtime_classes(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    const char *name = NULL;
    copy->runtime_classes = ARENA_ARRAY(arena, const char *, cluster_n_runtime_classes(cluster));
    while ((name = cluster_next_runtime_class(cluster, name)))
        copy->runtime_classes[copy->n_runtime_classes++] = arena_strdup(arena, name);
}

static void copy_device_classes(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    const char *name = NULL;
    const char *resource = "";
    copy->device_classes =
        ARENA_ARRAY(arena, struct snapshot_device_class, cluster_n_device_classes(cluster));
    while ((name = cluster_next_device_class(cluster, name, &resource)))
        copy->device_classes[copy->n_device_classes++] = (struct snapshot_device_class){
            arena_strdup(arena, name), arena_strdup(arena, resource),
            arena_strdup(arena, cluster_device_class_driver(cluster, name)),
            selector_texts_copy(cluster_device_class_selectors(cluster, name), arena)};
}

static void copy_slices(const struct devices *devices, struct snapshot_copy *copy)
{
    struct slice_facts facts;
    const char *name = NULL;
    copy->slices =
        ARENA_ARRAY(copy->arena, struct slice_facts, devices_count(devices, DEVICES_SLICES));
    while ((name = devices_next_slice(devices, name, copy->arena, &facts)))
        copy->slices[copy->n_slices++] = facts;
}

static void copy_claims(const struct devices *devices, struct snapshot_copy *copy)
{
    const struct device_claim *claim = NULL;
    copy->claims =
        ARENA_ARRAY(copy->arena, struct claim_facts, devices_count(devices, DEVICES_CLAIMS));
    while ((claim = devices_next_claim(devices, claim)))
        copy->claims[copy->n_claims++] = devices_claim_facts(claim, copy->arena);
}

static void copy_device_taints(const struct devices *devices, struct snapshot_copy *copy)
{
    struct device_taint_facts facts;
    const char *name = NULL;
    copy->device_taints =
        ARENA_ARRAY(copy->arena, struct device_taint_facts, devices_count(devices, DEVICES_TAINTS));
    while ((name = devices_next_taint(devices, name, copy->arena, &facts)))
        copy->device_taints[copy->n_device_taints++] = facts;
}

static void copy_devices(const struct cluster *cluster, struct snapshot_copy *copy)
{
    const struct devices *devices = cluster_devices(cluster);
    copy_slices(devices, copy);
    copy_claims(devices, copy);
    copy_device_taints(devices, copy);
}

static void copy_claim_templates(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    const struct claim_template_facts *item = NULL;
    copy->claim_templates =
        ARENA_ARRAY(arena, struct claim_template_facts, cluster_n_claim_templates(cluster));
    while ((item = cluster_next_claim_template(cluster, item))) {
        struct claim_want *wants = ARENA_ARRAY(arena, struct claim_want, item->n_wants);
        for (size_t i = 0; i < item->n_wants; i++)
            wants[i] = (struct claim_want){arena_strdup(arena, item->wants[i].class_name),
                                           arena_strdup(arena, item->wants[i].driver),
                                           item->wants[i].n_devices};
        copy->claim_templates[copy->n_claim_templates++] = (struct claim_template_facts){
            arena_strdup(arena, item->namespace_), arena_strdup(arena, item->name), wants,
            item->n_wants, item->spec ? arena_strdup(arena, item->spec) : NULL};
    }
}

/* One whose selector was cut is left out. */
static void copy_budgets(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    const struct budget_facts *item = NULL;
    copy->budgets_known = cluster_budgets_known(cluster);
    copy->budgets = ARENA_ARRAY(arena, struct budget_facts, cluster_n_budgets(cluster));
    while ((item = cluster_next_budget(cluster, item))) {
        struct budget_facts *facts = &copy->budgets[copy->n_budgets];
        copy->budgets_known &= !item->is_cut;
        if (item->is_cut)
            continue;
        *facts = *item;
        facts->namespace_ = arena_strdup(arena, item->namespace_);
        facts->name = arena_strdup(arena, item->name);
        facts->selector = shape_copy_term(&item->selector, arena);
        copy->n_budgets++;
    }
}

static void copy_problems(const struct inventory_view *view, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    copy->problems = ARENA_ARRAY(arena, struct snapshot_problem, view->n_problems);
    copy->n_problems = view->n_problems;
    copy->n_all_problems = view->n_all_problems;
    for (size_t i = 0; i < view->n_problems; i++)
        copy->problems[i] = (struct snapshot_problem){arena_strdup(arena, view->problems[i].kind),
                                                      arena_strdup(arena, view->problems[i].name),
                                                      arena_strdup(arena, view->problems[i].what)};
}

/* All in the arena except pods (pod_copy_fini()) and the policy (policy_drop()). */
static struct snapshot_copy copy_all(struct inventory *inventory, struct arena *arena)
{
    struct snapshot_copy copy = {.arena = arena};
    const struct provenance provenance = provenance_of(inventory, arena);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read_settled(inventory);
    copy.policy = policy_hold(cluster_policy(view.cluster));
    copy.pods = pod_copy_all(view.cluster, arena);
    copy.pods.provenance = provenance;
    copy_nodes(view.cluster, &copy);
    copy_reservations(view.cluster, &copy);
    copy_namespaces(view.cluster, &copy);
    copy_classes(view.cluster, &copy);
    copy_runtime_classes(view.cluster, &copy);
    copy_device_classes(view.cluster, &copy);
    copy_devices(view.cluster, &copy);
    copy_claim_templates(view.cluster, &copy);
    copy_budgets(view.cluster, &copy);
    copy_problems(&view, &copy);
    copy.claims_known = cluster_claims_known(view.cluster);
    copy.templates_known = cluster_claim_templates_known(view.cluster);
    copy.reckoned = snapshot_compute(view.cluster, arena);
    return copy;
}

struct writing {
    const struct policy *policy;
    struct buf *out;
    const char *separator;
};

static void write_object(struct writing *writing, json_t *object)
{
    buf_add_text(writing->out, writing->separator);
    if (!writing->out->overflowed)
        json_put(object, JSON_COMPACT, writing->out);
    json_decref(object);
    writing->separator = ",\n";
}

static void write_head(struct writing *writing, const struct snapshot_copy *copy)
{
    const struct provenance *provenance = &copy->pods.provenance;
    const struct snapshot snapshot = {
        .made_s = clock_wall_ms() / SECOND_MS,
        .as_of_s = provenance->as_of_s,
        .source = provenance->source,
        .problems = copy->problems,
        .n_problems = copy->n_problems,
        .n_all_problems = copy->n_all_problems,
        .claims_known = copy->claims_known,
        .templates_known = copy->templates_known,
        .budgets_known = copy->budgets_known,
        .claims_uncounted = provenance->claims_uncounted.text,
        .reckoned = snapshot_lines_json(&copy->reckoned),
        .policy = snapshot_policy(writing->policy),
    };
    write_object(writing, snapshot_to_json(&snapshot));
}

static struct pod_facts facts_of(const struct pod_copy *copy)
{
    struct pod_facts facts = cluster_pod_facts(&copy->pod);
    facts.replica_of = copy->replica_of;
    facts.shape = copy->shape->facts;
    facts.peers = peer_joined(copy->peers->pod.labels, copy->peers->pod.terms);
    return facts;
}

/* Rounded to the second, so that a reloaded snapshot yields the same value. */
static int64_t wall_s(int64_t made_ms)
{
    return (clock_wall_ms() - (clock_ms() - made_ms) + SECOND_MS / 2) / SECOND_MS;
}

static void write_reservation(struct writing *writing, const struct snapshot_reservation *held)
{
    const struct reservation_facts facts = {
        .pod = {.uid = held->uid,
                .namespace_ = held->namespace_,
                .name = held->name,
                .node_name = "",
                .nominated_node = "",
                .priority_class = "",
                .replica_of = held->replica_of,
                .created_s = wall_s(held->made_ms),
                .shape = held->shape},
        .node_name = held->node_name,
    };
    write_object(writing, reservation_to_json(&facts, writing->policy));
}

/* Nodes come before pods, so that loading finds a pod's node at once. */
static void write_objects(struct writing *writing, const struct snapshot_copy *copy)
{
    write_head(writing, copy);
    for (size_t i = 0; i < copy->n_namespaces; i++)
        write_object(writing, namespace_to_json(&copy->namespaces[i]));
    for (size_t i = 0; i < copy->n_classes; i++)
        write_object(writing, priority_class_to_json(&copy->classes[i]));
    for (size_t i = 0; i < copy->n_runtime_classes; i++)
        write_object(writing, runtime_class_to_json(copy->runtime_classes[i]));
    for (size_t i = 0; i < copy->n_device_classes; i++)
        write_object(writing, device_class_to_json(copy->device_classes[i].name,
                                                   copy->device_classes[i].resource,
                                                   copy->device_classes[i].driver,
                                                   &copy->device_classes[i].selectors));
    for (size_t i = 0; i < copy->n_nodes; i++)
        write_object(writing, node_to_json(&copy->nodes[i]));
    for (size_t i = 0; i < copy->n_slices; i++)
        write_object(writing, kept_slice_to_json(&copy->slices[i], writing->policy));
    for (size_t i = 0; i < copy->n_claims; i++)
        write_object(writing, resource_claim_to_json(&copy->claims[i]));
    for (size_t i = 0; i < copy->n_device_taints; i++)
        write_object(writing, device_taint_rule_to_json(&copy->device_taints[i]));
    for (size_t i = 0; i < copy->n_claim_templates; i++)
        write_object(writing, claim_template_to_json(&copy->claim_templates[i]));
    for (size_t i = 0; i < copy->n_budgets; i++)
        write_object(writing, budget_to_json(&copy->budgets[i]));
    for (size_t i = 0; i < copy->pods.n; i++) {
        const struct pod_facts facts = facts_of(&copy->pods.items[i]);
        write_object(writing, kept_pod_to_json(&facts, writing->policy));
    }
    for (size_t i = 0; i < copy->n_reservations; i++)
        write_reservation(writing, &copy->reservations[i]);
}

static void write_snapshot(const struct api *api, struct arena *arena, struct buf *out)
{
    struct snapshot_copy copy = copy_all(api->inventory, arena);
    struct writing writing = {.policy = copy.policy, .out = out, .separator = ""};
    buf_add_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n");
    write_objects(&writing, &copy);
    buf_add_text(out, "\n]}\n");
    pod_copy_fini(&copy.pods);
    policy_drop(copy.policy);
}

static void give_way(void *context)
{
    struct api *api = context;
    atomic_store(&api->snapshot_under_way, false);
}

static void answer_snapshot(struct api *api, struct exchange *exchange, const char *tag)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct buf text;
    buf_init(&text, REPLY_MAX_BYTES);
    exchange_on_end(exchange, give_way, api);
    write_snapshot(api, arena, &text);
    if (!text.overflowed) {
        reply_end(api, exchange, tag);
        reply_text(exchange, 200, "application/json", &text);
        return;
    }
    buf_fini(&text);
    exchange_answer_error(exchange, 500, "the snapshot would be larger than 1 GiB");
}

void api_snapshot(void *context, struct exchange *exchange)
{
    struct api *api = context;
    const char *tag = NULL;
    if (!reply_from(api->inventory, exchange) || !reply_begin(api, exchange, &tag) ||
        exchange_defer(exchange))
        return;
    if (atomic_exchange(&api->snapshot_under_way, true))
        exchange_answer_busy(exchange, "another snapshot is being made or sent: try again");
    else
        answer_snapshot(api, exchange, tag);
}

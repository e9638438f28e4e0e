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
#include "formats/json_put.h"
#include "inventory/inventory.h"
#include "inventory/kinds.h"
#include "ledger/shape_copy.h"
#include "objects/to_json.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_MS 1000

/* Facts of one kind. */
struct snapshot_objects {
    const void **facts;
    size_t n;
};

/* Each list in the ledger's order. */
struct snapshot_copy {
    struct arena *arena;
    const struct policy *policy; /* of the ledger; held */
    struct node_facts *nodes;
    size_t n_nodes;
    struct pod_copies pods;
    struct reservation_facts *reservations; /* oldest first */
    size_t n_reservations;
    struct snapshot_objects others[N_LEDGER_KINDS];
    struct snapshot_problem *problems;
    size_t n_problems, n_all_problems;
    bool claims_known, templates_known, budgets_known;
    struct snapshot_lines reckoned;
};

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
        .labels = shape_copy_labels(traits->view.labels, traits->view.n_labels, arena),
        .n_labels = traits->view.n_labels,
        .taints = copy_taints(traits, arena),
        .n_taints = traits->n_taints,
        .unschedulable = traits->unschedulable,
        .ready = traits->ready,
        .conditions = arena_strdup(arena, traits->conditions),
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

/* Rounded to the second, so that a reloaded snapshot yields the same value. */
static int64_t wall_s(int64_t made_ms)
{
    return (clock_wall_ms() - (clock_ms() - made_ms) + SECOND_MS / 2) / SECOND_MS;
}

static void copy_reservations(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    copy->reservations =
        ARENA_ARRAY(arena, struct reservation_facts, cluster_n_reservations(cluster));
    for (const struct reservation *held = cluster_next_reservation(cluster, NULL); held;
         held = cluster_next_reservation(cluster, held))
        copy->reservations[copy->n_reservations++] = (struct reservation_facts){
            .pod = {.uid = arena_strdup(arena, held->uid),
                    .namespace_ = arena_strdup(arena, held->namespace_),
                    .name = arena_strdup(arena, held->name),
                    .node_name = "",
                    .nominated_node = "",
                    .priority_class = "",
                    .replica_of = arena_strdup(arena, owners_uid(held->owner)),
                    .created_s = wall_s(held->made_ms),
                    .shape = shape_copy(&held->shape->facts, arena)},
            .node_name = arena_strdup(arena, held->node_name),
        };
}

static void copy_others(const struct cluster *cluster, enum cluster_kind kind,
                        struct snapshot_copy *copy)
{
    struct snapshot_objects *objects = &copy->others[kind];
    const void *object = NULL;
    if (!kinds_in_ledger(kind)->to_json)
        return;
    objects->facts = ARENA_ARRAY(copy->arena, const void *, cluster_n_objects(cluster, kind) + 1);
    while ((object = cluster_next_object(cluster, kind, object, copy->arena,
                                         &objects->facts[objects->n])))
        objects->n++;
}

/* Not those whose selector was cut. */
static bool knows_budgets(const struct cluster *cluster)
{
    const struct budget_facts *budget = NULL;
    bool known = cluster_knows(cluster, CLUSTER_BUDGETS);
    while ((budget = cluster_next_budget(cluster, budget)))
        known &= !budget->is_cut;
    return known;
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
    for (int kind = 0; kind < N_LEDGER_KINDS; kind++)
        copy_others(view.cluster, (enum cluster_kind)kind, &copy);
    copy_problems(&view, &copy);
    copy.claims_known = cluster_knows(view.cluster, CLUSTER_CLAIMS);
    copy.templates_known = cluster_knows(view.cluster, CLUSTER_CLAIM_TEMPLATES);
    copy.budgets_known = knows_budgets(view.cluster);
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

static void write_pods(struct writing *writing, const struct pod_copies *pods)
{
    for (size_t i = 0; i < pods->n; i++) {
        const struct pod_facts facts = facts_of(&pods->items[i]);
        write_object(writing, kept_pod_to_json(&facts, writing->policy));
    }
}

static void write_others(struct writing *writing, const struct snapshot_copy *copy,
                         enum cluster_kind kind)
{
    const struct snapshot_objects *objects = &copy->others[kind];
    for (size_t i = 0; i < objects->n; i++) {
        json_t *object = kinds_in_ledger(kind)->to_json(objects->facts[i], writing->policy);
        if (object)
            write_object(writing, object);
    }
}

/* In an order in which loading finds a pod's node at once. */
static void write_objects(struct writing *writing, const struct snapshot_copy *copy)
{
    write_head(writing, copy);
    for (size_t i = 0; i < N_LEDGER_KINDS; i++) {
        const enum cluster_kind kind = cluster_kind_in_order(i);
        for (size_t j = 0; kind == CLUSTER_NODES && j < copy->n_nodes; j++)
            write_object(writing, node_to_json(&copy->nodes[j]));
        if (kind == CLUSTER_PODS)
            write_pods(writing, &copy->pods);
        write_others(writing, copy, kind);
    }
    for (size_t i = 0; i < copy->n_reservations; i++)
        write_object(writing, reservation_to_json(&copy->reservations[i], writing->policy));
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

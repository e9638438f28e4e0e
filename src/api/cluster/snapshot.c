/*
 * snapshot: GET /v1/snapshot: the ledger as a cluster file. Copies the ledger in steps, then writes
 * object by object into one text.
 */
#include "objects/snapshot.h"
#include "api/api.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "formats/json_values.h"
#include "inventory/inventory.h"
#include "inventory/kinds.h"
#include "objects/to_json.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_MS 1000

struct writing {
    const struct cluster *cluster; /* our own */
    struct arena *arena;
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

static int compare_amounts(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

/* By name, because the ledger's order depends on the order of events. They are in the arena. */
static void sort(const struct amount *amounts, size_t n)
{
    qsort((void *)(uintptr_t)amounts, n, sizeof *amounts, compare_amounts);
}

static void write_nodes(struct writing *writing)
{
    for (const struct node *node = cluster_next_node(writing->cluster, NULL); node;
         node = cluster_next_node(writing->cluster, node)) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const struct node_facts facts = cluster_node_facts(node, arena);
        sort(facts.capacity, facts.n_capacity);
        sort(facts.allocatable, facts.n_allocatable);
        write_object(writing, node_to_json(&facts));
    }
}

/* Rounded to the second, so that a reloaded snapshot yields the same value. */
static int64_t wall_s(int64_t made_ms)
{
    return (clock_wall_ms() - (clock_ms() - made_ms) + SECOND_MS / 2) / SECOND_MS;
}

static void write_reservations(struct writing *writing)
{
    for (const struct reservation *held = cluster_next_reservation(writing->cluster, NULL); held;
         held = cluster_next_reservation(writing->cluster, held)) {
        const struct reservation_facts facts = {
            .pod = {.uid = held->uid,
                    .namespace_ = held->namespace_,
                    .name = held->name,
                    .node_name = "",
                    .nominated_node = "",
                    .priority_class = "",
                    .replica_of = owners_uid(held->owner),
                    .created_s = wall_s(held->made_ms),
                    .shape = held->shape->facts},
            .node_name = held->node_name,
        };
        write_object(writing, reservation_to_json(&facts, cluster_policy(writing->cluster)));
    }
}

static void write_others(struct writing *writing, enum cluster_kind kind)
{
    const void *object = NULL;
    const void *facts = NULL;
    if (!kinds_in_ledger(kind)->to_json)
        return;
    while ((object = cluster_next_object(writing->cluster, kind, object, writing->arena, &facts))) {
        json_t *json = kinds_in_ledger(kind)->to_json(facts, cluster_policy(writing->cluster));
        if (json)
            write_object(writing, json);
    }
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

static void copy_problems(struct inventory *inventory, struct arena *arena,
                          struct snapshot *snapshot)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    struct snapshot_problem *problems =
        ARENA_ARRAY(arena, struct snapshot_problem, view.n_problems);
    snapshot->problems = problems;
    snapshot->n_problems = view.n_problems;
    snapshot->n_all_problems = view.n_all_problems;
    for (size_t i = 0; i < view.n_problems; i++)
        problems[i] = (struct snapshot_problem){arena_strdup(arena, view.problems[i].kind),
                                                arena_strdup(arena, view.problems[i].name),
                                                arena_strdup(arena, view.problems[i].what)};
}

static void write_head(struct writing *writing, struct inventory *inventory,
                       const struct provenance *provenance)
{
    const struct cluster *cluster = writing->cluster;
    const struct snapshot_lines reckoned = snapshot_compute(cluster, writing->arena);
    struct snapshot snapshot = {
        .made_s = clock_wall_ms() / SECOND_MS,
        .as_of_s = provenance->as_of_s,
        .source = provenance->source,
        .claims_known = cluster_knows(cluster, CLUSTER_CLAIMS),
        .templates_known = cluster_knows(cluster, CLUSTER_CLAIM_TEMPLATES),
        .budgets_known = knows_budgets(cluster),
        .claims_uncounted = provenance->claims_uncounted.text,
        .reckoned = snapshot_lines_json(&reckoned),
        .policy = snapshot_policy(cluster_policy(cluster)),
    };
    copy_problems(inventory, writing->arena, &snapshot);
    write_object(writing, snapshot_to_json(&snapshot));
}

static void write_pods(struct writing *writing)
{
    for (const struct pod *pod = cluster_next_pod(writing->cluster, NULL); pod;
         pod = cluster_next_pod(writing->cluster, pod)) {
        struct pod_facts facts = cluster_pod_facts(pod);
        facts.replica_of = owners_uid(pod->owner);
        facts.shape = pod->shape->facts;
        facts.peers = peer_joined(pod->labels, pod->terms);
        write_object(writing, kept_pod_to_json(&facts, cluster_policy(writing->cluster)));
    }
}

/* In an order in which loading finds a pod's node at once. */
static void write_objects(struct writing *writing)
{
    for (size_t i = 0; i < N_LEDGER_KINDS; i++) {
        const enum cluster_kind kind = cluster_kind_in_order(i);
        if (kind == CLUSTER_NODES)
            write_nodes(writing);
        if (kind == CLUSTER_PODS)
            write_pods(writing);
        write_others(writing, kind);
    }
    write_reservations(writing);
}

static void write_snapshot(const struct api *api, struct arena *arena, struct buf *out)
{
    const struct provenance provenance = provenance_of(api->inventory, arena);
    struct inventory *own = inventory_copy(api->inventory, NULL);
    const struct inventory_view view = inventory_read_settled(own);
    inventory_done(&view); /* nobody else has it */
    struct writing writing = {.cluster = view.cluster, .arena = arena, .out = out, .separator = ""};
    buf_add_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n");
    write_head(&writing, api->inventory, &provenance);
    write_objects(&writing);
    buf_add_text(out, "\n]}\n");
    inventory_free(own);
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

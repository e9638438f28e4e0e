/*
 * snapshot: GET /v1/snapshot: the ledger as a cluster file. It is copied under the lock and written
 * without it, one object after another into one text.
 */
#include "api/api.h"
#include "base/clock.h"
#include "base/mem.h"
#include "formats/json_put.h"
#include "objects/to_json.h"
#include "reply.h"
#include "snapshot_copy.h"

#define SECOND_MS 1000

struct writing {
    const struct policy *policy;
    struct buf *out;
    const char *separator;
    bool is_full;
};

static void write_object(struct writing *writing, json_t *object)
{
    struct buf *out = writing->out;
    if (!writing->is_full)
        writing->is_full =
            buf_add_text(out, writing->separator) < 0 || json_put(object, JSON_COMPACT, out) < 0;
    json_decref(object);
    writing->separator = ",\n";
}

static void write_head(struct writing *writing, const struct snapshot_copy *copy)
{
    const struct basis *basis = &copy->pods.basis;
    const struct snapshot snapshot = {
        .made_s = clock_wall_ms() / SECOND_MS,
        .as_of_s = basis->as_of_s,
        .source = basis->source,
        .problems = copy->problems,
        .n_problems = copy->n_problems,
        .n_all_problems = copy->n_all_problems,
        .reckoned = snapshot_lines_json(&copy->reckoned),
        .policy = snapshot_policy(writing->policy),
    };
    write_object(writing, snapshot_to_json(&snapshot));
}

static struct pod_facts facts_of(const struct pod_copy *copy)
{
    const struct pod *pod = &copy->pod;
    return (struct pod_facts){
        .uid = pod->uid,
        .namespace_ = pod->namespace_,
        .name = pod->name,
        .node_name = pod->node_name,
        .nominated_node = pod->nominated_node,
        .priority_class = pod->priority_class,
        .finished = pod->finished,
        .terminating = pod->terminating,
        .gated = pod->gated,
        .priority = pod->priority,
        .created_s = pod->created_s,
        .refusal = pod->refusal,
        .unscheduled_reason = pod->unscheduled_reason,
        .unscheduled_message = pod->unscheduled_message,
        .not_evaluated = pod->not_evaluated,
        .replica_of = copy->replica_of,
        .shape = copy->shape->facts,
    };
}

/* To the nearest second, which comes back the same when it is written again. */
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

/* Nodes first: those whose node is there are then read in one go. */
static void write_objects(struct writing *writing, const struct snapshot_copy *copy)
{
    write_head(writing, copy);
    for (size_t i = 0; i < copy->n_namespaces; i++)
        write_object(writing, namespace_to_json(&copy->namespaces[i]));
    for (size_t i = 0; i < copy->n_classes; i++)
        write_object(writing, priority_class_to_json(&copy->classes[i]));
    for (size_t i = 0; i < copy->n_device_classes; i++)
        write_object(writing, device_class_to_json(copy->device_classes[i].name,
                                                   copy->device_classes[i].resource));
    for (size_t i = 0; i < copy->n_nodes; i++)
        write_object(writing, node_to_json(&copy->nodes[i]));
    for (size_t i = 0; i < copy->pods.n; i++) {
        const struct pod_facts facts = facts_of(&copy->pods.items[i]);
        write_object(writing, kept_pod_to_json(&facts, writing->policy));
    }
    for (size_t i = 0; i < copy->n_reservations; i++)
        write_reservation(writing, &copy->reservations[i]);
}

/* False: it would be larger than REPLY_MAX_BYTES. */
static bool write_snapshot(const struct api *api, struct arena *arena, struct buf *out)
{
    struct snapshot_copy copy = snapshot_copy(api->inventory, arena);
    struct writing writing = {.policy = api->policy, .out = out, .separator = ""};
    (void)buf_add_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n");
    write_objects(&writing, &copy);
    writing.is_full |= buf_add_text(out, "\n]}\n") < 0;
    pod_copies_fini(&copy.pods);
    return !writing.is_full;
}

static void give_way(void *context)
{
    struct api *api = context;
    atomic_store(&api->snapshot_under_way, false);
}

static void answer_snapshot(struct api *api, struct exchange *exchange)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct buf text;
    buf_init(&text, REPLY_MAX_BYTES);
    exchange_on_end(exchange, give_way, api);
    if (write_snapshot(api, arena, &text)) {
        reply_text(exchange, 200, "application/json", &text);
        return;
    }
    buf_fini(&text);
    exchange_answer_error(exchange, 500, "the snapshot would be larger than 1 GiB");
}

void api_snapshot(void *context, struct exchange *exchange)
{
    static const char *const KNOWN[] = {NULL};
    struct api *api = context;
    if (!reply_knows(exchange, KNOWN) || !reply_from(api->inventory, exchange))
        return;
    if (atomic_exchange(&api->snapshot_under_way, true))
        exchange_answer_busy(exchange, "another snapshot is being made or sent: try again");
    else
        answer_snapshot(api, exchange);
}

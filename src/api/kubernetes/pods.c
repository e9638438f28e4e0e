/* pods: see kinds.h. No member names a pod of another namespace. */
#include "api/kubernetes/kinds.h"
#include "api/pods/pod_json.h"
#include "api/reply.h"
#include "api/tables.h"
#include "api/text.h"
#include "base/clock.h"
#include "ledger/admit.h"

#include <string.h>
#include <time.h>

const struct kind_member HOLDER_MEMBERS[] = {
    {"gpus", "string", "The GPUs that it holds, as text."},
    {"node", "string", "Its node."},
    {"model", "string", "The model of the node's GPUs; empty: unknown."},
    {"devices", "object", "GPUs that its claims give it, by driver."},
    {"requests", "object", "The resources that it asks for."},
    {"summary", "string", "What it uses, as a sentence."},
    {"terminating", "boolean", "It is being deleted, and holds its GPUs until it is gone."},
    {"priority", "integer", "Its priority."},
    {"priorityClass", "string", "Its priority class; empty: none."},
    {"uid", "string", "The UID of the pod."},
    {0},
};

const struct kind_column HOLDER_COLUMNS[] = {
    {"GPUs", "gpus", 0},   {"Node", "node", 0},         {"Age", NULL, 0},
    {"Model", "model", 1}, {"Priority", "priority", 1}, {0},
};

const struct kind_member PENDING_MEMBERS[] = {
    {"asksFor", "string", "The GPUs and the claims that it asks for, as text."},
    {"why", "string", "Why it waits, as a sentence."},
    {"owner", "string", "What controls it, such as Job/train; empty: nothing."},
    {"closest", "object", "The node that lacks least: node, reason, message, lacks. null: none."},
    {"requests", "object", "The resources that it asks for."},
    {"gpuModels", "object", "The GPU models that it accepts and excludes. null: any."},
    {"judged", "boolean", "false: no node was judged for it; its why says the cause."},
    {"fits", "integer", "The number of nodes that it fits on now."},
    {"fitsOn", "strings", "The best of these nodes."},
    {"reasons", "objects", "Of the other nodes: reason, message, number of nodes."},
    {"schedulerSays", "object", "kube-scheduler's reason and message. null: none yet."},
    {"refusal", "string", "Why no node can run it, whatever is free. null: no such reason."},
    {"nominatedNode", "string", "Where pods are evicted for it. null: nowhere."},
    {"reservation", "object", "Where it is being bound: node, ageSeconds. null: nowhere."},
    {"notEvaluated", "strings", "What was not judged."},
    {"gated", "boolean", "It has scheduling gates."},
    {"terminating", "boolean", "It is being deleted."},
    {"priority", "integer", "Its priority."},
    {"priorityClass", "string", "Its priority class; empty: none."},
    {"uid", "string", "The UID of the pod."},
    {0},
};

const struct kind_column PENDING_COLUMNS[] = {
    {"Asks For", "asksFor", 0}, {"Why", "why", 0},           {"Age", NULL, 0},
    {"Owner", "owner", 1},      {"Priority", "priority", 1}, {0},
};

/* ---- the pages ---- */

static bool admits(const struct selection *selection, const struct pod *pod, const char *node)
{
    const struct label_view view = cluster_pod_view(pod);
    const struct selection_object object = {.namespace_ = pod->namespace_,
                                            .name = pod->name,
                                            .field = node,
                                            .labels = view.labels,
                                            .n_labels = view.n_labels};
    return selection_admits(selection, &object);
}

static bool admits_pending(const void *context, const struct cluster *cluster,
                           const struct pod *pod)
{
    (void)cluster;
    return pod_copy_is_pending(pod) && admits(context, pod, "");
}

static bool admits_holder(const void *context, const struct cluster *cluster, const struct pod *pod)
{
    return pod->node_name[0] && !pod->finished && admits(context, pod, pod->node_name) &&
           (pod->shape->n_gpu_needs > 0 || pod_devices_has_any(cluster, pod));
}

static struct pod_copies copy_page(const struct objects_query *query, struct objects *objects,
                                   bool (*admit)(const void *, const struct cluster *,
                                                 const struct pod *))
{
    const struct selection *selection = query->selection;
    const struct pod_page page = {.admits = admit,
                                  .context = selection,
                                  .after_namespace = selection->after_namespace,
                                  .after_name = selection->after_name,
                                  .limit = selection->limit};
    const struct pod_copies copies = pod_copy_page(query->api->inventory, &page, query->arena);
    objects->is_page = true;
    objects->has_more = copies.n_all > copies.n;
    return copies;
}

static json_t *labels_of(const struct pod_copy *copy)
{
    const struct peer_facts *labels = copy->peers->pod.labels;
    return labels ? objects_labels(labels->labels, labels->n_labels) : json_object();
}

static void add_pod(const struct objects_query *query, const struct pod_copy *copy, json_t *status,
                    struct objects *objects)
{
    json_t *labels = labels_of(copy);
    const struct objects_metadata metadata = {copy->pod.namespace_, copy->pod.name,
                                              copy->pod.created_s, labels};
    objects_add(objects, query, &metadata, status);
    json_decref(labels);
}

static const char *add_amount(const char *text, int64_t amount, const char *of, struct arena *arena)
{
    return arena_printf(arena, "%s%s%lld %s", text, *text ? ", " : "", (long long)amount, of);
}

/* ---- gpupods ---- */

/* Claims may have changed since the pods were copied. */
static struct pod_gpus *copy_devices(const struct objects_query *query,
                                     const struct pod_copies *copies)
{
    struct pod_gpus *devices = ARENA_ARRAY(query->arena, struct pod_gpus, copies->n);
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(query->api->inventory);
    for (size_t i = 0; i < copies->n; i++)
        devices[i] = pod_devices_copy(view.cluster, &copies->items[i].pod, query->arena);
    return devices;
}

/* Of the GPUs that it requests: several for GPUs of several vendors. */
static const char *models_of(const struct pod_copy *copy, const struct node *node,
                             const struct pod_report *report)
{
    const struct pod_shape *shape =
        cluster_resolve(report->fork, &copy->shape->facts, report->arena);
    const struct gpu_kind *kind = NULL;
    const char *text = "";
    char model[2 * GPU_MODEL_TEXT_MAX];
    while ((kind = admit_next_kind(node_traits(node), shape, kind)))
        text = arena_printf(report->arena, "%s%s%s", text, text[0] ? ", " : "",
                            gpu_model_text(&kind->model, model));
    return text;
}

static json_t *holder_json(const struct pod_report *report, const struct pod_copy *copy,
                           const struct pod_gpus *devices)
{
    const char *model = "";
    const struct node *node = cluster_find_node(report->fork, copy->pod.node_name);
    const char *gpus = pod_json_gpus(report, &copy->shape->facts);
    for (size_t i = 0; i < devices->n; i++)
        gpus =
            add_amount(gpus, devices->items[i].amount, devices->items[i].resource, report->arena);
    if (node)
        model = models_of(copy, node, report);
    json_t *pod = pod_json(report, copy, NULL);
    json_t *status = json_pack("{s:s, s:s, s:o}", "gpus", gpus, "model", model, "devices",
                               pod_gpus_json(devices));
    objects_pick(HOLDER_MEMBERS, pod, status);
    json_decref(pod);
    return status;
}

bool pods_find_holders(const struct objects_query *query, struct objects *objects)
{
    if (reply_defer_list(query->api->inventory, query->exchange))
        return false;
    struct inventory *inventory = query->api->inventory;
    struct pod_copies copies = copy_page(query, objects, admits_holder);
    const struct pod_gpus *devices = copy_devices(query, &copies);
    struct cluster *fork = inventory_fork(inventory, PEERS_NONE);
    const struct pod_report report = {
        .fork = fork, .arena = query->arena, .now_s = (int64_t)time(NULL), .now_ms = clock_ms()};
    for (size_t i = 0; i < copies.n; i++)
        add_pod(query, &copies.items[i], holder_json(&report, &copies.items[i], &devices[i]),
                objects);
    inventory_fork_free(inventory, fork);
    pod_copy_fini(&copies);
    return true;
}

/* ---- gpupending ---- */

/* A summary begins with "NAMESPACE/NAME: ". */
static const char *why_of(const json_t *pod)
{
    const char *summary = text_member(pod, "summary");
    const size_t len = strlen(text_member(pod, "namespace")) + strlen("/") +
                       strlen(text_member(pod, "name")) + strlen(": ");
    return strlen(summary) > len ? summary + len : summary;
}

static const char *asks_for(const json_t *pod, const struct policy *policy, const char *claims,
                            struct arena *arena)
{
    const char *text = "";
    const char *name = NULL;
    json_t *amount = NULL;
    int64_t n_claims = 0;
    json_object_foreach (json_object_get(pod, "requests"), name, amount) {
        if (policy_is_gpu_resource(policy, name))
            text = add_amount(text, json_integer_value(amount), name, arena);
    }
    for (const char *at = claims; at && (at = strchr(at, '\n')); at++)
        n_claims++;
    if (n_claims > 0)
        text = add_amount(text, n_claims, n_claims == 1 ? "claim" : "claims", arena);
    return text;
}

static const char *owner_of(const json_t *pod, struct arena *arena)
{
    const json_t *controller = json_object_get(pod, "controller");
    if (!json_is_object(controller))
        return "";
    return arena_printf(arena, "%s/%s", text_member(controller, "kind"),
                        text_member(controller, "name"));
}

static json_t *waiting_json(const struct objects_query *query, const json_t *pod,
                            const struct policy *policy, const char *claims)
{
    struct arena *arena = query->arena;
    json_t *status = json_pack("{s:s, s:s, s:s}", "asksFor", asks_for(pod, policy, claims, arena),
                               "why", why_of(pod), "owner", owner_of(pod, arena));
    objects_pick(PENDING_MEMBERS, pod, status);
    return status;
}

bool pods_find_pending(const struct objects_query *query, struct objects *objects)
{
    if (exchange_defer(query->exchange))
        return false;
    struct inventory *inventory = query->api->inventory;
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(inventory);
    struct pod_copies copies = copy_page(query, objects, admits_pending);
    json_t *answer = pending_answer(query->api, &copies, false, query->arena);
    size_t i = 0;
    json_t *pod = NULL;
    /* The pods are in the order of the copies, which pending_answer() has sorted. */
    json_array_foreach (json_object_get(answer, "pods"), i, pod)
        add_pod(query, &copies.items[i],
                waiting_json(query, pod, policy, copies.items[i].pod.claims), objects);
    json_decref(answer);
    return true;
}

/* ---- explain ---- */

static void write_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    tables_write_explanation(json_object_get(answer, "status"), wide, arena, out);
}

void pods_explain(const struct objects_query *query)
{
    const struct selection *selection = query->selection;
    if (!reply_from(query->api->inventory, query->exchange) || exchange_defer(query->exchange))
        return;
    const struct explain_question question = {selection->namespace_, selection->name,
                                              query->api->groups, selection->namespace_};
    json_t *status = explain_answer(query->api->inventory, &question, query->arena);
    if (!status) {
        exchange_answer_error(
            query->exchange, 404,
            arena_printf(query->arena, "pods \"%.253s\" not found", selection->name));
        return;
    }
    const struct objects_metadata metadata = {.namespace_ = selection->namespace_,
                                              .name = selection->name};
    reply(query->exchange, objects_json(query->kind->explained_kind, &metadata, status),
          write_table);
}

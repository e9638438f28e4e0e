/*
 * explain: GET /v1/pods/NAMESPACE/NAME/explain and GET /v1/explain?namespace=&name=: one pod of the
 * ledger, and every node's verdict while it is pending.
 */
#include "api/api.h"
#include "api/cluster/inventory_parts.h"
#include "api/pods/group_text.h"
#include "api/pods/pod_json.h"
#include "api/pods/turns.h"
#include "api/reply.h"
#include "api/tables.h"
#include "api/text.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/trial.h"
#include "base/clock.h"
#include "types/quantity.h"

#include <string.h>
#include <time.h>

#define BASE "/v1/pods/"
#define VERB "explain"
/* Longest name in Kubernetes; bounds names in messages. */
#define SHOWN_BYTES 253

struct pod_path {
    const char *namespace_;
    const char *name;
};

/* Removes the part up to the next '/' from the path and returns it; NULL: no '/' or an empty
 * part. */
static const char *take_part(const char **path, struct arena *arena)
{
    const char *end = strchr(*path, '/');
    if (!end || end == *path)
        return NULL;
    const char *part = arena_strndup(arena, *path, (size_t)(end - *path));
    *path = end + 1;
    return part;
}

static bool read_path(const char *path, struct arena *arena, struct pod_path *ret_path)
{
    struct pod_path found;
    if (strncmp(path, BASE, strlen(BASE)) != 0)
        return false;
    path += strlen(BASE);
    found.namespace_ = take_part(&path, arena);
    found.name = found.namespace_ ? take_part(&path, arena) : NULL;
    if (!found.name || strcmp(path, VERB) != 0)
        return false;
    *ret_path = found;
    return true;
}

static json_t *explain_unjudged(const struct pod_report *report, const struct pod_copy *copy)
{
    return json_pack("{s:o, s:[], s:[], s:[]}", "pod", pod_json(report, copy, NULL), "heldBy",
                     "nodes", "nearMisses");
}

/* The taints of devices, on the nodes whose devices the pod's claims do not get. */
static json_t *with_taints(struct inventory *inventory, json_t *nodes, struct arena *arena)
{
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node) {
        struct device_taint *taints = NULL;
        size_t n = 0;
        if (strncmp(text_member(node, "reason"), "claim_", strlen("claim_")) != 0)
            continue;
        {
            const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
            n = devices_taints_on(cluster_devices(view.cluster), text_member(node, "node"), arena,
                                  &taints);
        }
        json_t *lines = inventory_devices_taints_json(taints, n);
        if (lines)
            (void)json_object_set_new(node, "deviceTaints", lines);
    }
    return nodes;
}

#define HOLDERS_MAX ((size_t)10)

struct gpu_holder {
    const char *namespace_, *name;
    int64_t gpus;
};

/* Of the GPUs that the pod asks for. */
static int64_t gpus_of(const struct pod *pod, const struct pod_shape *asked)
{
    int64_t sum = 0;
    for (size_t i = 0; i < asked->n_gpu_needs; i++)
        sum = amount_add(sum, shape_demand(&pod->shape->facts, asked->needs[i].resource->name));
    return sum;
}

/* Most first, then by name. */
static size_t insert_holder(struct gpu_holder *holders, size_t n, const struct gpu_holder *holder)
{
    size_t at = n;
    while (at > 0 && holders[at - 1].gpus < holder->gpus)
        at--;
    if (at == HOLDERS_MAX)
        return n;
    n += n < HOLDERS_MAX;
    memmove(&holders[at + 1], &holders[at], (n - 1 - at) * sizeof *holders);
    holders[at] = *holder;
    return n;
}

/* The holders of the GPUs that the pod lacks on the nearest node; only: as in struct pod_remedies.
 */
static json_t *held_by(const struct pod_remedies *remedies, const struct headline *headline,
                       const struct pod_shape *asked, struct arena *arena)
{
    struct gpu_holder holders[HOLDERS_MAX];
    size_t n = 0;
    json_t *list = json_array();
    if (headline->cause != CAUSE_FREE_GPUS || !headline->node)
        return list;
    {
        const struct inventory_view view CLEANUP(inventory_done) =
            inventory_read(remedies->inventory);
        const struct node *node = cluster_find_node(view.cluster, node_name(headline->node));
        for (const struct pod *pod = node ? node_next_pod(node, NULL) : NULL; pod;
             pod = node_next_pod(node, pod)) {
            const struct gpu_holder holder = {pod->namespace_, pod->name, gpus_of(pod, asked)};
            if (!pod->finished && holder.gpus > 0 &&
                (!remedies->only || strcmp(remedies->only, pod->namespace_) == 0))
                n = insert_holder(holders, n, &holder);
        }
        for (size_t i = 0; i < n; i++) {
            holders[i].namespace_ = arena_strdup(arena, holders[i].namespace_);
            holders[i].name = arena_strdup(arena, holders[i].name);
        }
    }
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "namespace",
                                                    holders[i].namespace_, "name", holders[i].name,
                                                    "gpus", (json_int_t)holders[i].gpus));
    return list;
}

static json_t *explain(const struct pod_report *report, struct pod_remedies *remedies,
                       struct pod_copy *copy)
{
    struct models_here models = MODELS_HERE_START;
    struct candidates candidates = candidates_of(report->fork, &models, report->arena);
    const struct pod_query query = pod_json_query(report, copy);
    struct verdicts verdicts = verdicts_of(&candidates, &query);
    json_t *pod = pod_json(report, copy, &verdicts);
    json_t *near_misses =
        verdicts.n_fits > 0 ? json_array() : near_misses_json(&query, &candidates);
    copy->headline = verdicts.headline;
    verdicts_fini(&verdicts);
    json_t *holders = held_by(remedies, copy->headline, query.question.shape, report->arena);
    remedies->candidates = &candidates;
    pod_json_add_remedies(report, remedies, copy, 1, pod);
    json_t *nodes =
        with_taints(remedies->inventory, verdict_list(&query, &candidates), report->arena);
    return json_pack("{s:o, s:o, s:o, s:o}", "pod", pod, "heldBy", holders, "nodes", nodes,
                     "nearMisses", near_misses);
}

/* A pod with a reservation is not judged, because that would count against it. Nor is one that is
 * being deleted, or a shape over a limit, which is incomplete. */
static bool is_judged(const struct pod_copy *copy)
{
    return pod_json_is_pending(&copy->pod) && !copy->pod.terminating && !copy->reserved_node &&
           !copy->shape->facts.over;
}

static json_t *explanation_json(const struct pod_copies *copies, struct pod_remedies *remedies,
                                struct claim_lookup *claims, struct arena *arena)
{
    const struct pod_report report = {remedies->fork, arena, (int64_t)time(NULL), clock_ms(),
                                      claims};
    struct pod_copy *copy = &copies->items[0];
    json_t *answer = provenance_json(&copies->provenance);
    json_t *rest =
        is_judged(copy) ? explain(&report, remedies, copy) : explain_unjudged(&report, copy);
    (void)json_object_update_new(answer, rest);
    return answer;
}

static void answer_unknown(struct exchange *exchange, const struct pod_path *path)
{
    exchange_answer_error(
        exchange, 404,
        arena_printf(exchange_arena(exchange),
                     "pod %.*s/%.*s: is not in the inventory, should be NAMESPACE/NAME of a pod "
                     "that has not ended (GET /v1/pending lists the pods that wait for GPUs)",
                     SHOWN_BYTES, path->namespace_, SHOWN_BYTES, path->name));
}

/* Whether pods that kube-scheduler takes first leave a place to one that fits by itself. */
static void add_turn(struct inventory *inventory, const struct policy *policy,
                     const struct pod_copies *copies, const struct explain_question *question,
                     json_t *pod, struct arena *arena)
{
    struct models_here models = MODELS_HERE_START;
    struct pod_copies all = turns_copy_all(inventory, arena);
    struct cluster *fork = inventory_fork(inventory, pod_copy_peers_wanted(&all));
    struct candidates candidates = candidates_of(fork, &models, arena);
    struct pod_remedies remedies = {.inventory = inventory,
                                    .fork = fork,
                                    .candidates = &candidates,
                                    .trials_left = TRIAL_VERDICTS_OF_ANSWER,
                                    .only = question->only};
    copies->items[0].alone = ALONE_FITS;
    struct turns *turns = turns_of(&(struct turns_pods){.inventory = inventory,
                                                        .policy = policy,
                                                        .fork = fork,
                                                        .candidates = &candidates,
                                                        .listed = copies,
                                                        .all = &all,
                                                        .remedies = &remedies,
                                                        .only = question->only},
                                   arena);
    turns_add(turns, copies->items[0].pod.uid, pod);
    turns_free(turns);
    inventory_fork_free(inventory, fork);
    pod_copy_fini(&all);
}

static void add_group(struct groups *groups, const struct pod_copies *copies, json_t *answer,
                      struct arena *arena)
{
    json_t *pods = json_pack("[O]", json_object_get(answer, "pod"));
    group_text_add(groups, copies, pods, arena);
    json_decref(pods);
}

static enum peers_wanted peers_of(const struct pod_copies *copies, const struct pod_copies *waiting)
{
    const enum peers_wanted own = pod_copy_peers_wanted(copies);
    const enum peers_wanted all = pod_copy_peers_wanted(waiting);
    return own > all ? own : all;
}

json_t *explain_answer(struct inventory *inventory, const struct explain_question *question,
                       struct arena *arena)
{
    struct pod_copies copies =
        pod_copy_named(inventory, question->namespace_, question->name, arena);
    if (copies.n == 0)
        return NULL;
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(inventory);
    struct claim_lookup *claims = pod_json_claims(inventory, policy, &copies, arena);
    struct pod_copies waiting = turns_copy_all(inventory, arena);
    struct pod_remedies remedies = {.inventory = inventory,
                                    .fork = inventory_fork(inventory, peers_of(&copies, &waiting)),
                                    .trials_left = TRIAL_VERDICTS_OF_ANSWER,
                                    .only = question->only};
    remedies.before = pod_copy_before(&waiting, &copies.items[0], 1, arena, &remedies.n_before);
    json_t *answer = explanation_json(&copies, &remedies, claims, arena);
    claim_lookup_free(claims);
    pod_copy_fini(&waiting);
    inventory_fork_free(inventory, remedies.fork);
    if (json_integer_value(json_object_get(json_object_get(answer, "pod"), "fits")) > 0)
        add_turn(inventory, policy, &copies, question, json_object_get(answer, "pod"), arena);
    add_group(question->groups, &copies, answer, arena);
    pod_copy_fini(&copies);
    return answer;
}

static void answer_explanation(const struct api *api, struct exchange *exchange,
                               const struct pod_path *path)
{
    const char *tag = NULL;
    if (!reply_begin(api, exchange, &tag) || exchange_defer(exchange))
        return;
    const struct explain_question question = {path->namespace_, path->name, api->groups, NULL};
    json_t *answer = explain_answer(api->inventory, &question, exchange_arena(exchange));
    if (!answer) {
        answer_unknown(exchange, path);
        return;
    }
    reply_end(api, exchange, tag);
    reply(exchange, answer, tables_write_explanation);
}

void api_explain(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct pod_path path;
    if (!read_path(exchange_path(exchange), exchange_arena(exchange), &path)) {
        exchange_answer_error(exchange, 404,
                              "there is no such path, should be " BASE "NAMESPACE/NAME/" VERB);
        return;
    }
    if (reply_from(api->inventory, exchange))
        answer_explanation(api, exchange, &path);
}

void api_explain_named(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    const struct pod_path path = {exchange_query(exchange, "namespace"),
                                  exchange_query(exchange, "name")};
    if (!path.namespace_ || !path.name) {
        exchange_answer_error(exchange, 400,
                              "?namespace= and ?name= are both needed, should be those of a pod");
        return;
    }
    if (reply_from(api->inventory, exchange))
        answer_explanation(api, exchange, &path);
}

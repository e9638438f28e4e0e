/* room: see room.h. */
#include "api/verdicts/room.h"
#include "api/verdicts/headline.h"
#include "ledger/edit.h"
#include "ledger/peer.h"

#include <inttypes.h>
#include <string.h>

/* Pods of a node that are considered. */
#define CONSIDERED_MAX ((size_t)500)

/* Of the asked pod's needs, what the node lacks. */
struct lacking {
    const struct need *need;
    int64_t amount;
};

struct lackings {
    struct lacking *items;
    size_t n;
};

static struct lackings lackings_of(const struct room_question *question,
                                   const struct fit_question *asked)
{
    const struct pod_shape *shape = asked->shape;
    struct lackings lackings = {ARENA_ARRAY(question->arena, struct lacking, shape->n_needs), 0};
    for (size_t i = 0; i < shape->n_needs; i++) {
        const int64_t lack = fit_lack(question->node, asked, &shape->needs[i]);
        if (lack > 0)
            lackings.items[lackings.n++] = (struct lacking){&shape->needs[i], lack};
    }
    return lackings;
}

static bool may_end(const struct room_question *question, const struct pod *pod)
{
    return !edit_stays(pod) && !pod->finished &&
           (!question->only || strcmp(question->only, pod->namespace_) == 0);
}

/* Whether this pod's end is enough, or NULL: the pod that has most of the first lacking resource,
 * of those that are not chosen. */
static const struct pod *next_pod(const struct room_question *question, const struct node *node,
                                  const struct lackings *lackings, const struct pod *const *chosen,
                                  size_t n_chosen)
{
    const struct pod *best = NULL;
    int64_t most = 0;
    size_t n = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod && n++ < CONSIDERED_MAX;
         pod = node_next_pod(node, pod)) {
        const struct lacking *first = &lackings->items[0];
        const int64_t there = shape_need(pod->shape, first->need->resource);
        bool is_chosen = false;
        for (size_t i = 0; i < n_chosen; i++)
            is_chosen = is_chosen || chosen[i] == pod;
        if (is_chosen || !may_end(question, pod) || there <= 0)
            continue;
        /* The smallest that is enough, else the largest. */
        const bool is_better =
            !best ||
            (most >= first->amount ? there >= first->amount && there < most : there > most);
        if (is_better) {
            best = pod;
            most = there;
        }
    }
    return best;
}

static void subtract(struct lackings *lackings, const struct pod *pod)
{
    size_t n = 0;
    for (size_t i = 0; i < lackings->n; i++) {
        struct lacking lacking = lackings->items[i];
        lacking.amount -= shape_need(pod->shape, lacking.need->resource);
        if (lacking.amount > 0)
            lackings->items[n++] = lacking;
    }
    lackings->n = n;
}

/* Resources that the fork's node does not have may be unknown to the fork. */
static size_t add_needs(struct need *needs, size_t n, const struct node *node,
                        const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        if (node_find_resource(node, shape->needs[i].resource))
            needs[n++] = shape->needs[i];
    }
    return n;
}

static void describe(const struct room_question *question, const struct pod *const *chosen,
                     size_t n, struct room_pods *pods)
{
    struct arena *arena = question->arena;
    const char **names = ARENA_ARRAY(arena, const char *, n);
    size_t n_needs = 0;
    int64_t n_gpus = 0;
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        n_needs += chosen[i]->shape->n_needs;
    struct need *needs = ARENA_ARRAY(arena, struct need, n_needs);
    for (size_t i = 0; i < n; i++) {
        const struct pod_shape *shape = chosen[i]->shape;
        names[i] = arena_printf(arena, "%s/%s", chosen[i]->namespace_, chosen[i]->name);
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? " and " : "", names[i]);
        pods->n_needs = add_needs(needs, pods->n_needs, question->node, shape);
        for (size_t j = 0; j < shape->n_gpu_needs; j++)
            n_gpus = shape->needs[j].amount < INT64_MAX - n_gpus ? n_gpus + shape->needs[j].amount
                                                                 : INT64_MAX;
    }
    pods->needs = needs;
    pods->names = names;
    pods->n = n;
    pods->text = arena_printf(arena, "wait for %s on %s", text, node_name(question->node));
    if (n_gpus > 0)
        pods->text = arena_printf(arena, "%s, which %s %" PRId64 " GPU%s", pods->text,
                                  n == 1 ? "has" : "have", n_gpus, n_gpus == 1 ? "" : "s");
}

struct room_pods room_pods_to_end(const struct room_question *question,
                                  const struct fit_question *asked)
{
    struct room_pods pods = {0};
    struct lackings lackings = lackings_of(question, asked);
    const struct pod *chosen[ROOM_PODS_MAX];
    size_t n = 0;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(question->inventory);
    const struct node *node = cluster_find_node(view.cluster, node_name(question->node));
    if (!node || lackings.n == 0 || !cluster_is_fork_of(question->fork, view.cluster))
        return pods;
    while (lackings.n > 0 && n < ROOM_PODS_MAX) {
        chosen[n] = next_pod(question, node, &lackings, chosen, n);
        if (!chosen[n])
            return pods;
        subtract(&lackings, chosen[n++]);
    }
    if (lackings.n == 0)
        describe(question, chosen, n, &pods);
    return pods;
}

static int64_t use_of_staying(const struct node *node, const struct resource *resource)
{
    int64_t sum = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        if (edit_stays(pod) && __builtin_add_overflow(sum, shape_need(pod->shape, resource), &sum))
            return INT64_MAX;
    }
    return sum;
}

size_t room_of_empty(const struct room_question *question, const struct need **ret_freed)
{
    size_t n_rows = 0;
    size_t n = 0;
    const struct node_resource *rows = node_resources(question->node, &n_rows);
    struct need *freed = ARENA_ARRAY(question->arena, struct need, n_rows);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(question->inventory);
    const struct node *node = cluster_find_node(view.cluster, node_name(question->node));
    *ret_freed = freed;
    if (!node || !cluster_is_fork_of(question->fork, view.cluster))
        return 0;
    for (size_t i = 0; i < n_rows; i++) {
        const int64_t staying = use_of_staying(node, rows[i].resource);
        if (rows[i].used > staying)
            freed[n++] = (struct need){rows[i].resource, rows[i].used - staying};
    }
    return n;
}

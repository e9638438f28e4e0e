/* turns: see turns.h. */
#include "api/pods/turns.h"
#include "api/pods/pod_json.h"
#include "api/text.h"
#include "api/verdicts/headline.h"
#include "api/what_if/placing.h"
#include "base/table.h"

#include <ctype.h>
#include <string.h>

struct turn {
    const char *node; /* NULL: no room is left for it */
    const char *pod;  /* "NAMESPACE/NAME" */
    const char *reason;
    enum verdict_cause cause;
    enum fits_alone alone;
    const json_t *help;
    size_t n_before; /* pods of its namespace that were placed before it */
};

struct entry {
    const char *key; /* the pod's UID, the node's name, or a namespace with its first placed pod */
    struct turn turn;
    UT_hash_handle hh;
};

struct turns {
    struct arena *arena;
    const struct policy *policy; /* borrowed */
    struct entry *by_pod, *by_node, *by_namespace;
    json_t *helps; /* of all turns */
};

static struct entry *find(struct entry *table, const char *key)
{
    struct entry *entry = NULL;
    HASH_FIND_STR(table, key, entry);
    return entry;
}

static void add(struct entry **table, const char *key, const struct turn *turn, struct arena *arena)
{
    struct entry *entry = ARENA_NEW(arena, struct entry);
    entry->key = key;
    entry->turn = *turn;
    HASH_ADD_KEYPTR(hh, *table, entry->key, strlen(entry->key), entry);
}

static const char *name_of(const struct pod *pod, const char *only, struct arena *arena)
{
    if (only && strcmp(pod->namespace_, only) != 0)
        return "another pod";
    return arena_printf(arena, "%s/%s", pod->namespace_, pod->name);
}

static void add_pod(struct turns *turns, const struct placed_pod *placed, const char *only)
{
    struct arena *arena = turns->arena;
    const struct pod *pod = &placed->copy->pod;
    struct entry *own = find(turns->by_namespace, pod->namespace_);
    const struct turn turn = {placed->node,
                              name_of(pod, only, arena),
                              placed->reason,
                              placed->cause,
                              placed->copy->alone,
                              placed->help,
                              own ? own->turn.n_before : 0};
    add(&turns->by_pod, pod->uid, &turn, arena);
    if (turn.node && !own) {
        add(&turns->by_namespace, pod->namespace_, &turn, arena);
        own = find(turns->by_namespace, pod->namespace_);
    }
    if (turn.node)
        own->turn.n_before++;
    if (turn.node && !find(turns->by_node, turn.node))
        add(&turns->by_node, turn.node, &turn, arena);
}

static bool is_waiting(void *context, const struct pod *pod)
{
    (void)context;
    return pod_copy_is_pending(pod);
}

struct pod_copies turns_copy_all(struct inventory *inventory, struct arena *arena)
{
    return pod_copy_waiting(inventory, is_waiting, NULL, arena);
}

/* Copies of the same pods. */
static void know_alone(const struct turns_pods *pods, struct arena *arena)
{
    struct entry *listed = NULL;
    if (pods->all == pods->listed)
        return;
    for (size_t i = 0; i < pods->listed->n; i++) {
        const struct pod_copy *copy = &pods->listed->items[i];
        add(&listed, copy->pod.uid, &(struct turn){.alone = copy->alone}, arena);
    }
    for (size_t i = 0; i < pods->all->n; i++) {
        const struct entry *entry = find(listed, pods->all->items[i].pod.uid);
        pods->all->items[i].alone = entry ? entry->turn.alone : ALONE_UNKNOWN;
    }
    HASH_CLEAR(hh, listed);
}

struct turns *turns_of(const struct turns_pods *pods, struct arena *arena)
{
    struct turns *turns = ARENA_NEW(arena, struct turns);
    turns->arena = arena;
    turns->policy = pods->policy;
    know_alone(pods, arena);
    struct claim_lookup *claims = pod_json_claims(pods->inventory, pods->policy, pods->all, arena);
    const struct turns_question question = {pods->fork,       pods->all,      claims,
                                            pods->candidates, TURNS_VERDICTS, pods->remedies};
    cluster_fork_mark(pods->fork);
    const struct placing placing = placing_in_turn(&question, arena);
    turns->helps = placing.helps;
    for (size_t i = 0; i < placing.n; i++) {
        if (placing.items[i].is_tried && !find(turns->by_pod, placing.items[i].copy->pod.uid))
            add_pod(turns, &placing.items[i], pods->only);
    }
    cluster_fork_rewind(pods->fork);
    cluster_fork_keep(pods->fork);
    claim_lookup_free(claims);
    return turns;
}

/* "The room on h100-1 goes to ml/train-0, which kube-scheduler takes first.", or what else those
 * before it use up. */
static const char *taken_text(const struct turns *turns, const struct turn *turn,
                              const char *namespace_, const char *node)
{
    const struct entry *first = find(turns->by_node, node);
    const struct entry *own = find(turns->by_namespace, namespace_);
    const char *reason = turn->reason;
    const bool is_room = turn->cause >= CAUSE_FREE_GPUS && turn->cause <= CAUSE_TOTAL;
    if (is_room && first)
        return arena_printf(turns->arena,
                            "The room on %s goes to %s, which kube-scheduler takes first.", node,
                            first->turn.pod);
    if (turn->cause == CAUSE_NONE || !*reason)
        return "Pods that kube-scheduler takes first use up what it needs.";
    return arena_printf(turns->arena, "After %s, %c%s",
                        own && turn->n_before > 0
                            ? text_first(own->turn.pod, turn->n_before, turns->arena)
                            : "pods that come first",
                        tolower(*reason), reason + 1);
}

static json_t *verdict_in_turn(const struct turns *turns, const struct turn *turn,
                               const json_t *pod)
{
    json_t *verdict = json_copy(json_object_get(pod, "verdict"));
    const char *best = json_string_value(json_array_get(json_object_get(pod, "fitsOn"), 0));
    const char *node = turn->node ? turn->node : best ? best : "";
    const bool is_in_doubt = strcmp(text_member(verdict, "result"), "waits") == 0;
    const char *text =
        turn->node
            ? arena_printf(turns->arena, "It fits on %s, and waits for kube-scheduler.", node)
            : taken_text(turns, turn, text_member(pod, "namespace"), node);
    (void)json_object_set_new(verdict, "node", json_string(node));
    if (!turn->node || !is_in_doubt)
        (void)json_object_set_new(verdict, "text", json_string(text));
    if (turn->node)
        return verdict;
    json_t *rest =
        json_pack("{s:s, s:s, s:{s:i, s:I}}", "result", headline_result(RESULT_WAITS), "cause",
                  cause_name(turn->cause == CAUSE_NONE ? CAUSE_FREE_GPUS : turn->cause), "missing",
                  "pods", 1, "gpus", pod_owners_count_gpus(pod, turns->policy));
    (void)json_object_update_new(verdict, rest);
    return verdict;
}

void turns_add(const struct turns *turns, const char *uid, json_t *pod)
{
    const struct entry *entry = find(turns->by_pod, uid);
    if (!entry)
        return;
    const struct turn *turn = &entry->turn;
    (void)json_object_set_new(pod, "placedOn", turn->node ? json_string(turn->node) : json_null());
    if (json_integer_value(json_object_get(pod, "fits")) == 0)
        return;
    (void)json_object_set_new(pod, "verdict", verdict_in_turn(turns, turn, pod));
    if (turn->help)
        (void)json_object_update(pod, (json_t *)(uintptr_t)turn->help);
}

void turns_free(struct turns *turns)
{
    json_decref(turns->helps);
    HASH_CLEAR(hh, turns->by_pod);
    HASH_CLEAR(hh, turns->by_node);
    HASH_CLEAR(hh, turns->by_namespace);
}

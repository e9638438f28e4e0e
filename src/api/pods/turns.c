/* turns: see turns.h. */
#include "api/pods/turns.h"
#include "api/pods/pod_owners.h"
#include "api/verdicts/cause.h"
#include "api/what_if/placing.h"
#include "base/table.h"

#include <string.h>

struct turn {
    const char *node; /* NULL: no room is left for it */
    const char *pod;  /* "NAMESPACE/NAME" */
};

struct entry {
    const char *key; /* the pod's UID, or the node's name */
    struct turn turn;
    UT_hash_handle hh;
};

struct turns {
    struct arena *arena;
    struct entry *by_pod, *by_node;
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

static void add_pod(struct turns *turns, const struct placed_pod *placed, struct arena *arena)
{
    const struct pod *pod = &placed->copy->pod;
    const char *node = placed->node ? arena_strdup(arena, placed->node) : NULL;
    const struct turn turn = {node, arena_printf(arena, "%s/%s", pod->namespace_, pod->name)};
    add(&turns->by_pod, arena_strdup(arena, pod->uid), &turn, arena);
    if (node && !find(turns->by_node, node))
        add(&turns->by_node, node, &turn, arena);
}

struct turns *turns_of(struct inventory *inventory, struct arena *arena)
{
    struct arena *working CLEANUP(arena_free_ptr) = arena_new();
    struct turns *turns = ARENA_NEW(arena, struct turns);
    turns->arena = arena;
    struct cluster *fork = NULL;
    struct placing placing = placing_within(inventory, TURNS_VERDICTS, working, &fork);
    for (size_t i = 0; i < placing.n; i++) {
        if (placing.items[i].is_tried && !find(turns->by_pod, placing.items[i].copy->pod.uid))
            add_pod(turns, &placing.items[i], arena);
    }
    pod_copy_fini(&placing.copies);
    inventory_fork_free(inventory, fork);
    return turns;
}

/* "The room on h100-1 goes to ml/train-0, which kube-scheduler takes first." */
static const char *taken_text(const struct turns *turns, const char *node, bool has_quotas)
{
    const struct entry *first = find(turns->by_node, node);
    if (!first || has_quotas)
        return "Pods that kube-scheduler takes first use up what it needs.";
    return arena_printf(turns->arena,
                        "The room on %s goes to %s, which kube-scheduler takes first.", node,
                        first->turn.pod);
}

static json_t *verdict_in_turn(const struct turns *turns, const struct turn *turn,
                               const struct policy *policy, const json_t *pod)
{
    json_t *verdict = json_copy(json_object_get(pod, "verdict"));
    const char *best = json_string_value(json_array_get(json_object_get(pod, "fitsOn"), 0));
    const char *node = turn->node ? turn->node : best ? best : "";
    const char *text =
        turn->node
            ? arena_printf(turns->arena, "It fits on %s, and waits for kube-scheduler.", node)
            : taken_text(turns, node, policy->n_quotas > 0);
    (void)json_object_set_new(verdict, "text", json_string(text));
    (void)json_object_set_new(verdict, "node", json_string(node));
    if (turn->node)
        return verdict;
    json_t *rest = json_pack("{s:s, s:s, s:{s:i, s:I}}", "result", "doesNotFit", "cause",
                             cause_name(CAUSE_FREE_GPUS), "missing", "pods", 1, "gpus",
                             pod_owners_count_gpus(pod, policy));
    (void)json_object_update_new(verdict, rest);
    return verdict;
}

void turns_add(const struct turns *turns, const char *uid, const struct policy *policy, json_t *pod)
{
    const struct entry *entry = find(turns->by_pod, uid);
    if (!entry)
        return;
    const struct turn *turn = &entry->turn;
    (void)json_object_set_new(pod, "placedOn", turn->node ? json_string(turn->node) : json_null());
    if (json_integer_value(json_object_get(pod, "fits")) > 0)
        (void)json_object_set_new(pod, "verdict", verdict_in_turn(turns, turn, policy, pod));
}

void turns_free(struct turns *turns)
{
    HASH_CLEAR(hh, turns->by_pod);
    HASH_CLEAR(hh, turns->by_node);
}

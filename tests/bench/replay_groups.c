/* replay_groups: see replay_groups.h. */
#include "replay_groups.h"
#include "base/mem.h"
#include "decide/fit.h"

#include <stdlib.h>
#include <string.h>

#define IDS_OF_GROUPS (UINT64_C(1) << 40)

static size_t find_rack(struct groups *groups, const char *name)
{
    size_t i = 0;
    while (i < groups->n_racks && strcmp(groups->racks[i].name, name) != 0)
        i++;
    if (i == groups->n_racks)
        groups->racks[groups->n_racks++].name = name;
    return i;
}

static void find_racks(struct groups *groups)
{
    const struct trace *trace = &groups->replay->trace;
    groups->racks = MEM_ARRAY(struct topology_room, trace->n_nodes);
    groups->n_nodes_of = MEM_ARRAY(size_t, trace->n_nodes);
    groups->nodes = MEM_ARRAY(const struct node *, trace->n_nodes);
    groups->rack_of = MEM_ARRAY(size_t, trace->n_nodes);
    for (size_t i = 0; i < trace->n_nodes; i++) {
        const struct node_facts *facts = &trace->nodes[i];
        const struct node *node = cluster_find_node(groups->replay->cluster, facts->name);
        if (node_find_resource(node, groups->replay->gpus)->allocatable != GROUP_NODE_GPUS)
            continue;
        const size_t rack = find_rack(groups, facts->labels[1].value);
        groups->nodes[groups->n_nodes] = node;
        groups->rack_of[groups->n_nodes++] = rack;
        groups->n_nodes_of[rack]++;
    }
}

void groups_init(struct groups *groups, struct replay *replay)
{
    *groups = (struct groups){
        .replay = replay, .random = replay->arrivals ^ 0x5eed, .next_id = IDS_OF_GROUPS};
    const struct amount demand[] = {{"cpu", 32000},
                                    {"memory", INT64_C(128) << 30},
                                    {"nvidia.com/gpu", GROUP_NODE_GPUS},
                                    {"pods", 1}};
    memcpy(groups->demand, demand, sizeof demand);
    groups->pod = (struct trace_pod){
        .gpus = GROUP_NODE_GPUS, .models = "", .shape = {.demand = groups->demand, .n_demand = 4}};
    find_racks(groups);
}

void groups_fini(struct groups *groups)
{
    free(groups->racks);
    free(groups->n_nodes_of);
    free(groups->nodes);
    free(groups->rack_of);
    free(groups->waiting);
}

struct group groups_next(struct groups *groups, double since_s)
{
    const double duration_s = GROUP_S_MAX * replay_random(&groups->random);
    const size_t n = GROUP_NODES_MIN +
                     replay_random_below(&groups->random, GROUP_NODES_MAX + 1 - GROUP_NODES_MIN);
    const struct group group = {since_s, duration_s, n, groups->next_id};
    groups->next_id += n;
    for (size_t i = 0; i < n; i++)
        replay_pend(groups->replay, &(struct coming){&groups->pod, group.first_id + i, 0, 0});
    return group;
}

static bool is_whole(const struct groups *groups, const struct node *node,
                     const struct pod_shape *shape)
{
    const struct fit_question question = {.shape = shape, .scope = FIT_ALL};
    return node_resource_free(node_find_resource(node, groups->replay->gpus)) == GROUP_NODE_GPUS &&
           fit_judge(node, &question) == REASON_FITS;
}

static void count_whole(struct groups *groups, const struct pod_shape *shape)
{
    for (size_t i = 0; i < groups->n_racks; i++)
        groups->racks[i].n_members = groups->racks[i].free_gpus = 0;
    for (size_t i = 0; i < groups->n_nodes; i++) {
        struct topology_room *rack = &groups->racks[groups->rack_of[i]];
        const bool whole = is_whole(groups, groups->nodes[i], shape);
        rack->n_members += whole;
        rack->free_gpus += whole ? GROUP_NODE_GPUS : 0;
    }
}

bool groups_place(struct groups *groups, const struct group *group,
                  const struct node *ret_nodes[GROUP_NODES_MAX])
{
    size_t n = 0;
    const struct pod_shape *shape = replay_shape(groups->replay, group->first_id);
    count_whole(groups, shape);
    if (!topology_require(groups->racks, groups->n_racks, (int64_t)group->n_nodes))
        return false;
    for (size_t i = 0; i < groups->n_nodes && n < group->n_nodes; i++) {
        if (groups->racks[groups->rack_of[i]].n_taken > 0 &&
            is_whole(groups, groups->nodes[i], shape))
            ret_nodes[n++] = groups->nodes[i];
    }
    for (size_t i = 0; i < n; i++)
        replay_bind(groups->replay, &(struct coming){&groups->pod, group->first_id + i, 0, 0},
                    ret_nodes[i]);
    return true;
}

void groups_wait(struct groups *groups, const struct group *group)
{
    if (groups->n_waiting == groups->room) {
        groups->room = 2 * groups->room + 64;
        groups->waiting = mem_grow(groups->waiting, groups->room, sizeof *group);
    }
    groups->waiting[groups->n_waiting++] = *group;
}

void groups_stop_waiting(struct groups *groups, size_t i)
{
    struct group *at = &groups->waiting[i];
    groups->n_waiting--;
    memmove(at, at + 1, (groups->n_waiting - i) * sizeof *at);
}

void groups_look(struct groups *groups, const struct group *group)
{
    int64_t best = 0;
    groups->n_seen++;
    count_whole(groups, replay_shape(groups->replay, group->first_id));
    for (size_t i = 0; i < groups->n_racks; i++) {
        const int64_t whole = groups->racks[i].n_members;
        best = whole > best ? whole : best;
        groups->whole_racks += (size_t)whole == groups->n_nodes_of[i];
    }
    groups->whole_in_best += (double)best;
}

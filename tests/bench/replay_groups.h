/*
 * replay_groups: groups of pods that need whole nodes of one rack, among a trace's pods. Private to
 * replay_run.
 *
 * A group has 2 to 16 members, each with 8 GPUs, and runs up to 4 hours. It starts as a whole, in
 * the rack with room for all that fits best (decide/topology.h), or waits and keeps nothing. Groups
 * that wait are tried in order of arrival, before single pods, when a node has become whole. The
 * racks are those of trace.h.
 */
#ifndef BENCH_REPLAY_GROUPS_H
#define BENCH_REPLAY_GROUPS_H

#include "decide/topology.h"
#include "replay.h"

#define GROUP_NODES_MIN 2
#define GROUP_NODES_MAX 16
#define GROUP_NODE_GPUS 8
#define GROUP_S_MAX (4 * 3600.0)
#define GROUP_MEAN_GPU_S                                                                           \
    (GROUP_S_MAX / 2 * GROUP_NODE_GPUS * (GROUP_NODES_MIN + GROUP_NODES_MAX) / 2)

struct group {
    double since_s, duration_s;
    size_t n_nodes;
    uint64_t first_id; /* of its pods */
};

struct groups {
    struct replay *replay;
    uint64_t random;      /* apart from that of the pods */
    struct trace_pod pod; /* every member */
    struct amount demand[4];
    struct topology_room *racks;
    size_t *n_nodes_of; /* nodes with 8 GPUs in each rack */
    size_t n_racks;
    const struct node **nodes; /* with 8 GPUs */
    size_t *rack_of;           /* each of these nodes */
    size_t n_nodes;
    struct group *waiting; /* in order of arrival */
    size_t n_waiting, room;
    uint64_t next_id;
    /* As the arriving groups see them. */
    size_t n_seen;
    double whole_racks, whole_in_best;
};

void groups_init(struct groups *groups, struct replay *replay);
void groups_fini(struct groups *groups);
/* Its members are pending from now on. */
struct group groups_next(struct groups *groups, double since_s);
/* Places the group: ret_nodes has its members' nodes. False: no rack has room. */
bool groups_place(struct groups *groups, const struct group *group,
                  const struct node *ret_nodes[GROUP_NODES_MAX]);
void groups_wait(struct groups *groups, const struct group *group);
/* Forgets the i-th that waits. */
void groups_stop_waiting(struct groups *groups, size_t i);
/* Counts the racks as the group sees them. */
void groups_look(struct groups *groups, const struct group *group);

#endif

/*
 * replay_groups: groups of pods among a trace's pods, and the rules by which they are placed.
 * Private to replay_run.
 *
 * GROUP_SHARE of the pods with 8 GPUs are groups: 2, 4, 8 or 16 such pods come at once (a half, a
 * quarter, an eighth and an eighth of the groups), and run equally long once all are placed.
 */
#ifndef BENCH_REPLAY_GROUPS_H
#define BENCH_REPLAY_GROUPS_H

#include "replay.h"

#define GROUP_PODS_MAX 16
#define GROUP_SHARE 0.5
#define GROUP_GPUS 8
#define GROUP_PODS_MEAN 5
#define GROUP_FIRST_ID (UINT64_C(1) << 40) /* of their pods; those of others are below */

/* Pods that are placed together; with GROUPS_QUOTA each pod with GPUs is a group. */
struct group {
    uint64_t id;
    const struct trace_pod *pod;
    size_t size, n_placed;
    const struct node *nodes[GROUP_PODS_MAX]; /* NULL: not placed */
    double came_s, duration_s;
    double ends_s;                /* once it runs */
    double not_before_s, check_s; /* of GROUPS_QUOTA: after an eviction; of the next one */
    unsigned n_evictions;
    bool is_admitted, is_planned, runs, is_over;
    double starts_s;     /* of GROUPS_PLAN: once planned */
    uint64_t tried_room; /* of GROUPS_PLAN: the room that was not enough */
    struct group *next;  /* that waits, in order of arrival */
    struct group *all_next;
    char key[2 * REPLAY_UID_MAX]; /* of GROUPS_PLAN */
};

/* 0: it is no group. Draws with *random. */
size_t group_draw(const struct trace_pod *pod, uint64_t *random);
/* Its i-th pod. */
struct coming group_pod(struct group *group, size_t i);
/* Nodes with as many free GPUs as such a pod needs. */
size_t group_n_free(const struct replay *replay);
/* Places all of its pods, or none. */
bool group_place_all(struct replay *replay, struct group *group);
void group_leave(struct replay *replay, struct group *group);

struct planner;

struct planner *planner_new(void);
void planner_free(struct planner *planner);
/* A second passes: groups in the list may get their places, and a time when all of their pods are
 * bound. room grows whenever a pod leaves. Returns whether the next second may differ without. */
bool planner_tick(struct planner *planner, struct replay *replay, struct group *waiting,
                  uint64_t room, double now_s);

#endif

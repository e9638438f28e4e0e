/* replay_static: see replay.h. */
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>

#define N_MARKS 4 /* after 100, 110, 120 and 130 % of the cluster's GPUs have arrived */

struct tally {
    int64_t arrived, placed; /* GPUs */
    double marks[N_MARKS];
    size_t n_marks;
    double first_failure; /* percent of load */
    int64_t lost_whole, lost_confined, lost_others;
    struct service_counts services; /* after 100 % have arrived */
};

static double percent(const struct replay *replay, int64_t gpus)
{
    return 100.0 * (double)gpus / (double)replay->trace.n_gpus;
}

static void lose(const struct replay *replay, const struct trace_pod *pod, struct tally *tally)
{
    if (pod->gpus > 0 && tally->first_failure == 0)
        tally->first_failure = percent(replay, tally->arrived);
    if (pod->gpus >= 8)
        tally->lost_whole += pod->gpus;
    else if (pod->models[0])
        tally->lost_confined += pod->gpus;
    else
        tally->lost_others += pod->gpus;
}

/* Like replay_arrive(), but drops a pod that fits nowhere. */
static const struct node *place(struct replay *replay, const struct coming *coming)
{
    const struct node *node = replay_arrive(replay, coming);
    if (!node)
        replay_leave(replay, coming->id);
    return node;
}

void replay_arrivals(struct replay *replay)
{
    int64_t arrived = 0;
    while (arrived < replay->trace.n_gpus) {
        const struct coming coming = replay_next(replay);
        const struct trace_pod *pod = coming.pod;
        arrived += pod->gpus;
        const struct node *node = place(replay, &coming);
        (void)printf("{\"milliCores\":%" PRId64 ",\"memoryBytes\":%" PRId64 ",\"gpus\":%" PRId64
                     ",\"models\":\"%s\",\"node\":\"%s\"}\n",
                     pod->milli_cores, pod->memory_bytes, pod->gpus, pod->models,
                     node ? node_name(node) : "");
    }
}

void replay_static(struct replay *replay)
{
    struct tally tally = {0};
    while (tally.n_marks < N_MARKS) {
        const struct coming coming = replay_next(replay);
        tally.arrived += coming.pod->gpus;
        if (place(replay, &coming))
            tally.placed += coming.pod->gpus;
        else
            lose(replay, coming.pod, &tally);
        if (tally.arrived * 10 < replay->trace.n_gpus * (int64_t)(10 + tally.n_marks))
            continue;
        if (tally.n_marks == 0)
            tally.services = services_count(&replay->services, 0);
        tally.marks[tally.n_marks++] = percent(replay, tally.placed);
    }
    (void)printf("{\"allocated\":[%.3f,%.3f,%.3f,%.3f],\"firstFailure\":%.3f,\"lost\":[%" PRId64
                 ",%" PRId64 ",%" PRId64 "],",
                 tally.marks[0], tally.marks[1], tally.marks[2], tally.marks[3],
                 tally.first_failure > 0 ? tally.first_failure : percent(replay, tally.arrived),
                 tally.lost_whole, tally.lost_confined, tally.lost_others);
    services_print(&tally.services);
    (void)puts("}");
}

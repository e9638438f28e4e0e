/* snapshot_feed: see snapshot_feed.h. */
#include "snapshot_feed.h"
#include "base/log.h"
#include "ledger/gpu_demand.h"

#include <string.h>

bool snapshot_feed_is_its(const struct identity *identity)
{
    return strcmp(identity->kind, SNAPSHOT_KIND) == 0 &&
           strcmp(identity->api_version, SNAPSHOT_API_VERSION) == 0;
}

void snapshot_feed_take(struct snapshot_feed *feed, const json_t *object, struct problems *problems)
{
    struct err why;
    if (feed->arena) {
        problems_add(problems, SNAPSHOT_KIND, PROBLEMS_UNNAMED,
                     "is there more than once; the first is taken");
        return;
    }
    feed->arena = arena_new();
    if (snapshot_from_json(object, feed->arena, &feed->snapshot, &why) < 0)
        problems_add(problems, SNAPSHOT_KIND, PROBLEMS_UNNAMED, why.text);
}

static void add_problems(const struct snapshot *snapshot, struct problems *problems)
{
    for (size_t i = 0; i < snapshot->n_problems; i++)
        problems_add(problems, snapshot->problems[i].kind, snapshot->problems[i].name,
                     snapshot->problems[i].what);
    problems->n_all += snapshot->n_all_problems - snapshot->n_problems;
}

/* Under another policy, GPU resources and models may differ. */
static bool is_by_this_policy(const struct snapshot *snapshot, const struct cluster *cluster)
{
    json_auto_t *own = snapshot_policy(cluster_policy(cluster));
    return snapshot->policy && json_equal(snapshot->policy, own);
}

static void compare(const struct snapshot *snapshot, struct cluster *cluster, struct arena *arena,
                    struct problems *problems)
{
    gpu_demand_settle(cluster);
    const struct snapshot_lines lines = snapshot_compute(cluster, arena);
    json_auto_t *reckoned = snapshot_lines_json(&lines);
    const char *difference = snapshot_difference(snapshot->reckoned, reckoned, arena);
    if (difference)
        problems_add(problems, SNAPSHOT_KIND, "reckoned", difference);
}

void snapshot_feed_end(struct snapshot_feed *feed, struct cluster *cluster,
                       struct problems *problems)
{
    const struct snapshot *snapshot = &feed->snapshot;
    if (!feed->arena)
        return;
    if (snapshot->source)
        LOG(LOG_INFO, "inventory", LOG_MSG("the file is a snapshot"),
            LOG_STR("of", snapshot->source), LOG_NUM("as_of", snapshot->as_of_s));
    if (snapshot->reckoned && is_by_this_policy(snapshot, cluster))
        compare(snapshot, cluster, feed->arena, problems);
    add_problems(snapshot, problems);
    json_decref(snapshot->reckoned);
    json_decref(snapshot->policy);
    arena_free(feed->arena);
    *feed = (struct snapshot_feed){0};
}

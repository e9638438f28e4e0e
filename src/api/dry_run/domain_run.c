/* domain_run: see domain_run.h. */
#include "api/dry_run/domain_run.h"
#include "api/dry_run/placement_run.h"
#include "api/text.h"
#include "api/verdicts/remedies.h"
#include "base/table.h"
#include "ledger/gangs.h"
#include "ledger/gpu_demand.h"

#include <inttypes.h>
#include <string.h>

int64_t domain_run_gpus(const struct pod_shape *shape)
{
    int64_t gpus = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        gpus += model_pool_offered(shape->needs[i].amount);
    return gpus;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static void choose(struct domain_run *run, const struct topology_room *rooms, size_t n_rooms,
                   const char *level, bool *chosen, struct arena *arena)
{
    const char *name = "";
    for (size_t i = 0; i < n_rooms; i++) {
        if (rooms[i].n_taken == 0)
            continue;
        chosen[rooms[i].id] = true;
        name = rooms[i].name;
        run->n_chosen++;
    }
    run->chosen = chosen;
    run->where = run->n_chosen == 1
                     ? arena_printf(arena, "%s %s", level, name)
                     : arena_printf(arena, "%zu domains of %s", run->n_chosen, level);
}

struct domain_run domain_run_choose(const struct cluster *fork, const struct fit_question *question,
                                    const struct domain_wish *wish, int64_t n, struct arena *arena)
{
    struct domain_run run = {.where = ""};
    size_t n_rooms = 0;
    if (wish->rule == DOMAIN_ANY || n == 0 || question->refusal)
        return run;
    const char *level = policy_level_name(cluster_policy(fork), wish->level);
    struct topology_room *rooms = what_if_rooms(fork, question, wish->level, arena, &n_rooms);
    const bool found = wish->rule == DOMAIN_REQUIRE ? topology_require(rooms, n_rooms, n)
                                                    : topology_prefer(rooms, n_rooms, n) > 0;
    if (found)
        choose(&run, rooms, n_rooms, level, ARENA_ARRAY(arena, bool, cluster_end_of_domains(fork)),
               arena);
    else if (wish->rule == DOMAIN_REQUIRE)
        run.why_not = topology_why_none(
            rooms, n_rooms,
            &(struct topology_lack){level, n, domain_run_gpus(question->shape), false}, arena);
    return run;
}

/* ---- groups of pods ---- */

static int64_t gpus_of_pod(const struct workload *workload, const struct policy *policy)
{
    const struct shape_facts *facts = &workload->pod.shape;
    int64_t gpus = 0;
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (policy_is_gpu_resource(policy, facts->demand[i].resource))
            (void)__builtin_add_overflow(gpus, facts->demand[i].amount, &gpus);
    }
    return gpus;
}

static bool are_one_group(const struct workload *a, const struct workload *b)
{
    return !b->problem && b->pod.gang && strcmp(a->pod.gang, b->pod.gang) == 0 &&
           strcmp(a->namespace_, b->namespace_) == 0;
}

bool domain_run_is_of(const struct manifest_gang *gang, const struct workload *workload)
{
    return are_one_group(gang->first, workload);
}

static void count(struct manifest_gang *gang, const struct workload_list *list,
                  const struct policy *policy)
{
    int64_t most = -1;
    int64_t sum = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct workload *workload = &list->items[i];
        if (!are_one_group(gang->first, workload))
            continue;
        const int64_t gpus = gpus_of_pod(workload, policy);
        gang->n_templates++;
        gang->differs = gang->differs || (most >= 0 && gpus != most);
        if (gpus > most)
            gang->largest = workload;
        most = gpus > most ? gpus : most;
        (void)__builtin_add_overflow(gang->n_pods, workload->replicas, &gang->n_pods);
        (void)__builtin_add_overflow(sum, times(workload->replicas, gpus), &sum);
    }
    gang->n_like_largest = most > 0 ? sum / most + (sum % most > 0) : gang->n_pods;
}

struct manifest_gang *manifest_gang_of(struct manifest_gang **gangs,
                                       const struct workload_list *list,
                                       const struct policy *policy, const struct workload *workload,
                                       struct arena *arena)
{
    for (struct manifest_gang *gang = *gangs; gang; gang = gang->next) {
        if (are_one_group(gang->first, workload))
            return gang;
    }
    struct manifest_gang *gang = ARENA_NEW(arena, struct manifest_gang);
    *gang = (struct manifest_gang){.first = workload, .largest = workload, .next = *gangs};
    count(gang, list, policy);
    *gangs = gang;
    return gang;
}

const char *domain_run_text(const struct domain_run *run, const struct manifest_gang *gang,
                            struct arena *arena)
{
    const char *name = gang ? gang->first->pod.gang : "";
    if (!run->chosen)
        return gang ? arena_printf(arena, "It is of group %s. ", name) : "";
    return arena_printf(arena, "%s%s goes to %s. ", gang ? "Group " : "It", name, run->where);
}

json_t *domain_run_json(const struct cluster *fork, const struct domain_wish *wish,
                        const struct node *const *nodes, size_t n_nodes, struct arena *arena)
{
    const domain_id end = cluster_end_of_domains(fork);
    int64_t *n_pods = ARENA_ARRAY(arena, int64_t, end);
    json_t *list = json_array();
    for (size_t i = 0; i < n_nodes; i++) {
        const domain_id id = nodes[i] ? node_domain(nodes[i], wish->level) : 0;
        if (id)
            n_pods[id]++;
    }
    for (domain_id id = 1; id < end; id++) {
        if (n_pods[id] > 0)
            (void)json_array_append_new(
                list, json_pack("{s:s, s:s, s:I}", "level",
                                policy_level_name(cluster_policy(fork), wish->level), "name",
                                cluster_domain(fork, id)->name, "pods", (json_int_t)n_pods[id]));
    }
    return list;
}

/* ---- verdicts of groups ---- */

/* The pods of the manifest that are bound together. */
struct group_sum {
    const char *key;
    json_int_t size, n_pods, n_placed;
    json_int_t n_there; /* of the cluster, if they are counted */
    json_int_t n_more;  /* that would fit beside all of them */
    UT_hash_handle hh;
};

/* NULL: the workload's pods are in no group. */
static struct group_sum *find_group(struct group_sum **sums, const json_t *workload,
                                    struct arena *arena)
{
    const json_t *group = json_object_get(workload, "group");
    struct group_sum *sum = NULL;
    if (!group)
        return NULL;
    const char *key = arena_printf(arena, "%s/%s", text_member(workload, "namespace"),
                                   text_member(group, "name"));
    HASH_FIND_STR(*sums, key, sum);
    if (sum)
        return sum;
    sum = ARENA_NEW(arena, struct group_sum);
    sum->key = key;
    HASH_ADD_KEYPTR(hh, *sums, sum->key, strlen(sum->key), sum);
    return sum;
}

static struct group_sum *sum_groups(const json_t *workloads, struct arena *arena)
{
    struct group_sum *sums = NULL;
    size_t i = 0;
    json_t *workload = NULL;
    json_array_foreach (workloads, i, workload) {
        struct group_sum *sum = find_group(&sums, workload, arena);
        if (!sum)
            continue;
        const json_int_t size =
            json_integer_value(json_object_get(json_object_get(workload, "group"), "size"));
        sum->size = size > sum->size ? size : sum->size;
        sum->n_pods += json_integer_value(json_object_get(workload, "replicas"));
        sum->n_placed += json_integer_value(json_object_get(workload, "placed"));
        sum->n_more = json_integer_value(json_object_get(workload, "moreReplicas"));
    }
    return sums;
}

static const char *name_of(const struct group_sum *sum)
{
    return strchr(sum->key, '/') + 1;
}

/* Its pods that the cluster has. */
static json_int_t n_there(const struct dry_run *dry_run, const struct group_sum *sum)
{
    const char *namespace_ = arena_strndup(dry_run->arena, sum->key, strcspn(sum->key, "/"));
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(dry_run->api->inventory);
    const struct gang gang = gangs_find(view.cluster, namespace_, name_of(sum));
    return (json_int_t)gang.n_bound + (json_int_t)gang.n_unbound;
}

/* Of pods that fit, why they would wait for others of their group; NULL: they would not. */
static const char *why_waiting(const struct dry_run *dry_run, struct group_sum *sum,
                               enum result *ret_result)
{
    struct arena *arena = dry_run->arena;
    const bool is_whole = sum->n_placed >= sum->size || sum->n_placed >= sum->n_pods;
    sum->n_there = is_whole && sum->n_pods < sum->size ? n_there(dry_run, sum) : 0;
    if (is_whole && sum->n_pods + sum->n_there >= sum->size)
        return NULL;
    *ret_result = is_whole ? RESULT_WAITS : RESULT_DOES_NOT_FIT;
    if (!is_whole)
        return arena_printf(arena, "Its group %s: %lld of %lld would fit now.", name_of(sum),
                            (long long)sum->n_placed, (long long)sum->size);
    return arena_printf(arena, "Its group %s needs %lld pods; the manifest has %lld%s.",
                        name_of(sum), (long long)sum->size, (long long)sum->n_pods,
                        sum->n_there > 0
                            ? arena_printf(arena, " and the cluster %lld", (long long)sum->n_there)
                            : "");
}

static void answer_for_group(json_t *object, enum result result, const char *text)
{
    json_t *whole = json_pack("{s:s, s:s, s:s}", "result", headline_result(result), "cause",
                              cause_name(CAUSE_GROUP), "text", text);
    (void)json_object_update_new(json_object_get(object, "verdict"), whole);
}

/* All that the manifest has of it find a place. Pods of the cluster keep the size that they say. */
static void offer_rest(json_t *object, const struct group_sum *sum, struct arena *arena)
{
    const json_int_t n_missing = sum->size - sum->n_pods - sum->n_there;
    if (sum->n_more >= n_missing)
        remedies_add_one(object,
                         arena_printf(arena, "add %lld pod%s to the group", (long long)n_missing,
                                      n_missing == 1 ? "" : "s"),
                         NULL, sum->n_pods + n_missing);
    if (sum->n_there == 0)
        remedies_add_one(object,
                         arena_printf(arena, "write %lld in gpu-extender.io/gang-size of its pods",
                                      (long long)sum->n_pods),
                         NULL, sum->n_pods);
}

void domain_run_judge_groups(const struct dry_run *dry_run, const json_t *jobs,
                             const json_t *workloads)
{
    struct arena *arena = dry_run->arena;
    struct group_sum *sums = sum_groups(workloads, arena);
    size_t i = 0;
    json_t *job = NULL;
    json_array_foreach (jobs, i, job) {
        const char *result = text_member(json_object_get(job, "verdict"), "result");
        const json_t *first = json_array_get(json_object_get(job, "workloads"), 0);
        json_t *workload = json_array_get(workloads, (size_t)json_integer_value(first));
        struct group_sum *sum = find_group(&sums, workload, arena);
        enum result waits = RESULT_FITS;
        const char *why =
            sum && strcmp(result, "fits") == 0 ? why_waiting(dry_run, sum, &waits) : NULL;
        if (!why)
            continue;
        answer_for_group(job, waits, why);
        answer_for_group(workload, waits, why);
        if (waits == RESULT_WAITS)
            offer_rest(job, sum, arena);
    }
    HASH_CLEAR(hh, sums);
}

/* pod_count: see template_walk.h. */
#include "objects/templates/template_walk.h"

#include "formats/json_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* General rule: replicas, and parallelism with completions, multiply. Objects with other
 * meanings have a row in RULES. */

static int read_count(const json_t *object, const char *key, int64_t *ret_n, struct err *err)
{
    int64_t n = *ret_n;
    int r = json_get_integer(object, key, &n, err);
    if (r < 0)
        return r;
    if (n < 0)
        return err_set(err, EINVAL, "%s: is %" PRId64 ", should be 0 or more", key, n);
    *ret_n = n;
    return 0;
}

int pod_count_times(struct pod_count *count, const char *key, int64_t n, struct err *err)
{
    int64_t product = 0;
    if (__builtin_mul_overflow(count->n, n, &product))
        return err_set(err, EINVAL, "%s: makes more pods than can be counted", key);
    *count = (struct pod_count){product, true};
    return 0;
}

/* A missing member counts as n. */
static int multiply_or(const json_t *object, const char *key, int64_t n, struct pod_count *count,
                       struct err *err)
{
    int r = read_count(object, key, &n, err);
    return r < 0 ? r : pod_count_times(count, key, n, err);
}

int pod_count_multiply_by(const json_t *object, const char *key, struct pod_count *count,
                          struct err *err)
{
    return json_member(object, key) ? multiply_or(object, key, 1, count, err) : 0;
}

/* Not a count if the path to the template goes through the member. */
static int multiply_by_member(const struct counting_object *at, const char *key,
                              struct pod_count *count, struct err *err)
{
    return strcmp(key, at->next) == 0 ? 0 : pod_count_multiply_by(at->object, key, count, err);
}

/* batch/v1 JobSpec: at most parallelism pods at a time (default 1), and at most completions. */
static int multiply_by_job(const json_t *object, struct pod_count *count, struct err *err)
{
    if (!json_member(object, "parallelism") && !json_member(object, "completions"))
        return 0;
    int64_t parallelism = 1;
    int r = read_count(object, "parallelism", &parallelism, err);
    if (r < 0)
        return r;
    int64_t completions = parallelism;
    if ((r = read_count(object, "completions", &completions, err)) < 0)
        return r;
    return pod_count_times(count, "parallelism",
                           parallelism < completions ? parallelism : completions, err);
}

/* Knative: a revision's template tells how many pods there are at least; from 0 it begins with 1.
 * Source: knative/serving's pkg/apis/autoscaling/register.go. */
static int multiply_by_scale(const struct counting_object *at, struct pod_count *count,
                             struct err *err)
{
    static const char *const KEYS[] = {"autoscaling.knative.dev/min-scale",
                                       "autoscaling.knative.dev/minScale"};
    const json_t *metadata = json_member(json_member(at->object, at->next), "metadata");
    const json_t *annotations = json_member(metadata, "annotations");
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        const char *text = json_string_value(json_member(annotations, KEYS[i]));
        const int64_t n = text ? strtoll(text, NULL, 10) : 0;
        if (text)
            return pod_count_times(count, KEYS[i], n > 0 ? n : 1, err);
    }
    return 0;
}

static int multiply_by_all(const struct counting_object *at, struct pod_count *count,
                           struct err *err)
{
    int r = json_member(at->object, "replicas") ? multiply_by_member(at, "replicas", count, err)
                                                : multiply_by_scale(at, count, err);
    return r < 0 ? r : multiply_by_job(at->object, count, err);
}

static bool has(const json_t *object, const char *key)
{
    return json_member(object, key) != NULL;
}

/* LeaderWorkerSet: groups of `size` pods (default 1). If there is a leader's template, it makes one
 * of them. */
static int leader_worker_factor(const struct counting_object *at, struct pod_count *count,
                                struct err *err)
{
    int64_t size = 1;
    int r = read_count(at->object, "size", &size, err);
    if (r < 0)
        return r;
    if (strcasestr(at->next, "leaderTemplate"))
        return pod_count_times(count, "size", 1, err);
    const bool is_worker = strcasestr(at->next, "workerTemplate") != NULL;
    if (is_worker && (has(at->object, "leaderTemplate") || has(at->object, "patchLeaderTemplate")))
        size = size > 0 ? size - 1 : 0;
    return pod_count_times(count, "size", size, err);
}

/* RayCluster: always one head. */
static int one(const struct counting_object *at, struct pod_count *count, struct err *err)
{
    return pod_count_times(count, at->next, 1, err);
}

/* RayCluster: replicas within minReplicas and maxReplicas, or the minimum, which is 0 by default;
 * none of a suspended group. Source: GetWorkerGroupDesiredReplicas() in KubeRay's
 * ray-operator/controllers/ray/utils/util.go. */
static int ray_workers(const struct counting_object *at, struct pod_count *count, struct err *err)
{
    int64_t least = 0;
    int64_t most = INT64_MAX;
    int64_t hosts = 1;
    int r = read_count(at->object, "minReplicas", &least, err);
    int64_t n = least;
    if (r < 0 || (r = read_count(at->object, "maxReplicas", &most, err)) < 0 ||
        (r = read_count(at->object, "numOfHosts", &hosts, err)) < 0 ||
        (r = read_count(at->object, "replicas", &n, err)) < 0)
        return r;
    if (json_is_true(json_member(at->object, "suspend")))
        n = 0;
    else if (n < least)
        n = least;
    else if (n > most)
        n = most;
    r = pod_count_times(count, "numOfHosts", hosts, err);
    return r < 0 ? r : pod_count_times(count, "replicas", n, err);
}

/* RoleBasedGroup: groups of leaderWorkerSet.size pods (default 1), if the role's workload is one of
 * groups. Source: RoleSpec in sgl-project/rbg's api/workloads/v1alpha1. */
static int role_pods(const struct counting_object *at, struct pod_count *count, struct err *err)
{
    const char *kind = json_string_value(json_member(json_member(at->object, "workload"), "kind"));
    const json_t *group = json_member(at->object, "leaderWorkerSet");
    int r = multiply_by_all(at, count, err);
    if (r < 0 || !group || !kind || strcmp(at->next, "leaderWorkerSet") == 0 ||
        (strcmp(kind, "LeaderWorkerSet") != 0 && strcmp(kind, "InstanceSet") != 0))
        return r;
    if ((r = multiply_or(group, "size", 1, count, err)) < 0)
        err_prefix(err, "leaderWorkerSet.");
    return r;
}

/* RoleBasedGroup's InstanceComponent: size pods of each component. Source: as role_pods(). */
static int component_pods(const struct counting_object *at, struct pod_count *count,
                          struct err *err)
{
    int r = multiply_by_all(at, count, err);
    return r < 0 ? r : multiply_by_member(at, "size", count, err);
}

/* Kueue's Workload; Elasticsearch (elastic/cloud-on-k8s, NodeSet in pkg/apis/elasticsearch/v1). */
static int pod_set_count(const struct counting_object *at, struct pod_count *count, struct err *err)
{
    return multiply_by_member(at, "count", count, err);
}

/* None without replicas. Source: setDefaultsTypeWorker() in kubeflow/mpi-operator's
 * pkg/apis/kubeflow/v2beta1/default.go. */
static int mpi_workers(const struct counting_object *at, struct pod_count *count, struct err *err)
{
    return multiply_or(at->object, "replicas", 0, count, err);
}

static const struct rule {
    const char *name;   /* the key of the object */
    const char *within; /* that of the object around it; NULL: any */
    const char *reads;  /* its members that count */
    int (*multiply)(const struct counting_object *at, struct pod_count *count, struct err *err);
} RULES[] = {
    {"leaderWorkerTemplate", NULL, "size", leader_worker_factor},
    {"headGroupSpec", NULL, "replicas", one},
    {"workerGroupSpecs", NULL, "replicas minReplicas maxReplicas numOfHosts suspend", ray_workers},
    {"podSets", NULL, "count", pod_set_count},
    {"nodeSets", NULL, "count", pod_set_count},
    {"roles", NULL, "replicas leaderWorkerSet", role_pods},
    {"leaderWorkerSet", "roles", "size", leader_worker_factor},
    {"leaderWorkerPattern", NULL, "size", leader_worker_factor},
    {"components", NULL, "replicas size", component_pods},
    {"Worker", "mpiReplicaSpecs", "replicas", mpi_workers},
};

static const struct rule *rule_of(const struct counting_object *at)
{
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
        if (strcmp(at->name, RULES[i].name) == 0 &&
            (!RULES[i].within || strcmp(at->within, RULES[i].within) == 0))
            return &RULES[i];
    }
    return NULL;
}

int pod_count_multiply(const struct counting_object *at, struct pod_count *count, struct err *err)
{
    const struct rule *rule = rule_of(at);
    return rule ? rule->multiply(at, count, err) : multiply_by_all(at, count, err);
}

const char *pod_count_reads(const struct counting_object *at)
{
    const struct rule *rule = rule_of(at);
    return rule                                     ? rule->reads
           : json_member(at->object, "completions") ? "completions parallelism replicas"
                                                    : "replicas";
}

/*
 * pod_count: see pod_count.h.
 *
 * One rule for all: replicas, numOfHosts, and parallelism with completions multiply where they
 * stand. The objects whose counts mean something else have a row of a table.
 */
#include "pod_count.h"

#include "formats/json_get.h"

#include <inttypes.h>
#include <string.h>

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

static int multiply(struct pod_count *count, const char *key, int64_t n, struct err *err)
{
    int64_t product = 0;
    if (__builtin_mul_overflow(count->n, n, &product))
        return err_set(err, EINVAL, "%s: makes more pods than can be counted", key);
    *count = (struct pod_count){product, true};
    return 0;
}

/* Where the way to the template leads through the member, it is no count. */
static int multiply_by_member(const json_t *object, const char *key, const char *next,
                              struct pod_count *count, struct err *err)
{
    int64_t n = 1;
    if (!json_member(object, key) || strcmp(key, next) == 0)
        return 0;
    int r = read_count(object, key, &n, err);
    return r < 0 ? r : multiply(count, key, n, err);
}

/* batch/v1 JobSpec: at most parallelism at a time (1 by default), and no more than completions. */
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
    return multiply(count, "parallelism", parallelism < completions ? parallelism : completions,
                    err);
}

static int multiply_by_all(const json_t *object, const char *next, struct pod_count *count,
                           struct err *err)
{
    /* RayCluster: hosts of one replica; they say nothing of how many replicas there are. */
    bool known = count->known;
    int r = multiply_by_member(object, "numOfHosts", next, count, err);
    count->known = known;
    if (r < 0 || (r = multiply_by_member(object, "replicas", next, count, err)) < 0)
        return r;
    return multiply_by_job(object, count, err);
}

/* LeaderWorkerSet: groups of `size` pods (1 by default); one of them is made from leaderTemplate
 * where there is one. */
static int leader_worker_factor(const json_t *object, const char *next, struct pod_count *count,
                                struct err *err)
{
    int64_t size = 1;
    int r = read_count(object, "size", &size, err);
    if (r < 0)
        return r;
    if (strcmp(next, "leaderTemplate") == 0)
        return multiply(count, "size", 1, err);
    if (json_member(object, "leaderTemplate"))
        size = size > 0 ? size - 1 : 0;
    return multiply(count, "size", size, err);
}

/* RayCluster: always one head. */
static int one(const json_t *object, const char *next, struct pod_count *count, struct err *err)
{
    (void)object;
    return multiply(count, next, 1, err);
}

struct rule {
    const char *name; /* the key that the object lies under */
    int (*multiply)(const json_t *object, const char *next, struct pod_count *count,
                    struct err *err);
};

static const struct rule RULES[] = {
    {"leaderWorkerTemplate", leader_worker_factor},
    {"headGroupSpec", one},
};

int pod_count_multiply(const json_t *object, const char *name, const char *next,
                       struct pod_count *count, struct err *err)
{
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
        if (strcmp(name, RULES[i].name) == 0)
            return RULES[i].multiply(object, next, count, err);
    }
    return multiply_by_all(object, next, count, err);
}

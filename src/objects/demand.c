/*
 * demand: see include/objects/pod.h.
 *
 * Each resource has its own sum: the need of all containers and sidecars together, and the peak of
 * the startup sequence.
 */
#include "objects/pod.h"

#include "base/mem.h"
#include "base/table.h"
#include "container_requests.h"
#include "fields.h"
#include "formats/json_values.h"

#include <stdlib.h>
#include <string.h>

struct resource_sum {
    const char *resource; /* key of the hash table */
    int64_t running;      /* containers and sidecars */
    int64_t sidecars;     /* sidecars started so far */
    int64_t peak;         /* over the steps with an init container */
    int64_t total;
    UT_hash_handle hh;
};

enum container_kind { CONTAINER, INIT_CONTAINER, SIDECAR };

/* Limit per pod and per container; nodes have a dozen. */
#define RESOURCES_MAX 256

/* The order in which excess resources are kept: first those that every node has and exact GPU
 * names, then GPUs that a wildcard of the policy matches, then others. */
enum importance { IMPORTANT, GPU_BY_WILDCARD, OTHER, N_IMPORTANCES };

struct summing {
    const struct policy *policy;
    struct arena *arena;
    json_t *statuses; /* by container name; NULL: none */
    bool resize_infeasible;
    struct resource_sum *sums;
    size_t n_sums[N_IMPORTANCES];
    const char *refusal;
};

static void summing_fini(struct summing *summing)
{
    HASH_CLEAR(hh, summing->sums); /* the arena owns the sums */
    json_decref(summing->statuses);
}

/* Both are at most REQUEST_AMOUNT_MAX, and so is the result. */
static int64_t plus(int64_t a, int64_t b)
{
    return a + b < REQUEST_AMOUNT_MAX ? a + b : REQUEST_AMOUNT_MAX;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void refuse(struct summing *summing, const char *reason)
{
    if (!summing->refusal)
        summing->refusal = reason;
}

static enum importance importance_of(const char *resource, const struct policy *policy)
{
    if (policy_is_common_resource(policy, resource))
        return IMPORTANT;
    return policy_is_gpu_resource(policy, resource) ? GPU_BY_WILDCARD : OTHER;
}

static void refuse_so_many(struct summing *summing)
{
    refuse(summing, arena_printf(summing->arena, "asks for more than %d resources", RESOURCES_MAX));
}

/* Creates the sum if needed. Tenants may invent names, so unimportant ones get no sum for amount 0,
 * and each level at most RESOURCES_MAX sums. NULL: no sum. */
static struct resource_sum *sum_of(struct summing *summing, const char *resource, int64_t amount)
{
    struct resource_sum *sum = NULL;
    HASH_FIND_STR(summing->sums, resource, sum);
    if (sum)
        return sum;
    const enum importance importance = importance_of(resource, summing->policy);
    if (importance != IMPORTANT && amount == 0)
        return NULL;
    if (summing->n_sums[importance] == RESOURCES_MAX) {
        refuse_so_many(summing);
        return NULL;
    }
    summing->n_sums[importance]++;
    sum = ARENA_NEW(summing->arena, struct resource_sum);
    sum->resource = resource;
    HASH_ADD_KEYPTR(hh, summing->sums, sum->resource, strlen(sum->resource), sum);
    return sum;
}

/* KEP-753: sidecars run beside the init containers after them. */
static void add_amount(struct resource_sum *sum, enum container_kind kind, int64_t amount)
{
    if (!sum)
        return;
    if (kind == INIT_CONTAINER) {
        sum->peak = larger(sum->peak, plus(sum->sidecars, amount));
        return;
    }
    sum->running = plus(sum->running, amount);
    if (kind == SIDECAR)
        sum->sidecars = plus(sum->sidecars, amount);
}

static const char *label_of(const char *member, size_t index, const char *name, struct arena *arena)
{
    const char *what = strcmp(member, "containers") == 0 ? "container" : "init container";
    if (*name)
        return arena_printf(arena, "%s %s", what, quoted(arena, name));
    return arena_printf(arena, "%s %zu", what, index);
}

static int kind_of(const json_t *container, const char *member, enum container_kind *ret_kind,
                   struct err *err)
{
    const char *restart = "";
    int r = json_get_string(container, "restartPolicy", &restart, err);
    if (r < 0)
        return r;
    if (strcmp(member, "containers") == 0)
        *ret_kind = CONTAINER;
    else
        *ret_kind = strcmp(restart, "Always") == 0 ? SIDECAR : INIT_CONTAINER;
    return 0;
}

static int add_requests(struct summing *summing, const struct request_sources *sources,
                        enum container_kind kind, const char *label, struct err *err)
{
    struct request_list list = {0};
    int r = container_requests(sources, summing->policy, summing->arena, &list, err);
    if (r < 0)
        return r;
    if (list.n > RESOURCES_MAX)
        refuse_so_many(summing);
    for (size_t i = 0; i < list.n; i++) {
        const struct amount *item = &list.items[i];
        add_amount(sum_of(summing, item->resource, item->amount), kind, item->amount);
    }
    const char *fault = container_gpu_fault(sources, summing->policy, summing->arena);
    if (fault)
        refuse(summing, arena_printf(summing->arena, "%s: %s", label, fault));
    return 0;
}

static int add_container(struct summing *summing, const json_t *container, const char *member,
                         size_t index, struct err *err)
{
    const char *path = arena_printf(summing->arena, "spec.%s[%zu]", member, index);
    struct request_sources sources = {.path = path,
                                      .resize_infeasible = summing->resize_infeasible};
    const char *name = "";
    enum container_kind kind = CONTAINER;
    int r = 0;
    if ((r = json_get_string(container, "name", &name, err)) < 0 ||
        (r = kind_of(container, member, &kind, err)) < 0 ||
        (r = request_sources_of_spec(container, &sources, err)) < 0) {
        err_prefix(err, "%s.", path);
        return r;
    }
    const json_t *status = json_object_get(summing->statuses, name);
    if (kind != INIT_CONTAINER && (r = request_sources_of_status(status, &sources, err)) < 0) {
        err_prefix(err, "%s (status): ", path);
        return r;
    }
    return add_requests(summing, &sources, kind, label_of(member, index, name, summing->arena),
                        err);
}

static int add_containers(struct summing *summing, const json_t *spec, const char *member,
                          struct err *err)
{
    json_t *array = NULL;
    int r = json_get_array(spec, member, &array, err);
    if (r < 0) {
        err_prefix(err, "spec.");
        return r;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *container = NULL;
        if ((r = element_object(array, i, member, &container, err)) < 0) {
            err_prefix(err, "spec.");
            return r;
        }
        if ((r = add_container(summing, container, member, i, err)) < 0)
            return r;
    }
    return 0;
}

static int remember_statuses(struct summing *summing, const json_t *status, const char *member,
                             struct err *err)
{
    json_t *array = NULL;
    int r = json_get_array(status, member, &array, err);
    for (size_t i = 0; r == 0 && i < json_array_size(array); i++) {
        json_t *element = NULL;
        const char *name = NULL;
        if ((r = element_object(array, i, member, &element, err)) < 0)
            return r;
        if ((r = json_get_string(element, "name", &name, err)) < 0)
            err_prefix(err, "%s[%zu].", member, i);
        else if (name && json_object_set(summing->statuses, name, element) < 0)
            r = err_set(err, EINVAL, "%s[%zu].name: is not UTF-8", member, i);
    }
    return r;
}

/* The first condition of the type decides, as in Kubernetes. */
static int read_infeasible(struct summing *summing, const json_t *status, struct err *err)
{
    json_t *conditions = NULL;
    int r = json_get_array(status, "conditions", &conditions, err);
    for (size_t i = 0; r == 0 && i < json_array_size(conditions); i++) {
        json_t *condition = NULL;
        const char *type = "";
        const char *reason = "";
        if ((r = element_object(conditions, i, "conditions", &condition, err)) < 0)
            return r;
        if ((r = json_get_string(condition, "type", &type, err)) < 0 ||
            (r = json_get_string(condition, "reason", &reason, err)) < 0)
            err_prefix(err, "conditions[%zu].", i);
        if (strcmp(type, "PodResizePending") == 0) {
            summing->resize_infeasible = strcmp(reason, "Infeasible") == 0;
            break;
        }
    }
    return r;
}

static int read_status(struct summing *summing, const json_t *status, struct err *err)
{
    if (!status)
        return 0;
    summing->statuses = json_object();
    int r = 0;
    if ((r = remember_statuses(summing, status, "containerStatuses", err)) < 0 ||
        (r = remember_statuses(summing, status, "initContainerStatuses", err)) < 0 ||
        (r = read_infeasible(summing, status, err)) < 0)
        err_prefix(err, "status.");
    return r;
}

static void sum_up(struct summing *summing)
{
    struct resource_sum *sum = NULL;
    struct resource_sum *next = NULL;
    HASH_ITER (hh, summing->sums, sum, next) {
        sum->total = larger(sum->running, sum->peak);
    }
}

static bool is_hugepages(const char *resource)
{
    return strncmp(resource, "hugepages-", strlen("hugepages-")) == 0;
}

static bool is_pod_level(const char *resource)
{
    return strcmp(resource, "cpu") == 0 || strcmp(resource, "memory") == 0 ||
           is_hugepages(resource);
}

/* A pod-level limit alone sets the request unless containers request the resource (hugepages:
 * always). API defaulting, KEP-2837. */
static bool pod_level_decides(const struct request_sources *sources,
                              const struct resource_sum *sums, const char *resource)
{
    const struct resource_sum *sum = NULL;
    if (!is_pod_level(resource))
        return false;
    if (json_member(sources->requests, resource))
        return true;
    HASH_FIND_STR(sums, resource, sum);
    return json_member(sources->limits, resource) && (!sum || is_hugepages(resource));
}

static int apply_pod_level(struct summing *summing, const json_t *spec, const json_t *status,
                           struct err *err)
{
    struct request_sources sources = {.path = "spec",
                                      .resize_infeasible = summing->resize_infeasible};
    int r = request_sources_of_spec(spec, &sources, err);
    if (r < 0) {
        err_prefix(err, "spec.");
        return r;
    }
    if (!sources.requests && !sources.limits)
        return 0;
    if ((r = request_sources_of_status(status, &sources, err)) < 0) {
        err_prefix(err, "status.");
        return r;
    }
    struct request_list list = {0};
    if ((r = container_requests(&sources, summing->policy, summing->arena, &list, err)) < 0)
        return r;
    for (size_t i = 0; i < list.n; i++) {
        const char *resource = list.items[i].resource;
        const int64_t amount = list.items[i].amount;
        struct resource_sum *sum = NULL;
        if (pod_level_decides(&sources, summing->sums, resource))
            sum = sum_of(summing, resource, amount);
        if (sum)
            sum->total = amount;
        else if (policy_is_gpu_resource(summing->policy, resource))
            refuse(summing,
                   arena_printf(summing->arena,
                                "spec.resources: %s: GPUs belong in the limits of a container",
                                quoted_plain(summing->arena, resource)));
    }
    return 0;
}

static int add_overhead(struct summing *summing, const json_t *spec, struct err *err)
{
    struct request_sources sources = {.path = "spec", .requests_name = ".overhead"};
    int r = json_get_object(spec, "overhead", &sources.requests, err);
    if (r < 0) {
        err_prefix(err, "spec.");
        return r;
    }
    struct request_list list = {0};
    if ((r = container_requests(&sources, summing->policy, summing->arena, &list, err)) < 0)
        return r;
    for (size_t i = 0; i < list.n; i++) {
        const int64_t amount = list.items[i].amount;
        struct resource_sum *sum = sum_of(summing, list.items[i].resource, amount);
        if (sum)
            sum->total = plus(sum->total, amount);
    }
    return 0;
}

static int compare_resources(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

/* Rejects a pod with more resources than any node has. The important ones still count. */
static size_t limit_amounts(struct summing *summing, struct amount *amounts, size_t n)
{
    size_t n_kept = 0;
    if (n <= RESOURCES_MAX)
        return n;
    refuse_so_many(summing);
    for (int level = 0; level < N_IMPORTANCES; level++) {
        for (size_t i = n_kept; i < n && n_kept < RESOURCES_MAX; i++) {
            if ((int)importance_of(amounts[i].resource, summing->policy) != level)
                continue;
            const struct amount kept = amounts[i];
            amounts[i] = amounts[n_kept];
            amounts[n_kept++] = kept;
        }
    }
    return n_kept;
}

static void write_amounts(struct summing *summing, struct demand *demand)
{
    struct amount *amounts =
        ARENA_ARRAY(summing->arena, struct amount, HASH_COUNT(summing->sums) + 1);
    size_t n = 0;
    amounts[n++] = (struct amount){"pods", 1};
    struct resource_sum *sum = NULL;
    struct resource_sum *next = NULL;
    HASH_ITER (hh, summing->sums, sum, next) {
        if (sum->total > 0 && strcmp(sum->resource, "pods") != 0)
            amounts[n++] = (struct amount){sum->resource, sum->total};
        if (sum->total == REQUEST_AMOUNT_MAX)
            refuse(summing, arena_printf(summing->arena, "%s: the sum of the requests is too large",
                                         quoted_plain(summing->arena, sum->resource)));
    }
    n = limit_amounts(summing, amounts, n);
    qsort(amounts, n, sizeof *amounts, compare_resources);
    demand->amounts = amounts;
    demand->n_amounts = n;
}

int demand_from_json(const json_t *spec, const json_t *status, const struct policy *policy,
                     struct arena *arena, struct demand *ret_demand, struct err *err)
{
    struct summing summing CLEANUP(summing_fini) = {.policy = policy, .arena = arena};
    int r = 0;
    if ((r = read_status(&summing, status, err)) < 0 ||
        (r = add_containers(&summing, spec, "containers", err)) < 0 ||
        (r = add_containers(&summing, spec, "initContainers", err)) < 0)
        return r;
    sum_up(&summing);
    if ((r = apply_pod_level(&summing, spec, status, err)) < 0 ||
        (r = add_overhead(&summing, spec, err)) < 0)
        return r;
    struct demand demand = {0};
    write_amounts(&summing, &demand);
    demand.refusal = summing.refusal;
    *ret_demand = demand;
    return 0;
}

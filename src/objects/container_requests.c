/* container_requests: see container_requests.h. */
#include "container_requests.h"

#include "fields.h"
#include "formats/json_values.h"
#include "types/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- container requests ---- */

#define N_MAPS 4
/* A qualified name: a DNS subdomain of 253 bytes, "/", and 63 bytes
 * (apimachinery/pkg/api/validate/content). */
#define RESOURCE_NAME_BYTES_MAX 317

int request_sources_of_spec(const json_t *object, struct request_sources *sources, struct err *err)
{
    json_t *resources = NULL;
    int r = json_get_object(object, "resources", &resources, err);
    if (r < 0)
        return r;
    if ((r = json_get_object(resources, "requests", &sources->requests, err)) < 0 ||
        (r = json_get_object(resources, "limits", &sources->limits, err)) < 0)
        err_prefix(err, "resources.");
    return r;
}

int request_sources_of_status(const json_t *status, struct request_sources *sources,
                              struct err *err)
{
    json_t *resources = NULL;
    int r = json_get_object(status, "resources", &resources, err);
    if (r < 0 || !resources)
        return r;
    sources->has_status = true;
    if ((r = json_get_object(resources, "requests", &sources->actual, err)) < 0) {
        err_prefix(err, "resources.");
        return r;
    }
    return json_get_object(status, "allocatedResources", &sources->allocated, err);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Counts invalid GPU quantities like kube-scheduler: fractions round up; non-numbers and negative
 * ones are 0. */
static int64_t gpu_count(const char *text)
{
    int64_t count = 0;
    if (quantity_value(text, &count, NULL) == -ERANGE)
        count = *text == '-' ? 0 : REQUEST_AMOUNT_MAX;
    return larger(count, 0);
}

static int read_gpus(const json_t *value, int64_t *ret_amount, struct err *err)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = NULL;
    int r = quantity_json_text(value, number, &text, err);
    if (r == 0)
        *ret_amount = gpu_count(text);
    return r;
}

/* Raises *amount to value, if that is larger. */
static int raise_to(int64_t *amount, const json_t *value, const char *resource, bool is_gpu,
                    struct err *err)
{
    if (!value)
        return 0;
    int64_t asked = 0;
    int r =
        is_gpu ? read_gpus(value, &asked, err) : quantity_json_amount(value, resource, &asked, err);
    if (r < 0 && r != -ERANGE)
        return r;
    bool too_large = r == -ERANGE || asked > REQUEST_AMOUNT_MAX;
    *amount = larger(*amount, too_large ? REQUEST_AMOUNT_MAX : asked);
    return 0;
}

/* In-place resize changes only these (KEP-1287). */
static bool is_resizable(const char *resource)
{
    return strcmp(resource, "cpu") == 0 || strcmp(resource, "memory") == 0;
}

/* A quantity, and its path relative to the sources' path. */
struct request_place {
    const json_t *value;
    const char *name;
};

static struct request_place wanted_place(const struct request_sources *sources,
                                         const char *resource)
{
    if (sources->has_status && sources->resize_infeasible && is_resizable(resource))
        return (struct request_place){NULL, ""};
    const json_t *request = json_member(sources->requests, resource);
    if (request)
        return (struct request_place){request, sources->requests_name ? sources->requests_name
                                                                      : ".resources.requests"};
    return (struct request_place){json_member(sources->limits, resource), ".resources.limits"};
}

/* The largest of the spec's request, the actual and the allocated one: PodRequests with
 * UseStatusResources. */
static int read_resource(const struct request_sources *sources, const char *resource, bool is_gpu,
                         struct arena *arena, int64_t *ret_amount, struct err *err)
{
    const struct request_place places[] = {
        wanted_place(sources, resource),
        {json_member(sources->actual, resource), " (status): resources.requests"},
        {json_member(sources->allocated, resource), " (status): allocatedResources"},
    };
    int64_t amount = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int r = raise_to(&amount, places[i].value, resource, is_gpu, err);
        if (r < 0) {
            err_prefix(err, "%s%s[%s]: ", sources->path, places[i].name, quoted(arena, resource));
            return r;
        }
    }
    *ret_amount = amount;
    return 0;
}

static bool is_named_by(json_t *const *maps, size_t n_maps, const char *resource)
{
    for (size_t i = 0; i < n_maps; i++) {
        if (json_member(maps[i], resource))
            return true;
    }
    return false;
}

/* Answers repeat the name for each node. */
static int check_name(const struct request_sources *sources, const char *resource,
                      struct arena *arena, struct err *err)
{
    const size_t len = strlen(resource);
    if (len <= RESOURCE_NAME_BYTES_MAX)
        return 0;
    return err_set(err, EINVAL, "%s.resources: the name %s has %zu bytes, should have at most %d",
                   sources->path, quoted(arena, resource), len, RESOURCE_NAME_BYTES_MAX);
}

int container_requests(const struct request_sources *sources, const struct policy *policy,
                       struct arena *arena, struct request_list *ret_list, struct err *err)
{
    json_t *const maps[N_MAPS] = {sources->requests, sources->limits, sources->actual,
                                  sources->allocated};
    size_t n_max = 0;
    for (size_t i = 0; i < N_MAPS; i++)
        n_max += json_object_size(maps[i]);
    struct amount *amounts = ARENA_ARRAY(arena, struct amount, n_max);
    size_t n = 0;
    for (size_t i = 0; i < N_MAPS; i++) {
        const char *resource = NULL;
        const json_t *value = NULL;
        json_object_foreach (maps[i], resource, value) {
            if (json_is_null(value) || is_named_by(maps, i, resource))
                continue;
            int r = check_name(sources, resource, arena, err);
            if (r < 0)
                return r;
            bool is_gpu = policy_is_gpu_resource(policy, resource);
            r = read_resource(sources, resource, is_gpu, arena, &amounts[n].amount, err);
            if (r < 0)
                return r;
            amounts[n++].resource = arena_strdup(arena, resource);
        }
    }
    *ret_list = (struct request_list){amounts, n};
    return 0;
}

/* Reads a GPU quantity of the spec; keeps *count if value is NULL. Returns the fault, or NULL. */
static const char *read_whole(const json_t *value, int64_t *count, struct arena *arena)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = NULL;
    struct err why;
    if (!value)
        return NULL;
    if (quantity_json_text(value, number, &text, &why) < 0 || quantity_whole(text, count, &why) < 0)
        return arena_strdup(arena, why.text);
    return NULL;
}

static const char *gpu_fault(const struct request_sources *sources, const char *resource,
                             struct arena *arena)
{
    const json_t *requested = json_member(sources->requests, resource);
    const json_t *limited = json_member(sources->limits, resource);
    int64_t request = 0;
    int64_t limit = 0;
    const char *fault = read_whole(requested, &request, arena);
    if (!fault)
        fault = read_whole(limited, &limit, arena);
    if (fault)
        return fault;
    if (!limited && request > 0)
        return arena_printf(arena, "request %" PRId64 " has no limit; GPUs belong in limits",
                            request);
    if (requested && limited && request != limit)
        return arena_printf(arena, "request %" PRId64 " is not equal to its limit %" PRId64,
                            request, limit);
    return NULL;
}

const char *container_gpu_fault(const struct request_sources *sources, const struct policy *policy,
                                struct arena *arena)
{
    json_t *const maps[] = {sources->requests, sources->limits};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        const char *resource = NULL;
        const json_t *value = NULL;
        json_object_foreach (maps[i], resource, value) {
            if (!policy_is_gpu_resource(policy, resource))
                continue;
            const char *fault = gpu_fault(sources, resource, arena);
            if (fault)
                return arena_printf(arena, "%s: %s", quoted_plain(arena, resource), fault);
        }
    }
    return NULL;
}

/* ---- managed ---- */

static bool has_managed_key(json_t *amounts, const struct policy *policy)
{
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach (amounts, resource, amount) {
        if (policy_is_gpu_resource(policy, resource) || strcmp(resource, POLICY_CLAIMS_MARKER) == 0)
            return true;
    }
    return false;
}

static bool names_managed(const json_t *containers, const struct policy *policy)
{
    for (size_t i = 0; i < json_array_size(containers); i++) {
        const json_t *resources = json_member(json_array_get(containers, i), "resources");
        if (has_managed_key(json_member(resources, "requests"), policy) ||
            has_managed_key(json_member(resources, "limits"), policy))
            return true;
    }
    return false;
}

bool managed_by_policy(const json_t *spec, const struct policy *policy)
{
    return policy->all_pods || names_managed(json_member(spec, "containers"), policy) ||
           names_managed(json_member(spec, "initContainers"), policy);
}

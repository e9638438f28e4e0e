/* quota_read: see setting.h. A table of keys describes each mapping. */
#include "setting.h"

#include "formats/json_values.h"
#include "mapping.h"

#include <stdio.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

static int read_selector(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    struct quota *quota = target;
    quota->has_selector = true;
    return selector_read(reading, at, &quota->selector);
}

/* Limits. */

/* Limits of one resource. */
struct limits {
    const char *resource; /* NULL: all resources together */
    bool has_total;
    struct quota_limit total;
    struct quota_limit *models;
    size_t n_models;
};

static int read_number(const struct mapping_reading *reading, const struct yaml_value *at,
                       const char *of_what, int64_t least, int64_t most, int64_t *ret_number)
{
    char right[60];
    (void)snprintf(right, sizeof right, "a whole number%s from %lld to %lld", of_what,
                   (long long)least, (long long)most);
    const int64_t number = json_integer_value(at->value);
    if (!json_is_integer(at->value) || number < least || number > most)
        return yaml_wrong(reading->file, at, right, reading->err);
    *ret_number = number;
    return 0;
}

static int read_gpus(const struct mapping_reading *reading, const struct yaml_value *at,
                     void *target)
{
    return read_number(reading, at, " of GPUs", 0, QUOTA_GPUS_MAX, target);
}

/* Of a limit with `borrow`. Until they are read, the numbers are below their ranges. */

static int read_guarantee(const struct mapping_reading *reading, const struct yaml_value *at,
                          void *target)
{
    return read_gpus(reading, at, &((struct quota_limit *)target)->gpus);
}

static int read_borrowed(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    return read_gpus(reading, at, &((struct quota_borrow *)target)->gpus);
}

static int read_priority(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    return read_number(reading, at, "", INT32_MIN, INT32_MAX,
                       &((struct quota_borrow *)target)->max_priority);
}

static int read_borrow(const struct mapping_reading *reading, const struct yaml_value *at,
                       void *target)
{
    static const struct mapping_key MEMBERS[] = {{.key = "limit", .read = read_borrowed},
                                                 {.key = "maxPriority", .read = read_priority}};
    struct quota_borrow borrow = {.is_set = true, .gpus = -1, .max_priority = INT64_MIN};
    int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), &borrow);
    if (r == 0 && (borrow.gpus < 0 || borrow.max_priority == INT64_MIN))
        r = yaml_fault(reading->file, at, reading->err, "should have limit and maxPriority");
    ((struct quota_limit *)target)->borrow = borrow;
    return r;
}

/* A number, or {limit, borrow}. */
static int read_amount(const struct mapping_reading *reading, const struct yaml_value *at,
                       struct quota_limit *limit)
{
    static const struct mapping_key MEMBERS[] = {{.key = "limit", .read = read_guarantee},
                                                 {.key = "borrow", .read = read_borrow}};
    if (!json_is_object(at->value))
        return read_gpus(reading, at, &limit->gpus);
    limit->gpus = -1;
    int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), limit);
    if (r == 0 && limit->gpus < 0)
        r = yaml_fault(reading->file, at, reading->err, "should have limit, the guaranteed GPUs");
    return r;
}

static bool is_gpu_resource(const struct policy *policy, const char *pattern)
{
    for (size_t i = 0; i < policy->n_gpu_resources; i++) {
        if (policy_resource_matches(policy->gpu_resources[i], pattern) ||
            policy_resource_matches(pattern, policy->gpu_resources[i]))
            return true;
    }
    return false;
}

static int read_resource(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    struct limits *limits = target;
    int r = mapping_text(reading, at, syntax_resource, &limits->resource);
    if (r == 0 && !is_gpu_resource(reading->policy, limits->resource))
        r = yaml_wrong(reading->file, at, "one of gpuResources", reading->err);
    return r;
}

static int read_total(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    struct limits *limits = target;
    limits->has_total = true;
    return read_amount(reading, at, &limits->total);
}

static bool same_model(const struct policy *policy, const char *a, const char *b)
{
    struct gpu_model models[2];
    (void)gpu_model_parse(a, policy->aliases, policy->n_aliases, &models[0]);
    (void)gpu_model_parse(b, policy->aliases, policy->n_aliases, &models[1]);
    return gpu_model_equal(&models[0], &models[1]) && models[0].sharing == models[1].sharing &&
           strcmp(models[0].mig_profile, models[1].mig_profile) == 0;
}

/* The model is the key, so a fault points at the key. */
static int check_model(const struct mapping_reading *reading, const struct yaml_value *at,
                       const struct limits *limits)
{
    const struct policy *policy = reading->policy;
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    struct gpu_model model;
    if (!gpu_model_parse(at->key, policy->aliases, policy->n_aliases, &model))
        return yaml_fault(
            reading->file, &key_only, reading->err,
            "is not a GPU model, should be a name such as A100-80GB (a brand alone is no model)");
    for (size_t i = 0; i < limits->n_models; i++) {
        if (same_model(policy, at->key, limits->models[i].model))
            return yaml_fault(reading->file, &key_only, reading->err,
                              "is the same model as %s, should be listed once",
                              limits->models[i].model);
    }
    return 0;
}

static int read_models(const struct mapping_reading *reading, const struct yaml_value *at,
                       void *target)
{
    struct limits *limits = target;
    struct arena *arena = reading->arena;
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(reading->file, at, "a mapping of model names to numbers of GPUs",
                          reading->err);
    limits->models = ARENA_ARRAY(arena, struct quota_limit, json_object_size(at->value));
    json_object_foreach (at->value, key, value) {
        struct mapping_spot spot;
        struct quota_limit limit = {.model = arena_strdup(arena, key)};
        mapping_member(at, key, &spot);
        int r = check_model(reading, &spot.at, limits);
        if (r == 0)
            r = read_amount(reading, &spot.at, &limit);
        if (r < 0)
            return r;
        limits->models[limits->n_models++] = limit;
    }
    return 0;
}

static bool text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The total comes first, whatever the order in the file. */
static void add_limits(struct arena *arena, const struct limits *limits, struct quota *quota)
{
    struct quota_limit *all =
        ARENA_ARRAY(arena, struct quota_limit, quota->n_limits + 1 + limits->n_models);
    size_t n = 0;
    for (size_t i = 0; i < quota->n_limits; i++)
        all[n++] = quota->limits[i];
    if (limits->has_total)
        all[n++] = limits->total;
    for (size_t i = 0; i < limits->n_models; i++)
        all[n++] = limits->models[i];
    for (size_t i = quota->n_limits; i < n; i++)
        all[i].resource = limits->resource;
    quota->limits = all;
    quota->n_limits = n;
}

static int read_limit(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    struct quota *quota = target;
    static const struct mapping_key MEMBERS[] = {{.key = "resource", .read = read_resource},
                                                 {.key = "total", .read = read_total},
                                                 {.key = "models", .read = read_models}};
    struct limits limits = {0};
    int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), &limits);
    if (r < 0)
        return r;
    if (!limits.has_total && limits.n_models == 0)
        return yaml_fault(reading->file, at, reading->err,
                          "limits nothing, should have total or models");
    for (size_t i = 0; i < quota->n_limits; i++) {
        if (text_equal(quota->limits[i].resource, limits.resource))
            return yaml_fault(
                reading->file, at, reading->err,
                "is for %s, which already has limits in this quota, should be listed once",
                limits.resource ? limits.resource : "all GPU resources");
    }
    add_limits(reading->arena, &limits, quota);
    return 0;
}

static int read_limits(const struct mapping_reading *reading, const struct yaml_value *at,
                       void *target)
{
    size_t n = 0;
    int r = mapping_check_list(reading, at, "limits", &n);
    return r < 0 ? r : mapping_items(reading, at, read_limit, target);
}

/* A quota. */

static int read_name(const struct mapping_reading *reading, const struct yaml_value *at,
                     void *target)
{
    const struct policy *policy = reading->policy;
    const char *name = "";
    int r = mapping_text(reading, at, syntax_dns_label, &name);
    for (size_t i = 0; r == 0 && i < policy->n_quotas; i++) {
        if (strcmp(policy->quotas[i].name, name) == 0)
            r = yaml_fault(reading->file, at, reading->err,
                           "is \"%s\", the name of quotas[%zu], should be unique", name, i);
    }
    ((struct quota *)target)->name = name;
    return r;
}

static int read_namespaces(const struct mapping_reading *reading, const struct yaml_value *at,
                           void *target)
{
    struct quota *quota = target;
    return mapping_texts(reading, at, syntax_dns_label, &quota->namespaces, &quota->n_namespaces);
}

static int read_quota(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    struct policy *policy = target;
    static const struct mapping_key MEMBERS[] = {
        {.key = "name", .read = read_name},
        {.key = "namespaces", .read = read_namespaces},
        {.key = "namespaceSelector", .read = read_selector},
        {.key = "limits", .read = read_limits}};
    struct quota quota = {0};
    struct err why;
    int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), &quota);
    if (r < 0)
        return r;
    if (!quota.name)
        return yaml_fault(reading->file, at, reading->err, "should have a name");
    if (quota.n_namespaces == 0 && !quota.has_selector)
        return yaml_fault(reading->file, at, reading->err,
                          "should have namespaces or namespaceSelector ({} is every namespace)");
    if (quota.n_limits == 0)
        return yaml_fault(reading->file, at, reading->err, "should have limits");
    r = policy_add_quota(policy, &quota, &why);
    return r < 0 ? yaml_fault(reading->file, at, reading->err, "%s", why.text) : 0;
}

int quotas_read(const struct yaml_file *file, const struct yaml_value *list, struct policy *policy,
                struct err *err)
{
    if (!json_is_array(list->value))
        return yaml_wrong(file, list, "a list of quotas", err);
    policy_clear_quotas(policy);
    const struct mapping_reading reading = {
        .file = file, .policy = policy, .arena = policy->arena, .err = err};
    return mapping_items(&reading, list, read_quota, policy);
}

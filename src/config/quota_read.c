/* quota_read: see quota_read.h. A table of keys describes each mapping. */
#include "quota_read.h"

#include "formats/json_get.h"
#include "syntax.h"

#include <stdio.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))
#define PATH_TEXT_MAX 256

struct quota_reading {
    const struct yaml_file *file;
    struct policy *policy;
    struct err *err;
};

/* A value inside another one. */
struct spot {
    char key[24]; /* of an item */
    char path[PATH_TEXT_MAX];
    struct yaml_value at;
};

static void to_item(const struct yaml_value *list, size_t i, struct spot *ret_spot)
{
    (void)snprintf(ret_spot->key, sizeof ret_spot->key, "%zu", i);
    (void)snprintf(ret_spot->path, sizeof ret_spot->path, "%s[%zu]", list->path, i);
    ret_spot->at = (struct yaml_value){list->value, ret_spot->key, ret_spot->path,
                                       json_array_get(list->value, i)};
}

static void to_member(const struct yaml_value *map, const char *key, struct spot *ret_spot)
{
    (void)snprintf(ret_spot->path, sizeof ret_spot->path, "%s.%s", map->path, key);
    ret_spot->at =
        (struct yaml_value){map->value, key, ret_spot->path, json_object_get(map->value, key)};
}

struct member {
    const char *key;
    int (*read)(const struct quota_reading *reading, const struct yaml_value *at, void *target);
};

static int refuse_key(const struct quota_reading *reading, const struct yaml_value *at,
                      const struct member *members, size_t n)
{
    char known[120] = "";
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(known);
        (void)snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", members[i].key);
    }
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    return yaml_fault(reading->file, &key_only, reading->err, "unknown key; known here: %s", known);
}

/* A key without a value counts as absent. */
static int read_mapping(const struct quota_reading *reading, const struct yaml_value *map,
                        const struct member *members, size_t n, void *target)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(map->value))
        return yaml_wrong(reading->file, map, "a mapping", reading->err);
    json_object_foreach (map->value, key, value) {
        struct spot spot;
        size_t i = 0;
        to_member(map, key, &spot);
        while (i < n && strcmp(members[i].key, key) != 0)
            i++;
        if (i == n)
            return refuse_key(reading, &spot.at, members, n);
        int r = json_is_null(value) ? 0 : members[i].read(reading, &spot.at, target);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Returns 0 and the length of a list with at least one item. */
static int check_list(const struct quota_reading *reading, const struct yaml_value *list,
                      const char *of_what, size_t *ret_n)
{
    char right[60];
    (void)snprintf(right, sizeof right, "a list of %s", of_what);
    if (!json_is_array(list->value))
        return yaml_wrong(reading->file, list, right, reading->err);
    if (json_array_size(list->value) == 0)
        return yaml_fault(reading->file, list, reading->err, "is empty, should be %s, at least one",
                          right);
    *ret_n = json_array_size(list->value);
    return 0;
}

static int read_text(const struct quota_reading *reading, const struct yaml_value *at,
                     syntax_check *check, const char **ret_text)
{
    const char *text = json_string_value(at->value);
    if (!text)
        return yaml_wrong(reading->file, at, "a string", reading->err);
    const char *right = check(text);
    if (right)
        return yaml_wrong(reading->file, at, right, reading->err);
    *ret_text = arena_strdup(reading->policy->arena, text);
    return 0;
}

static int read_texts(const struct quota_reading *reading, const struct yaml_value *list,
                      syntax_check *check, const char *const **ret_texts, size_t *ret_n)
{
    size_t n = 0;
    int r = check_list(reading, list, "strings", &n);
    if (r < 0)
        return r;
    const char **texts = ARENA_ARRAY(reading->policy->arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        struct spot spot;
        to_item(list, i, &spot);
        if ((r = read_text(reading, &spot.at, check, &texts[i])) < 0)
            return r;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(texts[i], texts[j]) == 0)
                return yaml_fault(reading->file, &spot.at, reading->err,
                                  "is \"%s\", a duplicate of %s[%zu], should be listed once",
                                  texts[i], list->path, j);
        }
    }
    *ret_texts = texts;
    *ret_n = n;
    return 0;
}

/* The selector over namespaces: Kubernetes API, LabelSelector. */

static int read_expression_key(const struct quota_reading *reading, const struct yaml_value *at,
                               void *target)
{
    struct requirement *requirement = target;
    return read_text(reading, at, syntax_label_key, &requirement->key);
}

static int read_operator(const struct quota_reading *reading, const struct yaml_value *at,
                         void *target)
{
    static const char *const NAMES[] = {[SELECTOR_IN] = "In",
                                        [SELECTOR_NOT_IN] = "NotIn",
                                        [SELECTOR_EXISTS] = "Exists",
                                        [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist"};
    struct requirement *requirement = target;
    const char *text = json_string_value(at->value);
    for (size_t i = 0; text && i < N_OF(NAMES); i++) {
        if (strcmp(text, NAMES[i]) != 0)
            continue;
        requirement->op = (enum selector_operator)i;
        return 0;
    }
    return yaml_wrong(reading->file, at, "In, NotIn, Exists or DoesNotExist", reading->err);
}

static int read_values(const struct quota_reading *reading, const struct yaml_value *at,
                       void *target)
{
    struct requirement *requirement = target;
    return read_texts(reading, at, syntax_label_value, &requirement->values,
                      &requirement->n_values);
}

static int read_expression(const struct quota_reading *reading, const struct yaml_value *at,
                           struct requirement *requirement)
{
    static const struct member MEMBERS[] = {
        {"key", read_expression_key}, {"operator", read_operator}, {"values", read_values}};
    const bool says_operator =
        !json_is_null(json_member(at->value, "operator")) && json_member(at->value, "operator");
    int r = read_mapping(reading, at, MEMBERS, N_OF(MEMBERS), requirement);
    if (r < 0)
        return r;
    const bool takes_values = requirement->op == SELECTOR_IN || requirement->op == SELECTOR_NOT_IN;
    if (!requirement->key || !says_operator)
        return yaml_fault(reading->file, at, reading->err, "should have key and operator");
    if (takes_values != (requirement->n_values > 0))
        return yaml_fault(reading->file, at, reading->err,
                          takes_values ? "should have values, as the operator is In or NotIn"
                                       : "should have no values, as the operator is Exists or "
                                         "DoesNotExist");
    return 0;
}

/* Grows a selector's requirements, which come from two lists. */
static struct requirement *more_requirements(const struct quota_reading *reading,
                                             struct selector_term *term, size_t n_more)
{
    struct arena *arena = reading->policy->arena;
    struct requirement *all = ARENA_ARRAY(arena, struct requirement, term->n_requirements + n_more);
    for (size_t i = 0; i < term->n_requirements; i++)
        all[i] = term->requirements[i];
    struct requirement *more = &all[term->n_requirements];
    *term = (struct selector_term){all, term->n_requirements + n_more};
    return more;
}

static int read_expressions(const struct quota_reading *reading, const struct yaml_value *at,
                            void *target)
{
    if (!json_is_array(at->value))
        return yaml_wrong(reading->file, at, "a list of mappings", reading->err);
    const size_t n = json_array_size(at->value);
    struct requirement *requirements = more_requirements(reading, target, n);
    for (size_t i = 0; i < n; i++) {
        struct spot spot;
        to_item(at, i, &spot);
        int r = read_expression(reading, &spot.at, &requirements[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_match_labels(const struct quota_reading *reading, const struct yaml_value *at,
                             void *target)
{
    struct arena *arena = reading->policy->arena;
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(reading->file, at, "a mapping of label keys to values", reading->err);
    struct requirement *requirement =
        more_requirements(reading, target, json_object_size(at->value));
    json_object_foreach (at->value, key, value) {
        struct spot spot;
        const char *right = syntax_label_key(key);
        const char **values = ARENA_ARRAY(arena, const char *, 1);
        to_member(at, key, &spot);
        const struct yaml_value key_only = {at->value, key, spot.path, NULL};
        if (right)
            return yaml_fault(reading->file, &key_only, reading->err,
                              "is not a label key, should be %s", right);
        int r = read_text(reading, &spot.at, syntax_label_value, &values[0]);
        if (r < 0)
            return r;
        *requirement++ = (struct requirement){
            .key = arena_strdup(arena, key), .op = SELECTOR_IN, .values = values, .n_values = 1};
    }
    return 0;
}

static int read_selector(const struct quota_reading *reading, const struct yaml_value *at,
                         void *target)
{
    static const struct member MEMBERS[] = {{"matchLabels", read_match_labels},
                                            {"matchExpressions", read_expressions}};
    struct quota *quota = target;
    quota->has_selector = true;
    return read_mapping(reading, at, MEMBERS, N_OF(MEMBERS), &quota->selector);
}

/* Limits. */

/* Limits of one resource. */
struct limits {
    const char *resource; /* NULL: all resources together */
    bool has_total;
    int64_t total;
    struct quota_limit *models;
    size_t n_models;
};

static int read_gpus(const struct quota_reading *reading, const struct yaml_value *at,
                     int64_t *ret_gpus)
{
    char right[60];
    (void)snprintf(right, sizeof right, "a whole number of GPUs from 0 to %d", QUOTA_GPUS_MAX);
    const int64_t gpus = json_is_integer(at->value) ? json_integer_value(at->value) : -1;
    if (gpus < 0 || gpus > QUOTA_GPUS_MAX)
        return yaml_wrong(reading->file, at, right, reading->err);
    *ret_gpus = gpus;
    return 0;
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

static int read_resource(const struct quota_reading *reading, const struct yaml_value *at,
                         void *target)
{
    struct limits *limits = target;
    int r = read_text(reading, at, syntax_resource, &limits->resource);
    if (r == 0 && !is_gpu_resource(reading->policy, limits->resource))
        r = yaml_wrong(reading->file, at, "one of gpuResources", reading->err);
    return r;
}

static int read_total(const struct quota_reading *reading, const struct yaml_value *at,
                      void *target)
{
    struct limits *limits = target;
    limits->has_total = true;
    return read_gpus(reading, at, &limits->total);
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
static int check_model(const struct quota_reading *reading, const struct yaml_value *at,
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

static int read_models(const struct quota_reading *reading, const struct yaml_value *at,
                       void *target)
{
    struct limits *limits = target;
    struct arena *arena = reading->policy->arena;
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(reading->file, at, "a mapping of model names to numbers of GPUs",
                          reading->err);
    limits->models = ARENA_ARRAY(arena, struct quota_limit, json_object_size(at->value));
    json_object_foreach (at->value, key, value) {
        struct spot spot;
        int64_t gpus = 0;
        to_member(at, key, &spot);
        int r = check_model(reading, &spot.at, limits);
        if (r == 0)
            r = read_gpus(reading, &spot.at, &gpus);
        if (r < 0)
            return r;
        limits->models[limits->n_models++] =
            (struct quota_limit){.model = arena_strdup(arena, key), .gpus = gpus};
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
        all[n++] = (struct quota_limit){.gpus = limits->total};
    for (size_t i = 0; i < limits->n_models; i++)
        all[n++] = limits->models[i];
    for (size_t i = quota->n_limits; i < n; i++)
        all[i].resource = limits->resource;
    quota->limits = all;
    quota->n_limits = n;
}

static int read_limit(const struct quota_reading *reading, const struct yaml_value *at,
                      struct quota *quota)
{
    static const struct member MEMBERS[] = {
        {"resource", read_resource}, {"total", read_total}, {"models", read_models}};
    struct limits limits = {0};
    int r = read_mapping(reading, at, MEMBERS, N_OF(MEMBERS), &limits);
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
    add_limits(reading->policy->arena, &limits, quota);
    return 0;
}

static int read_limits(const struct quota_reading *reading, const struct yaml_value *at,
                       void *target)
{
    size_t n = 0;
    int r = check_list(reading, at, "limits", &n);
    for (size_t i = 0; i < n && r == 0; i++) {
        struct spot spot;
        to_item(at, i, &spot);
        r = read_limit(reading, &spot.at, target);
    }
    return r;
}

/* A quota. */

static int read_name(const struct quota_reading *reading, const struct yaml_value *at, void *target)
{
    const struct policy *policy = reading->policy;
    const char *name = "";
    int r = read_text(reading, at, syntax_dns_label, &name);
    for (size_t i = 0; r == 0 && i < policy->n_quotas; i++) {
        if (strcmp(policy->quotas[i].name, name) == 0)
            r = yaml_fault(reading->file, at, reading->err,
                           "is \"%s\", the name of quotas[%zu], should be unique", name, i);
    }
    ((struct quota *)target)->name = name;
    return r;
}

static int read_namespaces(const struct quota_reading *reading, const struct yaml_value *at,
                           void *target)
{
    struct quota *quota = target;
    return read_texts(reading, at, syntax_dns_label, &quota->namespaces, &quota->n_namespaces);
}

static int read_quota(const struct quota_reading *reading, const struct yaml_value *at)
{
    static const struct member MEMBERS[] = {{"name", read_name},
                                            {"namespaces", read_namespaces},
                                            {"namespaceSelector", read_selector},
                                            {"limits", read_limits}};
    struct quota quota = {0};
    struct err why;
    int r = read_mapping(reading, at, MEMBERS, N_OF(MEMBERS), &quota);
    if (r < 0)
        return r;
    if (!quota.name)
        return yaml_fault(reading->file, at, reading->err, "should have a name");
    if (quota.n_namespaces == 0 && !quota.has_selector)
        return yaml_fault(reading->file, at, reading->err,
                          "should have namespaces or namespaceSelector ({} is every namespace)");
    if (quota.n_limits == 0)
        return yaml_fault(reading->file, at, reading->err, "should have limits");
    r = policy_add_quota(reading->policy, &quota, &why);
    return r < 0 ? yaml_fault(reading->file, at, reading->err, "%s", why.text) : 0;
}

int quotas_read(const struct yaml_file *file, const struct yaml_value *list, struct policy *policy,
                struct err *err)
{
    const struct quota_reading reading = {file, policy, err};
    if (!json_is_array(list->value))
        return yaml_wrong(file, list, "a list of quotas", err);
    policy_clear_quotas(policy);
    for (size_t i = 0; i < json_array_size(list->value); i++) {
        struct spot spot;
        to_item(list, i, &spot);
        int r = read_quota(&reading, &spot.at);
        if (r < 0)
            return r;
    }
    return 0;
}

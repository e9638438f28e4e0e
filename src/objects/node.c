/* node: see include/objects/node.h. */
#include "objects/node.h"

#include "base/hash.h"
#include "fields.h"
#include "formats/json_values.h"
#include "tolerations.h"
#include "types/quantity.h"

#include <stdlib.h>
#include <string.h>

/* 0: it is absent or empty. */
static uint64_t hash_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_member(object, member));
    return text && text[0] ? hash_text(text) | 1 : 0;
}

static int read_metadata(const json_t *object, struct arena *arena, struct node_facts *facts,
                         struct err *err)
{
    json_t *metadata = NULL;
    int r = json_get_object(object, "metadata", &metadata, err);
    if (r < 0)
        return r;
    struct label_map labels = {0};
    if ((r = meta_name(metadata, "name", arena, &facts->name, err)) < 0 ||
        (r = meta_name(metadata, "uid", arena, &facts->uid, err)) < 0 ||
        (r = label_map_read(metadata, "labels", arena, &labels, err)) < 0) {
        err_prefix(err, "metadata.");
        return r;
    }
    if (*facts->name == '\0')
        return err_set(err, EINVAL, "metadata.name: is missing");
    facts->labels = labels.labels;
    facts->n_labels = labels.n;
    facts->lifted = hash_of(json_member(metadata, "annotations"), NODE_QUARANTINE_LIFTED);
    return 0;
}

static int read_taint(const json_t *object, struct arena *arena, struct taint *ret_taint,
                      struct err *err)
{
    const char *key = "";
    const char *value = "";
    const char *effect = "";
    int r = 0;
    if ((r = json_get_string(object, "key", &key, err)) < 0 ||
        (r = json_get_string(object, "value", &value, err)) < 0 ||
        (r = json_get_string(object, "effect", &effect, err)) < 0)
        return r;
    if (*key == '\0')
        return err_set(err, EINVAL, "key: is missing");
    if (!taint_effect_from_name(effect, &ret_taint->effect))
        return err_set(err, EINVAL, "effect: is %s, should be " TAINT_EFFECT_NAMES,
                       quoted(arena, effect));
    ret_taint->key = arena_strdup(arena, key);
    ret_taint->value = arena_strdup(arena, value);
    return 0;
}

static int read_taints(const json_t *spec, struct arena *arena, struct node_facts *facts,
                       struct err *err)
{
    json_t *array = NULL;
    int r = json_get_array(spec, "taints", &array, err);
    if (r < 0)
        return r;
    size_t n = json_array_size(array);
    struct taint *taints = ARENA_ARRAY(arena, struct taint, n);
    for (size_t i = 0; i < n; i++) {
        json_t *object = NULL;
        if ((r = element_object(array, i, "taints", &object, err)) < 0)
            return r;
        if ((r = read_taint(object, arena, &taints[i], err)) < 0) {
            err_prefix(err, "taints[%zu].", i);
            return r;
        }
    }
    facts->taints = taints;
    facts->n_taints = n;
    return 0;
}

static int read_spec(const json_t *object, struct arena *arena, struct node_facts *facts,
                     struct err *err)
{
    json_t *spec = NULL;
    int r = json_get_object(object, "spec", &spec, err);
    if (r < 0)
        return r;
    if ((r = json_get_bool(spec, "unschedulable", &facts->unschedulable, err)) < 0 ||
        (r = read_taints(spec, arena, facts, err)) < 0)
        err_prefix(err, "spec.");
    return r;
}

/* GPUs must be integers; other amounts are rounded up, like in kube-scheduler. */
static int read_amount(const json_t *value, const char *resource, const struct policy *policy,
                       int64_t *ret_amount, struct err *err)
{
    if (!policy_is_gpu_resource(policy, resource))
        return quantity_json_amount(value, resource, ret_amount, err);
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = NULL;
    int r = quantity_json_text(value, number, &text, err);
    return r < 0 ? r : quantity_whole(text, ret_amount, err);
}

static int compare_resources(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

struct amount_list {
    const struct amount *items;
    size_t n;
};

static int read_amounts(json_t *values, const struct policy *policy, struct arena *arena,
                        struct amount_list *ret_list, struct err *err)
{
    struct amount *amounts = ARENA_ARRAY(arena, struct amount, json_object_size(values));
    size_t n = 0;
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (values, key, value) {
        if (json_is_null(value))
            continue;
        int r = read_amount(value, key, policy, &amounts[n].amount, err);
        if (r < 0) {
            err_prefix(err, "[%s]: ", quoted(arena, key));
            return -EINVAL;
        }
        amounts[n++].resource = arena_strdup(arena, key);
    }
    if (n > 1)
        qsort(amounts, n, sizeof *amounts, compare_resources);
    *ret_list = (struct amount_list){amounts, n};
    return 0;
}

static int read_resources(const json_t *status, const char *member, const struct policy *policy,
                          struct arena *arena, struct amount_list *ret_list, struct err *err)
{
    json_t *values = NULL;
    int r = json_get_object(status, member, &values, err);
    if (r < 0 || !values)
        return r;
    if ((r = read_amounts(values, policy, arena, ret_list, err)) < 0)
        err_prefix(err, "%s", member);
    return r;
}

static int read_conditions(const json_t *status, struct arena *arena, struct node_facts *facts,
                           struct err *err)
{
    json_t *conditions = NULL;
    int r = json_get_array(status, "conditions", &conditions, err);
    for (size_t i = 0; r == 0 && i < json_array_size(conditions); i++) {
        json_t *condition = NULL;
        const char *type = "";
        const char *state = "";
        if ((r = element_object(conditions, i, "conditions", &condition, err)) < 0)
            return r;
        if ((r = json_get_string(condition, "type", &type, err)) < 0 ||
            (r = json_get_string(condition, "status", &state, err)) < 0)
            err_prefix(err, "conditions[%zu].", i);
        if (strcmp(type, "Ready") == 0)
            facts->ready = strcmp(state, "True") == 0;
    }
    facts->conditions = node_conditions_read(conditions, arena);
    return r;
}

static int read_status(const json_t *object, const struct policy *policy, struct arena *arena,
                       struct node_facts *facts, struct err *err)
{
    json_t *status = NULL;
    int r = json_get_object(object, "status", &status, err);
    if (r < 0)
        return r;
    struct amount_list capacity = {0};
    if ((r = read_resources(status, "capacity", policy, arena, &capacity, err)) < 0) {
        err_prefix(err, "status.");
        return r;
    }
    /* The API's default: without reservations all capacity is allocatable. */
    struct amount_list allocatable = capacity;
    if ((r = read_resources(status, "allocatable", policy, arena, &allocatable, err)) < 0 ||
        (r = read_conditions(status, arena, facts, err)) < 0) {
        err_prefix(err, "status.");
        return r;
    }
    facts->capacity = capacity.items;
    facts->n_capacity = capacity.n;
    facts->boot_id = hash_of(json_member(status, "nodeInfo"), "bootID");
    facts->allocatable = allocatable.items;
    facts->n_allocatable = allocatable.n;
    return 0;
}

int node_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                   struct node_facts *ret_facts, struct err *err)
{
    if (!json_is_object(object))
        return err_set(err, EINVAL, "is %s, should be a Node object", json_type_text(object));
    struct node_facts facts = {.name = ""};
    int r = 0;
    if ((r = read_metadata(object, arena, &facts, err)) < 0 ||
        (r = read_spec(object, arena, &facts, err)) < 0 ||
        (r = read_status(object, policy, arena, &facts, err)) < 0)
        return r;
    *ret_facts = facts;
    return 0;
}

/* tolerations: see tolerations.h. */
#include "tolerations.h"

#include "fields.h"
#include "formats/json_values.h"

#include <string.h>

/* ---- taint effect ---- */

static const char *const NAMES[] = {
    [TAINT_NO_SCHEDULE] = "NoSchedule",
    [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
    [TAINT_NO_EXECUTE] = "NoExecute",
};

const char *taint_effect_name(enum taint_effect effect)
{
    return NAMES[effect];
}

bool taint_effect_from_name(const char *name, enum taint_effect *ret_effect)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            *ret_effect = (enum taint_effect)i;
            return true;
        }
    }
    return false;
}

/* ---- tolerations ---- */

const char *tolerations_unknown_operator(const json_t *toleration)
{
    const char *name = json_string_value(json_member(toleration, "operator"));
    bool known = !name || !*name || strcmp(name, "Equal") == 0 || strcmp(name, "Exists") == 0;
    return known ? NULL : name;
}

static int read_effect(const json_t *object, struct arena *arena, struct toleration *toleration,
                       struct err *err)
{
    const char *effect = "";
    int r = json_get_string(object, "effect", &effect, err);
    if (r < 0)
        return r;
    toleration->any_effect = *effect == '\0';
    if (!toleration->any_effect && !taint_effect_from_name(effect, &toleration->effect))
        return err_set(err, ENOTSUP, "effect: is %s, should be " TAINT_EFFECT_NAMES,
                       quoted(arena, effect));
    return 0;
}

static int read_toleration(const json_t *object, struct arena *arena, struct toleration *toleration,
                           struct err *err)
{
    const char *key = "";
    const char *value = "";
    const char *op = "";
    int r = 0;
    if ((r = json_get_string(object, "key", &key, err)) < 0 ||
        (r = json_get_string(object, "value", &value, err)) < 0 ||
        (r = json_get_string(object, "operator", &op, err)) < 0 ||
        (r = read_effect(object, arena, toleration, err)) < 0)
        return r;
    toleration->op = strcmp(op, "Exists") == 0 ? TOLERATION_EXISTS : TOLERATION_EQUAL;
    if (*key == '\0' && toleration->op != TOLERATION_EXISTS)
        return err_set(err, ENOTSUP, "operator: should be Exists if key is empty");
    toleration->key = *key ? arena_strdup(arena, key) : NULL;
    toleration->value = arena_strdup(arena, value);
    return 0;
}

int tolerations_read(const json_t *spec, struct arena *arena, struct shape_facts *shape,
                     struct err *err)
{
    json_t *array = NULL;
    int r = json_get_array(spec, "tolerations", &array, err);
    if (r < 0)
        return r;
    struct toleration *items = ARENA_ARRAY(arena, struct toleration, json_array_size(array));
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *object = NULL;
        if ((r = element_object(array, i, "tolerations", &object, err)) < 0)
            return r;
        if (tolerations_unknown_operator(object))
            continue;
        if ((r = read_toleration(object, arena, &items[n++], err)) < 0) {
            err_prefix(err, "tolerations[%zu].", i);
            return r;
        }
    }
    shape->tolerations = items;
    shape->n_tolerations = n;
    return 0;
}

static void append(struct shape_facts *shape, const struct toleration *more, size_t n_more,
                   struct arena *arena)
{
    size_t n = shape->n_tolerations;
    struct toleration *items = ARENA_ARRAY(arena, struct toleration, n + n_more);
    if (n > 0)
        memcpy(items, shape->tolerations, n * sizeof *items);
    memcpy(items + n, more, n_more * sizeof *items);
    shape->tolerations = items;
    shape->n_tolerations = n + n_more;
}

/* AddOrUpdateDaemonPodTolerations in pkg/controller/daemon/util. The last one is for pods in the
 * host network only. */
static const struct toleration DAEMON[] = {
    {"node.kubernetes.io/not-ready", "", TOLERATION_EXISTS, false, TAINT_NO_EXECUTE},
    {"node.kubernetes.io/unreachable", "", TOLERATION_EXISTS, false, TAINT_NO_EXECUTE},
    {"node.kubernetes.io/disk-pressure", "", TOLERATION_EXISTS, false, TAINT_NO_SCHEDULE},
    {"node.kubernetes.io/memory-pressure", "", TOLERATION_EXISTS, false, TAINT_NO_SCHEDULE},
    {"node.kubernetes.io/pid-pressure", "", TOLERATION_EXISTS, false, TAINT_NO_SCHEDULE},
    {"node.kubernetes.io/unschedulable", "", TOLERATION_EXISTS, false, TAINT_NO_SCHEDULE},
    {"node.kubernetes.io/network-unavailable", "", TOLERATION_EXISTS, false, TAINT_NO_SCHEDULE},
};

void tolerations_add_daemon(struct shape_facts *shape, bool host_network, struct arena *arena)
{
    size_t n = sizeof DAEMON / sizeof DAEMON[0];
    append(shape, DAEMON, host_network ? n : n - 1, arena);
}

static bool has_no_execute(const struct shape_facts *shape, const char *key)
{
    for (size_t i = 0; i < shape->n_tolerations; i++) {
        const struct toleration *toleration = &shape->tolerations[i];
        if ((!toleration->key || strcmp(toleration->key, key) == 0) &&
            (toleration->any_effect || toleration->effect == TAINT_NO_EXECUTE))
            return true;
    }
    return false;
}

/* Admit() in plugin/pkg/admission/defaulttolerationseconds. It compares neither operator nor
 * value. */
void tolerations_add_default(struct shape_facts *shape, struct arena *arena)
{
    static const struct toleration DEFAULTS[] = {
        {"node.kubernetes.io/not-ready", "", TOLERATION_EXISTS, false, TAINT_NO_EXECUTE},
        {"node.kubernetes.io/unreachable", "", TOLERATION_EXISTS, false, TAINT_NO_EXECUTE},
    };
    for (size_t i = 0; i < sizeof DEFAULTS / sizeof DEFAULTS[0]; i++) {
        if (!has_no_execute(shape, DEFAULTS[i].key))
            append(shape, &DEFAULTS[i], 1, arena);
    }
}

void tolerations_add_resource(struct shape_facts *shape, const char *resource, struct arena *arena)
{
    const struct toleration toleration = {
        .key = resource, .value = "", .op = TOLERATION_EXISTS, .effect = TAINT_NO_SCHEDULE};
    append(shape, &toleration, 1, arena);
}

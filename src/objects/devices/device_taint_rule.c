/* device_taint_rule: see include/objects/claims.h. */
#include "objects/claims.h"

#include "formats/json_values.h"
#include "objects/fields.h"
#include "objects/identity.h"

#include <errno.h>
#include <string.h>

/* Longest key of a label. */
#define KEY_BYTES_MAX 317

static int read_text(const json_t *taint, const char *key, struct arena *arena,
                     const char **ret_text, struct err *err)
{
    const char *text = "";
    int r = json_get_string(taint, key, &text, err);
    if (r < 0)
        return r;
    if (strlen(text) > KEY_BYTES_MAX)
        return err_set(err, EINVAL, "%s: is longer than %d bytes", key, KEY_BYTES_MAX);
    *ret_text = arena_strdup(arena, text);
    return 0;
}

static int read_taint(const json_t *spec, struct arena *arena, struct device_taint_facts *facts,
                      bool *ret_taints, struct err *err)
{
    json_t *taint = NULL;
    const char *effect = "";
    int r = json_get_object(spec, "taint", &taint, err);
    if (r < 0)
        return r;
    if ((r = read_text(taint, "key", arena, &facts->key, err)) < 0 ||
        (r = read_text(taint, "value", arena, &facts->value, err)) < 0 ||
        (r = read_text(taint, "effect", arena, &effect, err)) < 0) {
        err_prefix(err, "taint.");
        return r;
    }
    facts->effect = effect;
    bool taints = strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0;
    if (!taints && strcmp(effect, "None") != 0)
        return err_set(err, EINVAL, "taint.effect: is %s, should be None, NoSchedule or NoExecute",
                       quoted(arena, effect));
    *ret_taints = taints;
    return 0;
}

static int read_selector(const json_t *selector, struct arena *arena,
                         struct device_taint_facts *facts, struct err *err)
{
    const struct {
        const char *key;
        const char **target;
    } members[] = {{"driver", &facts->driver}, {"pool", &facts->pool}, {"device", &facts->device}};
    const size_t n = sizeof members / sizeof *members;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)selector, key, value) {
        size_t i = 0;
        while (i < n && strcmp(members[i].key, key) != 0)
            i++;
        if (i == n && json_is_null(value))
            continue;
        if (i == n)
            return err_set(err, EINVAL, "%s: is unknown, should be driver, pool or device",
                           quoted_plain(arena, key));
        int r = meta_name(selector, key, arena, members[i].target, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_spec(const json_t *spec, struct arena *arena, struct device_taint_facts *facts,
                     bool *ret_taints, struct err *err)
{
    json_t *selector = NULL;
    bool taints = false;
    int r = read_taint(spec, arena, facts, &taints, err);
    if (r == 0)
        r = json_get_object(spec, "deviceSelector", &selector, err);
    if (r < 0)
        return r;
    taints = taints && selector;
    if (taints && (r = read_selector(selector, arena, facts, err)) < 0) {
        err_prefix(err, "deviceSelector.");
        return r;
    }
    *ret_taints = taints;
    return 0;
}

int device_taint_rule_from_json(const json_t *object, struct arena *arena,
                                struct device_taint_facts *ret_facts, bool *ret_taints,
                                struct err *err)
{
    struct device_taint_facts facts = {0};
    struct identity identity;
    json_t *spec = NULL;
    int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        r = json_get_object(object, "spec", &spec, err);
    if (r == 0 && (r = read_spec(spec, arena, &facts, ret_taints, err)) < 0)
        err_prefix(err, "spec.");
    if (r < 0)
        return r;
    if (!*ret_taints)
        facts = (struct device_taint_facts){0};
    facts.name = identity.name;
    *ret_facts = facts;
    return 0;
}

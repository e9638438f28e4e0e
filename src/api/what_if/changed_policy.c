/* changed_policy: see changed_policy.h. Edits the values of the policy in force as JSON, and lets
 * the policy's own reader check them after each change. */
#include "api/what_if/changed_policy.h"
#include "base/nearest.h"
#include "formats/json_get.h"
#include "formats/json_parse.h"
#include "inventory/policy_names.h"

#include <errno.h>
#include <string.h>

static int miss_quota(const json_t *quotas, const char *name, struct err *err)
{
    struct nearest nearest = {.asked = name, .least = SIZE_MAX};
    size_t i = 0;
    json_t *quota = NULL;
    json_array_foreach (quotas, i, quota)
        (void)nearest_try(&nearest, json_string_value(json_member(quota, "name")));
    if (nearest.found)
        return err_set(err, ENOENT, ".name: there is no quota %.60s; did you mean %s?", name,
                       nearest.found);
    return err_set(err, ENOENT, ".name: there is no quota %.60s%s", name,
                   i > 0 ? " (GET /v1/quota lists them)" : ": the policy has none");
}

static json_t *find_quota(const json_t *quotas, const char *name)
{
    size_t i = 0;
    json_t *quota = NULL;
    json_array_foreach (quotas, i, quota) {
        if (strcmp(json_string_value(json_member(quota, "name")), name) == 0)
            return quota;
    }
    return NULL;
}

static int set_quota(json_t *values, struct asked_change *change, struct err *err)
{
    const json_t *quotas = json_member(values, "quotas");
    const char *name = json_string_value(json_member(change->values, "name"));
    json_t *limits = json_member(change->values, "limits");
    json_t *quota = find_quota(quotas, name);
    if (!quota)
        return miss_quota(quotas, name, err);
    change->effect = json_pack("{s:s, s:s, s:O, s:O}", "change", "quota", "quota", name, "before",
                               json_member(quota, "limits"), "after", limits);
    (void)json_object_set(quota, "limits", limits);
    return 0;
}

/* Puts the members of an object over those of the section, and adds both to before and after. What
 * is no object replaces the section, for the reader to reject it. */
static void set_members(json_t *section, const json_t *members, json_t *before, json_t *after)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)members, key, value) {
        if (json_is_null(value))
            continue;
        json_t *old = json_object_get(section, key);
        (void)json_object_set_new(before, key, old ? json_incref(old) : json_null());
        (void)json_object_set(after, key, value);
        (void)json_object_set(section, key, value);
    }
}

/* `slotPrice` is a section of its own in the policy, of no other use than for placement. */
static void set_placement(json_t *values, struct asked_change *change)
{
    json_auto_t *members = json_copy(change->values);
    json_auto_t *prices = json_incref(json_member(members, "slotPrice"));
    json_t *before = json_object();
    json_t *after = json_object();
    (void)json_object_del(members, "slotPrice");
    set_members(json_member(values, "placement"), members, before, after);
    if (json_is_object(prices)) {
        json_t *old = json_object();
        json_t *new = json_object();
        set_members(json_member(values, "slotPrice"), prices, old, new);
        (void)json_object_set_new(before, "slotPrice", old);
        (void)json_object_set_new(after, "slotPrice", new);
    } else if (prices) {
        (void)json_object_set(values, "slotPrice", prices);
    }
    change->effect =
        json_pack("{s:s, s:o, s:o}", "change", "placement", "before", before, "after", after);
}

/* The reader's message, with the path below the change instead of the path in the policy file. */
static void set_path(enum change_kind kind, struct err *err)
{
    static const char OF_QUOTAS[] = "quotas[";
    static const char OF_PLACEMENT[] = "placement";
    const struct err whole = *err;
    const char *end = strchr(whole.text, ']');
    const char *rest = whole.text;
    if (kind == CHANGE_QUOTA && strncmp(rest, OF_QUOTAS, strlen(OF_QUOTAS)) == 0 && end)
        rest = end + 1;
    else if (kind == CHANGE_PLACEMENT && strncmp(rest, OF_PLACEMENT, strlen(OF_PLACEMENT)) == 0)
        rest += strlen(OF_PLACEMENT);
    (void)err_set(err, EINVAL, "%s%s", rest[0] == '.' || rest[0] == ':' ? "" : ".", rest);
}

static int set(const struct api *api, json_t *values, struct asked_change *change,
               const struct policy **policy, struct err *err)
{
    const struct policy *changed = NULL;
    int r = 0;
    if (change->kind == CHANGE_QUOTA)
        r = set_quota(values, change, err);
    else
        set_placement(values, change);
    if (r < 0)
        return r;
    r = api->read_policy(values, &changed, err);
    if (r < 0) {
        set_path(change->kind, err);
        return r;
    }
    policy_drop_ptr(policy);
    *policy = changed;
    return 0;
}

static int read_values(const struct api *api, struct arena *arena, json_t **ret_values,
                       struct err *err)
{
    const char *text = api->policy(api->policy_context, arena);
    json_auto_t *report = NULL;
    int r = json_parse(text, strlen(text), 0, &JSON_OWN, &report, err);
    if (r == 0)
        *ret_values = json_incref(json_member(report, "values"));
    return r;
}

int changed_policy_read(const struct api *api, struct change_list *list, struct arena *arena,
                        const struct policy **ret_policy, struct err *err)
{
    json_auto_t *values = NULL;
    const struct policy *policy = NULL;
    int r = 0;
    for (size_t i = 0; r == 0 && i < list->n; i++) {
        struct asked_change *change = &list->items[i];
        if (!change->values)
            continue;
        r = values ? 0 : read_values(api, arena, &values, err);
        if (r == 0)
            r = set(api, values, change, &policy, err);
        if (r < 0)
            err_prefix(err, "changes[%zu].%s", i,
                       change->kind == CHANGE_QUOTA ? "quota" : "placement");
    }
    if (r < 0)
        policy_drop_ptr(&policy);
    else
        *ret_policy = policy;
    return r;
}

#define WARNINGS_MAX ((size_t)20)

/* The last change of the quota's limits. */
static bool find_change(const struct change_list *list, const char *quota, size_t *ret_i)
{
    for (size_t i = list->n; quota && i > 0; i--) {
        const struct asked_change *change = &list->items[i - 1];
        const json_t *name = json_member(change->values, "name");
        if (change->kind != CHANGE_QUOTA || strcmp(json_string_value(name), quota) != 0)
            continue;
        *ret_i = i - 1;
        return true;
    }
    return false;
}

json_t *changed_policy_warnings(const struct change_list *list, const struct cluster *ledger,
                                struct arena *arena)
{
    json_t *warnings = json_array();
    struct policy_name *names = NULL;
    const size_t n = policy_names_missing(ledger, arena, &names);
    for (size_t i = 0; i < n && json_array_size(warnings) < WARNINGS_MAX; i++) {
        size_t at = 0;
        if (find_change(list, names[i].quota, &at))
            (void)json_array_append_new(
                warnings, json_pack("{s:s, s:s}", "path",
                                    arena_printf(arena, "changes[%zu].quota", at), "message",
                                    arena_printf(arena, "%s; %s", names[i].seen, names[i].advice)));
    }
    return warnings;
}

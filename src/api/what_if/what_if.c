/*
 * what_if: POST /v1/what-if. Places the pending pods on a copy of the ledger, changes the copy,
 * places them again with the pods that a drain displaced, and then the workloads.
 */
#include "api/api.h"
#include "api/cluster/inventory_parts.h"
#include "api/cluster/quota_json.h"
#include "api/dry_run/dry_run.h"
#include "api/dry_run/manifest.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "api/tables.h"
#include "api/text.h"
#include "api/what_if/changes.h"
#include "api/what_if/placing.h"
#include "base/nearest.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "inventory/inventory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- which PodDisruptionBudgets the ledger may lack, and why ---- */

/* Returns why the ledger may lack budgets; NULL: at most those of unread_budgets_add(). */
static const char *unread_budgets_why(struct inventory *inventory, struct arena *arena)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    if (inventory_freshness(inventory, kinds) == 0) {
        const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
        return cluster_knows(view.cluster, CLUSTER_BUDGETS)
                   ? NULL
                   : "the cluster file has none; save it with pdb";
    }
    const struct inventory_freshness *kind = &kinds[CLUSTER_BUDGETS];
    if (kind->synced && !kind->stale && !kind->behind && !kind->too_many)
        return NULL;
    if (strcmp(kind->trouble, "refused") == 0)
        return "this service has no right to list and watch them";
    return arena_printf(arena, "they are %s%s%s", kind->synced ? "not current" : "not listed",
                        kind->trouble[0] ? ": " : "", kind->trouble);
}

/* Adds the budgets that could not be read. */
static void unread_budgets_add(struct inventory *inventory, struct met_budgets *budgets)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    for (size_t i = 0; i < view.n_problems; i++) {
        if (strcmp(view.problems[i].kind, "PodDisruptionBudget") == 0)
            met_budgets_add_unread(budgets, view.problems[i].name, view.problems[i].what);
    }
    if (view.n_all_problems > view.n_problems)
        met_budgets_add_unread(budgets, "(unknown)",
                               "more objects cannot be read than /v1/inventory lists");
}

/* ---- the policy in force with the changes of a what-if ---- */

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

/* policy_drop() the result, which is NULL if no change concerns the policy. Sets `effect` of those
 * that do. -ENOENT: there is no such quota. -EINVAL: the policy's own error. */
static int changed_policy_read(const struct api *api, struct change_list *list, struct arena *arena,
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

/* The first warnings of models and resources in limits of the changes that no node of the changed
 * ledger has: an array of {path, message}. */
static json_t *changed_policy_warnings(const struct change_list *list, const struct cluster *ledger,
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

/* ---- what if ---- */

/* Pods listed as displaced, running or no longer running; the rest is counted. */
#define LISTED_MAX ((size_t)10000)

static const char *const NOT_CHECKED_OF_DRAINS[] = {
    "volumes of displaced pods: not checked; some can be reached from one node only",
};

/* ---- the request ---- */

struct what_if_request {
    struct change_list changes;
    struct workload_list workloads;
};

static int refuse_unknown(const json_t *body, struct err *err)
{
    static const char *const KNOWN[] = {"changes", "workloads"};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)body, key, value) {
        struct nearest nearest = {.asked = key, .least = SIZE_MAX};
        if (strcmp(key, KNOWN[0]) == 0 || strcmp(key, KNOWN[1]) == 0)
            continue;
        (void)nearest_try(&nearest, KNOWN[0]);
        (void)nearest_try(&nearest, KNOWN[1]);
        if (changes_has_kind(key))
            return err_set(err, EINVAL,
                           "%s: is a change, should be in the list: {\"changes\": [{\"%s\": ...}]}",
                           key, key);
        if (nearest.found)
            return err_set(err, EINVAL, "%.60s: is unknown; did you mean %s?", key, nearest.found);
        return err_set(err, EINVAL, "%.60s: is unknown, should be changes or workloads", key);
    }
    return 0;
}

#define BODY_TEXT "{\"changes\": [...], \"workloads\": [...]}"

static int read_body(const struct api *api, const struct exchange *exchange, struct arena *arena,
                     struct what_if_request *ret_request, struct err *err)
{
    size_t len = 0;
    const char *body = exchange_body(exchange, &len);
    json_t *root = NULL;
    int r = len > 0
                ? json_parse(body, len, JSON_REJECT_DUPLICATES, &api->request_budget, &root, err)
                : err_set(err, EINVAL, "is empty, should be " BODY_TEXT);
    if (r == 0 && !json_is_object(root))
        r = err_set(err, EINVAL, "is %s, should be " BODY_TEXT, json_type_text(root));
    if (r < 0)
        err_prefix(err, root || len == 0 || r == -EMSGSIZE ? "body: " : "body: is no JSON: ");
    if (r == 0)
        r = refuse_unknown(root, err);
    if (r == 0)
        r = changes_read(json_member(root, "changes"), arena, &ret_request->changes, err);
    if (r == 0)
        r = manifest_read_list(json_member(root, "workloads"), api, arena, &ret_request->workloads,
                               err);
    json_decref(root);
    return r;
}

static void answer_error(struct exchange *exchange, int r, const struct err *err)
{
    const bool is_large = r == -E2BIG || r == -EMSGSIZE;
    exchange_answer_error(exchange, r == -ENOENT ? 404 : is_large ? 413 : 400, err->text);
}

/* ---- the answer ---- */

/* The figures that are compared. */
struct compared_state {
    json_t *fragmentation, *quota;
    json_t *domains; /* NULL: the policy has no levels */
};

static struct compared_state state_of(const struct cluster *fork, struct arena *arena)
{
    const struct fragmentations all = fragmentation_of(fork, arena);
    return (struct compared_state){fragmentation_json_list(&all), quota_json_all(fork),
                                   inventory_domains_of(fork, arena)};
}

static struct compared_state state_of_ledger(struct inventory *copy, struct arena *arena)
{
    struct cluster *fork = inventory_fork(copy, PEERS_NONE);
    const struct compared_state state = state_of(fork, arena);
    inventory_fork_free(copy, fork);
    return state;
}

static json_t *owner_json(const char *controller)
{
    const char *slash = controller ? strchr(controller, '/') : NULL;
    if (!slash)
        return json_null();
    return json_pack("{s:s%, s:s}", "kind", controller, (size_t)(slash - controller), "name",
                     slash + 1);
}

/* NULL: nothing that the ledger could keep. */
static const char *judged_without(const struct pod *pod)
{
    return pod->lacks_peers ? "its labels, affinity and topology spread, which are too long to keep"
                            : NULL;
}

static json_t *place_json(const struct placed_pod *item)
{
    const struct pod *pod = &item->copy->pod;
    return json_pack("{s:s, s:s, s:s, s:o, s:I, s:s?, s:s?, s:b, s:s?}", "namespace",
                     pod->namespace_, "name", pod->name, "uid", pod->uid, "owner",
                     owner_json(pod->controller), "priority", (json_int_t)pod->priority, "node",
                     item->node, "reason", item->reason, "judged", (int)item->is_judged,
                     "judgedWithout", judged_without(pod));
}

static json_t *bare_json(const struct displaced *displaced)
{
    return json_pack("{s:s, s:s, s:s, s:n, s:n, s:n, s:s, s:b, s:n}", "namespace",
                     displaced->namespace_, "name", displaced->name, "uid", displaced->uid, "owner",
                     "priority", "node", "reason", "no controller recreates it", "judged", true,
                     "judgedWithout");
}

static void add_displacement(const struct displaced *displaced, json_t *json)
{
    (void)json_object_set_new(json, "from", json_string(displaced->from));
    (void)json_object_set_new(json, "budgets",
                              displaced->eviction.names ? json_string(displaced->eviction.names)
                                                        : json_null());
}

/* First those that were placed or not, in that order, then those that nothing recreates. */
static json_t *displaced_json(const struct applied *applied, const struct placing *after)
{
    json_t *list = json_array();
    for (size_t i = 0; i < after->n && json_array_size(list) < LISTED_MAX; i++) {
        const struct placed_pod *item = &after->items[i];
        if (!item->displaced)
            continue;
        json_t *json = place_json(item);
        add_displacement(item->displaced, json);
        (void)json_array_append_new(list, json);
    }
    for (const struct displaced *item = applied->displaced;
         item && json_array_size(list) < LISTED_MAX; item = item->hh.next) {
        if (item->controller)
            continue;
        json_t *json = bare_json(item);
        add_displacement(item, json);
        (void)json_array_append_new(list, json);
    }
    return list;
}

struct pending_change {
    size_t n_before, n_after; /* that find a place */
    json_t *now_run, *no_longer;
};

struct found_place {
    const char *uid;
    bool has_place;
    UT_hash_handle hh;
};

static struct found_place *places_of(const struct placing *placing, struct arena *arena)
{
    struct found_place *table = NULL;
    for (size_t i = 0; i < placing->n; i++) {
        struct found_place *place = ARENA_NEW(arena, struct found_place);
        place->uid = placing->items[i].copy->pod.uid;
        place->has_place = placing->items[i].node != NULL;
        HASH_ADD_KEYPTR(hh, table, place->uid, strlen(place->uid), place);
    }
    return table;
}

static void append_listed(json_t *list, const struct placed_pod *item)
{
    if (json_array_size(list) < LISTED_MAX)
        (void)json_array_append_new(list, place_json(item));
}

static struct pending_change compare(const struct placing *before, const struct placing *after,
                                     struct arena *arena)
{
    struct found_place *places = places_of(before, arena);
    struct pending_change change = {before->n_placed, 0, json_array(), json_array()};
    for (size_t i = 0; i < after->n; i++) {
        const struct placed_pod *item = &after->items[i];
        struct found_place *place = NULL;
        HASH_FIND_STR(places, item->copy->pod.uid, place);
        if (!place)
            continue;
        change.n_after += item->node != NULL;
        if (item->node && !place->has_place)
            append_listed(change.now_run, item);
        else if (!item->node && place->has_place)
            append_listed(change.no_longer, item);
    }
    HASH_CLEAR(hh, places);
    return change;
}

static json_t *counts_json(const struct placing *placing, size_t n_fit)
{
    return json_pack(
        "{s:I, s:I, s:I}", "pods", (json_int_t)placing->copies.n_all, "fit", (json_int_t)n_fit,
        "notJudged",
        (json_int_t)(placing->n_not_judged + placing->copies.n_all - placing->copies.n));
}

struct displaced_counts {
    size_t n, n_placed;
    bool has_drains; /* are among the changes */
};

static struct displaced_counts count_displaced(const struct applied *applied,
                                               const struct placing *after)
{
    struct displaced_counts counts = {HASH_COUNT(applied->displaced), 0, false};
    size_t k = 0;
    json_t *change = NULL;
    json_array_foreach (applied->changes, k, change)
        counts.has_drains |= strcmp(text_member(change, "change"), "drain") == 0;
    for (size_t i = 0; i < after->n; i++)
        counts.n_placed += after->items[i].displaced && after->items[i].node;
    return counts;
}

/* "the pending pod finds no place", "2 of 3 pending pods find a place" */
static const char *places_text(size_t n_placed, size_t n, const char *which, struct arena *arena)
{
    if (n == 0)
        return arena_printf(arena, "no pod is %s", which);
    if (n == 1)
        return arena_printf(arena, "the %s pod finds %s place", which, n_placed == 1 ? "a" : "no");
    return arena_printf(arena, "%zu of %zu %s pods find a place", n_placed, n, which);
}

static const char *summary_of(const struct displaced_counts *displaced,
                              const struct pending_change *pending, size_t n_pending,
                              struct arena *arena)
{
    const char *text = places_text(pending->n_after, n_pending, "pending", arena);
    if (n_pending > 0 && pending->n_after == pending->n_before)
        text = arena_printf(arena, "%s, with and without the changes", text);
    else if (n_pending > 0)
        text = arena_printf(arena, "%s (without the changes: %zu)", text, pending->n_before);
    if (!displaced->has_drains && displaced->n == 0)
        return text;
    return arena_printf(arena, "%s; %s",
                        places_text(displaced->n_placed, displaced->n, "displaced", arena), text);
}

static json_t *not_checked_json(const struct applied *applied, const json_t *budgets,
                                struct arena *arena)
{
    const char *why = json_string_value(json_object_get(budgets, "notCheckedBecause"));
    json_t *list = json_array();
    if (!applied->displaced)
        return list;
    if (why)
        (void)json_array_append_new(
            list, json_string(arena_printf(arena, "PodDisruptionBudgets: not checked: %s", why)));
    for (size_t i = 0; i < sizeof NOT_CHECKED_OF_DRAINS / sizeof *NOT_CHECKED_OF_DRAINS; i++)
        (void)json_array_append_new(list, json_string(NOT_CHECKED_OF_DRAINS[i]));
    return list;
}

struct what_if {
    const struct api *api;
    struct exchange *exchange;
    struct arena *arena;         /* not the exchange's, which ends with the answer */
    const struct policy *policy; /* of the texts of the workloads; held */
    struct what_if_request request;
    struct inventory *copy;
    struct compared_state state; /* before the changes */
    struct placing before;
    struct applied applied;
    json_t *warnings; /* array: of the changes */
    json_t *jobs;     /* array: as DryRunResult.jobs, without the changes; NULL: too many */
};

/* NULL: the policy has no levels, before or after. Steals after. */
static json_t *domains_json(json_t *before, json_t *after)
{
    if (!before || !after) {
        json_decref(after);
        return NULL;
    }
    return json_pack("{s:O, s:o}", "before", before, "after", after);
}

/* The pending pods of before, of which none is displaced, are among those after, unless a change
 * has removed them. fork: without the workloads. */
static json_t *compared_json(const struct what_if *what_if, const struct placing *after,
                             const struct cluster *fork)
{
    struct arena *arena = what_if->arena;
    const struct applied *applied = &what_if->applied;
    const struct pending_change pending = compare(&what_if->before, after, arena);
    const struct displaced_counts displaced = count_displaced(applied, after);
    const struct compared_state state = state_of(fork, arena);
    const size_t n_pending = what_if->before.copies.n_all;
    struct inventory *inventory = what_if->api->inventory;
    unread_budgets_add(inventory, applied->budgets);
    json_t *budgets = met_budgets_json(applied->budgets, unread_budgets_why(inventory, arena));
    return json_pack(
        "{s:s, s:O, s:o, s:{s:I, s:I}, s:{s:o, s:o, s:o, s:o}, s:{s:o, s:o}, s:{s:o, s:o}, s:o, "
        "s:o, s:o*}",
        "changesSummary", summary_of(&displaced, &pending, n_pending, arena), "changes",
        applied->changes, "displaced", displaced_json(applied, after), "displacedCounts", "pods",
        (json_int_t)displaced.n, "fit", (json_int_t)displaced.n_placed, "pending", "before",
        counts_json(&what_if->before, pending.n_before), "after",
        counts_json(after, pending.n_after), "nowRun", pending.now_run, "noLonger",
        pending.no_longer, "fragmentation", "before", json_incref(what_if->state.fragmentation),
        "after", state.fragmentation, "quota", "before", json_incref(what_if->state.quota), "after",
        state.quota, "notChecked", not_checked_json(applied, budgets, arena), "disruptionBudgets",
        budgets, "domains", domains_json(what_if->state.domains, state.domains));
}

/* Other forks of the copy must be freed. */
static void put_in_force(struct what_if *what_if, const struct policy *policy)
{
    struct inventory *copy = inventory_copy(what_if->copy, policy);
    inventory_free(what_if->copy);
    what_if->copy = copy;
}

/* Places the workloads on the fork of the copy. counts_only: before the changes. */
static json_t *judge_workloads(const struct what_if *what_if, const struct provenance *provenance,
                               struct cluster *fork, bool counts_only)
{
    const struct api own = {.inventory = what_if->copy,
                            .max_object_bytes = what_if->api->max_object_bytes,
                            .max_object_values = what_if->api->max_object_values,
                            .request_budget = what_if->api->request_budget,
                            .max_replicas = what_if->api->max_replicas};
    const struct workloads_question question = {.api = &own,
                                                .provenance = provenance,
                                                .policy = what_if->policy,
                                                .fork = fork,
                                                .list = &what_if->request.workloads,
                                                .explain = !counts_only &&
                                                           reply_flag(what_if->exchange, "explain"),
                                                .counts_only = counts_only};
    return dry_run_judge(&question, what_if->arena);
}

static void add_counts_before(const struct what_if *what_if, json_t *jobs)
{
    size_t i = 0;
    json_t *job = NULL;
    json_array_foreach (jobs, i, job)
        (void)json_object_set(job, "fitsWithout",
                              json_object_get(json_array_get(what_if->jobs, i), "fits"));
}

/* fork: with the workloads. */
static void add_free_after(json_t *fragmentation, const struct cluster *fork, struct arena *arena)
{
    const struct fragmentations all = fragmentation_of(fork, arena);
    (void)json_object_set_new(fragmentation, "afterWorkloads", fragmentation_json_list(&all));
}

/* Places all on the changed copy. */
static void answer(struct what_if *what_if)
{
    const struct workload_list *list = &what_if->request.workloads;
    struct cluster *fork = NULL;
    struct placing after = placing_of(what_if->copy, what_if->applied.displaced,
                                      dry_run_peers_wanted(list), what_if->arena, &fork);
    const struct provenance provenance = provenance_of(what_if->api->inventory, what_if->arena);
    if (!dry_run_is_too_much(list, fork, what_if->exchange)) {
        json_t *json = provenance_json(&provenance);
        provenance_add_claims(&provenance, json);
        json_t *compared = compared_json(what_if, &after, fork);
        /* This places the workloads on the fork. */
        json_t *workloads = judge_workloads(what_if, &provenance, fork, false);
        add_counts_before(what_if, json_object_get(workloads, "jobs"));
        (void)json_array_extend(what_if->warnings, json_object_get(workloads, "warnings"));
        (void)json_object_set(workloads, "warnings", what_if->warnings);
        if (json_array_size(json_object_get(workloads, "jobs")) > 0)
            add_free_after(json_object_get(compared, "fragmentation"), fork, what_if->arena);
        else
            (void)json_object_set(workloads, "summary",
                                  json_object_get(compared, "changesSummary"));
        (void)json_object_update_new(json, workloads);
        (void)json_object_update_new(json, compared);
        reply(what_if->exchange, json, tables_write_what_if);
    }
    pod_copy_fini(&after.copies);
    inventory_fork_free(what_if->copy, fork);
}

/* False: it has answered that the workloads are too many. */
static bool judge_before(struct what_if *what_if)
{
    const struct workload_list *list = &what_if->request.workloads;
    struct cluster *fork = NULL;
    what_if->state = state_of_ledger(what_if->copy, what_if->arena);
    what_if->before =
        placing_of(what_if->copy, NULL, list->n > 0 ? dry_run_peers_wanted(list) : PEERS_NONE,
                   what_if->arena, &fork);
    const bool is_too_much = dry_run_is_too_much(list, fork, what_if->exchange);
    if (!is_too_much && list->n > 0) {
        const struct provenance provenance = provenance_of(what_if->api->inventory, what_if->arena);
        json_t *workloads = judge_workloads(what_if, &provenance, fork, true);
        what_if->jobs = json_incref(json_object_get(workloads, "jobs"));
        json_decref(workloads);
    }
    inventory_fork_free(what_if->copy, fork);
    return !is_too_much;
}

/* changed: the policy after the changes; NULL: the same. */
static void change(struct what_if *what_if, const struct policy *changed)
{
    struct err err;
    if (changed)
        put_in_force(what_if, changed);
    struct cluster *ledger = inventory_own_ledger(what_if->copy);
    const struct change_list *changes = &what_if->request.changes;
    int r = changes_apply(changes, ledger, &what_if->applied, &err);
    if (r < 0) {
        answer_error(what_if->exchange, r, &err);
        return;
    }
    what_if->warnings =
        changed ? changed_policy_warnings(changes, ledger, what_if->arena) : json_array();
    answer(what_if);
    json_decref(what_if->warnings);
}

static void run(struct what_if *what_if, const struct policy *changed)
{
    what_if->copy = inventory_copy(what_if->api->inventory, NULL);
    applied_init(&what_if->applied, what_if->arena);
    if (judge_before(what_if))
        change(what_if, changed);
    json_decref(what_if->jobs);
    json_decref(what_if->state.fragmentation);
    json_decref(what_if->state.quota);
    json_decref(what_if->state.domains);
    pod_copy_fini(&what_if->before.copies);
    applied_fini(&what_if->applied);
    inventory_free(what_if->copy);
}

static void run_asked(struct what_if *what_if)
{
    const struct policy *changed CLEANUP(policy_drop_ptr) = NULL;
    struct err err;
    int r = changed_policy_read(what_if->api, &what_if->request.changes, what_if->arena, &changed,
                                &err);
    if (r < 0)
        answer_error(what_if->exchange, r, &err);
    else
        run(what_if, changed);
}

void api_what_if(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(api->inventory);
    struct what_if what_if = {.api = api, .exchange = exchange, .arena = arena, .policy = policy};
    struct err err;
    if (!reply_from(api->inventory, exchange) || exchange_defer(exchange))
        return;
    int r = read_body(api, exchange, arena, &what_if.request, &err);
    if (r < 0)
        answer_error(exchange, r, &err);
    else
        run_asked(&what_if);
    changes_fini(&what_if.request.changes);
}

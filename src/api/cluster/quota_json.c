/* quota_json: see quota_json.h; GET /v1/quota: include/api/api.h. */
#include "api/cluster/quota_json.h"
#include "api/api.h"
#include "api/pods/pod_json.h"
#include "api/pods/turns.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "api/verdicts/remedies.h"
#include "base/mem.h"
#include "inventory/inventory.h"
#include "ledger/namespace_usage.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- the namespaces that use most of each limit of a quota ---- */

#define QUOTA_USERS_MAX 10 /* of a limit */

struct quota_users;

struct quota_user {
    const char *name;
    int64_t used;
};

struct limit_users {
    struct quota_user items[QUOTA_USERS_MAX]; /* most first, then by name */
    size_t n;
};

struct quota_users {
    struct limit_users **quotas; /* by quota, then limit */
};

static bool comes_before(const struct quota_user *a, const struct quota_user *b)
{
    return a->used != b->used ? a->used > b->used : strcmp(a->name, b->name) < 0;
}

static void insert(struct limit_users *users, const struct quota_user *user)
{
    size_t at = users->n;
    while (at > 0 && comes_before(user, &users->items[at - 1]))
        at--;
    if (at == QUOTA_USERS_MAX)
        return;
    users->n += users->n < QUOTA_USERS_MAX;
    memmove(&users->items[at + 1], &users->items[at], (users->n - 1 - at) * sizeof *users->items);
    users->items[at] = *user;
}

static void add_user(struct quota_users *users, const struct policy *policy,
                     const struct namespace_user *user)
{
    for (size_t i = 0; i < user->n_quotas; i++) {
        const struct quota *quota = &policy->quotas[user->quotas[i]];
        for (size_t k = 0; k < quota->n_limits; k++) {
            const struct quota_limit *limit = &quota->limits[k];
            const int64_t used = namespace_usage_of(policy, user->cells, limit, QUOTA_ALL);
            if (used > 0)
                insert(&users->quotas[user->quotas[i]][k], &(struct quota_user){user->name, used});
        }
    }
}

static void copy_names(struct quota_users *users, const struct policy *policy, struct arena *arena)
{
    for (size_t i = 0; i < policy->n_quotas; i++) {
        for (size_t k = 0; k < policy->quotas[i].n_limits; k++) {
            struct limit_users *of = &users->quotas[i][k];
            for (size_t j = 0; j < of->n; j++)
                of->items[j].name = arena_strdup(arena, of->items[j].name);
        }
    }
}

/* For the quotas of that policy; NULL if another one is in force by now. In the arena. */
static struct quota_users *quota_users_copy(struct inventory *inventory,
                                            const struct policy *policy, struct arena *arena)
{
    struct quota_users *users = ARENA_NEW(arena, struct quota_users);
    users->quotas = ARENA_ARRAY(arena, struct limit_users *, policy->n_quotas);
    for (size_t i = 0; i < policy->n_quotas; i++)
        users->quotas[i] = ARENA_ARRAY(arena, struct limit_users, policy->quotas[i].n_limits);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    if (cluster_policy(view.cluster) != policy)
        return NULL;
    struct namespace_user user = {0};
    while (namespace_usage_next_user(view.cluster, user.name, &user))
        add_user(users, policy, &user);
    copy_names(users, policy, arena);
    return users;
}

/* [{"namespace": "ml", "used": 8}], most first, of a limit of a quota: their indexes in the
 * policy. */
static json_t *quota_users_json(const struct quota_users *users, size_t quota, size_t limit)
{
    json_t *list = json_array();
    if (!users)
        return list;
    const struct limit_users *of = &users->quotas[quota][limit];
    for (size_t i = 0; i < of->n; i++)
        (void)json_array_append_new(list, json_pack("{s:s, s:I}", "namespace", of->items[i].name,
                                                    "used", (json_int_t)of->items[i].used));
    return list;
}

/* ---- quota json ---- */

static const char *or_all(const char *name)
{
    return name ? name : "";
}

/* {resource, model, limit, used} for each limit; "": all resources, all models. */
static json_t *limits_json(const struct cluster *cluster, const struct quota *quota)
{
    json_t *limits = json_array();
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        json_t *json = json_pack("{s:s, s:s, s:I, s:I}", "resource", or_all(limit->resource),
                                 "model", or_all(limit->model), "limit", (json_int_t)limit->gpus,
                                 "used", (json_int_t)quota_used(cluster, quota, limit));
        if (limit->borrow.is_set)
            (void)json_object_set_new(json, "borrow",
                                      json_pack("{s:I, s:I, s:I}", "limit",
                                                (json_int_t)limit->borrow.gpus, "maxPriority",
                                                (json_int_t)limit->borrow.max_priority, "used",
                                                (json_int_t)quota_borrowed(cluster, quota, limit)));
        (void)json_array_append_new(limits, json);
    }
    return limits;
}

struct borrower {
    const struct quota *quota;
    int64_t gpus;
};

static int compare_borrowers(const void *a, const void *b)
{
    const struct borrower *x = a;
    const struct borrower *y = b;
    return x->gpus != y->gpus ? (x->gpus < y->gpus) - (x->gpus > y->gpus)
                              : strcmp(x->quota->name, y->quota->name);
}

#define BORROWERS_MAX ((size_t)10)

/* Adds the quotas that borrow GPUs of the limit's kind, most first. Returns their sum. */
static int64_t add_borrowers(const struct cluster *cluster, const struct quota_limit *limit,
                             json_t *json)
{
    const struct policy *policy = cluster_policy(cluster);
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct borrower *found = ARENA_ARRAY(arena, struct borrower, policy->n_quotas);
    json_t *list = json_array();
    int64_t sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < policy->n_quotas; i++) {
        found[n] = (struct borrower){&policy->quotas[i],
                                     quota_borrowed_of(cluster, limit, &policy->quotas[i])};
        sum += found[n].gpus;
        n += found[n].gpus > 0;
    }
    qsort(found, n, sizeof *found, compare_borrowers);
    for (size_t i = 0; i < n && i < BORROWERS_MAX; i++)
        (void)json_array_append_new(list, json_pack("{s:s, s:I}", "quota", found[i].quota->name,
                                                    "gpus", (json_int_t)found[i].gpus));
    (void)json_object_set_new(json, "borrowers", list);
    return sum;
}

/* lent: the part of the guarantee that is neither used nor free, as far as pods borrow. */
static void add_lent(const struct cluster *cluster, const struct quota *quota,
                     const struct quota_limit *limit, json_t *json)
{
    if (cluster_policy(cluster)->n_quota_priorities == 0)
        return;
    const int64_t borrowed = add_borrowers(cluster, limit, json);
    const int64_t idle = limit->gpus - quota_used(cluster, quota, limit);
    const int64_t taken = borrowed > 0 ? idle - quota_gpus_there(cluster, limit, true) : 0;
    const int64_t lent = taken < borrowed ? taken : borrowed;
    (void)json_object_set_new(json, "lent", json_integer(lent > 0 ? lent : 0));
}

static bool is_of(const json_t *entry, const struct quota *quota, const struct quota_limit *limit)
{
    return strcmp(text_member(entry, "quota"), quota->name) == 0 &&
           strcmp(text_member(entry, "resource"), or_all(limit->resource)) == 0 &&
           strcmp(text_member(entry, "model"), or_all(limit->model)) == 0;
}

static void add_users(const struct policy *policy, const struct quota_users *users, json_t *entry)
{
    for (size_t i = 0; i < policy->n_quotas; i++) {
        for (size_t k = 0; k < policy->quotas[i].n_limits; k++) {
            if (is_of(entry, &policy->quotas[i], &policy->quotas[i].limits[k]))
                (void)json_object_set_new(entry, "users", quota_users_json(users, i, k));
        }
    }
}

void quota_json_add_users(struct inventory *inventory, json_t *quotas)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(inventory);
    const struct quota_users *users = quota_users_copy(inventory, policy, arena);
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (quotas, i, entry)
        add_users(policy, users, entry);
}

/* ---- the pods that wait for a limit ---- */

#define WAITING_MAX ((size_t)10)

/* Adds a pod to the entry of its namespace in [{namespace, pods, gpus, remedies}]: the remedies of
 * its first pod. */
static void add_waiting(json_t *list, const json_t *pod, json_int_t n_gpus)
{
    const char *namespace_ = text_member(pod, "namespace");
    size_t i = 0;
    while (i < json_array_size(list) &&
           strcmp(text_member(json_array_get(list, i), "namespace"), namespace_) != 0)
        i++;
    json_t *entry = json_array_get(list, i);
    if (i == WAITING_MAX)
        return;
    if (!entry) {
        entry = json_pack("{s:s, s:i, s:i, s:O}", "namespace", namespace_, "pods", 0, "gpus", 0,
                          "remedies", json_object_get(pod, "remedies"));
        (void)json_array_append_new(list, entry);
    }
    const json_int_t pods = json_integer_value(json_object_get(entry, "pods"));
    const json_int_t gpus = json_integer_value(json_object_get(entry, "gpus"));
    (void)json_object_set_new(entry, "pods", json_integer(pods + 1));
    (void)json_object_set_new(entry, "gpus",
                              json_integer(gpus > INT64_MAX - n_gpus ? INT64_MAX : gpus + n_gpus));
}

/* The first of kube-scheduler's order come first. */
static json_t *waiting_json(const json_t *pods, const struct quota *quota,
                            const struct quota_limit *limit)
{
    json_t *list = json_array();
    size_t i = 0;
    size_t k = 0;
    json_t *pod = NULL;
    json_t *entry = NULL;
    json_array_foreach (pods, i, pod) {
        json_array_foreach (json_object_get(json_object_get(pod, "verdict"), "quotas"), k, entry) {
            if (is_of(entry, quota, limit))
                add_waiting(list, pod, json_integer_value(json_object_get(entry, "asks")));
        }
    }
    return list;
}

/* Members of limits that only GET /v1/quota has. */
struct limit_context {
    const struct cluster *cluster;
    const struct quota_users *users;
    const json_t *pods;               /* that wait: PendingPods.pods */
    size_t n_nodes[QUOTA_MODELS_MAX]; /* quota_count_nodes() */
};

/* Adds unknown (quota_unknown()), nodes: those that count for the limit's model, users, and
 * waiting. */
static json_t *limits_with(const struct limit_context *context, size_t at)
{
    const struct cluster *cluster = context->cluster;
    const struct quota *quota = &cluster_policy(cluster)->quotas[at];
    json_t *limits = limits_json(cluster, quota);
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        const size_t n =
            limit->model ? context->n_nodes[limit->column - 1] : cluster_n_nodes(cluster);
        json_t *json = json_array_get(limits, i);
        (void)json_object_set_new(json, "unknown",
                                  json_integer((json_int_t)quota_unknown(cluster, quota, limit)));
        (void)json_object_set_new(json, "nodes", json_integer((json_int_t)n));
        add_lent(cluster, quota, limit, json);
        (void)json_object_set_new(json, "users", quota_users_json(context->users, at, i));
        (void)json_object_set_new(json, "waiting", waiting_json(context->pods, quota, limit));
    }
    return limits;
}

json_t *quota_json_all(const struct cluster *fork)
{
    const struct policy *policy = cluster_policy(fork);
    json_t *list = json_array();
    for (size_t i = 0; i < policy->n_quotas; i++) {
        size_t j = 0;
        json_t *limit = NULL;
        json_t *limits = limits_json(fork, &policy->quotas[i]);
        json_array_foreach (limits, j, limit)
            (void)json_object_set_new(limit, "quota", json_string(policy->quotas[i].name));
        (void)json_array_extend(list, limits);
        json_decref(limits);
    }
    return list;
}

static void set_would_use(json_t *json, const json_t *after)
{
    json_t *borrow = json_object_get(json, "borrow");
    (void)json_object_set(json, "wouldUse", json_object_get(after, "used"));
    if (borrow)
        (void)json_object_set(borrow, "wouldUse",
                              json_object_get(json_object_get(after, "borrow"), "used"));
}

static void add_needed(const struct cluster *fork, const struct quota *quota,
                       const struct quota_view *asked, json_t *list)
{
    size_t i = 0;
    json_t *json = NULL;
    json_t *limits = limits_json(fork, quota);
    json_array_foreach (limits, i, json) {
        if (!quota_counts(asked, &quota->limits[i]))
            continue;
        (void)json_object_set_new(json, "quota", json_string(quota->name));
        set_would_use(json, json);
        (void)json_array_append(list, json);
    }
    json_decref(limits);
}

json_t *quota_json_of_workload(const struct cluster *fork, const char *namespace_,
                               const struct quota_view *asked, struct arena *arena)
{
    const size_t *quotas = NULL;
    const size_t n = namespace_usage_find_quotas(fork, namespace_, arena, &quotas);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        add_needed(fork, &cluster_policy(fork)->quotas[quotas[i]], asked, list);
    return list;
}

void quota_json_update(json_t *list, const struct cluster *fork, const char *namespace_,
                       const struct quota_view *asked, struct arena *arena)
{
    size_t i = 0;
    json_t *json = NULL;
    json_t *after = quota_json_of_workload(fork, namespace_, asked, arena);
    json_array_foreach (after, i, json)
        set_would_use(json_array_get(list, i), json);
    json_decref(after);
}

/* Most names of namespaces listed per quota; there may be thousands. */
#define NAMES_MAX 100

/* Existing namespaces that a quota covers. */
struct covered {
    size_t n;
    size_t n_unenforced; /* NAMESPACE_ENFORCED_LABEL */
    json_t *unenforced;  /* names, at most NAMES_MAX */
};

static void add_namespace(struct covered *covered, const struct namespace *namespace_)
{
    covered->n++;
    if (namespace_->is_enforced)
        return;
    if (covered->n_unenforced++ < NAMES_MAX)
        (void)json_array_append_new(covered->unenforced, json_string(namespace_->name));
}

/* One entry per quota. The caller takes over the lists of names. */
static struct covered *find_covered(const struct cluster *fork, struct arena *arena)
{
    const size_t n_quotas = cluster_policy(fork)->n_quotas;
    struct covered *covered = ARENA_ARRAY(arena, struct covered, n_quotas);
    for (size_t i = 0; i < n_quotas; i++)
        covered[i].unenforced = json_array();
    for (const struct namespace *namespace_ = cluster_next_namespace(fork, NULL); namespace_;
         namespace_ = cluster_next_namespace(fork, namespace_)) {
        const size_t *quotas = NULL;
        const size_t n = namespace_usage_find_quotas(fork, namespace_->name, arena, &quotas);
        for (size_t i = 0; i < n; i++)
            add_namespace(&covered[quotas[i]], namespace_);
    }
    return covered;
}

/* The namespace may be one that does not exist yet. */
static bool is_wanted(const struct cluster *fork, const struct quota *quota, const char *wanted)
{
    const struct namespace *known = wanted ? cluster_find_namespace(fork, wanted) : NULL;
    return !wanted || policy_quota_covers(quota, wanted, known ? known->labels : NULL,
                                          known ? known->n_labels : 0);
}

/* PendingPods, with remedies for quotas; NULL: there are no quotas. */
static json_t *pending_of(const struct api *api, const struct policy *policy, struct arena *arena)
{
    if (policy->n_quotas == 0)
        return NULL;
    struct pod_copies copies = turns_copy_all(api->inventory, arena);
    return pending_answer(api, &copies, true, arena);
}

static void add_members(const struct api *api, const struct cluster *fork,
                        struct exchange *exchange, json_t *answer)
{
    const char *wanted = exchange_query(exchange, "namespace");
    struct arena *arena = exchange_arena(exchange);
    const struct policy *policy = cluster_policy(fork);
    const struct covered *covered = find_covered(fork, arena);
    json_auto_t *pending = pending_of(api, policy, arena);
    struct limit_context context = {.cluster = fork,
                                    .users = quota_users_copy(api->inventory, policy, arena),
                                    .pods = json_object_get(pending, "pods")};
    json_t *quotas = json_array();
    quota_count_nodes(fork, context.n_nodes);
    for (size_t i = 0; i < policy->n_quotas; i++) {
        const struct quota *quota = &policy->quotas[i];
        if (!is_wanted(fork, quota, wanted)) {
            json_decref(covered[i].unenforced);
            continue;
        }
        (void)json_array_append_new(
            quotas, json_pack("{s:s, s:I, s:I, s:o, s:o}", "name", quota->name, "namespaces",
                              (json_int_t)covered[i].n, "unenforcedNamespaces",
                              (json_int_t)covered[i].n_unenforced, "unenforced",
                              covered[i].unenforced, "limits", limits_with(&context, i)));
    }
    (void)json_object_set_new(answer, "quotas", quotas);
}

/* ---- the table ---- */

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* "any nvidia.com/gpu"; "H100", with the resource if the limit before has another. */
static const char *gpus_of(const json_t *limit, const json_t *before, struct arena *arena)
{
    const char *resource = text_member(limit, "resource");
    const char *model = text_member(limit, "model");
    if (!model[0])
        return arena_printf(arena, "any %s", resource[0] ? resource : "GPU");
    if (json_equal(json_object_get(limit, "resource"), json_object_get(before, "resource")))
        return model;
    return arena_printf(arena, "%s %s", model, resource);
}

static const char *first_of(const json_t *limit, const char *list, const char *number,
                            struct arena *arena)
{
    const json_t *user = json_array_get(json_object_get(limit, list), 0);
    return user ? arena_printf(arena, "%s %s", text_member(user, "namespace"),
                               text_number(user, number, arena))
                : "";
}

/* The two columns of lending begin here. */
#define LENDING 5

/* Whether the table has them. */
static bool any_lends(const json_t *quotas)
{
    size_t i = 0;
    size_t j = 0;
    json_t *quota = NULL;
    json_t *limit = NULL;
    json_array_foreach (quotas, i, quota) {
        json_array_foreach (json_object_get(quota, "limits"), j, limit) {
            if (json_object_get(limit, "lent"))
                return true;
        }
    }
    return false;
}

/* "12 of 40" */
static const char *borrowed_text(const json_t *limit, struct arena *arena)
{
    const json_t *borrow = json_object_get(limit, "borrow");
    return borrow ? arena_printf(arena, "%s of %s", text_number(borrow, "used", arena),
                                 text_number(borrow, "limit", arena))
                  : "-";
}

/* "12 to team-b, team-c" */
static const char *lent_text(const json_t *limit, struct arena *arena)
{
    struct name_list names = {.text = ""};
    size_t i = 0;
    json_t *borrower = NULL;
    json_array_foreach (json_object_get(limit, "borrowers"), i, borrower)
        text_names_add(&names, text_member(borrower, "quota"), arena);
    return number(limit, "lent") > 0
               ? arena_printf(arena, "%s to %s", text_number(limit, "lent", arena),
                              text_names(&names, arena))
               : "0";
}

/* A quota's name stands once, unless the table is wide. */
#define AS_ABOVE " "

static void add_rows(const json_t *quota, bool wide, bool lends, struct table *table,
                     struct arena *arena)
{
    const json_t *limits = json_object_get(quota, "limits");
    size_t i = 0;
    json_t *limit = NULL;
    json_array_foreach (limits, i, limit) {
        const json_int_t left = number(limit, "limit") - number(limit, "used");
        const char *cells[] = {i > 0 && !wide ? AS_ABOVE : text_member(quota, "name"),
                               gpus_of(limit, json_array_get(limits, i > 0 ? i - 1 : i), arena),
                               text_number(limit, "used", arena),
                               text_number(limit, "limit", arena),
                               arena_printf(arena, "%lld", (long long)(left > 0 ? left : 0)),
                               borrowed_text(limit, arena),
                               lent_text(limit, arena),
                               text_number(limit, "unknown", arena),
                               first_of(limit, "users", "used", arena),
                               first_of(limit, "waiting", "gpus", arena),
                               text_number(limit, "nodes", arena),
                               text_number(quota, "namespaces", arena)};
        if (!lends)
            memmove(&cells[LENDING], &cells[LENDING + 2],
                    sizeof cells - (LENDING + 2) * sizeof *cells);
        table_add(table, cells);
    }
}

static const char *full_text(size_t n, bool is_exceeded)
{
    if (!is_exceeded)
        return "used up";
    return n == 1 ? "exceeded" : "used up or exceeded";
}

/* "1 of 5 limits is used up: research, A100-80GB"; "exceeded" if one is */
static void write_headline(const json_t *quotas, struct arena *arena, struct buf *out)
{
    struct name_list full = {.text = ""};
    bool is_exceeded = false;
    bool is_awaited = false;
    size_t n = 0;
    size_t i = 0;
    size_t j = 0;
    json_t *quota = NULL;
    json_t *limit = NULL;
    json_array_foreach (quotas, i, quota) {
        json_array_foreach (json_object_get(quota, "limits"), j, limit) {
            n++;
            is_exceeded |= number(limit, "used") > number(limit, "limit");
            is_awaited |= json_array_size(json_object_get(limit, "waiting")) > 0;
            if (number(limit, "used") < number(limit, "limit"))
                continue;
            if (!text_names_are_full(&full))
                full.text = arena_printf(arena, "%s%s%s, %s", full.text, full.n > 0 ? "; " : "",
                                         text_member(quota, "name"), gpus_of(limit, limit, arena));
            full.n++;
        }
    }
    const char *text = full.n == 0
                           ? "No limit is used up"
                           : arena_printf(arena, "%zu of %zu limits %s %s: %s", full.n, n,
                                          full.n == 1 ? "is" : "are",
                                          full_text(full.n, is_exceeded), text_names(&full, arena));
    table_write_sentence(
        arena_printf(arena, "%s%s", text, is_awaited ? ". Pods wait for more than is left." : ""),
        0, out);
}

/* "ml waits for 8 H100. Helps its first pod: ask for 4 GPUs (h100-1); administrator: raise ml to 8
 * H100." */
static void write_waiting(const json_t *limit, const json_t *entry, struct arena *arena,
                          struct buf *out)
{
    const char *model = text_member(limit, "model");
    const char *n_gpus = text_number(entry, "gpus", arena);
    const bool is_one = number(entry, "pods") == 1;
    const char *helps = "";
    size_t i = 0;
    json_t *remedy = NULL;
    json_array_foreach (json_object_get(entry, "remedies"), i, remedy)
        helps = arena_printf(arena, "%s%s%s", helps,
                             helps[0] ? "; "
                             : is_one ? " Helps: "
                                      : " Helps its first pod: ",
                             remedies_short(remedy, arena));
    table_write_line(arena_printf(arena, "%s waits for %s %s.%s%s", text_member(entry, "namespace"),
                                  n_gpus,
                                  model[0]                   ? model
                                  : strcmp(n_gpus, "1") == 0 ? "GPU"
                                                             : "GPUs",
                                  helps, helps[0] ? "." : ""),
                     strlen("  "), TABLE_MORE, out);
}

#define WAITING_SHOWN 3

/* Each namespace once, with its first limit. */
static void write_waiting_for(const json_t *limit, json_t *seen, struct arena *arena,
                              struct buf *out)
{
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (json_object_get(limit, "waiting"), i, entry) {
        const char *name = text_member(entry, "namespace");
        if (!json_object_get(seen, name) && json_object_size(seen) < WAITING_SHOWN)
            write_waiting(limit, entry, arena, out);
        (void)json_object_set_new(seen, name, json_true());
    }
}

static void write_waiting_all(const json_t *quotas, struct arena *arena, struct buf *out)
{
    json_auto_t *seen = json_object();
    size_t i = 0;
    size_t j = 0;
    json_t *quota = NULL;
    json_t *limit = NULL;
    json_array_foreach (quotas, i, quota) {
        json_array_foreach (json_object_get(quota, "limits"), j, limit)
            write_waiting_for(limit, seen, arena, out);
    }
    if (json_object_size(seen) > WAITING_SHOWN)
        buf_printf(out, "  %zu more namespaces wait.\n", json_object_size(seen) - WAITING_SHOWN);
}

/* Once for all quotas. */
static void write_unenforced(const json_t *quotas, struct arena *arena, struct buf *out)
{
    json_auto_t *seen = json_object();
    struct name_list names = {.text = ""};
    size_t i = 0;
    size_t j = 0;
    json_t *quota = NULL;
    json_t *name = NULL;
    json_array_foreach (quotas, i, quota) {
        json_array_foreach (json_object_get(quota, "unenforced"), j, name) {
            const char *text = json_is_string(name) ? json_string_value(name) : "";
            if (!json_object_get(seen, text))
                text_names_add(&names, text, arena);
            (void)json_object_set_new(seen, text, json_true());
        }
    }
    if (names.n > 0)
        table_write_sentence(arena_printf(arena,
                                          "Pods that kube-scheduler never sends here are counted, "
                                          "not rejected, in %s: no label " NAMESPACE_ENFORCED_LABEL
                                          "=enforced for the admission policy.",
                                          text_names(&names, arena)),
                             0, out);
}

void tables_write_quota(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    const json_t *quotas = json_object_get(answer, "quotas");
    const bool lends = any_lends(quotas);
    const char *headings[] = {"QUOTA",
                              "GPUS",
                              "USED",
                              (TABLE_MAY_BE_TOLD "LIMIT"),
                              (TABLE_MAY_BE_TOLD "LEFT"),
                              "BORROWED",
                              "LENT",
                              (TABLE_MAY_GO "UNKNOWN"),
                              (TABLE_MAY_GO_LAST "MOST USED BY"),
                              "WAITS FOR IT",
                              wide ? "NODES" : NULL,
                              (TABLE_MAY_GO "NAMESPACES"),
                              NULL};
    if (!lends)
        memmove(&headings[LENDING], &headings[LENDING + 2],
                sizeof headings - (LENDING + 2) * sizeof *headings);
    struct table *table = table_new(arena, wide, headings);
    size_t i = 0;
    json_t *quota = NULL;
    provenance_write_warning(answer, arena, out);
    text_write_warnings(answer, arena, out);
    json_array_foreach (quotas, i, quota)
        add_rows(quota, wide, lends, table, arena);
    if (table_is_empty(table)) {
        buf_add_text(out, "no quotas: the policy has none, or none for the namespace asked for\n");
        return;
    }
    write_headline(quotas, arena, out);
    write_waiting_all(quotas, arena, out);
    table_write(table, out);
    write_unenforced(quotas, arena, out);
}

void api_quota(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    if (exchange_defer(exchange))
        return;
    reply_of_fork(api, exchange, add_members, tables_write_quota);
}

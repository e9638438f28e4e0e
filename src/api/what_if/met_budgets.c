/* met_budgets: see changes.h. */
#include "api/what_if/changes.h"
#include "base/mem.h"
#include "base/table.h"
#include "ledger/shape_limits.h"
#include "types/selector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Listed; the rest is counted. */
#define MET_MAX ((size_t)1000)
/* Comparisons of selectors with labels: about a tenth of a second. Pods beyond are not judged. */
#define COMPARISONS_MAX ((size_t)5000000)
#define NAMES_SHOWN ((size_t)3)

struct met_budget {
    const struct budget_facts *facts;
    struct met_budget *next; /* of the namespace */
    size_t n_pods;           /* that are evicted */
    size_t n_using;          /* of these: each uses a disruption */
    size_t n_held;           /* of these: not ready, and held while too few pods are healthy */
    size_t n_doubled;        /* of these: another budget has them, too */
};

struct budget_namespace {
    const char *name;
    struct met_budget *first;
    size_t n_evicted; /* pods of it */
    UT_hash_handle hh;
};

/* A budget of which it is unknown whether it selects the evicted pods. */
struct unjudged_budget {
    const char *namespace_, *name, *why;
    struct unjudged_budget *next;
};

/* Alike pods have the same budgets. */
struct budget_match {
    struct siphash128 digest; /* of their namespace and labels */
    struct budget_namespace *namespace_;
    struct met_budget **items;
    size_t n;
    bool is_judged;
    UT_hash_handle hh;
};

struct met_budgets {
    struct arena *arena;
    struct met_budget *items;
    size_t n;
    struct budget_namespace *namespaces;
    struct budget_match *matches;
    size_t n_left; /* comparisons */
    size_t n_unjudged;
    struct unjudged_budget *unread; /* in the reverse order */
};

static struct budget_namespace *find_namespace(const struct met_budgets *budgets, const char *name)
{
    struct budget_namespace *namespace_ = NULL;
    HASH_FIND_STR(budgets->namespaces, name, namespace_);
    return namespace_;
}

static struct budget_namespace *find_or_add_namespace(struct met_budgets *budgets, const char *name)
{
    struct budget_namespace *namespace_ = find_namespace(budgets, name);
    if (namespace_)
        return namespace_;
    namespace_ = ARENA_NEW(budgets->arena, struct budget_namespace);
    namespace_->name = arena_strdup(budgets->arena, name);
    HASH_ADD_KEYPTR(hh, budgets->namespaces, namespace_->name, strlen(namespace_->name),
                    namespace_);
    return namespace_;
}

static void add(struct met_budgets *budgets, const struct budget_facts *facts)
{
    struct met_budget *item = &budgets->items[budgets->n++];
    struct budget_namespace *namespace_ = find_or_add_namespace(budgets, facts->namespace_);
    item->facts = facts;
    item->next = namespace_->first;
    namespace_->first = item;
}

struct met_budgets *met_budgets_new(const struct cluster *ledger, struct arena *arena)
{
    struct met_budgets *budgets = ARENA_NEW(arena, struct met_budgets);
    const struct budget_facts *facts = NULL;
    budgets->arena = arena;
    budgets->n_left = COMPARISONS_MAX;
    budgets->items =
        ARENA_ARRAY(arena, struct met_budget, cluster_n_objects(ledger, CLUSTER_BUDGETS));
    while ((facts = cluster_next_budget(ledger, facts)))
        add(budgets, facts);
    return budgets;
}

void met_budgets_free(struct met_budgets *budgets)
{
    HASH_CLEAR(hh, budgets->namespaces);
    HASH_CLEAR(hh, budgets->matches);
}

static bool selects(const struct budget_facts *facts, const struct pod *pod)
{
    const struct label_view view = cluster_pod_view(pod);
    return !facts->selects_none && selector_term_holds(&facts->selector, &view);
}

/* False: there are too many budgets. */
static bool pay(struct met_budgets *budgets, const struct met_budget *first)
{
    for (const struct met_budget *item = first; item; item = item->next) {
        const size_t price = 1 + term_comparisons(&item->facts->selector);
        if (item->facts->is_cut || price > budgets->n_left)
            return false;
        budgets->n_left -= price;
    }
    return true;
}

static void find_matching(struct met_budgets *budgets, const struct pod *pod,
                          struct budget_match *match)
{
    struct budget_namespace *namespace_ = find_or_add_namespace(budgets, pod->namespace_);
    size_t n = 0;
    match->namespace_ = namespace_;
    match->is_judged = !namespace_->first || (!pod->lacks_peers && pay(budgets, namespace_->first));
    if (!match->is_judged)
        return;
    for (struct met_budget *item = namespace_->first; item; item = item->next)
        n += selects(item->facts, pod);
    match->items = ARENA_ARRAY(budgets->arena, struct met_budget *, n);
    for (struct met_budget *item = namespace_->first; item; item = item->next) {
        if (selects(item->facts, pod))
            match->items[match->n++] = item;
    }
}

/* Keyed with the process's secret, as tenants choose all of it. */
static struct siphash128 digest_of(const struct pod *pod)
{
    struct siphash hash = siphash_begin(hash_key(), true);
    shape_digest_text(&hash, pod->namespace_);
    shape_digest_number(&hash, pod->lacks_peers);
    for (size_t i = 0; pod->labels && i < pod->labels->n_labels; i++) {
        shape_digest_text(&hash, pod->labels->labels[i].key);
        shape_digest_text(&hash, pod->labels->labels[i].value);
    }
    return siphash_end128(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

static const struct budget_match *match_of(struct met_budgets *budgets, const struct pod *pod)
{
    const struct siphash128 digest = digest_of(pod);
    struct budget_match *match = NULL;
    HASH_FIND(hh, budgets->matches, &digest, sizeof digest, match);
    if (match)
        return match;
    match = ARENA_NEW(budgets->arena, struct budget_match);
    match->digest = digest;
    find_matching(budgets, pod, match);
    HASH_ADD(hh, budgets->matches, digest, sizeof match->digest, match);
    return match;
}

/* by: 1 or, to undo that, SIZE_MAX, which is -1. */
static void count(struct met_budget *item, bool is_ready, bool is_doubled, size_t by)
{
    const struct budget_facts *facts = item->facts;
    const bool is_enough = facts->healthy >= facts->desired && facts->desired > 0;
    item->n_pods += by;
    if (is_doubled)
        item->n_doubled += by;
    else if (is_ready)
        item->n_using += by;
    else if (!facts->frees_unready && !is_enough)
        item->n_held += by;
}

static const char *names_of(const struct budget_match *match, struct arena *arena)
{
    const char *text = match->items[0]->facts->name;
    for (size_t i = 1; i < match->n && i < NAMES_SHOWN; i++)
        text = arena_printf(arena, "%s, %s", text, match->items[i]->facts->name);
    if (match->n > NAMES_SHOWN)
        text = arena_printf(arena, "%s and %zu more", text, match->n - NAMES_SHOWN);
    return text;
}

struct met_eviction met_budgets_evict(struct met_budgets *budgets, const struct pod *pod)
{
    struct met_eviction eviction = {.was_ready = pod->ready};
    if (pod->unstarted || pod->terminating)
        return eviction;
    eviction.match = match_of(budgets, pod);
    const struct budget_match *match = eviction.match;
    match->namespace_->n_evicted++;
    eviction.is_judged = match->is_judged && match->n <= budgets->n_left;
    if (!eviction.is_judged) {
        budgets->n_unjudged++;
        return eviction;
    }
    budgets->n_left -= match->n;
    for (size_t i = 0; i < match->n; i++)
        count(match->items[i], pod->ready, match->n > 1, 1);
    eviction.names = match->n > 0 ? names_of(match, budgets->arena) : NULL;
    return eviction;
}

void met_budgets_spare(struct met_budgets *budgets, const struct met_eviction *eviction)
{
    const struct budget_match *match = eviction->match;
    if (!match)
        return;
    match->namespace_->n_evicted--;
    budgets->n_unjudged -= !eviction->is_judged;
    for (size_t i = 0; eviction->is_judged && i < match->n; i++)
        count(match->items[i], eviction->was_ready, match->n > 1, SIZE_MAX);
}

/* ---- budgets that cannot be judged ---- */

/* A name without a slash is no name of a budget: the namespace is "" then. */
void met_budgets_add_unread(struct met_budgets *budgets, const char *name, const char *why)
{
    struct arena *arena = budgets->arena;
    struct unjudged_budget *unread = ARENA_NEW(arena, struct unjudged_budget);
    const char *slash = strchr(name, '/');
    unread->namespace_ = slash ? arena_printf(arena, "%.*s", (int)(slash - name), name) : "";
    unread->name = arena_strdup(arena, slash ? slash + 1 : name);
    unread->why = arena_strdup(arena, why);
    LL_PREPEND(budgets->unread, unread);
}

static bool is_asked_about(const struct met_budgets *budgets, const char *name)
{
    const struct budget_namespace *namespace_ = find_namespace(budgets, name);
    return namespace_ && namespace_->n_evicted > 0;
}

static json_t *unjudged_json(const char *namespace_, const char *name, const char *why)
{
    return json_pack("{s:s, s:s, s:s}", "namespace", namespace_, "name", name, "reason", why);
}

/* Only budgets of namespaces with an evicted pod. */
static json_t *all_unjudged_json(const struct met_budgets *budgets, size_t *ret_n)
{
    json_t *list = json_array();
    size_t n = 0;
    for (size_t i = 0; i < budgets->n; i++) {
        const struct budget_facts *facts = budgets->items[i].facts;
        if (facts->is_cut && is_asked_about(budgets, facts->namespace_) && n++ < MET_MAX)
            (void)json_array_append_new(
                list, unjudged_json(facts->namespace_, facts->name,
                                    "it is longer than limits.podShapeBytes, or the budgets of its "
                                    "namespace have no room in limits.podShapesBytes"));
    }
    const struct unjudged_budget *unread = NULL;
    LL_FOREACH (budgets->unread, unread) {
        const bool is_asked = unread->namespace_[0] ? is_asked_about(budgets, unread->namespace_)
                                                    : budgets->matches != NULL;
        if (is_asked && n++ < MET_MAX)
            (void)json_array_append_new(
                list, unjudged_json(unread->namespace_, unread->name, unread->why));
    }
    *ret_n = n;
    return list;
}

static const char *why_unjudged(const struct met_budgets *budgets, const json_t *unjudged,
                                size_t n_unjudged)
{
    const json_t *first = json_array_get(unjudged, 0);
    const char *namespace_ = json_string_value(json_object_get(first, "namespace"));
    if (first)
        return arena_printf(budgets->arena,
                            "budgets that could not be kept or read: %zu, for example %s%s%s",
                            n_unjudged, namespace_, namespace_[0] ? "/" : "",
                            json_string_value(json_object_get(first, "name")));
    if (budgets->n_unjudged > 0)
        return arena_printf(budgets->arena,
                            "for %zu pods: their labels or the budgets of their namespace are too "
                            "many or too long",
                            budgets->n_unjudged);
    return NULL;
}

/* ---- the answer ---- */

/* Not ready pods use a disruption, too, while too few are healthy. */
static size_t n_asking(const struct met_budget *item)
{
    return item->n_using + item->n_held;
}

static size_t n_allowed(const struct met_budget *item)
{
    const int64_t allowed = item->facts->is_outdated ? 0 : item->facts->allowed;
    const size_t n = allowed > 0 ? (size_t)allowed : 0;
    return n < n_asking(item) ? n : n_asking(item);
}

static const char *allows_of(const struct met_budget *item)
{
    if (n_allowed(item) == n_asking(item) && item->n_doubled == 0)
        return "all";
    return n_allowed(item) == 0 && item->n_doubled + n_asking(item) == item->n_pods ? "none"
                                                                                    : "some";
}

static const char *reason_of(const struct met_budget *item, struct arena *arena)
{
    const struct budget_facts *facts = item->facts;
    if (item->n_doubled > 0)
        return arena_printf(arena,
                            "pods with another budget, too, which the API server never evicts: "
                            "%zu of %zu",
                            item->n_doubled, item->n_pods);
    if (n_asking(item) == 0)
        return "the pods are not ready, and their eviction needs no disruption";
    if (facts->is_outdated)
        return "its status is older than its spec: the API server evicts nothing until its "
               "controller has caught up";
    if (n_allowed(item) == n_asking(item))
        return arena_printf(arena, "allows %lld disruptions now", (long long)facts->allowed);
    if (n_allowed(item) > 0)
        return arena_printf(arena,
                            "allows %zu of %zu at once: a drain waits until others are ready",
                            n_allowed(item), n_asking(item));
    return arena_printf(arena,
                        "allows none now, so a drain waits: pods that must be healthy: %lld, "
                        "healthy now: %lld",
                        (long long)facts->desired, (long long)facts->healthy);
}

static json_t *budget_json(const struct met_budget *item, struct arena *arena)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "namespace", item->facts->namespace_, "name",
                     item->facts->name, "pods", (json_int_t)item->n_pods, "disruptionsAllowed",
                     (json_int_t)item->facts->allowed, "allows", allows_of(item), "reason",
                     reason_of(item, arena));
}

static int compare(const void *a, const void *b)
{
    const struct budget_facts *left = (*(const struct met_budget *const *)a)->facts;
    const struct budget_facts *right = (*(const struct met_budget *const *)b)->facts;
    const int order = strcmp(left->namespace_, right->namespace_);
    return order != 0 ? order : strcmp(left->name, right->name);
}

json_t *met_budgets_json(const struct met_budgets *budgets, const char *why)
{
    struct arena *arena = budgets->arena;
    const struct met_budget **met = ARENA_ARRAY(arena, const struct met_budget *, budgets->n);
    size_t n = 0;
    json_t *list = json_array();
    for (size_t i = 0; i < budgets->n; i++) {
        if (budgets->items[i].n_pods > 0)
            met[n++] = &budgets->items[i];
    }
    if (n > 1)
        qsort(met, n, sizeof(const struct met_budget *), compare);
    for (size_t i = 0; i < n && i < MET_MAX; i++)
        (void)json_array_append_new(list, budget_json(met[i], arena));
    size_t n_unjudged = 0;
    json_t *unjudged = all_unjudged_json(budgets, &n_unjudged);
    if (!why)
        why = why_unjudged(budgets, unjudged, n_unjudged);
    return json_pack("{s:b, s:s?, s:o, s:I, s:o}", "checked", !why, "notCheckedBecause", why, "met",
                     list, "omitted", (json_int_t)(n - json_array_size(list)), "notJudged",
                     unjudged);
}

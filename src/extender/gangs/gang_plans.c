/* gang_plans: see include/extender/gang_plans.h. */
#include "extender/gang_plans.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "decide/gang_plan.h"
#include "extender/gangs/gang_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS INT64_C(1000)
/* Of one tick; later ones are lost, and then a plan ends early. */
#define NOTES_MAX ((size_t)1024)
#define KEY_BYTES 320
#define NODES_SHOWN ((size_t)4)

/* A note of a filter call: a member was given a place, or the node of a place was not offered. */
struct filter_note {
    char key[KEY_BYTES];
    uint64_t uid, node; /* hashes; one is 0 */
};

/* Seconds from the first sight of a group, or its first binding, until all are bound. */
#define N_TIMES 9
static const int64_t TIME_BOUNDS_S[N_TIMES] = {1, 5, 15, 60, 300, 900, 3600, 14400, 86400};

struct group_times {
    uint64_t buckets[N_TIMES + 1]; /* not cumulative */
    int64_t sum_ms;
};

struct gang_plans {
    struct gang_plans_settings settings;
    struct gang_turns *turns; /* of the tick's thread, as all down to lock */
    bool is_idle;             /* nothing is kept and nothing is known */
    int64_t due_ms;
    struct counter n_plans, n_ends[N_GANG_ENDS];
    struct mutex lock; /* guards the rest; innermost */
    struct filter_note *notes;
    size_t n_notes;
    size_t n_groups[N_GANG_STATES];
    size_t n_waits[N_GANG_WAITS]; /* groups by why they have no plan */
    int64_t kept_s;               /* GPU-seconds */
    struct group_times waits, spreads;
};

struct gang_plans *gang_plans_new(const struct gang_plans_settings *settings)
{
    struct gang_plans *plans = MEM_NEW(struct gang_plans);
    plans->settings = *settings;
    plans->turns = gang_turns_new();
    plans->is_idle = true;
    plans->notes = MEM_ARRAY(struct filter_note, NOTES_MAX);
    mutex_init(&plans->lock);
    return plans;
}

void gang_plans_free(struct gang_plans *plans)
{
    if (!plans)
        return;
    gang_turns_free(plans->turns);
    mutex_fini(&plans->lock);
    free(plans->notes);
    free(plans);
}

/* ---- what filter tells ---- */

static void note(struct gang_plans *plans, const struct gang_filtered *filtered,
                 const struct filter_note *note)
{
    mutex_lock(&plans->lock);
    if (plans->n_notes < NOTES_MAX) {
        struct filter_note *added = &plans->notes[plans->n_notes++];
        *added = *note;
        (void)snprintf(added->key, sizeof added->key, "%s/%s", filtered->namespace_,
                       filtered->gang);
    }
    mutex_unlock(&plans->lock);
}

static bool is_offered(const struct gang_filtered *filtered, const char *node)
{
    for (size_t i = 0; i < filtered->n_names; i++) {
        if (strcmp(filtered->names[i].text, node) == 0)
            return true;
    }
    return false;
}

void gang_plans_filtered(struct gang_plans *plans, const struct gang_filtered *filtered)
{
    const struct gang_hold *hold = filtered->hold;
    if (!plans || !hold || hold->reason != REASON_FITS)
        return;
    if (filtered->is_handed_on) {
        note(plans, filtered, &(struct filter_note){.uid = hash_text(filtered->uid)});
        return;
    }
    for (size_t i = 0; i < hold->n_nodes; i++) {
        if (!is_offered(filtered, hold->nodes[i]))
            note(plans, filtered, &(struct filter_note){.node = hash_text(hold->nodes[i])});
    }
}

static void take_notes(struct gang_plans *plans, int64_t now_ms)
{
    mutex_lock(&plans->lock);
    for (size_t i = 0; i < plans->n_notes; i++) {
        const struct filter_note *note = &plans->notes[i];
        if (note->uid)
            gang_turns_offered(plans->turns, note->key, note->uid, now_ms);
        else
            gang_turns_not_offered(plans->turns, note->key, note->node);
    }
    plans->n_notes = 0;
    mutex_unlock(&plans->lock);
}

/* ---- what the ledger shows ---- */

struct sights {
    struct gang_sight *items;
    size_t n, n_running;
};

static int64_t priority_of(const struct cluster *cluster, const char *key)
{
    int64_t priority = INT64_MIN;
    for (const struct pod *pod = gangs_next_unbound(cluster, key, NULL); pod;
         pod = gangs_next_unbound(cluster, key, pod))
        priority = pod->priority > priority ? pod->priority : priority;
    return priority;
}

/* A group whose last bindings are under way may need its places again. */
static bool is_settled(const struct gang *gang)
{
    return gang_state_of(gang) == GANG_RUNNING &&
           (gang->n_bound == gang->n_placed || gang->n_bound < gang->size);
}

/* All of its pods are gated, as by Kueue's queue, or invalid: none waits for room, or for others.
 */
static bool is_not_begun(const struct gang *gang)
{
    return gang->n_bound == 0 && gang->n_unbound == 0;
}

static struct sights look(const struct gang_plans *plans, struct arena *arena, int64_t now_ms)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(plans->settings.inventory);
    struct sights sights = {ARENA_ARRAY(arena, struct gang_sight, gangs_count(view.cluster) + 1), 0,
                            0};
    struct gang gang = {0};
    for (const char *key = gangs_next(view.cluster, NULL, &gang); key;
         key = gangs_next(view.cluster, key, &gang)) {
        sights.n_running += is_settled(&gang);
        if (is_settled(&gang) || is_not_begun(&gang))
            continue;
        sights.items[sights.n++] = (struct gang_sight){
            .key = arena_strdup(arena, key),
            .namespace_ = arena_printf(arena, "%.*s", (int)strcspn(key, "/"), key),
            .gang = gang,
            .priority = priority_of(view.cluster, key),
            .is_displaced = gang.n_planned > 0 && !gang_plan_holds(view.cluster, key, now_ms)};
    }
    return sights;
}

static void add_time(struct group_times *times, int64_t ms)
{
    size_t i = 0;
    while (i < N_TIMES && ms > TIME_BOUNDS_S[i] * TICK_MS)
        i++;
    times->buckets[i]++;
    times->sum_ms += ms;
}

/* Of groups that the machine still knows, and that are whole now. */
static void time_whole(struct gang_plans *plans, int64_t now_ms)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(plans->settings.inventory);
    struct gang gang = {0};
    mutex_lock(&plans->lock);
    for (const char *key = gangs_next(view.cluster, NULL, &gang); key;
         key = gangs_next(view.cluster, key, &gang)) {
        const struct gang_turn turn = gang_turns_find(plans->turns, key);
        if (turn.since_ms == 0 || !is_settled(&gang) || gang.n_bound < gang.size)
            continue;
        add_time(&plans->waits, now_ms - turn.since_ms);
        add_time(&plans->spreads, turn.partial_ms > 0 ? now_ms - turn.partial_ms : 0);
    }
    mutex_unlock(&plans->lock);
}

/* ---- what is done ---- */

static void do_drop(struct cluster *cluster, void *key)
{
    gangs_drop(cluster, key);
}

static void tell(const struct gang_plans *plans, int64_t now_ms)
{
    wake_note(plans->settings.wake, WAKE_GROUP, now_ms);
}

static void drop(struct gang_plans *plans, const struct gang_step *step, int64_t now_ms)
{
    char key[KEY_BYTES];
    (void)snprintf(key, sizeof key, "%s", step->key);
    inventory_write(plans->settings.inventory, do_drop, key);
    counter_add(&plans->n_ends[step->why], 1);
    LOG(LOG_INFO, "gangs", LOG_MSG("the plan of a group is given up"), LOG_STR("group", key),
        LOG_STR("why", gang_end_name(step->why)));
    tell(plans, now_ms);
}

struct avoiding {
    const struct gang_turns *turns;
    const char *key;
};

static bool avoids(const void *context, const char *node)
{
    const struct avoiding *avoiding = context;
    return gang_turns_avoids(avoiding->turns, avoiding->key, hash_text(node));
}

static struct gang_plan members_of(const struct gang_plans *plans, const char *key,
                                   struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(plans->settings.inventory);
    const struct gang_plan plan = gang_plan_members(view.cluster, key, arena);
    return plan;
}

static enum gang_wait allow(struct gang_plans *plans, const struct cluster *fork,
                            const struct gang_plan *plan, int64_t now_ms, struct arena *arena)
{
    struct gang_model *models = NULL;
    struct gang_kept kept[GANG_MODELS_MAX];
    const size_t n = gang_plan_models(fork, plan, arena, &models);
    for (size_t i = 0; i < n && i < GANG_MODELS_MAX; i++)
        kept[i] = (struct gang_kept){.model = hash_text(models[i].model) | 1,
                                     .gpus = models[i].gpus,
                                     .total = models[i].total};
    return gang_turns_allow(plans->turns, plan->key, kept, n, now_ms);
}

struct keeping {
    const struct gang_plan *plan;
    int64_t now_ms;
    bool is_kept;
};

static void do_keep(struct cluster *cluster, void *context)
{
    struct keeping *keeping = context;
    keeping->is_kept = gang_plan_keep(cluster, keeping->plan, keeping->now_ms);
}

/* Returns whether the plan could be made. Observed groups keep nothing. */
static bool keep(struct gang_plans *plans, const struct gang_plan *plan, int64_t now_ms)
{
    struct keeping keeping = {.plan = plan, .now_ms = now_ms};
    inventory_write(plans->settings.inventory, do_keep, &keeping);
    if (!keeping.is_kept) {
        gang_turns_failed(plans->turns, plan->key, GANG_WAIT_ROOM);
        return false;
    }
    /* A new leader has not rejected them yet: kube-scheduler may not have asked it. */
    for (size_t i = 0; i < plan->n; i++)
        wake_rejected(plans->settings.wake, plan->members[i].uid, now_ms);
    counter_add(&plans->n_plans, 1);
    LOG(LOG_INFO, "gangs", LOG_MSG("places are kept for all pods of a group"),
        LOG_STR("group", plan->key), LOG_NUM("places", (int64_t)plan->n));
    tell(plans, now_ms);
    return true;
}

static void fail(struct gang_plans *plans, const struct gang_plan *plan, enum gang_choice choice)
{
    const bool is_avoided = choice == GANG_NO_ROOM && plan->n_avoided > 0;
    struct gang_lack lack = {.n_fit = is_avoided ? plan->n : plan->n_fit};
    if (is_avoided)
        (void)snprintf(lack.text, sizeof lack.text,
                       "kube-scheduler did not offer %zu of the nodes, the first is %s",
                       plan->n_avoided, plan->avoided);
    else
        (void)snprintf(lack.text, sizeof lack.text, "%s", plan->lacks ? plan->lacks : "");
    gang_turns_failed(plans->turns, plan->key,
                      choice == GANG_NEVER_FITS ? GANG_WAIT_NEVER : GANG_WAIT_ROOM);
    gang_turns_lacks(plans->turns, plan->key, &lack);
}

static void plan(struct gang_plans *plans, const char *key, bool acts, int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct gang_plan plan = members_of(plans, key, arena);
    const struct avoiding avoiding = {plans->turns, plan.key};
    struct cluster *fork =
        inventory_fork(plans->settings.inventory, plan.has_terms ? PEERS_ALL : PEERS_REPELLING);
    enum gang_choice choice = gang_plan_choose(fork, &plan, avoids, &avoiding, arena);
    while (choice != GANG_CHOSEN && plan.has_more) { /* in another domain, with all room again */
        inventory_fork_free(plans->settings.inventory, fork);
        fork =
            inventory_fork(plans->settings.inventory, plan.has_terms ? PEERS_ALL : PEERS_REPELLING);
        choice = gang_plan_choose(fork, &plan, avoids, &avoiding, arena);
    }
    if (choice != GANG_CHOSEN)
        fail(plans, &plan, choice);
    else if (!acts)
        gang_turns_failed(plans->turns, plan.key, GANG_WAIT_OBSERVED);
    else if (allow(plans, fork, &plan, now_ms, arena) == GANG_WAIT_NONE)
        (void)keep(plans, &plan, now_ms);
    inventory_fork_free(plans->settings.inventory, fork);
}

static int64_t cost_clock(const struct gang_plans *plans)
{
    return plans->settings.clock_ms ? plans->settings.clock_ms() : 0;
}

static void act(struct gang_plans *plans, bool acts, int64_t now_ms)
{
    const int64_t wake_ms = wake_earliest_ms(plans->settings.wake, now_ms);
    struct gang_step step = {0};
    while ((step = gang_turns_next(plans->turns, now_ms, wake_ms)).next != GANG_REST) {
        const int64_t began_ms = cost_clock(plans);
        if (step.next == GANG_DROP)
            drop(plans, &step, now_ms);
        else
            plan(plans, step.key, acts, now_ms);
        gang_turns_cost(plans->turns, now_ms, cost_clock(plans) - began_ms);
    }
}

/* ---- how the verbs treat the groups, and what users see ---- */

struct treating {
    const struct gang_turns *turns;
    const struct sights *sights;
};

static void do_treat(struct cluster *cluster, void *context)
{
    const struct treating *treating = context;
    for (size_t i = 0; i < treating->sights->n; i++) {
        const char *key = treating->sights->items[i].key;
        gangs_treat(cluster, key, gang_turns_find(treating->turns, key).treatment);
    }
}

static bool is_treated_otherwise(const struct gang_plans *plans, const struct sights *sights)
{
    for (size_t i = 0; i < sights->n; i++) {
        if (gang_turns_find(plans->turns, sights->items[i].key).treatment !=
            sights->items[i].gang.treatment)
            return true;
    }
    return false;
}

static void treat(struct gang_plans *plans, const struct sights *sights)
{
    struct treating treating = {plans->turns, sights};
    if (is_treated_otherwise(plans, sights))
        inventory_write(plans->settings.inventory, do_treat, &treating);
}

static int64_t to_wall(const struct gang_plans *plans, int64_t at_ms, int64_t now_ms)
{
    return at_ms > 0 ? plans->settings.wall_ms() + at_ms - now_ms : 0;
}

/* "a, b" of the places that are kept, each node once. */
static const char *nodes_of(const struct cluster *cluster, const char *key, struct arena *arena)
{
    struct hashed_text shown[NODES_SHOWN] = {{0}};
    size_t n = 0;
    const char *text = "";
    for (const struct pod *pod = gangs_next_unbound(cluster, key, NULL); pod;
         pod = gangs_next_unbound(cluster, key, pod)) {
        size_t at = 0;
        while (at < n && strcmp(shown[at].text, pod->planned_node) != 0)
            at++;
        if (!pod->planned_node[0] || at < n)
            continue;
        if (n == NODES_SHOWN)
            return arena_printf(arena, "%s and others", text);
        shown[n++].text = pod->planned_node;
        text = arena_printf(arena, "%s%s%s", text, text[0] ? ", " : "", pod->planned_node);
    }
    return text;
}

/* "": none, or it is gone. */
static const char *node_of_hash(const struct cluster *cluster, uint64_t hash, struct arena *arena)
{
    for (const struct node *node = hash ? cluster_next_node(cluster, NULL) : NULL; node;
         node = cluster_next_node(cluster, node)) {
        if (hash_text(node_name(node)) == hash)
            return arena_strdup(arena, node_name(node));
    }
    return "";
}

static struct waiting_group row_of(const struct gang_plans *plans, const struct gang_sight *sight,
                                   bool acts, int64_t now_ms)
{
    const struct gang_turn turn = gang_turns_find(plans->turns, sight->key);
    const bool has_plan = turn.ends_ms > 0;
    struct gang gang = sight->gang;
    gang.n_planned = has_plan ? gang_n_missing(&gang) : 0;
    return (struct waiting_group){
        .namespace_ = sight->namespace_,
        .name = strchr(sight->key, '/') + 1,
        .state = gang_state_name(gang_state_of(&gang)),
        .size = gang.size,
        .n_bound = gang.n_bound,
        .n_unbound = gang.n_unbound,
        .n_planned = gang.n_planned,
        .is_ordinary = !acts || turn.treatment == GANG_ORDINARY,
        .lacks = turn.lack ? turn.lack->text : "",
        .n_fit = turn.lack ? turn.lack->n_fit : 0,
        .nodes = "",
        .missed = "",
        .partial_ms = to_wall(plans, turn.partial_ms, now_ms),
        .why = turn.wait == GANG_WAIT_NONE ? "" : gang_wait_name(turn.wait),
        .text = gang_wait_text(turn.wait),
        .tried_ms = to_wall(plans, turn.tried_ms, now_ms),
        .since_ms = to_wall(plans, turn.since_ms, now_ms),
        .not_before_ms = to_wall(plans, turn.not_before_ms, now_ms),
        .plan_ends_ms = to_wall(plans, turn.ends_ms, now_ms),
    };
}

static void count(struct gang_plans *plans, const struct sights *sights)
{
    size_t n_groups[N_GANG_STATES] = {[GANG_RUNNING] = sights->n_running};
    size_t n_waits[N_GANG_WAITS] = {0};
    for (size_t i = 0; i < sights->n; i++)
        n_groups[gang_state_of(&sights->items[i].gang)]++;
    for (size_t i = 0; i < sights->n; i++)
        n_waits[gang_turns_find(plans->turns, sights->items[i].key).wait]++;
    mutex_lock(&plans->lock);
    memcpy(plans->n_groups, n_groups, sizeof n_groups);
    memcpy(plans->n_waits, n_waits, sizeof n_waits);
    plans->kept_s = gang_turns_kept_s(plans->turns);
    mutex_unlock(&plans->lock);
}

static void name_nodes(const struct gang_plans *plans, const struct sights *sights,
                       struct waiting_group *rows, struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(plans->settings.inventory);
    for (size_t i = 0; i < sights->n; i++) {
        const char *key = sights->items[i].key;
        rows[i].nodes = nodes_of(view.cluster, key, arena);
        rows[i].missed =
            node_of_hash(view.cluster, gang_turns_find(plans->turns, key).missed, arena);
    }
}

static void show(struct gang_plans *plans, const struct sights *sights, bool acts, int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct waiting_group *rows = ARENA_ARRAY(arena, struct waiting_group, sights->n + 1);
    for (size_t i = 0; i < sights->n; i++)
        rows[i] = row_of(plans, &sights->items[i], acts, now_ms);
    name_nodes(plans, sights, rows, arena);
    groups_set(plans->settings.groups, rows, sights->n);
    count(plans, sights);
}

/* ---- the tick ---- */

static struct gang_limits limits_of(const struct policy *policy)
{
    struct gang_limits limits = GANG_LIMITS;
    limits.forming_ms = (int64_t)policy->gangs.forming_s * TICK_MS;
    limits.share_milli = policy->gangs.kept_share_milli;
    return limits;
}

static void do_drop_all(struct cluster *cluster, void *context)
{
    struct gang gang = {0};
    (void)context;
    for (const char *key = gangs_next(cluster, NULL, &gang); key;
         key = gangs_next(cluster, key, &gang)) {
        gangs_drop(cluster, key);
        gangs_treat(cluster, key, GANG_BY_STATE);
    }
}

/* Another replica decides, or the policy has no groups: nothing may be kept here. */
static void forget(struct gang_plans *plans, int64_t now_ms)
{
    if (plans->is_idle)
        return;
    inventory_write(plans->settings.inventory, do_drop_all, NULL);
    gang_turns_free(plans->turns);
    plans->turns = gang_turns_new();
    show(plans, &(struct sights){0}, false, now_ms);
    plans->is_idle = true;
    tell(plans, now_ms);
}

static void run(struct gang_plans *plans, const struct policy *policy, int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct gang_limits limits = limits_of(policy);
    const bool acts = policy->gangs.mode == GANGS_PLAN && policy->mode == MODE_ENFORCE;
    const struct sights sights = look(plans, arena, now_ms);
    plans->is_idle = false;
    gang_turns_limit(plans->turns, &limits);
    time_whole(plans, now_ms);
    gang_turns_see(plans->turns, sights.items, sights.n, now_ms);
    take_notes(plans, now_ms);
    act(plans, acts, now_ms);
    if (acts)
        treat(plans, &sights);
    show(plans, &sights, acts, now_ms);
}

int64_t gang_plans_tick(void *context, int64_t now_ms)
{
    struct gang_plans *plans = context;
    struct err err;
    if (now_ms < plans->due_ms)
        return plans->due_ms;
    const struct policy *policy CLEANUP(policy_drop_ptr) =
        inventory_hold_policy(plans->settings.inventory);
    const bool may_plan = policy->gangs.mode != GANGS_OFF &&
                          plans->settings.may_plan(plans->settings.context, now_ms);
    plans->due_ms = now_ms + TICK_MS;
    if (!may_plan)
        forget(plans, now_ms);
    else if (inventory_usable(plans->settings.inventory, &err))
        run(plans, policy, now_ms);
    return plans->due_ms;
}

/* ---- metrics ---- */

static void add_ends(const struct gang_plans *plans, struct buf *out)
{
    static const char NAME[] = "gpu_extender_group_plan_failures_total";
    metrics_head(out, NAME, "counter", "Plans of groups that ended unused, by reason.");
    for (size_t i = GANG_END_NONE + 1; i < N_GANG_ENDS; i++) {
        const struct metric_label labels[] = {{"reason", gang_end_name((enum gang_end)i)}, {0}};
        metrics_sample(out, NAME, labels, plans ? (double)counter_value(&plans->n_ends[i]) : 0);
    }
}

static void add_waits(const size_t *n_waits, struct buf *out)
{
    static const char NAME[] = "gpu_extender_groups_waiting";
    metrics_head(out, NAME, "gauge", "Groups of pods without a plan, by reason.");
    for (size_t i = GANG_WAIT_NONE + 1; i < N_GANG_WAITS; i++) {
        const struct metric_label labels[] = {{"reason", gang_wait_name((enum gang_wait)i)}, {0}};
        metrics_sample(out, NAME, labels, (double)n_waits[i]);
    }
}

static void add_times(struct buf *out, const char *name, const char *help,
                      const struct group_times *times)
{
    char text[64];
    uint64_t total = 0;
    metrics_head(out, name, "histogram", help);
    for (size_t i = 0; i <= N_TIMES; i++) {
        char bound[32] = "+Inf";
        if (i < N_TIMES)
            (void)snprintf(bound, sizeof bound, "%lld", (long long)TIME_BOUNDS_S[i]);
        const struct metric_label labels[] = {{"le", bound}, {0}};
        total += times->buckets[i];
        (void)snprintf(text, sizeof text, "%s_bucket", name);
        metrics_sample(out, text, labels, (double)total);
    }
    (void)snprintf(text, sizeof text, "%s_sum", name);
    metrics_sample(out, text, NULL, (double)times->sum_ms / 1e3);
    (void)snprintf(text, sizeof text, "%s_count", name);
    metrics_sample(out, text, NULL, (double)total);
}

void gang_plans_metrics(struct gang_plans *plans, struct buf *out)
{
    static const char NAME[] = "gpu_extender_groups";
    static const struct counter NONE;
    size_t n_groups[N_GANG_STATES] = {0};
    size_t n_waits[N_GANG_WAITS] = {0};
    int64_t kept_s = 0;
    struct group_times waits = {{0}, 0};
    struct group_times spreads = waits;
    if (plans) {
        mutex_lock(&plans->lock);
        memcpy(n_groups, plans->n_groups, sizeof n_groups);
        memcpy(n_waits, plans->n_waits, sizeof n_waits);
        kept_s = plans->kept_s;
        waits = plans->waits;
        spreads = plans->spreads;
        mutex_unlock(&plans->lock);
    }
    metrics_head(out, NAME, "gauge", "Groups of pods (gpu-extender.io/gang), by state.");
    for (size_t i = 0; i < N_GANG_STATES; i++) {
        const struct metric_label labels[] = {{"state", gang_state_name((enum gang_state)i)}, {0}};
        metrics_sample(out, NAME, labels, (double)n_groups[i]);
    }
    add_waits(n_waits, out);
    metrics_counter(out, "gpu_extender_group_plans_total", "Plans of groups that were made.",
                    plans ? &plans->n_plans : &NONE);
    add_ends(plans, out);
    metrics_gauge(out, "gpu_extender_group_kept_gpu_seconds",
                  "GPU-seconds that plans kept without a binding, since the leader began.",
                  (double)kept_s);
    add_times(out, "gpu_extender_group_wait_seconds",
              "Seconds from the first sight of a group until all of its pods are bound.", &waits);
    add_times(out, "gpu_extender_group_spread_seconds",
              "Seconds from the first binding of a group to the last.", &spreads);
}

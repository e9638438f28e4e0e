/* live_feed: see live_priv.h, and include/inventory/live.h. */
#include "base/log.h"
#include "base/mem.h"
#include "inventory/live/live_priv.h"

/* Work per hold of the lock at the end of a list: about a millisecond. */
#define SWEEP_WORK ((size_t)8000)

/* Beyond the limit the inventory is unusable. The ledger still takes more, so that it is complete
 * when the number falls again. */
static size_t taken_at_most(size_t limit)
{
    return limit * 2 + 1000;
}

static size_t limit_of(const struct live_feed *feed)
{
    return kinds_limit(feed->kind, &feed->inventory->limits).n;
}

/* Applies changes to the ledger, under the lock. */

static void leave_out(struct live_feed *feed)
{
    feed->left_out = true;
    cluster_set_known(feed->inventory->state.cluster, feed->kind, false);
}

/* An object is a problem if something is left out of it. */
static void report(struct live_feed *feed, struct change *change)
{
    struct live_problems *problems = feed->inventory->live->problems;
    if (!change->why)
        live_problems_resolve(problems, feed->kind, change->key.id);
    else if (live_problems_count(problems, feed->kind) < taken_at_most(limit_of(feed)))
        change->is_news = live_problems_add(problems, feed->kind, &change->key, change->why);
    else
        leave_out(feed);
}

static void keep(struct live_feed *feed, struct change *change)
{
    cluster_keep(feed->inventory->state.cluster, feed->kind, change->key.id);
    report(feed, change);
}

static void make_unreadable(struct live_feed *feed, struct change *change, const struct err *why)
{
    change->type = CHANGE_UNREADABLE;
    change->why = arena_strdup(feed->arena, why->text);
}

static void put_in(struct live_feed *feed, struct change *change)
{
    const enum cluster_kind kind = feed->kind;
    struct cluster *cluster = feed->inventory->state.cluster;
    struct err why;
    const size_t n_before = cluster_n_objects(cluster, kind);
    const uint64_t version = cluster_version(cluster);
    cluster_upsert(cluster, kind, change->facts);
    const size_t n = cluster_n_objects(cluster, kind);
    feed->has_changed |= n == n_before && cluster_version(cluster) != version;
    if (kinds_check_room(&INVENTORY_KINDS[kind], cluster, change->key.id, &why) < 0) {
        make_unreadable(feed, change, &why);
        keep(feed, change);
    } else {
        report(feed, change);
    }
    if (n <= n_before || n <= taken_at_most(limit_of(feed)))
        return;
    cluster_delete(cluster, kind, change->key.id);
    leave_out(feed);
}

static void take_out(struct live_feed *feed, const struct change *change)
{
    live_problems_resolve(feed->inventory->live->problems, feed->kind, change->key.id);
    cluster_delete(feed->inventory->state.cluster, feed->kind, change->key.id);
}

static void begin_list(struct live_feed *feed)
{
    cluster_relist_begin(feed->inventory->state.cluster, feed->kind);
    live_problems_relist_begin(feed->inventory->live->problems, feed->kind);
    feed->listing = true;
    feed->left_out = false;
}

/* Other threads get the lock between pieces. Unswept objects still count, as during the list. */
static void end_list(struct live_feed *feed)
{
    while (!cluster_relist_sweep(feed->inventory->state.cluster, feed->kind, SWEEP_WORK)) {
        inventory_unlock(feed->inventory);
        live_lock_to_write(feed->inventory);
    }
    live_problems_relist_end(feed->inventory->live->problems, feed->kind);
    if (!feed->left_out)
        cluster_set_known(feed->inventory->state.cluster, feed->kind, true);
    feed->listing = false;
    feed->list_ended = true;
}

static void apply(struct live_feed *feed, struct change *change)
{
    switch (change->type) {
    case CHANGE_LIST_BEGIN:
        begin_list(feed);
        break;
    case CHANGE_UPSERT:
        put_in(feed, change);
        break;
    case CHANGE_UNREADABLE:
        keep(feed, change);
        break;
    case CHANGE_REMOVE:
        take_out(feed, change);
        break;
    case CHANGE_LIST_END:
        end_list(feed);
        break;
    }
}

/* During a list the objects it replaces still count. */
static void count(struct live_feed *feed)
{
    const size_t n = cluster_n_objects(feed->inventory->state.cluster, feed->kind);
    if (!feed->listing)
        feed->too_many = n > limit_of(feed);
    feed->too_many |= feed->left_out;
}

/* Without the lock. */
static void report_unreadable(struct live_feed *feed, const struct change *change)
{
    if (!change->why)
        return;
    if (change->type == CHANGE_UNREADABLE)
        counter_add(&feed->unreadable, 1);
    if (change->is_news)
        LOG(LOG_WARN, "inventory",
            LOG_MSG(change->type == CHANGE_UNREADABLE ? "object cannot be read"
                                                      : "object is only counted"),
            LOG_STR("kind", INVENTORY_KINDS[feed->kind].kind), LOG_STR("name", change->key.name),
            LOG_STR("why", change->why));
}

/* Without the lock. */
static void report_pod(const struct live_feed *feed, const struct change *change)
{
    const struct live *live = feed->inventory->live;
    if (feed->kind != CLUSTER_PODS || !live->pod_seen)
        return;
    if (change->type == CHANGE_REMOVE)
        live->pod_seen(live->pod_seen_context, change->key.id, NULL);
    const struct pod_facts *pod = change->facts;
    if (change->type == CHANGE_UPSERT && pod->node_name[0])
        live->pod_seen(live->pod_seen_context, change->key.id, pod->node_name);
}

/* Without the lock. */
static void report_help(const struct live_feed *feed)
{
    const struct live *live = feed->inventory->live;
    if (live->helped)
        live->helped(live->helped_context, feed->kind);
}

/* Under the lock. A new namespace has no rejected pods. */
static bool has_new_labels(const struct live_feed *feed)
{
    const struct policy *policy = cluster_policy(feed->inventory->state.cluster);
    return feed->kind == CLUSTER_NAMESPACES && feed->has_changed &&
           (policy->quotas_select || policy->enforce_namespaces.is_set);
}

static void take_over(struct live_feed *feed)
{
    if (feed->n_changes == 0)
        return;
    feed->has_changed = false;
    live_lock_to_write(feed->inventory);
    for (size_t i = 0; i < feed->n_changes; i++)
        apply(feed, &feed->changes[i]);
    count(feed);
    const bool helps = has_new_labels(feed);
    const bool is_lifted = failed_pods_settle(feed->inventory);
    inventory_unlock(feed->inventory);
    if (helps)
        report_help(feed);
    if (is_lifted)
        failed_pods_report_lift(feed->inventory);
    for (size_t i = 0; i < feed->n_changes; i++) {
        report_unreadable(feed, &feed->changes[i]);
        report_pod(feed, &feed->changes[i]);
    }
    feed->n_changes = 0;
    arena_free(feed->arena);
    feed->arena = arena_new();
}

/* Without the lock. */

static struct change *new_change(struct live_feed *feed, enum change_type type)
{
    if (feed->n_changes == LIVE_BATCH || arena_bytes(feed->arena) > LIVE_BATCH_BYTES)
        take_over(feed);
    struct change *change = &feed->changes[feed->n_changes++];
    *change = (struct change){.type = type, .key = {PROBLEMS_UNNAMED, ""}};
    return change;
}

static int read_key(struct live_feed *feed, const json_t *object, struct change *change,
                    struct err *err)
{
    struct identity identity;
    int r = identity_from_json(object, feed->arena, &identity, err);
    if (r < 0)
        return r;
    if (!identity.name[0])
        return err_set(err, EINVAL, PROBLEMS_NO_NAME);
    change->key = kinds_key(&INVENTORY_KINDS[feed->kind], &identity, feed->arena);
    return 0;
}

static int decode(struct live_feed *feed, const json_t *object, struct change *change,
                  struct err *err)
{
    return kinds_read(&INVENTORY_KINDS[feed->kind], object,
                      cluster_policy(feed->inventory->state.cluster), feed->arena, &change->facts,
                      err);
}

static void on_list_begin(void *context)
{
    (void)new_change(context, CHANGE_LIST_BEGIN);
}

static void on_upsert(void *context, const json_t *object)
{
    struct live_feed *feed = context;
    struct change *change = new_change(feed, CHANGE_UPSERT);
    struct err why;
    int r = read_key(feed, object, change, &why);
    if (r == 0)
        r = decode(feed, object, change, &why);
    if (r < 0)
        make_unreadable(feed, change, &why);
}

/* What a pod uses counts, but it is judged to fit nowhere. */
static bool read_counted(struct live_feed *feed, const json_t *part, struct change *change)
{
    if (feed->kind != CLUSTER_PODS || decode(feed, part, change, NULL) < 0)
        return false;
    struct pod_facts *pod = change->facts;
    change->type = CHANGE_UPSERT;
    pod->refusal = change->why;
    pod->lacks_peers = true;
    return true;
}

static void on_too_large(void *context, const json_t *part, const struct json_over *over)
{
    struct live_feed *feed = context;
    struct change *change = new_change(feed, CHANGE_UNREADABLE);
    struct err why;
    change->why = arena_strdup(feed->arena, over->why);
    const int r = read_key(feed, part, change, &why);
    if (r < 0 || !over->is_counted || !read_counted(feed, part, change))
        change->type = CHANGE_UNREADABLE;
}

static void on_removed(void *context, const json_t *object)
{
    struct live_feed *feed = context;
    struct change *change = new_change(feed, CHANGE_REMOVE);
    struct err why;
    if (read_key(feed, object, change, &why) < 0)
        make_unreadable(feed, change, &why);
}

static void on_list_end(void *context)
{
    (void)new_change(context, CHANGE_LIST_END);
}

static void report_turn(struct live_feed *feed, enum live_turn turn)
{
    struct err why;
    if (turn == LIVE_AS_BEFORE)
        return;
    if (live_status_usable(&feed->inventory->live->status, &why))
        LOG(LOG_INFO, "inventory", LOG_MSG("decisions are made"));
    else
        LOG(LOG_WARN, "inventory", LOG_MSG("no decisions are made"), LOG_STR("why", why.text));
    if (feed->inventory->live->turned)
        feed->inventory->live->turned(feed->inventory->live->turned_context);
}

static void report_claims(struct live_feed *feed)
{
    struct err why;
    const enum live_turn turn = live_status_claims_turn(&feed->inventory->live->status, &why);
    if (turn == LIVE_USABLE_AGAIN) {
        LOG(LOG_INFO, "inventory", LOG_MSG("claims are counted"));
        report_help(feed);
    } else if (turn == LIVE_UNUSABLE_NOW) {
        LOG(LOG_WARN, "inventory", LOG_MSG("claims are not counted"), LOG_STR("why", why.text));
    }
}

static void report_templates(struct live_feed *feed)
{
    struct err why;
    const enum live_turn turn = live_status_templates_turn(&feed->inventory->live->status, &why);
    if (turn == LIVE_USABLE_AGAIN)
        LOG(LOG_INFO, "inventory", LOG_MSG("claim templates are known"));
    else if (turn == LIVE_UNUSABLE_NOW)
        LOG(LOG_WARN, "inventory", LOG_MSG("claim templates are unknown"),
            LOG_STR("why", why.text));
}

static void log_warning(const char *text)
{
    LOG(LOG_WARN, "inventory", LOG_MSG(text));
}

/* Until all kinds are listed there are no decisions, so no thread waits for the lock. */
static void check_list(struct inventory *inventory)
{
    if (live_status_waiting_for(&inventory->live->status))
        self_check_all(inventory);
    else
        self_check_nodes(inventory);
}

/* The first lists used far more memory than the ledger keeps. */
static void after_first_lists(struct inventory *inventory)
{
    if (atomic_load(&inventory->live->was_complete) ||
        live_status_waiting_for(&inventory->live->status))
        return;
    atomic_store(&inventory->live->was_complete, true);
    inventory_warn_of_quotas(inventory, log_warning);
    mem_give_back();
}

static void on_flush(void *context, const struct reflector_status *status)
{
    struct live_feed *feed = context;
    struct err too_many = {""};
    const struct kind_limit limit = kinds_limit(feed->kind, &feed->inventory->limits);
    take_over(feed);
    if (feed->list_ended)
        check_list(feed->inventory);
    if (feed->too_many)
        (void)err_set(&too_many, E2BIG, "there are more than %zu %s (%s)", limit.n,
                      INVENTORY_KINDS[feed->kind].listed.name, limit.key);
    /* Before logging: a reader of the log may query at once. */
    const enum live_turn turn =
        live_status_set(&feed->inventory->live->status, feed->kind, status, too_many.text);
    if (status->is_news)
        LOG(LOG_WARN, "inventory", LOG_MSG("following the API server failed: trying again"),
            LOG_STR("kind", INVENTORY_KINDS[feed->kind].listed.name), LOG_STR("why", status->why));
    report_turn(feed, turn);
    if (feed->kind == CLUSTER_CLAIM_TEMPLATES)
        report_templates(feed);
    else if (INVENTORY_KINDS[feed->kind].use == &KINDS_FOR_CLAIMS)
        report_claims(feed);
    after_first_lists(feed->inventory);
    feed->list_ended = false;
}

static void on_lags(void *context, int64_t lag_since_ms)
{
    struct live_feed *feed = context;
    report_turn(feed, live_status_lags(&feed->inventory->live->status, feed->kind, lag_since_ms));
}

void live_feed_init(struct live_feed *feed, struct inventory *inventory, enum cluster_kind kind)
{
    feed->inventory = inventory;
    feed->kind = kind;
    feed->arena = arena_new();
}

void live_feed_fini(struct live_feed *feed)
{
    arena_free(feed->arena);
}

struct reflector_store live_feed_store(struct live_feed *feed)
{
    return (struct reflector_store){
        .list_begin = on_list_begin,
        .upsert = on_upsert,
        .too_large = on_too_large,
        .list_end = on_list_end,
        .removed = on_removed,
        .flush = on_flush,
        .context = feed,
        .lags = on_lags,
    };
}

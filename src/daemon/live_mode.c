/* live_mode: see include/daemon/live_mode.h. */
#include "daemon/live_mode.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "config/timing.h"
#include "daemon/election.h"
#include "extender/gang_plans.h"
#include "inventory/inventory.h"
#include "inventory/kinds.h"
#include "inventory/live.h"
#include "kube/catch_up.h"
#include "kube/credentials.h"
#include "kube/loop.h"
#include "kube/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct hand_in {
    struct inventory *inventory;
    struct kube_loop *loop;
    struct kube_watch *const *watches;
    size_t n_watches;

    struct mutex lock; /* guards the rest */
    pthread_cond_t taken;
    const struct policy *policy; /* not taken yet; NULL: none */
    bool lists_again;
};

/* Gives a new policy to the read loop, whose thread may change the ledger. Private to daemon. */

static int64_t run(void *context, int64_t now_ms)
{
    struct hand_in *hand_in = context;
    (void)now_ms;
    mutex_lock(&hand_in->lock);
    const struct policy *policy = hand_in->policy;
    const bool lists_again = hand_in->lists_again;
    mutex_unlock(&hand_in->lock);
    if (!policy)
        return CLOCK_NEVER;
    const int64_t began_ms = clock_ms();
    inventory_take_policy(hand_in->inventory, policy);
    LOG(LOG_INFO, "inventory", LOG_MSG("the ledger was judged anew"),
        LOG_NUM("ms", clock_ms() - began_ms));
    for (size_t i = 0; lists_again && i < hand_in->n_watches; i++)
        kube_watch_list_again(hand_in->watches[i]);
    mutex_lock(&hand_in->lock);
    hand_in->policy = NULL;
    (void)pthread_cond_signal(&hand_in->taken);
    mutex_unlock(&hand_in->lock);
    if (lists_again)
        kube_loop_wake(hand_in->loop); /* the watches are tasks of this loop */
    return CLOCK_NEVER;
}

/* Call before the loop starts. Borrows its arguments. */
static void hand_in_init(struct hand_in *ret_hand_in, struct inventory *inventory,
                         struct kube_loop *loop, struct kube_watch *const *watches,
                         size_t n_watches)
{
    *ret_hand_in = (struct hand_in){
        .inventory = inventory, .loop = loop, .watches = watches, .n_watches = n_watches};
    mutex_init(&ret_hand_in->lock);
    clock_condition_init(&ret_hand_in->taken);
    kube_loop_add_task(loop, run, ret_hand_in);
}

static void hand_in_fini(struct hand_in *hand_in)
{
    (void)pthread_cond_destroy(&hand_in->taken);
    mutex_fini(&hand_in->lock);
}

/* Waits until the policy is in force, while the loop runs. lists_again: all that was read by the
 * old policy is listed again. */
static void hand_in_policy(struct hand_in *hand_in, const struct policy *policy, bool lists_again)
{
    mutex_lock(&hand_in->lock);
    hand_in->policy = policy;
    hand_in->lists_again = lists_again;
    mutex_unlock(&hand_in->lock);
    kube_loop_wake(hand_in->loop);
    mutex_lock(&hand_in->lock);
    while (hand_in->policy)
        (void)pthread_cond_wait(&hand_in->taken, &hand_in->lock.native);
    mutex_unlock(&hand_in->lock);
    inventory_free_replaced(hand_in->inventory);
}

#define SECOND_MS ((int64_t)1000)
/* Longer than the usual lag of a watch. */
#define CONFIRM_MS (30 * SECOND_MS)
/* Open at once: a watch or list per kind; bindings; reviews (auth/ has at most 32 in
 * progress) and the watch beside them. */
#define READ_CONNECTIONS 16
#define WRITE_CONNECTIONS 256
#define REVIEW_CONNECTIONS 34
/* A credential plugin's pipes, and open credential files. */
#define CREDENTIAL_FILES 16
/* Between two checks whether all bindings are answered. */
#define NAP_NS 5000000
#define BOUND_BY_MAX 320
/* The watch of one ConfigMap, which is mostly silent. */
#define FRONT_SILENCE_MS (60 * SECOND_MS)
#define FRONT_BYTES ((size_t)1024 * 1024)
/* A loop without a round for so long is stuck: several times its longest task. */
#define STUCK_MS (20 * SECOND_MS)

struct live_mode {
    struct inventory *inventory;
    struct kube_target target;
    struct kube_credentials *credentials;
    struct kube_loop *reading;
    struct kube_loop *writing;
    struct kube_loop *reviewing; /* NULL: no TLS, so no tokens */
    struct kube_watch *watches[N_CLUSTER_KINDS];
    size_t n_watches;
    struct kube_watch *failed_pods;
    struct kube_watch *front;  /* NULL: no aggregated API */
    struct election *election; /* NULL: the only replica */
    struct hold *hold;         /* NULL: with a Lease */
    struct beside *beside;     /* NULL: no instance beside each kube-scheduler */
    struct binds *binds;
    struct waits *waits;
    struct wake *wake; /* NULL: the policy names no object */
    struct groups *groups;
    struct gang_plans *gang_plans;
    struct hand_in hand_in;
    int64_t bind_timeout_ms;
    bool started;
    char bound_by[BOUND_BY_MAX]; /* VERSION/INSTANCE */
};

int live_mode_find(const struct options *options, struct kube_target *ret_target, struct err *err)
{
    struct kube_lookup lookup;
    kube_lookup_from_env(&lookup);
    lookup.kubeconfig = options->kubeconfig;
    lookup.context = options->context;
    struct err why;
    int r = kube_target_find(&lookup, ret_target, &why);
    if (r == -ENOENT && !options->kubeconfig)
        return err_set(err, ENOENT, "%s; give a saved cluster with --cluster-file", why.text);
    return r < 0 ? err_set(err, -r, "%s", why.text) : 0;
}

static uint64_t random_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        abort();
    return seed;
}

/* In a cluster, the host name is the pod's. */
static void name_instance(struct live_mode *live)
{
    char host[HOST_NAME_MAX + 1] = "";
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(live->bound_by, sizeof live->bound_by, "%s/%s_%ld", GPU_EXTENDER_VERSION, host,
                   (long)getpid());
}

static void wake_loops(void *context)
{
    const struct live_mode *live = context;
    kube_loop_wake(live->reading);
    kube_loop_wake(live->writing);
    if (live->reviewing)
        kube_loop_wake(live->reviewing);
}

/* Unauthenticated clients cause these reviews, so they share no thread or connection with bindings
 * or the Lease. */
static int create_reviewing(struct live_mode *live, const struct settings *settings,
                            struct err *err)
{
    const struct kube_loop_settings reviewing = {.name = "review",
                                                 .max_answer_bytes = settings->limits.object_bytes,
                                                 .max_connections = REVIEW_CONNECTIONS};
    if (!settings->tls.certificate_file[0])
        return 0;
    return kube_loop_new(&reviewing, &live->target, live->credentials, &live->reviewing, err);
}

static int create_loops(struct live_mode *live, const struct settings *settings, struct err *err)
{
    const struct kube_loop_settings reading = {.name = "read",
                                               .max_answer_bytes = settings->limits.object_bytes,
                                               .max_connections = READ_CONNECTIONS};
    const struct kube_loop_settings writing = {.name = "write",
                                               .max_answer_bytes = settings->limits.object_bytes,
                                               .unacked_ms = timing_of(settings).unacked_ms,
                                               .max_connections = WRITE_CONNECTIONS};
    int r = kube_credentials_new(&live->target, &live->credentials, err);
    if (r == 0)
        r = kube_loop_new(&reading, &live->target, live->credentials, &live->reading, err);
    if (r == 0)
        r = kube_loop_new(&writing, &live->target, live->credentials, &live->writing, err);
    if (r == 0)
        r = create_reviewing(live, settings, err);
    if (r == 0)
        kube_credentials_on_change(live->credentials, wake_loops, live);
    return r;
}

static void create_failed_pods(struct live_mode *live, const struct settings *settings)
{
    const struct reflector_settings reflector = {
        .kind = &INVENTORY_FAILED_PODS,
        .page_size = REFLECTOR_PAGE_SIZE,
        .silence_ms = (int64_t)settings->kubernetes.watch_silence_s * SECOND_MS,
        .max_object_bytes = settings->limits.object_bytes,
        .max_object_values = settings->policy.object_values,
        .seed = random_seed(),
    };
    const struct reflector_store store = inventory_failed_pods(live->inventory);
    live->failed_pods = kube_watch_new(live->reading, &reflector, &store);
}

static void create_watches(struct live_mode *live, const struct settings *settings)
{
    inventory_go_live(live->inventory, live->target.server);
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        const struct reflector_settings reflector = {
            .kind = &INVENTORY_KINDS[i].listed,
            .page_size = REFLECTOR_PAGE_SIZE,
            .silence_ms = (int64_t)settings->kubernetes.watch_silence_s * SECOND_MS,
            .max_object_bytes = settings->limits.object_bytes,
            .max_object_values = settings->policy.object_values,
            .seed = random_seed(),
        };
        const struct reflector_store store = inventory_store(live->inventory, i);
        live->watches[live->n_watches++] = kube_watch_new(live->reading, &reflector, &store);
    }
    create_failed_pods(live, settings);
    kube_loop_add_task(live->reading, inventory_self_check, live->inventory);
    inventory_ask_with(live->inventory, kube_loop_sender(live->reading));
    kube_loop_add_task(live->reading, inventory_ask_version, live->inventory);
    kube_loop_add_task(live->reading, inventory_quarantine, live->inventory);
    hand_in_init(&live->hand_in, live->inventory, live->reading, live->watches, live->n_watches);
}

static void wake_reading(void *context)
{
    const struct live_mode *live = context;
    kube_loop_wake(live->reading);
}

/* After the watches, whose changes it needs. */
static void create_waits(struct live_mode *live)
{
    live->waits = waits_new(wake_reading, live);
    kube_loop_add_task(live->reading, waits_tick, live->waits);
}

static struct kube_watch *watch_of_pods(const struct live_mode *live)
{
    return live->watches[CLUSTER_PODS];
}

static int create_election(struct live_mode *live, const struct settings *settings, struct err *err)
{
    struct election_parts parts = {
        .settings = settings,
        .loop = live->writing,
        .inventory = live->inventory,
        .binds = live->binds,
        .seed = random_seed(),
    };
    if (!settings->election.enabled)
        return 0;
    parts.pods = watch_of_pods(live);
    return election_new(&parts, &live->election, err);
}

/* A predecessor's bindings may still take effect. With a Lease, the wait for it covers that. */
static void create_hold(struct live_mode *live, const struct settings *settings)
{
    const int64_t hold_ms = timing_of(settings).hold_ms;
    const struct hold_settings hold = {.until_ms = clock_ms() + hold_ms,
                                       .pods = kube_watch_to_catch_up(watch_of_pods(live))};
    if (live->election || settings->scheduler.beside) /* beside has its own wait */
        return;
    live->hold = hold_new(&hold, kube_loop_sender(live->writing));
    kube_loop_add_task(live->writing, hold_tick, live->hold);
    LOG(LOG_INFO, "main", LOG_MSG("bindings wait until those of the previous process have ended"),
        LOG_NUM("ms", hold_ms));
}

static int64_t held_until_ms(void *context, int64_t now_ms)
{
    const struct live_mode *live = context;
    return live->hold ? hold_until_ms(live->hold, now_ms) : now_ms;
}

static void create_beside(struct live_mode *live, const struct settings *settings)
{
    if (settings->scheduler.beside)
        live->beside = beside_new(settings, live->writing, watch_of_pods(live));
}

static bool may_post(void *context, int64_t now_ms)
{
    const struct live_mode *live = context;
    (void)now_ms;
    return election_may_decide(live->election);
}

static void create_binds(struct live_mode *live, const struct settings *settings)
{
    const struct timing timing = timing_of(settings);
    const struct binds_settings binds = {
        .bound_by = live->bound_by,
        .post_life_ms = timing.post_life_ms,
        .timeout_ms = timing.bind_ms,
        .leave_ms = settings->scheduler.beside ? beside_leave_ms(settings) : 0,
        .confirm_ms = CONFIRM_MS,
        .seed = random_seed(),
        .may_post = may_post,
        .may_post_context = live,
        .held_until_ms = held_until_ms,
        .held_context = live,
    };
    live->bind_timeout_ms = binds.timeout_ms;
    live->binds = binds_new(&binds, live->inventory, kube_loop_sender(live->writing));
}

/* On the thread of the stores. */
static void helped(void *context, enum cluster_kind kind)
{
    const struct live_mode *live = context;
    enum wake_cause cause = WAKE_CLAIMS;
    if (kind == CLUSTER_NODES)
        cause = WAKE_QUARANTINE;
    if (kind == CLUSTER_NAMESPACES)
        cause = WAKE_NAMESPACE;
    wake_note(live->wake, cause, clock_ms());
}

static int create_wake(struct live_mode *live, const struct settings *settings, struct err *err)
{
    char namespace_[ELECTION_NAMESPACE_BYTES];
    const struct wake_settings wake = {.namespace_ = namespace_,
                                       .name = settings->wake_object,
                                       .seed = random_seed(),
                                       .may_wake = may_post,
                                       .context = live};
    if (!settings->wake_object[0])
        return 0;
    int r = election_namespace(settings, namespace_, err);
    if (r < 0)
        return r;
    live->wake = wake_new(&wake, kube_loop_sender(live->writing));
    kube_loop_add_task(live->writing, wake_tick, live->wake);
    inventory_on_help(live->inventory, helped, live);
    return 0;
}

/* After the wake, which it notes. */
static void create_gang_plans(struct live_mode *live)
{
    live->groups = groups_new();
    live->gang_plans = gang_plans_new(&(struct gang_plans_settings){.inventory = live->inventory,
                                                                    .wake = live->wake,
                                                                    .groups = live->groups,
                                                                    .may_plan = may_post,
                                                                    .context = live,
                                                                    .clock_ms = clock_ms,
                                                                    .wall_ms = clock_wall_ms});
    kube_loop_add_task(live->writing, gang_plans_tick, live->gang_plans);
}

static void log_target(const struct kube_target *target)
{
    LOG(LOG_INFO, "main", LOG_MSG("following an API server"), LOG_STR("server", target->server),
        LOG_STR("source", target->source));
    if (target->insecure)
        LOG(LOG_WARN, "main",
            LOG_MSG("insecure-skip-tls-verify: the API server is not authenticated; an impostor "
                    "would get this service's credentials"));
}

int live_mode_new(const struct settings *settings, struct inventory *inventory,
                  struct kube_target *target, struct live_mode **ret_live, struct err *err)
{
    struct live_mode *live = MEM_NEW(struct live_mode);
    live->inventory = inventory;
    live->target = *target;
    *target = (struct kube_target){0};
    name_instance(live);
    int r = create_loops(live, settings, err);
    if (r == 0) {
        create_watches(live, settings);
        create_waits(live);
        create_binds(live, settings);
        r = create_election(live, settings, err);
    }
    if (r == 0)
        r = create_wake(live, settings, err);
    if (r < 0) {
        live_mode_free(live);
        return r;
    }
    create_gang_plans(live);
    create_hold(live, settings);
    create_beside(live, settings);
    kube_loop_add_task(live->writing, binds_tick, live->binds);
    log_target(&live->target);
    *ret_live = live;
    return 0;
}

unsigned live_mode_files(const struct live_mode *live)
{
    if (!live)
        return 0;
    const unsigned reviewing = live->reviewing ? KUBE_LOOP_FILES(REVIEW_CONNECTIONS) : 0;
    return KUBE_LOOP_FILES(READ_CONNECTIONS) + KUBE_LOOP_FILES(WRITE_CONNECTIONS) + reviewing +
           CREDENTIAL_FILES;
}

int live_mode_start(struct live_mode *live, struct err *err)
{
    int r = kube_loop_start(live->reading, err);
    if (r == 0)
        r = kube_loop_start(live->writing, err);
    if (r == 0 && live->reviewing)
        r = kube_loop_start(live->reviewing, err);
    live->started = r == 0;
    return r;
}

bool live_mode_is_alive(void *live_context, struct err *ret_why)
{
    const struct live_mode *live = live_context;
    const int64_t now_ms = clock_ms();
    const char *stuck = NULL;
    if (kube_loop_silence_ms(live->reading, now_ms) >= STUCK_MS)
        stuck = "read";
    else if (kube_loop_silence_ms(live->writing, now_ms) >= STUCK_MS)
        stuck = "write";
    if (stuck)
        (void)err_set(ret_why, EAGAIN, "the %s loop is stuck", stuck);
    return !stuck;
}

static void nap(void)
{
    const struct timespec some = {.tv_nsec = NAP_NS};
    (void)nanosleep(&some, NULL);
}

void live_mode_hand_over(struct live_mode *live)
{
    if (!live || !live->election || !live->started)
        return;
    const int64_t end_ms = clock_ms() + live->bind_timeout_ms;
    election_withdraw(live->election);
    while (binds_has_callers(live->binds) && clock_ms() < end_ms)
        nap();
    election_leave(live->election);
}

void live_mode_stop(struct live_mode *live)
{
    if (!live)
        return;
    binds_stop(live->binds);
    kube_loop_stop(live->writing);
    kube_loop_stop(live->reading);
    if (live->reviewing)
        kube_loop_stop(live->reviewing);
    waits_stop(live->waits);
}

void live_mode_free(struct live_mode *live)
{
    if (!live)
        return;
    binds_free(live->binds);
    hold_free(live->hold);
    waits_free(live->waits);
    election_free(live->election);
    for (size_t i = 0; i < live->n_watches; i++)
        kube_watch_free(live->watches[i]);
    if (live->failed_pods)
        kube_watch_free(live->failed_pods);
    if (live->front)
        kube_watch_free(live->front);
    kube_credentials_free(live->credentials); /* first: a plugin may wake the loops */
    kube_loop_free(live->writing);
    kube_loop_free(live->reading);
    kube_loop_free(live->reviewing);
    gang_plans_free(live->gang_plans);
    groups_free(live->groups);
    wake_free(live->wake);
    beside_free(live->beside);
    kube_target_fini(&live->target);
    if (live->n_watches > 0)
        hand_in_fini(&live->hand_in);
    free(live);
}

void live_mode_take_policy(struct live_mode *live, const struct policy *policy, bool lists_again)
{
    hand_in_policy(&live->hand_in, policy, lists_again);
    wake_note(live->wake, WAKE_POLICY, clock_ms());
}

struct election *live_mode_election(struct live_mode *live)
{
    return live ? live->election : NULL;
}

struct beside *live_mode_beside(struct live_mode *live)
{
    return live ? live->beside : NULL;
}

struct binds *live_mode_binds(struct live_mode *live)
{
    return live ? live->binds : NULL;
}

struct waits *live_mode_waits(struct live_mode *live)
{
    return live ? live->waits : NULL;
}

struct wake *live_mode_wake(struct live_mode *live)
{
    return live ? live->wake : NULL;
}

struct gang_plans *live_mode_gang_plans(struct live_mode *live)
{
    return live ? live->gang_plans : NULL;
}

struct groups *live_mode_groups(struct live_mode *live)
{
    return live ? live->groups : NULL;
}

void live_mode_follow_front(struct live_mode *live, const struct reflector_store *store)
{
    static const struct reflector_kind KIND = {
        .name = "extension-apiserver-authentication",
        .path = "/api/v1/namespaces/kube-system/configmaps",
        .field_selector = "metadata.name%3Dextension-apiserver-authentication"};
    const struct reflector_settings settings = {.kind = &KIND,
                                                .page_size = REFLECTOR_PAGE_SIZE,
                                                .silence_ms = FRONT_SILENCE_MS,
                                                .max_object_bytes = FRONT_BYTES,
                                                .max_object_values = JSON_ANSWER.max_values,
                                                .seed = random_seed()};
    live->front = kube_watch_new(live->reviewing, &settings, store);
}

struct kube_sender live_mode_reviewer(struct live_mode *live)
{
    return live && live->reviewing ? kube_loop_sender(live->reviewing) : (struct kube_sender){0};
}

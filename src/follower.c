/* follower: see follower.h. */
#include "follower.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/timing.h"
#include "inventory/live.h"
#include "kube/credentials.h"
#include "kube/hold.h"
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

#define SECOND_MS ((int64_t)1000)
/* Of a list; larger pages save requests, and are held by the API server as a whole. */
#define PAGE_SIZE 1000
/* Longer than a watch is behind the API server in ordinary times. */
#define CONFIRM_MS (30 * SECOND_MS)
#define MAX_KINDS ((size_t)8)
/* Open at once: a watch or list each kind; bindings; reviews (auth/ has 32 under way at most). */
#define READ_CONNECTIONS 16
#define WRITE_CONNECTIONS 256
#define REVIEW_CONNECTIONS 32
/* A credential plugin's pipes, and files of credentials that are being read. */
#define CREDENTIAL_FILES 16
/* Between two looks whether all bindings are answered. */
#define NAP_NS 5000000
#define BOUND_BY_MAX 320
/* A loop that has not gone round for so long is stuck: several times what its longest task takes.
 */
#define STUCK_MS (20 * SECOND_MS)

struct follower {
    struct inventory *inventory;
    struct kube_target target;
    struct kube_credentials *credentials;
    struct kube_loop *reading;
    struct kube_loop *writing;
    struct kube_loop *reviewing; /* NULL: nobody is asked for a token */
    struct kube_watch *watches[MAX_KINDS];
    size_t n_watches;
    struct election *election; /* NULL: this replica is the only one */
    struct hold *hold;         /* NULL: with a Lease */
    struct beside *beside;     /* NULL: no instance beside each kube-scheduler */
    struct binds *binds;
    struct waits *waits;
    int64_t bind_timeout_ms;
    bool started;
    char bound_by[BOUND_BY_MAX]; /* VERSION/INSTANCE */
};

int follower_find(const struct options *options, struct kube_target *ret_target, struct err *err)
{
    struct kube_lookup lookup;
    kube_lookup_from_env(&lookup);
    lookup.kubeconfig = options->kubeconfig;
    lookup.context = options->context;
    struct err why;
    int r = kube_target_find(&lookup, ret_target, &why);
    if (r == -ENOENT && !options->kubeconfig)
        return err_set(err, ENOENT, "%s; a saved cluster is given with --cluster-file", why.text);
    return r < 0 ? err_set(err, -r, "%s", why.text) : 0;
}

static uint64_t random_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        abort();
    return seed;
}

/* The host's name is the pod's in a cluster. */
static void name_instance(struct follower *follower)
{
    char host[HOST_NAME_MAX + 1] = "";
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(follower->bound_by, sizeof follower->bound_by, "%s/%s_%ld", GPU_EXTENDER_VERSION,
                   host, (long)getpid());
}

static void wake_loops(void *context)
{
    const struct follower *follower = context;
    kube_loop_wake(follower->reading);
    kube_loop_wake(follower->writing);
    if (follower->reviewing)
        kube_loop_wake(follower->reviewing);
}

/* Strangers make us ask about tokens: no binding and no renewal of the Lease shares a thread or a
 * connection with that. */
static int create_reviewing(struct follower *follower, const struct settings *settings,
                            struct err *err)
{
    const struct kube_loop_settings reviewing = {.name = "review",
                                                 .max_answer_bytes = settings->limits.object_bytes,
                                                 .max_connections = REVIEW_CONNECTIONS};
    if (!settings->tls.certificate_file[0])
        return 0;
    return kube_loop_new(&reviewing, &follower->target, follower->credentials, &follower->reviewing,
                         err);
}

static int create_loops(struct follower *follower, const struct settings *settings, struct err *err)
{
    const struct kube_loop_settings reading = {.name = "read",
                                               .max_answer_bytes = settings->limits.object_bytes,
                                               .max_connections = READ_CONNECTIONS};
    const struct kube_loop_settings writing = {.name = "write",
                                               .max_answer_bytes = settings->limits.object_bytes,
                                               .unacked_ms = timing_of(settings).unacked_ms,
                                               .max_connections = WRITE_CONNECTIONS};
    int r = kube_credentials_new(&follower->target, &follower->credentials, err);
    if (r == 0)
        r = kube_loop_new(&reading, &follower->target, follower->credentials, &follower->reading,
                          err);
    if (r == 0)
        r = kube_loop_new(&writing, &follower->target, follower->credentials, &follower->writing,
                          err);
    if (r == 0)
        r = create_reviewing(follower, settings, err);
    if (r == 0)
        kube_credentials_on_change(follower->credentials, wake_loops, follower);
    return r;
}

static void create_watches(struct follower *follower, const struct settings *settings)
{
    inventory_go_live(follower->inventory, follower->target.server);
    for (size_t i = 0; i < MAX_KINDS && INVENTORY_KINDS[i].name; i++) {
        const struct reflector_settings reflector = {
            .kind = &INVENTORY_KINDS[i],
            .page_size = PAGE_SIZE,
            .silence_ms = (int64_t)settings->kubernetes.watch_silence_s * SECOND_MS,
            .max_object_bytes = settings->limits.object_bytes,
            .seed = random_seed(),
        };
        const struct reflector_store store = inventory_store(follower->inventory, i);
        follower->watches[follower->n_watches++] =
            kube_watch_new(follower->reading, &reflector, &store);
    }
    kube_loop_add_task(follower->reading, inventory_self_check, follower->inventory);
}

static void wake_reading(void *context)
{
    const struct follower *follower = context;
    kube_loop_wake(follower->reading);
}

/* Behind the watches, whose changes it looks at. */
static void create_waits(struct follower *follower)
{
    follower->waits = waits_new(wake_reading, follower);
    kube_loop_add_task(follower->reading, waits_tick, follower->waits);
}

static struct kube_watch *watch_of_pods(const struct follower *follower, const char **ret_path)
{
    size_t i = 0;
    while (strcmp(INVENTORY_KINDS[i].name, "pods") != 0)
        i++;
    *ret_path = INVENTORY_KINDS[i].path;
    return follower->watches[i];
}

static bool is_usable(void *context, struct err *ret_why)
{
    const struct follower *follower = context;
    return inventory_usable(follower->inventory, ret_why);
}

static int64_t quiet_ms(void *context, int64_t now_ms)
{
    const struct follower *follower = context;
    return binds_quiet_ms(follower->binds, now_ms);
}

/* Who may lead now tries at once. */
static void on_turn(void *context)
{
    const struct follower *follower = context;
    kube_loop_wake(follower->writing);
}

static int create_election(struct follower *follower, const struct settings *settings,
                           struct err *err)
{
    struct election_parts parts = {
        .settings = settings,
        .loop = follower->writing,
        .seed = random_seed(),
        .usable = is_usable,
        .quiet_ms = quiet_ms,
        .context = follower,
    };
    if (!settings->election.enabled)
        return 0;
    inventory_on_turn(follower->inventory, on_turn, follower);
    parts.pods = watch_of_pods(follower, &parts.pods_path);
    return election_new(&parts, &follower->election, err);
}

static void on_reached(void *context, uint64_t number)
{
    const struct follower *follower = context;
    hold_reached(follower->hold, number);
    LOG(LOG_INFO, "main", LOG_MSG("bindings are sent from now on"));
    kube_loop_wake(follower->writing);
}

static void on_reach(void *context, uint64_t number, const char *version)
{
    const char *path = NULL;
    const struct kube_watch_goal goal = {
        .number = number, .version = version, .reached = on_reached, .context = context};
    kube_watch_reach(watch_of_pods(context, &path), &goal);
}

/* Bindings of a predecessor may still take effect. With a Lease, the wait for it covers that. */
static void create_hold(struct follower *follower, const struct settings *settings)
{
    const int64_t hold_ms = timing_of(settings).hold_ms;
    struct hold_settings hold = {
        .until_ms = clock_ms() + hold_ms, .reach = on_reach, .context = follower};
    if (follower->election || settings->scheduler.beside) /* beside waits itself */
        return;
    (void)watch_of_pods(follower, &hold.pods_path);
    follower->hold = hold_new(&hold, kube_loop_sender(follower->writing));
    kube_loop_add_task(follower->writing, hold_tick, follower->hold);
    LOG(LOG_INFO, "main", LOG_MSG("bindings wait until those of a predecessor are over"),
        LOG_NUM("ms", hold_ms));
}

static int64_t held_until_ms(void *context, int64_t now_ms)
{
    const struct follower *follower = context;
    return follower->hold ? hold_until_ms(follower->hold, now_ms) : now_ms;
}

static void create_beside(struct follower *follower, const struct settings *settings)
{
    const char *path = NULL;
    struct kube_watch *pods = watch_of_pods(follower, &path);
    if (settings->scheduler.beside)
        follower->beside = beside_new(settings, follower->writing, pods, path);
}

static bool may_post(void *context, int64_t now_ms)
{
    const struct follower *follower = context;
    (void)now_ms;
    return election_may_decide(follower->election);
}

static void create_binds(struct follower *follower, const struct settings *settings)
{
    const struct timing timing = timing_of(settings);
    const struct binds_settings binds = {
        .bound_by = follower->bound_by,
        .post_life_ms = timing.post_life_ms,
        .timeout_ms = timing.bind_ms,
        .leave_ms = settings->scheduler.beside ? beside_leave_ms(settings) : 0,
        .confirm_ms = CONFIRM_MS,
        .seed = random_seed(),
        .may_post = may_post,
        .may_post_context = follower,
        .held_until_ms = held_until_ms,
        .held_context = follower,
    };
    follower->bind_timeout_ms = binds.timeout_ms;
    follower->binds = binds_new(&binds, follower->inventory, &settings->policy,
                                kube_loop_sender(follower->writing));
    kube_loop_add_task(follower->writing, binds_tick, follower->binds);
}

static void log_target(const struct kube_target *target)
{
    LOG(LOG_INFO, "main", LOG_MSG("following an API server"), LOG_STR("server", target->server),
        LOG_STR("source", target->source));
    if (target->insecure)
        LOG(LOG_WARN, "main",
            LOG_MSG("insecure-skip-tls-verify: whoever answers there is believed to be the API "
                    "server, and is shown our credentials"));
}

int follower_new(const struct settings *settings, struct inventory *inventory,
                 struct kube_target *target, struct follower **ret_follower, struct err *err)
{
    struct follower *follower = MEM_NEW(struct follower);
    follower->inventory = inventory;
    follower->target = *target;
    *target = (struct kube_target){0};
    name_instance(follower);
    int r = create_loops(follower, settings, err);
    if (r < 0) {
        follower_free(follower);
        return r;
    }
    create_watches(follower, settings);
    create_waits(follower);
    r = create_election(follower, settings, err);
    if (r < 0) {
        follower_free(follower);
        return r;
    }
    create_hold(follower, settings);
    create_beside(follower, settings);
    create_binds(follower, settings);
    log_target(&follower->target);
    *ret_follower = follower;
    return 0;
}

unsigned follower_files(const struct follower *follower)
{
    const unsigned reviewing = follower->reviewing ? KUBE_LOOP_FILES(REVIEW_CONNECTIONS) : 0;
    return KUBE_LOOP_FILES(READ_CONNECTIONS) + KUBE_LOOP_FILES(WRITE_CONNECTIONS) + reviewing +
           CREDENTIAL_FILES;
}

int follower_start(struct follower *follower, struct err *err)
{
    int r = kube_loop_start(follower->reading, err);
    if (r == 0)
        r = kube_loop_start(follower->writing, err);
    if (r == 0 && follower->reviewing)
        r = kube_loop_start(follower->reviewing, err);
    follower->started = r == 0;
    return r;
}

bool follower_is_alive(void *follower_context, struct err *ret_why)
{
    const struct follower *follower = follower_context;
    const int64_t now_ms = clock_ms();
    const char *stuck = NULL;
    if (kube_loop_silence_ms(follower->reading, now_ms) >= STUCK_MS)
        stuck = "read";
    else if (kube_loop_silence_ms(follower->writing, now_ms) >= STUCK_MS)
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

void follower_hand_over(struct follower *follower)
{
    const int64_t end_ms = clock_ms() + follower->bind_timeout_ms;
    if (!follower->election || !follower->started)
        return;
    election_withdraw(follower->election);
    while (binds_has_callers(follower->binds) && clock_ms() < end_ms)
        nap();
    election_leave(follower->election, binds_quiet_ms(follower->binds, clock_ms()));
}

void follower_stop(struct follower *follower)
{
    binds_stop(follower->binds);
    kube_loop_stop(follower->writing);
    kube_loop_stop(follower->reading);
    if (follower->reviewing)
        kube_loop_stop(follower->reviewing);
    waits_stop(follower->waits);
}

void follower_free(struct follower *follower)
{
    if (!follower)
        return;
    binds_free(follower->binds);
    hold_free(follower->hold);
    waits_free(follower->waits);
    election_free(follower->election);
    for (size_t i = 0; i < follower->n_watches; i++)
        kube_watch_free(follower->watches[i]);
    kube_credentials_free(follower->credentials); /* until then a plugin may wake the loops */
    kube_loop_free(follower->writing);
    kube_loop_free(follower->reading);
    kube_loop_free(follower->reviewing);
    beside_free(follower->beside);
    kube_target_fini(&follower->target);
    free(follower);
}

struct election *follower_election(struct follower *follower)
{
    return follower->election;
}

struct beside *follower_beside(struct follower *follower)
{
    return follower->beside;
}

struct binds *follower_binds(struct follower *follower)
{
    return follower->binds;
}

struct waits *follower_waits(struct follower *follower)
{
    return follower->waits;
}

struct kube_sender follower_reviewer(struct follower *follower)
{
    return follower->reviewing ? kube_loop_sender(follower->reviewing) : (struct kube_sender){0};
}

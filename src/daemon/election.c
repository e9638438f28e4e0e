/* election: see include/daemon/election.h. */
#include "daemon/election.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file_watch.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "config/timing.h"
#include "inventory/live.h"
#include "kube/leadership.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

static bool read_namespace(char ret_name[ELECTION_NAMESPACE_BYTES])
{
    struct buf text;
    buf_init(&text, ELECTION_NAMESPACE_BYTES - 1);
    const bool is_read = small_file_read(NAMESPACE_FILE, true, &text, NULL) == 0;
    (void)snprintf(ret_name, ELECTION_NAMESPACE_BYTES, "%.*s",
                   (int)strcspn(buf_text(&text), "\r\n "), buf_text(&text));
    buf_fini(&text);
    return is_read && *ret_name;
}

int election_namespace(const struct settings *settings, char ret_name[ELECTION_NAMESPACE_BYTES],
                       struct err *err)
{
    const char *of_pod = getenv("POD_NAMESPACE");
    const char *name = settings->election.namespace_;
    (void)snprintf(ret_name, ELECTION_NAMESPACE_BYTES, "%s", *name || !of_pod ? name : of_pod);
    if (*ret_name || read_namespace(ret_name))
        return 0;
    return err_set(
        err, EINVAL,
        "leaderElection.namespace: is empty, should be the namespace of the Lease and of "
        "wake.objectName (or set POD_NAMESPACE in the environment)");
}

#define SECOND_MS ((int64_t)1000)
#define LEASES "coordination.k8s.io/v1", "leases"
#define SLICES "discovery.k8s.io/v1", "endpointslices"
#define TEXT_BYTES ((size_t)512)
#define WATCH_PAGE 100
/* Longer than the Lease's renewals; the watch on an EndpointSlice is mostly silent. */
#define SILENCE_MS (60 * SECOND_MS)
#define OBJECT_BYTES ((size_t)1024 * 1024)
#define RELEASE_MS (3 * SECOND_MS)

/* A watch on one object by name. */
struct named_watch {
    char path[TEXT_BYTES];
    char selector[TEXT_BYTES];
    struct reflector_kind kind;
    struct kube_watch *watch;
};

struct election {
    struct election_parts parts;
    struct leadership *leadership;
    struct named_watch lease;
    struct named_watch slice;
    char namespace_[ELECTION_NAMESPACE_BYTES];
    char identity[TEXT_BYTES];
    char address[INET6_ADDRSTRLEN];
    unsigned port;
    atomic_bool withdraws;
    struct mutex lock; /* guards the rest; callbacks run without it */
    pthread_cond_t changed;
    void (*turned)(void *context, bool may_decide);
    void *turned_context;
    bool is_calling; /* calling_thread is in turned() */
    pthread_t calling_thread;
    bool is_released;
};

/* ---- identity, namespace, address ---- */

static const char *from_env(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* Unique to this process. */
static void find_identity(struct election *election, uint64_t seed)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *name = from_env("POD_NAME");
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(election->identity, sizeof election->identity, "%s_%016llx", *name ? name : host,
                   (unsigned long long)seed);
}

static bool is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static int find_address(struct election *election, const struct settings_election *settings,
                        struct err *err)
{
    const char *address = from_env("POD_IP");
    if (!settings->service_name[0])
        return 0;
    (void)snprintf(election->address, sizeof election->address, "%s", address);
    if (is_address(address))
        return 0;
    return err_set(err, EINVAL,
                   "leaderElection.serviceName: POD_IP in the environment is \"%.60s\", should be "
                   "this replica's IP address for the Service \"%s\" (or leave serviceName empty)",
                   address, settings->service_name);
}

/* ---- callbacks of leadership ---- */

static bool is_usable(void *context, struct err *ret_why)
{
    const struct election *election = context;
    return inventory_usable(election->parts.inventory, ret_why);
}

/* A replica whose ledger has become usable tries to lead at once. */
static void on_usable(void *context)
{
    const struct election *election = context;
    kube_loop_wake(election->parts.loop);
}

static int64_t quiet_ms(void *context, int64_t now_ms)
{
    const struct election *election = context;
    return binds_quiet_ms(election->parts.binds, now_ms);
}

static int64_t wall_ms(void *context)
{
    (void)context;
    return clock_wall_ms();
}

static void on_turn(void *context, bool may_decide)
{
    struct election *election = context;
    mutex_lock(&election->lock);
    void (*turned)(void *context, bool may_decide) = election->turned;
    void *turned_context = election->turned_context;
    election->is_calling = true;
    election->calling_thread = pthread_self();
    mutex_unlock(&election->lock);
    if (turned)
        turned(turned_context, may_decide);
    mutex_lock(&election->lock);
    election->is_calling = false;
    (void)pthread_cond_broadcast(&election->changed);
    mutex_unlock(&election->lock);
}

static void on_released(void *context)
{
    struct election *election = context;
    mutex_lock(&election->lock);
    election->is_released = true;
    (void)pthread_cond_broadcast(&election->changed);
    mutex_unlock(&election->lock);
}

/* ---- life ---- */

static void name_collection(const struct election *election, struct named_watch *named,
                            const char *group, const char *resource)
{
    (void)snprintf(named->path, sizeof named->path, "/apis/%s/namespaces/%s/%s", group,
                   election->namespace_, resource);
}

static void watch_named(struct election *election, struct named_watch *named, const char *name,
                        struct reflector_store store)
{
    (void)snprintf(named->selector, sizeof named->selector, "metadata.name%%3D%s", name);
    named->kind = (struct reflector_kind){
        .name = name, .path = named->path, .field_selector = named->selector};
    const struct reflector_settings settings = {.kind = &named->kind,
                                                .page_size = WATCH_PAGE,
                                                .silence_ms = SILENCE_MS,
                                                .max_object_bytes = OBJECT_BYTES,
                                                .max_object_values = JSON_ANSWER.max_values,
                                                .seed = (uint64_t)clock_us()};
    named->watch = kube_watch_new(election->parts.loop, &settings, &store);
}

static void create_leadership(struct election *election, const struct election_parts *parts)
{
    const struct settings_election *settings = &parts->settings->election;
    const struct timing timing = timing_of(parts->settings);
    const bool has_service = settings->service_name[0] != '\0';
    const struct leadership_settings leadership = {
        .lease = {.namespace_ = election->namespace_,
                  .name = settings->lease_name,
                  .identity = election->identity,
                  .duration_ms = timing.lease_ms,
                  .renew_deadline_ms = timing.renew_ms,
                  .retry_ms = timing.retry_ms,
                  .seed = parts->seed},
        .slice = {.namespace_ = election->namespace_,
                  .service = has_service ? settings->service_name : NULL,
                  .address = election->address,
                  .port_name = "verbs",
                  .users_port_name = "leader",
                  .seed = parts->seed},
        .pods = kube_watch_to_catch_up(parts->pods),
        .decide_ms = timing.decide_ms,
        .usable = is_usable,
        .quiet_ms = quiet_ms,
        .wall_ms = wall_ms,
        .turned = on_turn,
        .released = on_released,
        .context = election,
    };
    election->leadership = leadership_new(&leadership, kube_loop_sender(parts->loop));
    name_collection(election, &election->lease, LEASES);
    watch_named(election, &election->lease, settings->lease_name,
                leadership_lease_store(election->leadership));
    if (has_service) {
        name_collection(election, &election->slice, SLICES);
        watch_named(election, &election->slice, settings->service_name,
                    leadership_slice_store(election->leadership));
    }
    kube_loop_add_task(parts->loop, leadership_tick, election->leadership);
}

static void init_lock(struct election *election)
{
    clock_condition_init(&election->changed);
    mutex_init(&election->lock);
}

int election_new(const struct election_parts *parts, struct election **ret_election,
                 struct err *err)
{
    struct election *election = MEM_NEW(struct election);
    election->parts = *parts;
    init_lock(election);
    find_identity(election, parts->seed);
    int r = election_namespace(parts->settings, election->namespace_, err);
    if (r == 0)
        r = find_address(election, &parts->settings->election, err);
    if (r < 0) {
        election_free(election);
        return r;
    }
    inventory_on_turn(parts->inventory, on_usable, election);
    create_leadership(election, parts);
    LOG(LOG_INFO, "leader", LOG_MSG("one of several replicas leads"),
        LOG_STR("lease", parts->settings->election.lease_name),
        LOG_STR("namespace", election->namespace_), LOG_STR("identity", election->identity));
    *ret_election = election;
    return 0;
}

void election_free(struct election *election)
{
    if (!election)
        return;
    if (election->lease.watch)
        kube_watch_free(election->lease.watch);
    if (election->slice.watch)
        kube_watch_free(election->slice.watch);
    leadership_free(election->leadership);
    (void)pthread_cond_destroy(&election->changed);
    mutex_fini(&election->lock);
    free(election);
}

static unsigned port_of(const char *address)
{
    const char *colon = address ? strrchr(address, ':') : NULL;
    return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

void election_listens(struct election *election, const char *verbs, const char *people)
{
    if (election)
        leadership_serves(election->leadership, port_of(verbs), port_of(people));
}

void election_on_turn(struct election *election, void (*turned)(void *context, bool may_decide),
                      void *context)
{
    if (!election)
        return;
    mutex_lock(&election->lock);
    election->turned = turned;
    election->turned_context = context;
    while (election->is_calling && !pthread_equal(election->calling_thread, pthread_self()))
        (void)pthread_cond_wait(&election->changed, &election->lock.native);
    mutex_unlock(&election->lock);
}

/* ---- from any thread ---- */

bool election_may_decide(const struct election *election)
{
    return !election || leadership_may_decide(election->leadership, clock_ms());
}

const char *election_role(const struct election *election)
{
    return election ? leadership_role(election->leadership, clock_ms()) : NULL;
}

const char *election_elsewhere(const struct election *election, struct arena *arena)
{
    if (election_may_decide(election))
        return NULL;
    const char *holder = leadership_holder(election->leadership, arena);
    if (!holder[0])
        return "this replica does not lead, and no replica is known to lead: try again";
    if (strcmp(holder, election->identity) == 0)
        return "this replica is still becoming the leader: try again";
    return arena_printf(arena, "this replica does not lead: ask the leader, %s", holder);
}

enum gate_verdict election_judge(const struct election *election, struct exchange *exchange)
{
    if (election_may_decide(election) && !(election && atomic_load(&election->withdraws)))
        return GATE_OPEN;
    exchange_answer(exchange, 503, "text/plain", NULL, 0, EXCHANGE_CLOSE);
    return GATE_CLOSED;
}

void election_metrics(const struct election *election, struct buf *out)
{
    if (election)
        leadership_metrics(election->leadership, clock_ms(), out);
}

/* ---- the end ---- */

void election_withdraw(struct election *election)
{
    atomic_store(&election->withdraws, true);
}

void election_leave(struct election *election)
{
    const int64_t began_ms = clock_ms();
    const int64_t at_most_ms = binds_quiet_ms(election->parts.binds, began_ms);
    const struct timespec end = clock_moment(at_most_ms + RELEASE_MS);
    leadership_release(election->leadership);
    kube_loop_wake(election->parts.loop);
    int r = 0;
    mutex_lock(&election->lock);
    while (!election->is_released && r == 0)
        r = pthread_cond_timedwait(&election->changed, &election->lock.native, &end);
    const bool is_released = election->is_released;
    mutex_unlock(&election->lock);
    LOG(is_released ? LOG_INFO : LOG_WARN, "leader",
        LOG_MSG(is_released
                    ? "left the election"
                    : "the Lease could not be released: other replicas wait until it expires"),
        LOG_NUM("took_ms", clock_ms() - began_ms));
}

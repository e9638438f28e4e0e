/* follow: see checks.h. It lists and watches as the service does (daemon/live_mode.c), but
 * takes no Lease, binds nothing and listens nowhere. */
#include "base/clock.h"
#include "checks.h"
#include "inventory/kinds.h"
#include "inventory/live.h"
#include "kube/loop.h"
#include "kube/watch.h"

#include <string.h>
#include <time.h>

#define CONNECTIONS 16
#define WAIT_MS 60000
#define NAP_NS 20000000
#define CLUSTER "cluster"

static void nap(void)
{
    const struct timespec some = {.tv_nsec = NAP_NS};
    (void)nanosleep(&some, NULL);
}

/* Every kind is listed, or will not be: it is forbidden, or not awaited. */
static bool is_settled(struct inventory *inventory)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    const size_t n = inventory_freshness(inventory, kinds);
    for (size_t i = 0; i < n; i++) {
        if (!kinds[i].synced && kinds[i].awaited && strcmp(kinds[i].trouble, "refused") != 0)
            return false;
    }
    return true;
}

static void wait_until_settled(struct inventory *inventory)
{
    const int64_t end_ms = clock_ms() + WAIT_MS;
    while (!is_settled(inventory) && clock_ms() < end_ms)
        nap();
}

/* A missing kind would make the checks report too little, or what is not so. */
static bool report_missing(struct inventory *inventory, struct findings *findings)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    const size_t n = inventory_freshness(inventory, kinds);
    bool is_complete = true;
    for (size_t i = 0; i < n; i++) {
        const bool is_usable = kinds[i].synced && !kinds[i].too_many;
        if (is_usable)
            continue;
        is_complete = is_complete && !kinds[i].essential;
        findings_not_checked(
            findings, CLUSTER, "", "the %s %s %.200s", kinds[i].kind,
            kinds[i].too_many ? "are too many" : "are not listed:", kinds[i].why.text);
    }
    return is_complete;
}

static size_t make_watches(const struct settings *settings, struct inventory *inventory,
                           struct kube_loop *loop, struct kube_watch *watches[N_CLUSTER_KINDS])
{
    size_t n = 0;
    for (; n < N_CLUSTER_KINDS; n++) {
        const struct reflector_settings reflector = {
            .kind = &INVENTORY_KINDS[n].listed,
            .page_size = REFLECTOR_PAGE_SIZE,
            .silence_ms = (int64_t)settings->kubernetes.watch_silence_s * 1000,
            .max_object_bytes = settings->limits.object_bytes,
            .max_object_values = settings->policy.object_values,
            .seed = n + 1,
        };
        const struct reflector_store store = inventory_store(inventory, n);
        watches[n] = kube_watch_new(loop, &reflector, &store);
    }
    return n;
}

bool follow_run(const struct settings *settings, struct inventory *inventory,
                const struct kube_target *target, struct kube_credentials *credentials,
                struct findings *findings)
{
    const struct kube_loop_settings reading = {.name = "read",
                                               .max_answer_bytes = settings->limits.object_bytes,
                                               .max_connections = CONNECTIONS};
    struct kube_watch *watches[N_CLUSTER_KINDS];
    struct kube_loop *loop = NULL;
    struct err err;
    size_t n_watches = 0;
    int r = kube_loop_new(&reading, target, credentials, &loop, &err);
    if (r == 0) {
        inventory_go_live(inventory, target->server);
        n_watches = make_watches(settings, inventory, loop, watches);
        r = kube_loop_start(loop, &err);
    }
    if (r == 0)
        wait_until_settled(inventory);
    if (loop)
        kube_loop_stop(loop);
    for (size_t i = 0; i < n_watches; i++)
        kube_watch_free(watches[i]);
    kube_loop_free(loop);
    if (r < 0)
        findings_not_checked(findings, CLUSTER, "", "%s", err.text);
    return r == 0 && report_missing(inventory, findings);
}

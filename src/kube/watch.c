/* watch: carries out what a reflector wants, as a task of a loop. See include/kube/watch.h. */
#include "kube/watch.h"

#include "base/mem.h"
#include "resource_version.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

/* One of those who want something reached. */
struct wish {
    struct kube_watch_goal goal; /* its version is ours */
    struct wish *next;
};

struct kube_watch {
    struct kube_loop *loop;
    struct reflector *reflector;
    struct kube_stream *stream; /* NULL: none is open */
    uint64_t n_demands;         /* of the reflector: what is reached by the last is by all */
    struct wish *wishes;        /* of that demand; one a context */
    pthread_mutex_t lock;       /* guards wanted */
    struct wish *wanted;        /* not taken over yet, the oldest first */
};

static void on_refused(void *context, const char *why)
{
    const struct kube_watch *watch = context;
    reflector_refused(watch->reflector, why);
}

static void on_head(void *context, int64_t now_ms, unsigned status, int64_t retry_after_s)
{
    struct kube_watch *watch = context;
    reflector_head(watch->reflector, now_ms, status, retry_after_s);
}

static void on_bytes(void *context, int64_t now_ms, const char *bytes, size_t len)
{
    struct kube_watch *watch = context;
    reflector_bytes(watch->reflector, now_ms, bytes, len);
}

static void on_end(void *context, int64_t now_ms, enum kube_outcome outcome, const char *why)
{
    struct kube_watch *watch = context;
    watch->stream = NULL;
    reflector_end(watch->reflector, now_ms, outcome, why);
}

static void on_drained(void *context, int64_t now_ms)
{
    struct kube_watch *watch = context;
    reflector_drained(watch->reflector, now_ms);
}

static void cancel(struct kube_watch *watch)
{
    if (watch->stream)
        kube_stream_cancel(watch->stream);
    watch->stream = NULL;
}

static void free_wish(struct wish *wish)
{
    free((void *)(uintptr_t)wish->goal.version);
    free(wish);
}

static void free_wishes(struct wish *wishes)
{
    struct wish *wish = NULL;
    struct wish *next = NULL;
    LL_FOREACH_SAFE(wishes, wish, next)
    free_wish(wish);
}

/* A newer one of the same context replaces it. */
static void add_wish(struct kube_watch *watch, struct wish *wish)
{
    struct wish **at = &watch->wishes;
    while (*at && (*at)->goal.context != wish->goal.context)
        at = &(*at)->next;
    struct wish *replaced = *at;
    if (replaced) {
        wish->next = replaced->next;
        free_wish(replaced);
    }
    *at = wish;
}

/* The version by which all of them are reached; NULL: a list. */
static const char *version_of_all(const struct kube_watch *watch)
{
    const char *version = watch->wishes->goal.version;
    const struct wish *wish = NULL;
    LL_FOREACH (watch->wishes, wish) {
        if (!version || !wish->goal.version)
            return NULL;
        if (resource_version_less(version, wish->goal.version))
            version = wish->goal.version;
    }
    return version;
}

static void take_wishes(struct kube_watch *watch, int64_t now_ms)
{
    struct wish *wish = NULL;
    struct wish *next = NULL;
    (void)pthread_mutex_lock(&watch->lock);
    struct wish *wanted = watch->wanted;
    watch->wanted = NULL;
    (void)pthread_mutex_unlock(&watch->lock);
    if (!wanted)
        return;
    LL_FOREACH_SAFE(wanted, wish, next)
    {
        wish->next = NULL;
        add_wish(watch, wish);
    }
    reflector_reach(watch->reflector, now_ms, ++watch->n_demands, version_of_all(watch));
}

/* After the store was told. */
static void tell_reached(struct kube_watch *watch)
{
    struct wish *wish = NULL;
    if (!watch->wishes || reflector_reached(watch->reflector) != watch->n_demands)
        return;
    LL_FOREACH (watch->wishes, wish)
        wish->goal.reached(wish->goal.context, wish->goal.number);
    free_wishes(watch->wishes);
    watch->wishes = NULL;
}

void kube_watch_reach(struct kube_watch *watch, const struct kube_watch_goal *goal)
{
    struct wish *wish = MEM_NEW(struct wish);
    wish->goal = *goal;
    wish->goal.version = goal->version ? mem_strdup(goal->version) : NULL;
    (void)pthread_mutex_lock(&watch->lock);
    LL_APPEND(watch->wanted, wish);
    (void)pthread_mutex_unlock(&watch->lock);
    kube_loop_wake(watch->loop);
}

static int64_t run(void *context, int64_t now_ms)
{
    struct kube_watch *watch = context;
    take_wishes(watch, now_ms);
    const struct kube_stream_handler handler = {on_refused, on_head,    on_bytes,
                                                on_end,     on_drained, watch};
    struct reflector_action action = reflector_next(watch->reflector, now_ms);
    while (action.want != REFLECTOR_WAIT) {
        cancel(watch);
        if (action.want == REFLECTOR_REQUEST)
            watch->stream = kube_stream_open(watch->loop, &action.request, &handler);
        action = reflector_next(watch->reflector, now_ms);
    }
    tell_reached(watch);
    return action.until_ms;
}

struct kube_watch *kube_watch_new(struct kube_loop *loop, const struct reflector_settings *settings,
                                  const struct reflector_store *store)
{
    struct kube_watch *watch = MEM_NEW(struct kube_watch);
    watch->loop = loop;
    (void)pthread_mutex_init(&watch->lock, NULL);
    watch->reflector = reflector_new(settings, store);
    kube_loop_add_task(loop, run, watch);
    return watch;
}

void kube_watch_free(struct kube_watch *watch)
{
    reflector_free(watch->reflector);
    free_wishes(watch->wishes);
    free_wishes(watch->wanted);
    (void)pthread_mutex_destroy(&watch->lock);
    free(watch);
}

/* watch: carries out what a reflector wants, as a task of a loop. See include/kube/watch.h. */
#include "kube/watch.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct kube_watch {
    struct kube_loop *loop;
    struct reflector *reflector;
    struct kube_stream *stream; /* NULL: none is open */
    uint64_t reached;           /* the last that was told */
    struct kube_watch_goal goal;
    pthread_mutex_t lock;          /* guards wanted */
    struct kube_watch_goal wanted; /* not taken over yet; its version is ours. number 0: none */
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

static void take_goal(struct kube_watch *watch, int64_t now_ms)
{
    (void)pthread_mutex_lock(&watch->lock);
    const struct kube_watch_goal wanted = watch->wanted;
    watch->wanted = (struct kube_watch_goal){0};
    (void)pthread_mutex_unlock(&watch->lock);
    if (wanted.number == 0)
        return;
    watch->goal = wanted;
    reflector_reach(watch->reflector, now_ms, wanted.number, wanted.version);
    free((void *)(uintptr_t)wanted.version);
    watch->goal.version = NULL;
}

/* After the store was told. */
static void tell_reached(struct kube_watch *watch)
{
    const uint64_t number = reflector_reached(watch->reflector);
    if (number == watch->reached)
        return;
    watch->reached = number;
    watch->goal.reached(watch->goal.context, number);
}

void kube_watch_reach(struct kube_watch *watch, const struct kube_watch_goal *goal)
{
    char *version = goal->version ? mem_strdup(goal->version) : NULL;
    (void)pthread_mutex_lock(&watch->lock);
    free((void *)(uintptr_t)watch->wanted.version);
    watch->wanted = *goal;
    watch->wanted.version = version;
    (void)pthread_mutex_unlock(&watch->lock);
    kube_loop_wake(watch->loop);
}

static int64_t run(void *context, int64_t now_ms)
{
    struct kube_watch *watch = context;
    take_goal(watch, now_ms);
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
    free((void *)(uintptr_t)watch->wanted.version);
    (void)pthread_mutex_destroy(&watch->lock);
    free(watch);
}

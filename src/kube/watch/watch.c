/* watch: carries out what a reflector wants, as a task of a loop. See include/kube/watch.h. */
#include "kube/watch.h"

#include "base/mem.h"
#include "base/mutex.h"

#include <stdlib.h>

struct kube_watch {
    struct kube_loop *loop;
    struct reflector *reflector;
    const char *path;
    struct kube_stream *stream; /* NULL: none is open */
    struct catch_up catch_up;   /* under way; its version is not kept; number 0: none */
    struct mutex lock;          /* guards the rest */
    struct catch_up wanted;     /* not taken over yet; number 0: none */
    char *wanted_version;       /* NULL: list anew */
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

static void take_catch_up(struct kube_watch *watch, int64_t now_ms)
{
    mutex_lock(&watch->lock);
    const struct catch_up wanted = watch->wanted;
    char *version = watch->wanted_version;
    watch->wanted = (struct catch_up){0};
    watch->wanted_version = NULL;
    mutex_unlock(&watch->lock);
    if (wanted.number == 0)
        return;
    watch->catch_up = wanted;
    reflector_catch_up(watch->reflector, now_ms, wanted.number, version);
    free(version);
}

/* Call after the store was flushed. */
static void report_caught_up(struct kube_watch *watch)
{
    const struct catch_up catch_up = watch->catch_up;
    if (catch_up.number == 0 || reflector_caught_up(watch->reflector) != catch_up.number)
        return;
    watch->catch_up = (struct catch_up){0};
    catch_up.done(catch_up.context, catch_up.number);
}

static void begin_catch_up(void *context, const struct catch_up *catch_up)
{
    struct kube_watch *watch = context;
    char *version = catch_up->version ? mem_strdup(catch_up->version) : NULL;
    mutex_lock(&watch->lock);
    char *replaced = watch->wanted_version;
    watch->wanted = *catch_up;
    watch->wanted.version = NULL;
    watch->wanted_version = version;
    mutex_unlock(&watch->lock);
    free(replaced);
    kube_loop_wake(watch->loop);
}

struct catch_up_watch kube_watch_to_catch_up(struct kube_watch *watch)
{
    return (struct catch_up_watch){watch->path, begin_catch_up, watch};
}

void kube_watch_list_again(struct kube_watch *watch)
{
    reflector_list_again(watch->reflector);
}

static int64_t run(void *context, int64_t now_ms)
{
    struct kube_watch *watch = context;
    take_catch_up(watch, now_ms);
    const struct kube_stream_handler handler = {on_refused, on_head,    on_bytes,
                                                on_end,     on_drained, watch};
    struct reflector_action action = reflector_next(watch->reflector, now_ms);
    while (action.want != REFLECTOR_WAIT) {
        cancel(watch);
        if (action.want == REFLECTOR_REQUEST)
            watch->stream = kube_stream_open(watch->loop, &action.request, &handler);
        action = reflector_next(watch->reflector, now_ms);
    }
    report_caught_up(watch);
    return action.until_ms;
}

struct kube_watch *kube_watch_new(struct kube_loop *loop, const struct reflector_settings *settings,
                                  const struct reflector_store *store)
{
    struct kube_watch *watch = MEM_NEW(struct kube_watch);
    watch->loop = loop;
    watch->path = settings->kind->path;
    mutex_init(&watch->lock);
    watch->reflector = reflector_new(settings, store);
    kube_loop_add_task(loop, run, watch);
    return watch;
}

void kube_watch_free(struct kube_watch *watch)
{
    reflector_free(watch->reflector);
    free(watch->wanted_version);
    mutex_fini(&watch->lock);
    free(watch);
}

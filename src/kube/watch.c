/* watch: carries out what a reflector wants, as a task of a loop. See include/kube/watch.h. */
#include "kube/watch.h"

#include "base/mem.h"

#include <stdlib.h>

struct kube_watch {
    struct kube_loop *loop;
    struct reflector *reflector;
    struct kube_stream *stream; /* NULL: none is open */
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

static void cancel(struct kube_watch *watch)
{
    if (watch->stream)
        kube_stream_cancel(watch->stream);
    watch->stream = NULL;
}

static int64_t run(void *context, int64_t now_ms)
{
    struct kube_watch *watch = context;
    const struct kube_stream_handler handler = {on_refused, on_head, on_bytes, on_end, watch};
    struct reflector_action action = reflector_next(watch->reflector, now_ms);
    while (action.want != REFLECTOR_WAIT) {
        cancel(watch);
        if (action.want == REFLECTOR_REQUEST)
            watch->stream = kube_stream_open(watch->loop, &action.request, &handler);
        action = reflector_next(watch->reflector, now_ms);
    }
    return action.until_ms;
}

struct kube_watch *kube_watch_new(struct kube_loop *loop, const struct reflector_settings *settings,
                                  const struct reflector_store *store)
{
    struct kube_watch *watch = MEM_NEW(struct kube_watch);
    watch->loop = loop;
    watch->reflector = reflector_new(settings, store);
    kube_loop_add_task(loop, run, watch);
    return watch;
}

void kube_watch_free(struct kube_watch *watch)
{
    reflector_free(watch->reflector);
    free(watch);
}

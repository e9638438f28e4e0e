/*
 * watch: a reflector on a loop.
 */
#ifndef KUBE_WATCH_H
#define KUBE_WATCH_H

#include "kube/loop.h"
#include "kube/reflector.h"

struct kube_watch;

/* Before the loop starts. kind and store are borrowed; the store is called on the loop's thread. */
struct kube_watch *kube_watch_new(struct kube_loop *loop, const struct reflector_settings *settings,
                                  const struct reflector_store *store);
/* What is to be reached (reflector_reach()); reached is called with the number on the loop's thread
 * when it is. A newer goal replaces one of the same context that is not reached yet; goals of other
 * contexts are reached together with it. From any thread. */
struct kube_watch_goal {
    uint64_t number;
    const char *version; /* NULL: list anew */
    void (*reached)(void *context, uint64_t number);
    void *context;
};
void kube_watch_reach(struct kube_watch *watch, const struct kube_watch_goal *goal);

/* After the loop has stopped. */
void kube_watch_free(struct kube_watch *watch);

#endif

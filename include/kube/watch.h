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
/* After the loop has stopped. */
void kube_watch_free(struct kube_watch *watch);

#endif

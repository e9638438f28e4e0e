/*
 * watch: a reflector on a loop.
 */
#ifndef KUBE_WATCH_H
#define KUBE_WATCH_H

#include "kube/catch_up.h"
#include "kube/loop.h"
#include "kube/reflector.h"

struct kube_watch;

/* Call before the loop starts. Borrows kind and store until kube_watch_free(); calls the store on
 * the loop's thread. */
struct kube_watch *kube_watch_new(struct kube_loop *loop, const struct reflector_settings *settings,
                                  const struct reflector_store *store);
/* The watch as catch_up.h wants it; borrows the watch. */
struct catch_up_watch kube_watch_to_catch_up(struct kube_watch *watch);

/* Calls reflector_list_again(). On the loop's thread. */
void kube_watch_list_again(struct kube_watch *watch);

/* Call after the loop has stopped. */
void kube_watch_free(struct kube_watch *watch);

#endif

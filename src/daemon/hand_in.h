/*
 * hand_in: gives a new policy to the read loop, whose thread may change the ledger. Private to
 * daemon.
 */
#ifndef DAEMON_HAND_IN_H
#define DAEMON_HAND_IN_H

#include "base/mutex.h"
#include "inventory/inventory.h"
#include "kube/loop.h"
#include "kube/watch.h"

struct hand_in {
    struct inventory *inventory;
    struct kube_loop *loop;
    struct kube_watch *const *watches;
    size_t n_watches;

    struct mutex lock; /* guards the rest */
    pthread_cond_t taken;
    const struct policy *policy; /* not taken yet; NULL: none */
    bool lists_again;
};

/* Call before the loop starts. Borrows its arguments. */
void hand_in_init(struct hand_in *ret_hand_in, struct inventory *inventory, struct kube_loop *loop,
                  struct kube_watch *const *watches, size_t n_watches);
void hand_in_fini(struct hand_in *hand_in);
/* Waits until the policy is in force, while the loop runs. lists_again: all that was read by the
 * old policy is listed again. */
void hand_in_policy(struct hand_in *hand_in, const struct policy *policy, bool lists_again);

#endif

/*
 * catcher: has the ledger catch up, as often as it is told to. Private to leadership, hold and
 * regain.
 *
 * resourceVersions may be compared from Kubernetes 1.35 on (extender contract 8.1): there a
 * consistent list of one pod says the one to catch up with. Whatever keeps that from being known,
 * the pods are listed anew, which is right in any case.
 */
#ifndef KUBE_LEADERSHIP_CATCHER_H
#define KUBE_LEADERSHIP_CATCHER_H

#include "kube/catch_up.h"
#include "kube/request.h"

#include <stdatomic.h>

#define CATCHER_VERSION_BYTES ((size_t)64)

struct catcher {
    struct kube_sender sender;
    struct catch_up_watch pods;
    uint64_t number; /* of the catch-up that is under way, or done; 0: none */
    enum { CATCHER_ASKS_SERVER, CATCHER_ASKS_PODS, CATCHER_BEGINS, CATCHER_WAITS } step;
    bool asks; /* a request of it is under way */
    char path[256];
    char version[CATCHER_VERSION_BYTES]; /* "": list anew */
    atomic_uint_fast64_t done;           /* the last catch-up that was done */
};

/* What pods borrows is borrowed. */
void catcher_init(struct catcher *catcher, const struct catch_up_watch *pods,
                  struct kube_sender sender);
/* Does what is next. A new number begins anew; what is left of another one is left out. True: it
 * has begun. On the sender's thread, and again after each answer. The sender's tasks are woken when
 * it is done. */
bool catcher_work(struct catcher *catcher, uint64_t number);
/* From any thread. */
bool catcher_is_done(const struct catcher *catcher, uint64_t number);

#endif

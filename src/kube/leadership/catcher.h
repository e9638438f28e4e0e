/*
 * catcher: brings the ledger up to date, once for each number. Private to leadership, hold and
 * regain.
 *
 * From Kubernetes 1.35 on resourceVersions are comparable (PROTOCOL 8.5): a consistent
 * list of one pod returns the one to reach. If that fails for any reason, the pods are listed anew,
 * which is always correct.
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
    uint64_t number; /* of the catch-up under way or completed; 0: none */
    enum { CATCHER_ASKS_SERVER, CATCHER_ASKS_PODS, CATCHER_BEGINS, CATCHER_WAITS } step;
    bool asks; /* a request is in flight */
    char path[256];
    char version[CATCHER_VERSION_BYTES]; /* "": list anew */
    atomic_uint_fast64_t done;           /* the last completed catch-up */
};

/* Borrows what pods borrows. */
void catcher_init(struct catcher *catcher, const struct catch_up_watch *pods,
                  struct kube_sender sender);
/* Takes the next step. A new number starts over and abandons the one before; then returns true.
 * Call on the sender's thread, again after each answer. The sender is woken on completion. */
bool catcher_work(struct catcher *catcher, uint64_t number);
/* From any thread. */
bool catcher_is_done(const struct catcher *catcher, uint64_t number);

#endif

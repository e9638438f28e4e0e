/*
 * catcher: brings the ledger up to date when asked to. The owner numbers the catch-ups: a new
 * number asks for a new one. Private to leadership, hold and regain.
 *
 * From Kubernetes 1.35 on, resourceVersions are comparable (PROTOCOL 8.5). So the catcher makes a
 * consistent list of one pod, and the watch of pods must reach its resourceVersion. If the server
 * is older, or that list fails, the pods are listed anew, which is always correct.
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
    uint64_t number; /* of the last catch-up, under way or completed; 0: none */
    enum { CATCHER_ASKS_SERVER, CATCHER_ASKS_PODS, CATCHER_BEGINS, CATCHER_WAITS } step;
    bool asks; /* a request is in flight */
    char path[256];
    char version[CATCHER_VERSION_BYTES]; /* "": list anew */
    atomic_uint_fast64_t done;           /* the last completed catch-up */
};

/* Copies *pods; the watch and the path in it must outlive the catcher. */
void catcher_init(struct catcher *catcher, const struct catch_up_watch *pods,
                  struct kube_sender sender);
/* Takes the next step of catch-up `number`. Returns true if the number is new: this call has then
 * abandoned the catch-up before it and begun this one. While a request is in flight it does
 * nothing and returns false. Call on the sender's thread, and again after each answer. On
 * completion the catcher wakes the sender. */
bool catcher_work(struct catcher *catcher, uint64_t number);
/* Whether catch-up `number` is complete and no later one is. From any thread. */
bool catcher_is_done(const struct catcher *catcher, uint64_t number);

#endif

/*
 * catcher: has the ledger catch up, by the steps of catch_up.h, as often as it is told to. Private
 * to leadership and hold.
 */
#ifndef KUBE_CATCHER_H
#define KUBE_CATCHER_H

#include "catch_up.h"

#include <stdatomic.h>

struct catcher {
    struct kube_sender sender;
    const char *pods_path;
    /* To be set; see struct leadership_settings. */
    void (*reach)(void *context, uint64_t number, const char *version);
    void *context;

    struct catch_up catch_up;
    uint64_t number; /* of the catching up that is under way, or done; 0: none */
    bool asks;       /* a question of it is under way */
    atomic_uint_fast64_t reached;
};

/* pods_path is borrowed. */
void catcher_init(struct catcher *catcher, const char *pods_path, struct kube_sender sender);
/* Does what is next. A new number begins anew; what is left of another one is left out. True: it
 * has begun. On the sender's thread, and again after each answer. */
bool catcher_work(struct catcher *catcher, uint64_t number);
/* From any thread. */
void catcher_reached(struct catcher *catcher, uint64_t number);
bool catcher_has_reached(const struct catcher *catcher, uint64_t number);

#endif

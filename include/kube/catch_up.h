/*
 * catch_up: the ledger's pods catch up with the API server's.
 *
 * A new leader (leadership.h), a start without a Lease (hold.h) and the end of a pause (regain.h)
 * need a ledger that has every binding made before. Each asks for the resourceVersion of all pods,
 * then asks the watch that feeds the ledger to catch up with it. kube_watch_to_catch_up() gives the
 * real watch; tests and the simulator have theirs.
 */
#ifndef KUBE_CATCH_UP_H
#define KUBE_CATCH_UP_H

#include <stdint.h>

struct catch_up {
    uint64_t number;     /* greater than any before; 0: none */
    const char *version; /* the resourceVersion to catch up with; NULL: list anew */
    /* The store has caught up. On the watch's thread. */
    void (*done)(void *context, uint64_t number);
    void *context;
};

struct catch_up_watch {
    const char *path; /* of what is watched: "/api/v1/pods"; borrowed */
    /* From any thread; copies what it needs. A newer catch-up replaces one that is not done. */
    void (*begin)(void *watch, const struct catch_up *catch_up);
    void *watch;
};

#endif

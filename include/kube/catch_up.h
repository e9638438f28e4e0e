/*
 * catch_up: brings the pods of the ledger up to date with the API server.
 *
 * A new leader (leadership.h), a start without a Lease (hold.h) and the end of a pause (regain.h)
 * need a ledger that has every earlier binding. Each reads the current resourceVersion of all pods,
 * then asks the watch that feeds the ledger to reach it. kube_watch_to_catch_up() returns the real
 * watch; tests and the simulator supply their own.
 */
#ifndef KUBE_CATCH_UP_H
#define KUBE_CATCH_UP_H

#include <stdint.h>

struct catch_up {
    uint64_t number;     /* greater than every earlier one; 0: none */
    const char *version; /* the resourceVersion to reach; NULL: list anew */
    /* The store has caught up. Called on the watch's thread. */
    void (*done)(void *context, uint64_t number);
    void *context;
};

struct catch_up_watch {
    const char *path; /* of the watched collection: "/api/v1/pods"; borrowed */
    /* From any thread; copies what it needs. A newer catch-up replaces an unfinished one. */
    void (*begin)(void *watch, const struct catch_up *catch_up);
    void *watch;
};

#endif

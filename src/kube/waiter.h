/*
 * waiter: what a thread waits in: sets of sockets, and a bell that any thread may ring.
 */
#ifndef KUBE_WAITER_H
#define KUBE_WAITER_H

#include <stdbool.h>
#include <stdint.h>

struct waiter {
    int epoll_fd, bell_fd;
};

/* 0, or a negative errno. */
int waiter_init(struct waiter *waiter);
void waiter_fini(struct waiter *waiter);
/* Until a socket of a set is ready, the bell has been rung, or the time is over (< 0: never). */
void waiter_wait(struct waiter *waiter, int64_t timeout_ms);
void waiter_ring(struct waiter *waiter);

/* A set, to be closed with close(); or a negative errno. */
int waiter_new_set(struct waiter *waiter);

struct waiter_event {
    int fd;
    bool in, out, broken;
};
/* in: wait for input; out: for room. Neither: leave it alone. */
void waiter_watch(int set, int fd, bool in, bool out);
/* What is ready now. Their number. */
int waiter_ready(int set, struct waiter_event *ret_events, int max);

#endif

/*
 * poller: what a thread waits in: sets of sockets, and a bell that any thread may ring.
 */
#ifndef KUBE_TRANSPORT_POLLER_H
#define KUBE_TRANSPORT_POLLER_H

#include <stdbool.h>
#include <stdint.h>

struct poller {
    int epoll_fd, bell_fd;
};

/* 0, or a negative errno. */
int poller_init(struct poller *poller);
void poller_fini(struct poller *poller);
/* Until a socket of a set is ready, the bell has been rung, or the time is over (< 0: never). */
void poller_wait(struct poller *poller, int64_t timeout_ms);
void poller_ring(struct poller *poller);

/* A set, to be closed with close(); or a negative errno. */
int poller_new_set(struct poller *poller);

struct poller_event {
    int fd;
    bool in, out, broken;
};
/* in: wait for input; out: for room. Neither: leave it alone. */
void poller_watch(int set, int fd, bool in, bool out);
/* What is ready now. Their number. */
int poller_ready(int set, struct poller_event *ret_events, int max);

#endif

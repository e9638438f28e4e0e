/*
 * poller: waits for sets of sockets, and for a bell that any thread may ring.
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
/* Returns when a socket of a set is ready, the bell was rung, or after timeout_ms (< 0:
 * unlimited). */
void poller_wait(struct poller *poller, int64_t timeout_ms);
void poller_ring(struct poller *poller);

/* A new set, which the caller closes with close(); or a negative errno. */
int poller_new_set(struct poller *poller);

struct poller_event {
    int fd;
    bool in, out, broken;
};
/* in: wait for input; out: for room to write. Neither: remove fd. */
void poller_watch(int set, int fd, bool in, bool out);
/* Returns how many are ready, without waiting. */
int poller_ready(int set, struct poller_event *ret_events, int max);

#endif

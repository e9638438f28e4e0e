/*
 * timing: the times that the program goes by, computed in one place from the settings.
 *
 * The rule behind them: no two replicas bind at a time, and a replica that starts binds nothing
 * while a binding of its predecessor may still take effect. A binding that leaves at some moment
 * has taken effect, or never will, act_ms later, whatever befalls the process and the connection:
 *
 *     TIMING_DELIVERY_MS  the kernel delivers the POST, or gives it up (TCP_USER_TIMEOUT), or the
 *                         process closes the connection with a reset;
 *     post_life_ms        the API server works on it for so long (?timeout= of the POST,
 *                         PROTOCOL 3.4);
 *     TIMING_SLACK_MS     and notices that this time is over.
 *
 * The program, --check and the simulator (tests/sim) share these functions. All times are
 * milliseconds of base/clock.h.
 */
#ifndef CONFIG_TIMING_H
#define CONFIG_TIMING_H

#include "config/settings.h"

#include <stdint.h>

/* From when a POST leaves until it is with the API server, or never will be. */
#define TIMING_DELIVERY_MS ((int64_t)1000)
/* TCP_USER_TIMEOUT of a connection that carries a POST. Linux counts it from the first
 * retransmission, which follows the first transmission by the retransmission timeout: 200 ms and
 * the round trip. Together they are below TIMING_DELIVERY_MS up to a round trip of 100 ms. */
#define TIMING_UNACKED_MS ((int64_t)700)
/* Within it the API server notices that the time of a request is over. */
#define TIMING_SLACK_MS ((int64_t)1000)
/* A new leader's requests after the old Lease has run out, where the API server answers at once:
 * GET and PUT of the Lease, the resourceVersion of the pods, and the wait for the watch to come to
 * it (300 ms at the most); and the EndpointSlice, which kube-proxy follows. tests/in-cluster
 * measures it. */
#define TIMING_TAKEOVER_MS ((int64_t)1000)

struct timing {
    int64_t bind_ms;      /* kube-scheduler's call of bind is answered within it */
    int64_t post_life_ms; /* ?timeout= of a Binding, whole seconds */
    int64_t unacked_ms;   /* TCP_USER_TIMEOUT of a connection that carries a Binding */
    int64_t act_ms;       /* a Binding that left has taken effect after it, or never will */
    /* After a start without a Lease: a predecessor's bindings are over after it. act_ms. */
    int64_t hold_ms;
    /* With a Lease. */
    int64_t lease_ms;
    int64_t renew_ms;  /* without a renewal for so long, the holder gives the Lease up */
    int64_t retry_ms;  /* between two renewals */
    int64_t decide_ms; /* a leader decides for so long after it sent its last renewal */
    int64_t http_ms;   /* kube-scheduler waits for so long for any answer */
};

struct timing timing_of(const struct settings *settings);

/* The least leaseDurationSeconds that leaves room for two renewals before a leader's time to decide
 * is over. */
size_t timing_least_lease_s(const struct settings *settings);
/* From when the leader vanishes until another replica decides, at the most, where the others reach
 * the API server. */
int64_t timing_leaderless_ms(const struct timing *timing);
/* For how long a leader that vanishes delays pods that ask for no GPU, at the most. kube-scheduler
 * calls filter inside its serial scheduling cycle: each call for a GPU pod that nobody answers
 * lasts http_ms, and the last one begins just before the next leader is reached. */
int64_t timing_stall_ms(const struct timing *timing);

#endif

/*
 * timing: the program's time limits, computed in one place from the settings.
 *
 * They ensure that no two replicas bind at the same time, and that a starting replica binds nothing
 * while a binding of its predecessor may still take effect. A binding that leaves at some time has
 * taken effect act_ms later, or never will, whatever happens to the process and the connection:
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

#include "base/buf.h"
#include "config/settings.h"

#include <stdint.h>

/* From the sending of a POST until the API server has it, or never will. */
#define TIMING_DELIVERY_MS ((int64_t)1000)
/* TCP_USER_TIMEOUT of a connection that carries a POST. Linux counts it from the first
 * retransmission, which follows the first transmission by the retransmission timeout: 200 ms and
 * the round trip. Together they are below TIMING_DELIVERY_MS up to a round trip of 100 ms. */
#define TIMING_UNACKED_MS ((int64_t)700)
/* The API server notices the end of a request's time within it. */
#define TIMING_SLACK_MS ((int64_t)1000)
/* A new leader's requests after the old Lease has expired, if the API server answers at once: GET
 * and PUT of the Lease, the resourceVersion of the pods, the wait for the watch to reach it (at
 * most 300 ms), and the EndpointSlice, which kube-proxy follows. tests/in-cluster measures it. */
#define TIMING_TAKEOVER_MS ((int64_t)1000)

struct timing {
    int64_t bind_ms;      /* kube-scheduler's bind call is answered within it */
    int64_t post_life_ms; /* ?timeout= of a Binding, whole seconds */
    int64_t unacked_ms;   /* TCP_USER_TIMEOUT of a connection that carries a Binding */
    int64_t act_ms;       /* a Binding that left has taken effect after it, or never will */
    /* Equals act_ms: how long bindings wait after a start without a Lease. */
    int64_t hold_ms;
    /* With a Lease: */
    int64_t lease_ms;
    int64_t renew_ms;  /* a leader without a renewal for so long gives the Lease up */
    int64_t retry_ms;  /* between two renewals */
    int64_t decide_ms; /* how long a leader may decide after it sent its last renewal */
    int64_t http_ms;   /* kube-scheduler's time-out for any answer */
};

struct timing timing_of(const struct settings *settings);

/* The least leaseDurationSeconds that allows two renewals within decide_ms. */
size_t timing_least_lease_s(const struct settings *settings);
/* Longest time from the loss of a leader until another replica decides, if the others reach the API
 * server. */
int64_t timing_leaderless_ms(const struct timing *timing);
/* Longest delay that the loss of a leader causes for pods without GPUs. kube-scheduler calls filter
 * inside its serial scheduling cycle (PROTOCOL 2.7): each unanswered call for a GPU pod lasts
 * http_ms, and the last one begins just before the next leader is reached. */
int64_t timing_stall_ms(const struct timing *timing);

/* Writes for operators, in one line, how long the loss of a leader stalls kube-scheduler: the sum
 * (timing_stall_ms()), its parts, and their policy keys. Nothing without leader election. */
void timing_report(const struct settings *settings, struct buf *out);

#endif

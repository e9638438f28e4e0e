/*
 * wake: makes kube-scheduler ask again about the pods that filter rejected.
 *
 * kube-scheduler asks again only after an event that it watches, or after five minutes. If our
 * answers change in favour of pods without one, wake writes a new value into an annotation of an
 * inert CSIStorageCapacity: kube-scheduler watches these, and asks about every pod that an extender
 * rejected (PROTOCOL 6.1). That costs kube-scheduler an attempt per pod. So the next wake comes not
 * before 20 times the cost of one, and not at all if that is too long. A failed write changes
 * nothing but a counter.
 *
 * wake_tick() runs on the sender's thread, as do the answers. The other functions may be called
 * from any thread; with wake NULL they do nothing. wake has a lock of its own, and no clock.
 */
#ifndef EXTENDER_WAKE_H
#define EXTENDER_WAKE_H

#include "base/buf.h"
#include "kube/request.h"

#include <stdbool.h>
#include <stdint.h>

/* Between a change and its wake, so that changes that come together cause one. */
#define WAKE_SETTLE_MS INT64_C(1000)
/* Least time between two wakes, and the most that a wake may have to wait for. */
#define WAKE_LEAST_MS INT64_C(10000)
#define WAKE_MOST_MS INT64_C(300000)
/* A rejected pod counts for so long. kube-scheduler asks about it sooner, so an instance that it
 * has left has none: a pod waits for five minutes and the next look, 30 s later. */
#define WAKE_KEEP_MS INT64_C(360000)
/* Pods that are counted; with more than these no kube-scheduler is fast enough for a wake. */
#define WAKE_PODS_MAX 16384

enum wake_cause {
    WAKE_POLICY,      /* another policy is in force */
    WAKE_NAMESPACE,   /* a namespace has other labels, by which quotas select */
    WAKE_CLAIMS,      /* resource claims are counted again */
    WAKE_QUARANTINE,  /* a quarantine or a shape trap has ended */
    WAKE_GROUP,       /* places are kept for a group, or no more (ledger/gangs.h) */
    WAKE_QUOTA_CLAIM, /* soft claims on quotas have ended (ledger/claims.h) */
    N_WAKE_CAUSES
};

struct wake_settings {
    const char *namespace_, *name; /* of the CSIStorageCapacity; borrowed for wake_new() */
    uint64_t seed;                 /* another one in each process */
    /* Whether this replica decides. From any thread. */
    bool (*may_wake)(void *context, int64_t now_ms);
    void *context;
};

struct wake;

struct wake *wake_new(const struct wake_settings *settings, struct kube_sender sender);
/* Call after the sender has stopped. */
void wake_free(struct wake *wake);

/* A kube_task. */
int64_t wake_tick(void *context, int64_t now_ms);

/* At that time our answers change in favour of pods. Of several times of a cause the first counts
 * until its wake. */
void wake_note(struct wake *wake, enum wake_cause cause, int64_t at_ms);

/* When a cause that is noted now would wake at the earliest. wake NULL: now, as pods come by
 * themselves or not at all. */
int64_t wake_earliest_ms(struct wake *wake, int64_t now_ms);

/* kube-scheduler asks about a pod. Gaps between calls tell how long an attempt takes. */
void wake_asked(struct wake *wake, int64_t now_us);
/* The pod was rejected, and comes again only after an event. */
void wake_rejected(struct wake *wake, const char *uid, int64_t now_ms);
/* The pod is not rejected any more, or is bound or deleted. */
void wake_settled(struct wake *wake, const char *uid);

/* Prometheus text; with wake NULL zeros. */
void wake_metrics(const struct wake *wake, struct buf *out);

#endif

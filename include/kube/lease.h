/*
 * lease: elects one of several replicas by a Lease (coordination.k8s.io/v1).
 *
 * A state machine without I/O or clock: answers, watched states of the Lease and the time go in,
 * requests come out. The holder renews by a PUT on its last write. After a failed PUT, and without
 * the Lease, it reads first. A Lease is free if it has no holder, or if it has not changed for its
 * duration by our own clock; timestamps of other processes are never compared with ours. Every PUT
 * carries the resourceVersion that was read; a conflict loses the round. Fields of other writers
 * stay.
 *
 * A missing Lease may have been deleted while its holder still leads. So a replica that finds none
 * creates it only after one duration in which every reading found none; a cluster's very first
 * leader waits that long, too. A leader that learns of the deletion stops leading and creates the
 * Lease at once, as it knows when it renewed it last. It then leads a new term. (If the Lease is
 * deleted twice within its duration, there may still be two leaders.)
 *
 * A leader knows until when no other replica can lead: one duration from the sending of its last
 * successful renewal, as the API server accepted that no sooner. This is no fence for a process
 * that is stopped between check and action; its actions must end by themselves.
 *
 * Source: client-go's leaderelection (PROTOCOL 9.1 and 9.2).
 */
#ifndef KUBE_LEASE_H
#define KUBE_LEASE_H

#include "kube/request.h"

#include <jansson.h>

struct lease_settings {
    const char *namespace_;
    const char *name;
    const char *identity; /* unique to this process */
    /* duration > renew_deadline > 1.2 × retry; duration in whole seconds. */
    int64_t duration_ms;
    int64_t renew_deadline_ms; /* a leader without a renewal for so long stops leading */
    int64_t retry_ms;          /* between two renewals; a follower waits up to 120 % longer */
    uint64_t seed;             /* of the jitter */
};

struct lease;
struct lease *lease_new(const struct lease_settings *settings);
void lease_free(struct lease *lease);

struct lease_action {
    bool sends;       /* lease_answered() follows */
    int64_t until_ms; /* else: when to call lease_next() again, unless something happens before */
    struct kube_request request; /* valid until the next call */
};
/* Returns what to do now; at most one request is in flight. wall_ms: since 1970, for the times in
 * the Lease. */
struct lease_action lease_next(struct lease *lease, int64_t now_ms, int64_t wall_ms);
void lease_answered(struct lease *lease, const struct kube_answer *answer);
/* A watch showed the Lease: a follower that sees it free tries at once. NULL: the Lease was
 * deleted, and a leader stops leading. */
void lease_seen(struct lease *lease, int64_t now_ms, const json_t *object);

/* The goal; LEASE_LEAD at first. */
enum lease_aim {
    LEASE_LEAD, /* holds it, or takes it as soon as it is free */
    LEASE_KEEP, /* keeps the Lease while it leads, but never takes it */
    /* Stops leading at once, gives the Lease up and never takes it. Set it once no action can take
     * effect any more. */
    LEASE_LEAVE,
};
/* Setting the same goal again does nothing. Without LEASE_LEAD the Lease is still read, so the
 * state is known, and LEASE_LEAD tries at once. */
void lease_set_aim(struct lease *lease, int64_t now_ms, enum lease_aim aim);
/* The goal is LEASE_LEAVE, and the Lease is given up. (An unanswered write of ours may still
 * arrive; the next reading gives that up, too.) */
bool lease_has_left(const struct lease *lease);

struct lease_status {
    bool leads;
    uint64_t term;      /* grows each time this replica begins to lead */
    int64_t renewed_ms; /* while it leads: when the last successful renewal was sent */
    const char *holder; /* as last seen; "": nobody; valid until the next call */
    uint64_t losses;    /* times that leading ended, other than by LEASE_LEAVE */
    uint64_t failures;  /* rounds that failed; being a follower is no failure */
    const char *why;    /* the last failure, or ""; valid until the next call */
};
/* The state after the last call above. */
struct lease_status lease_status(const struct lease *lease);

#endif

/*
 * lease: which one of several replicas leads, by a Lease (coordination.k8s.io/v1) that each tries
 * to hold.
 *
 * A state machine without I/O and without a clock: answers, sights of the Lease and the time go in,
 * requests come out. The holder renews by a PUT on its last write; where that fails, and for who
 * holds nothing, the Lease is read first. A Lease is free when it has no holder, and when for its
 * duration nothing changed in it by our own clock since we saw it: times that others wrote are
 * never compared with ours. Every PUT carries the resourceVersion that was read; a conflict is a
 * lost round, and nothing is forced. What others wrote into the object stays.
 *
 * A missing Lease may have been deleted while its holder still leads. So a replica that finds none
 * creates it only after one duration in which every reading found none; a cluster's very first
 * leader waits that long, too. A leader that learns of the deletion stops leading and creates the
 * Lease at once, as it knows when it renewed it last. It then leads a new term. (If the Lease is
 * deleted twice within its duration, there may still be two leaders.)
 *
 * Who leads knows until when nobody else can: from the sending of the last renewal that succeeded,
 * as the API server took it no sooner. It is no fence for a process that was stopped between
 * looking and acting; what it does must end by itself.
 *
 * Source: client-go's leaderelection (extender contract 9).
 */
#ifndef KUBE_LEASE_H
#define KUBE_LEASE_H

#include "kube/request.h"

#include <jansson.h>

struct lease_settings {
    const char *namespace_;
    const char *name;
    const char *identity; /* of this process alone */
    /* duration > renew_deadline > 1.2 × retry; duration in whole seconds. */
    int64_t duration_ms;
    int64_t renew_deadline_ms; /* without a renewal for so long, it leads no more */
    int64_t retry_ms; /* between two renewals; of who does not lead, and up to 120 % more */
    uint64_t seed;    /* of the jitter */
};

struct lease;
struct lease *lease_new(const struct lease_settings *settings);
void lease_free(struct lease *lease);

struct lease_action {
    bool sends;                  /* lease_answered() follows */
    int64_t until_ms;            /* else: when to be asked again, if nothing happens before */
    struct kube_request request; /* valid until the next call */
};
/* What to do now; at most one request is under way. wall_ms: since 1970, for people to read. */
struct lease_action lease_next(struct lease *lease, int64_t now_ms, int64_t wall_ms);
void lease_answered(struct lease *lease, const struct kube_answer *answer);
/* A watch showed the Lease, or its end (NULL): a hint, so that who waits tries at once. */
void lease_seen(struct lease *lease, int64_t now_ms, const json_t *object);

/* What it is to do with the Lease; in the beginning, to lead. */
enum lease_aim {
    LEASE_LEAD, /* holds it, or takes it as soon as it is free */
    LEASE_KEEP, /* goes on where it leads, and takes nothing */
    /* Leads no more, and tells the others; takes nothing. When all that it did is over. */
    LEASE_LEAVE,
};
/* May be said again and again. Who takes nothing goes on looking, so as to know whether the Lease
 * is free when it is to lead: then it tries at once. */
void lease_set_aim(struct lease *lease, int64_t now_ms, enum lease_aim aim);
/* It is to leave, and nothing is left to be told. (A write of ours that nobody answered may still
 * arrive: who goes on looking gives that up, too.) */
bool lease_has_left(const struct lease *lease);

struct lease_status {
    bool leads;
    uint64_t term;      /* grows each time it begins to lead */
    int64_t renewed_ms; /* while it leads: when the last renewal that succeeded was sent */
    const char *holder; /* as last seen: "" nobody; valid until the next call */
    uint64_t losses;    /* it led, and did not give that up by itself */
    uint64_t failures;  /* rounds that failed; being a follower is no failure */
    const char *why;    /* of the last failure; valid until the next call; "" */
};
/* As of the last of the functions above that was given the time. */
struct lease_status lease_status(const struct lease *lease);

#endif

/*
 * slice: keeps the EndpointSlice of a Service without a selector: one endpoint, the leader's.
 *
 * A state machine without I/O and without a clock, like lease.h: while its replica leads, the slice
 * is read and written until it says what it should, and again when somebody else changed it. It has
 * the Service's name. Another leader writes it next; nobody takes an address out, as calls to it
 * fail either way.
 *
 * Source: discovery.k8s.io/v1. The type of the addresses cannot be changed: then it is made anew.
 */
#ifndef KUBE_SLICE_H
#define KUBE_SLICE_H

#include "kube/request.h"

#include <jansson.h>

/* Borrowed for its life. */
struct slice_settings {
    const char *namespace_;
    const char *service;
    const char *address; /* IPv4 or IPv6 */
    const char *port_name;
    uint64_t seed; /* of the jitter after failures */
};

struct slice;
struct slice *slice_new(const struct slice_settings *settings);
void slice_free(struct slice *slice);

/* The port; before it leads. */
void slice_serve(struct slice *slice, unsigned port);
/* Whether this replica leads. When it begins to, the slice is looked at. */
void slice_lead(struct slice *slice, int64_t now_ms, bool leads);

struct slice_action {
    bool sends;                  /* slice_answered() follows */
    int64_t until_ms;            /* else: when to be asked again */
    struct kube_request request; /* valid until the next call */
};
/* At most one request is under way. */
struct slice_action slice_next(struct slice *slice, int64_t now_ms);
void slice_answered(struct slice *slice, const struct kube_answer *answer);
/* A watch showed it, or its end (NULL). */
void slice_seen(struct slice *slice, int64_t now_ms, const json_t *object);

/* Of the last failure, since then nothing succeeded: one line; "" where all is well. */
const char *slice_why(const struct slice *slice);

#endif

/*
 * slice: keeps the EndpointSlice of a Service without a selector: one endpoint, the leader's.
 *
 * A state machine without I/O or clock, like lease.h. While its replica leads, it reads and writes
 * the slice until the content is right, and again after another writer changed it. The slice has
 * the Service's name. The next leader replaces the address; a leader that stops does not remove its
 * own, as calls to it fail either way.
 *
 * Source: discovery.k8s.io/v1. addressType is immutable: if it is wrong, the slice is deleted and
 * created anew.
 */
#ifndef KUBE_SLICE_H
#define KUBE_SLICE_H

#include "kube/request.h"

#include <jansson.h>

/* The texts are borrowed until slice_free(). */
struct slice_settings {
    const char *namespace_;
    const char *service;
    const char *address; /* IPv4 or IPv6 */
    const char *port_name;
    const char *users_port_name;
    uint64_t seed; /* of the jitter after failures */
};

struct slice;
struct slice *slice_new(const struct slice_settings *settings);
void slice_free(struct slice *slice);

/* Sets the ports; before the replica leads. users_port 0: the slice has none. */
void slice_serve(struct slice *slice, unsigned port, unsigned users_port);
/* Reports whether this replica leads. When it begins to, the slice is read. */
void slice_lead(struct slice *slice, int64_t now_ms, bool leads);

struct slice_action {
    bool sends;                  /* slice_answered() follows */
    int64_t until_ms;            /* else: when to call slice_next() again */
    struct kube_request request; /* valid until the next call */
};
/* At most one request is in flight. */
struct slice_action slice_next(struct slice *slice, int64_t now_ms);
void slice_answered(struct slice *slice, const struct kube_answer *answer);
/* A watch showed the slice, or its deletion (NULL). */
void slice_seen(struct slice *slice, int64_t now_ms, const json_t *object);

/* The last failure, one line; "" once a read or write succeeded. */
const char *slice_why(const struct slice *slice);

#endif

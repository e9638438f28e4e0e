/*
 * bind_wire: what is sent to the API server about one pod, and what its answers say. Private to
 * extender.
 *
 * No state and no decision. Source: Kubernetes API v1, Binding, Pod and Status (PROTOCOL 3.2
 * to 3.4).
 */
#ifndef EXTENDER_BIND_BIND_WIRE_H
#define EXTENDER_BIND_BIND_WIRE_H

#include "base/arena.h"
#include "base/err.h"
#include "extender/bind/bind_attempt.h"
#include "extender/binds.h"
#include "kube/request.h"
#include "types/facts.h"
#include "types/policy.h"

/* Checks the names, because they go into paths unescaped. -EINVAL: err names the first that
 * Kubernetes does not allow. */
int bind_wire_check(const struct bind_args *args, struct err *err);

/* These need checked names. */
const char *bind_wire_get_path(const struct bind_args *args, struct arena *arena);
const char *bind_wire_post_path(const struct bind_args *args, int64_t post_life_ms,
                                struct arena *arena);
/* Includes the UID as precondition and the annotation of the binder. */
const char *bind_wire_body(const struct bind_args *args, const char *bound_by, struct arena *arena);

struct bind_reply {
    enum bind_posted posted;
    int64_t retry_after_ms;
    const char *why; /* unset for POSTED_BOUND; in the arena */
};
void bind_wire_read_reply(const struct kube_answer *answer, struct arena *arena,
                          struct bind_reply *ret_reply);

struct bind_sight {
    enum bind_finding finding;
    bool finished;
    int64_t retry_after_ms;
    const char *node_name;         /* for FOUND_BOUND and FOUND_ELSEWHERE; else "" */
    const char *bound_by;          /* the annotation, truncated; "" if absent */
    const struct pod_facts *facts; /* for FOUND_UNBOUND */
    const char *why;               /* unset for FOUND_BOUND and FOUND_UNBOUND; in the arena */
};
void bind_wire_read_pod(const struct kube_answer *answer, const struct bind_args *args,
                        const struct policy *policy, struct arena *arena,
                        struct bind_sight *ret_sight);

#endif

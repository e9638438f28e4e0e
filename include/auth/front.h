/*
 * front: users whom a front proxy of the API server has authenticated.
 *
 * kube-apiserver forwards requests of an APIService with the user in headers. Which certificates
 * may send them, and the headers' names, are in the ConfigMap extension-apiserver-authentication of
 * kube-system: front_store() takes it from a reflector. Until it is there, when it is gone and when
 * it cannot be read, no front proxy is trusted. From any thread.
 *
 * Source: Kubernetes' documents on the aggregation layer and on the authenticating proxy.
 */
#ifndef AUTH_FRONT_H
#define AUTH_FRONT_H

#include "http/exchange.h"
#include "http/tls.h"
#include "kube/reflector.h"

#include <stdbool.h>
#include <stdint.h>

struct front;

/* A user, in the exchange's arena. */
struct front_user {
    const char *name;
    const char *members; /* of a SubjectAccessReview's spec: user, groups, uid, extra */
    uint64_t caller;     /* auth_caller_of() */
    bool is_master;      /* of the group system:masters */
};

/* Borrows tls until front_free(). */
struct front *front_new(struct tls *tls);
void front_free(struct front *front);

struct reflector_store front_store(struct front *front);

/* Only in a gate's judge(). NULL: *ret_fault is the reason, in the arena or a literal. */
const struct front_user *front_user(struct front *front, struct exchange *exchange,
                                    const char **ret_fault);

#endif

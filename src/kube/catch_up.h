/*
 * catch_up: how far the ledger of a new leader has to come. Private to kube.
 *
 * resourceVersions may be compared from Kubernetes 1.35 on (extender contract 8.1): there a
 * consistent list of one pod says the one to come to. Whatever keeps that from being known, the
 * pods are listed anew, which is right in any case.
 */
#ifndef KUBE_CATCH_UP_H
#define KUBE_CATCH_UP_H

#include "kube/request.h"

#define CATCH_UP_VERSION_BYTES ((size_t)64)

struct catch_up {
    enum { CATCH_UP_VERSION, CATCH_UP_PODS, CATCH_UP_KNOWN, CATCH_UP_OVER } step;
    char path[256];
    char version[CATCH_UP_VERSION_BYTES]; /* "": list anew */
};

void catch_up_begin(struct catch_up *catch_up, const char *pods_path);

enum catch_up_want {
    CATCH_UP_ASK,   /* catch_up_answered() follows */
    CATCH_UP_REACH, /* the version; NULL: list anew */
    CATCH_UP_NOTHING,
};
struct catch_up_action {
    enum catch_up_want want;
    struct kube_request request;
    const char *version;
};
struct catch_up_action catch_up_next(struct catch_up *catch_up);
void catch_up_answered(struct catch_up *catch_up, const struct kube_answer *answer);

#endif

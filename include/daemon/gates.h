/*
 * gates: which clients may call which routes, by the policy.
 */
#ifndef DAEMON_GATES_H
#define DAEMON_GATES_H

#include "auth/auth.h"
#include "auth/front.h"
#include "config/settings.h"
#include "daemon/beside.h"
#include "daemon/election.h"
#include "extender/extender.h"
#include "http/server.h"

#include <stdatomic.h>
#include <stdbool.h>

struct gates {
    const struct settings *settings;
    bool has_tls;
    const struct election *election;   /* NULL: the only replica */
    struct beside *beside;             /* NULL: no instance beside each kube-scheduler */
    const struct extender *extender;   /* says which pods are only observed; set by main */
    atomic_llong warned_at;            /* last warning about a client that may not call the verbs */
    atomic_bool has_listed_namespaces; /* once; asked only beside a kube-scheduler */

    struct gate verbs;  /* for kube-scheduler, by certificate, while this replica decides */
    struct gate people; /* for users, by certificate or token */
    struct gate files;  /* for all: the page, which holds no data */
    struct auth *auth;

    struct gate fronted; /* for the API server on behalf of users */
    struct front *front; /* NULL: not served */
};

/* Borrows settings, election and beside (both may be NULL) until gates_fini(). The struct must not
 * be moved. sender: for token reviews; sender.send NULL: none. */
void gates_init(struct gates *ret_gates, const struct settings *settings, bool has_tls,
                struct kube_sender sender, const struct election *election, struct beside *beside);
/* Call after the sender has stopped. */
void gates_fini(struct gates *gates);

void gates_metrics(const struct gates *gates, struct buf *out);

#endif

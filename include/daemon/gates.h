/*
 * gates: who is let in to which routes, by the policy.
 */
#ifndef DAEMON_GATES_H
#define DAEMON_GATES_H

#include "auth/auth.h"
#include "config/settings.h"
#include "daemon/beside.h"
#include "daemon/election.h"
#include "http/server.h"

#include <stdatomic.h>
#include <stdbool.h>

struct gates {
    const struct settings *settings;
    bool has_tls;
    const struct election *election; /* NULL: there is one replica */
    struct beside *beside;           /* NULL: no instance beside each kube-scheduler */
    atomic_llong warned_at;          /* of who is not let in to the verbs */

    struct gate verbs;  /* kube-scheduler, by its certificate, where this replica decides */
    struct gate people; /* by their certificates, or tokens */
    struct auth *auth;
};

/* Borrows the settings, the election and beside (both may be NULL). The gates must stay where they
 * are. sender: to the API server; sender.send NULL: there is none. */
void gates_init(struct gates *ret_gates, const struct settings *settings, bool has_tls,
                struct kube_sender sender, const struct election *election, struct beside *beside);
/* After the sender has stopped. */
void gates_fini(struct gates *gates);

void gates_metrics(const struct gates *gates, struct buf *out);

#endif

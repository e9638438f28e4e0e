/*
 * gates: who is let in to which routes, by the policy.
 */
#ifndef GATES_H
#define GATES_H

#include "config/settings.h"
#include "http/server.h"

#include <stdatomic.h>
#include <stdbool.h>

struct gates {
    const struct settings *settings;
    bool has_tls;
    atomic_llong warned_at; /* of who is not let in to the verbs */

    struct gate verbs;  /* kube-scheduler, by its certificate */
    struct gate people; /* by their certificates */
};

/* Borrows the settings. The gates must stay where they are. */
void gates_init(struct gates *ret_gates, const struct settings *settings, bool has_tls);

#endif

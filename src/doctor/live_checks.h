/*
 * live_checks: what only the API server can answer.
 */
#ifndef DOCTOR_LIVE_CHECKS_H
#define DOCTOR_LIVE_CHECKS_H

#include "api_server.h"
#include "config/options.h"
#include "config/settings.h"
#include "doctor/findings.h"
#include "inventory/inventory.h"

#include <stdbool.h>

#define LIVE_NAME_MAX 640

struct live_checks {
    const struct settings *settings;
    struct findings *findings;
    struct api_server *server;
    const char *account;        /* NAMESPACE/NAME, or the name of a user */
    char caller[LIVE_NAME_MAX]; /* "": unknown */
    bool has_clock;
    int64_t behind_ms; /* how far our clock is behind the API server's; with has_clock */
};

/* The account of the manifests that belong to the policy. */
const char *live_checks_account(const struct settings *settings);

/* The versions of the API server and of the nodes; false: the API server cannot be asked. */
bool version_checks_run(const struct live_checks *checks);
/* The clock, and who asks. */
void clock_checks_run(struct live_checks *checks);
/* Each rule of the manifests. After the clock, which finds the caller. */
void rights_checks_run(const struct live_checks *checks);
/* The objects that we write: those of the leader, and that of wake. */
void leader_checks_run(const struct live_checks *checks);

/* Lists everything that the service lists, in at most a minute. False: a kind without which nothing
 * is decided is missing, and a finding says so. */
bool follow_run(const struct settings *settings, struct inventory *inventory,
                const struct kube_target *target, struct kube_credentials *credentials,
                struct findings *findings);

#endif

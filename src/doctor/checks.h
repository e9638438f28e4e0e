/*
 * checks: what doctor_run() checks, one after the other, but for kube-scheduler's file.
 */
#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H

#include "base/err.h"
#include "config/options.h"
#include "config/settings.h"
#include "doctor/findings.h"
#include "inventory/inventory.h"
#include "kube/credentials.h"
#include "kube/target.h"
#include "scheduler_checks.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One request after the other to the API server, each waited for.
 *
 * The doctor only asks: GETs, and POSTs of reviews, which change nothing. */

struct api_server;

/* Borrows both until api_server_close(). max_answer_bytes: of one answer. */
int api_server_open(const struct kube_target *target, struct kube_credentials *credentials,
                    size_t max_answer_bytes, struct api_server **ret_server, struct err *err);
void api_server_close(struct api_server *server);

struct api_reply {
    unsigned status; /* of HTTP; 0: there was no answer */
    json_t *object;  /* of an answer 2xx that is a JSON object; else NULL */
    char why[160];   /* why object is NULL */
};

/* body NULL: a GET, else a POST of a review, whose reference it takes over. At most 15 s. The
 * caller frees with api_reply_fini(). */
void api_server_ask(struct api_server *server, const char *path, json_t *body,
                    struct api_reply *ret_reply);
void api_reply_fini(struct api_reply *reply);

/* The first names of many, and their number: "a, b, c and 4 more". Initialize with zeros. */
struct first_names {
    char text[320]; /* the first names */
    size_t n;
    char shown[360];
};

void first_names_add(struct first_names *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Valid until the next call. */
const char *first_names_text(struct first_names *list);

/* What only the API server can answer. */
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
bool server_checks_versions(const struct live_checks *checks);
/* The clock, and who asks. */
void server_checks_clock(struct live_checks *checks);
/* Each rule of the manifests. After the clock, which finds the caller. */
void rights_checks_run(const struct live_checks *checks);
/* The objects that we write: those of the leader, and that of wake. */
void leader_checks_run(const struct live_checks *checks);

/* Whether the objects of manifests/overlays/claims and kube-scheduler's file agree. file: NULL if
 * it is not given. */
void claims_checks_run(const struct live_checks *checks, const struct scheduler_file *file);

/* Nodes in quarantine, by the view of the aggregated API; nothing without it. */
void running_checks_sick(const struct live_checks *checks);
/* Whether emergency off is on, by the pods of kube-scheduler. */
void running_checks_schedulers(const struct live_checks *checks);

/* Lists everything that the service lists, in at most a minute. False: a kind without which nothing
 * is decided is missing, and a finding says so. */
bool follow_run(const struct settings *settings, struct inventory *inventory,
                const struct kube_target *target, struct kube_credentials *credentials,
                struct findings *findings);

/* Nodes, quotas and running pods against the policy, and objects that were left out. file: NULL if
 * it is not given. */
void cluster_checks_run(struct inventory *inventory, const struct scheduler_file *file,
                        struct findings *findings);

/* The certificates that the policy names, and kube-scheduler's. ours: this service's extender in
 * kube-scheduler's configuration; NULL: unknown. Nothing without TLS in the policy. */
void certificate_checks_run(const struct settings_tls *tls, const json_t *ours,
                            struct findings *findings);

#endif

/*
 * settings: everything that is configured, read from the policy file.
 *
 * config/scheduler-policy.yaml is the manual of the file; its values equal the built-in defaults.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "base/buf.h"
#include "base/err.h"
#include "types/policy.h"

#include <stdbool.h>
#include <stddef.h>

/* Each bounds something that the outside can grow. */
struct settings_limits {
    size_t request_bytes; /* an HTTP body */
    size_t bodies_bytes;  /* of all of them under way; at least twice request_bytes */
    size_t request_s;     /* for one to come in; and a period in which its answer must be read on */
    size_t connections;   /* open at once, all sockets together */
    size_t file_bytes;    /* a cluster file */
    size_t object_bytes;  /* one object in it or of the API server's, after dropping what nobody
                             reads */
    size_t nodes;
    size_t pods;
    size_t replicas; /* placed one by one in a dry run, all workloads together */
};

/* Of a live cluster. */
struct settings_kubernetes {
    size_t watch_silence_s; /* on a watch, before the API server is asked about it */
    size_t watch_lag_s;     /* events may have waited unread, before the data are stale */
    size_t bind_timeout_s;  /* kube-scheduler is answered within it */
};

/* Which of several replicas decides (kube/lease.h). */
struct settings_election {
    bool enabled;
    char *namespace_; /* of the Lease and the EndpointSlice; "": our own */
    char *lease_name;
    char *service_name; /* whose EndpointSlice the leader writes; "": none */
    size_t lease_s;
    size_t renew_s;
    size_t retry_s;
};

/* Of people who come with a token. */
struct settings_authentication {
    size_t cache_s; /* what a token was allowed is remembered so long; 0: not at all */
};

/* kube-scheduler adds up each default plugin's score (0 to 100) times that plugin's weight, and
 * each extender's score times its weight times 10. From SCHEDULER_WEIGHT_THAT_DECIDES on, one point
 * of ours outweighs all default plugins together. Source of the weights: getDefaultPlugins() and
 * applyDynamicResources() in pkg/scheduler/apis/config/v1/default_plugins.go, Kubernetes 1.34 to
 * 1.37; tests/control-plane/test_manifests.py compares the sum with a real kube-scheduler's. */
enum {
    SCHEDULER_PLUGIN_WEIGHTS = 3    /* TaintToleration */
                               + 2  /* NodeAffinity */
                               + 2  /* PodTopologySpread */
                               + 2  /* InterPodAffinity */
                               + 2  /* DynamicResources, on by default since 1.34 */
                               + 1  /* NodeResourcesFit */
                               + 1  /* NodeResourcesBalancedAllocation */
                               + 1, /* ImageLocality */
    SCHEDULER_WEIGHT_THAT_DECIDES = SCHEDULER_PLUGIN_WEIGHTS * 100 / 10 + 1,
    /* The same without DynamicResources: what was enough, and shipped, before Kubernetes 1.34. */
    SCHEDULER_WEIGHT_BEFORE_DRA = SCHEDULER_WEIGHT_THAT_DECIDES - 2 * 100 / 10
};

/* How kube-scheduler is configured, which we cannot see. */
struct settings_scheduler {
    size_t weight;         /* of this extender */
    size_t http_timeout_s; /* of this extender: kube-scheduler waits so long for any answer */
    bool other_extenders;
    bool all_pods;        /* all come here: only warned of */
    bool beside;          /* an instance of ours runs beside each kube-scheduler, without a Lease */
    size_t lease_s;       /* kube-scheduler's leaderElection.leaseDuration */
    size_t renew_s;       /* and its renewDeadline */
    size_t quota_claim_s; /* how long filter's claim on quotas lasts; 0: it makes none */
    size_t shortlist;     /* as in the policy file: settings_shortlist() says what holds */
};

/* Client certificates, by what their subject says: one of these is enough. */
struct settings_clients {
    char **names;
    size_t n_names;
    char **organizations;
    size_t n_organizations;
};

/* Paths; "" each where there is no TLS. */
struct settings_tls {
    char *certificate_file;
    char *private_key_file;
    char *client_ca_file;
    char *client_crl_file;                  /* "": none is revoked */
    struct settings_clients verb_clients;   /* nobody named: all that are trusted */
    struct settings_clients people_clients; /* nobody named: none */
};

#define SETTINGS_WARNINGS_MAX 3

struct settings {
    /* ADDR:PORT, owned. */
    char *listen_verbs;
    char *listen_people;
    char *listen_probes;
    bool insecure_verbs;
    bool insecure_people;
    struct settings_tls tls;
    struct settings_authentication authentication;
    struct settings_scheduler scheduler;
    struct settings_kubernetes kubernetes;
    struct settings_election election;
    size_t decisions_kept; /* 0: none */
    struct settings_limits limits;
    struct policy policy;
    struct err warnings[SETTINGS_WARNINGS_MAX];
    size_t n_warnings;
};

void settings_init(struct settings *ret_settings);
void settings_fini(struct settings *settings);

/* Reads the file over what is there. 0, or a negative errno with
 * `FILE:LINE:COLUMN: path.to.key: what is wrong and what would be right` (settings is then to be
 * freed only). */
int settings_read_file(struct settings *settings, const char *path, struct err *err);
/* The same for text; file is the name in messages. */
int settings_read_text(struct settings *settings, const char *file, const char *text, size_t len,
                       struct err *err);

/* How many nodes filter may hand on at the most; 0: all that fit, as nobody can say that our first
 * choice wins. */
size_t settings_shortlist(const struct settings *settings);
/* What of the file is right, and has a danger that cannot be seen from here: the i-th of them, with
 * its place. NULL: there are no more. */
const char *settings_warning(const struct settings *settings, size_t i);

/* The policy in force, as a policy file that reads back to the same settings. */
void settings_print(const struct settings *settings, struct buf *out);

#endif

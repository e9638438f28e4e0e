/*
 * settings: the complete configuration, read from the policy file.
 *
 * config/scheduler-policy.yaml is its reference; its values equal the built-in defaults.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "formats/json_parse.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Each limits an input that outsiders can grow. */
struct settings_limits {
    size_t request_bytes; /* one HTTP body */
    /* One body on the users' socket: its bytes (never more than request_bytes), its values, and
     * the memory of their tree. */
    size_t user_request_bytes;
    size_t user_request_values;
    size_t user_request_tree_bytes;
    size_t bodies_bytes; /* all bodies in flight; at least twice request_bytes */
    size_t request_s;    /* to receive a request; also how long a client may read too slowly */
    size_t connections;  /* open at once on all sockets */
    size_t file_bytes;   /* a cluster file */
    size_t object_bytes; /* one object in it or of the API server, without unused subtrees */
    size_t nodes;
    size_t pods;
    size_t replicas; /* placed one by one in a dry run, all workloads together */
};

/* For a live cluster. */
struct settings_kubernetes {
    size_t watch_silence_s; /* silence on a watch before the API server is probed */
    size_t watch_lag_s;     /* how long events may wait unread before the data count as stale */
    size_t bind_timeout_s;  /* kube-scheduler gets an answer within it */
};

/* Election of the deciding replica (kube/lease.h). */
struct settings_election {
    bool enabled;
    char *namespace_; /* of the Lease and the EndpointSlice; "": this pod's */
    char *lease_name;
    char *service_name; /* the leader writes its EndpointSlice; "": none */
    size_t lease_s;
    size_t renew_s;
    size_t retry_s;
};

/* For users with a token. */
struct settings_authentication {
    size_t cache_s; /* how long an allowed token is cached; 0: not at all */
};

/* kube-scheduler adds up each default plugin's score (0 to 100) times that plugin's weight, and
 * each extender's score times its weight times 10. From SCHEDULER_WEIGHT_THAT_DECIDES on, one point
 * of ours outweighs all default plugins together (PROTOCOL 2.6). The weights are those of
 * Kubernetes 1.34 to 1.37; tests/control-plane/test_manifests.py compares their sum with a real
 * kube-scheduler's. */
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
    /* The same without DynamicResources: sufficient, and shipped, before Kubernetes 1.34. */
    SCHEDULER_WEIGHT_BEFORE_DRA = SCHEDULER_WEIGHT_THAT_DECIDES - 2 * 100 / 10
};

/* kube-scheduler's configuration, which this program cannot see. */
struct settings_scheduler {
    size_t weight;         /* of this extender */
    size_t http_timeout_s; /* of this extender: kube-scheduler's time-out for any answer */
    bool other_extenders;
    bool beside;      /* an instance beside each kube-scheduler, without a Lease */
    size_t lease_s;   /* kube-scheduler's leaderElection.leaseDuration */
    size_t renew_s;   /* kube-scheduler's renewDeadline */
    size_t shortlist; /* as in the policy file; policy.shortlist is the effective value */
};

/* Client certificates by subject: one match is enough. */
struct settings_clients {
    char **names;
    size_t n_names;
    char **organizations;
    size_t n_organizations;
};

/* Paths; all "" without TLS. */
struct settings_tls {
    char *certificate_file;
    char *private_key_file;
    char *client_ca_file;
    char *client_crl_file;                  /* "": none is revoked */
    struct settings_clients verb_clients;   /* empty: every trusted certificate */
    struct settings_clients people_clients; /* empty: none */
};

#define SETTINGS_FILE_BYTES_MAX ((size_t)1024 * 1024)
#define SETTINGS_WARNINGS_MAX 6

struct settings {
    /* ADDR:PORT, owned. */
    char *listen_verbs;
    char *listen_people;
    char *listen_probes;
    bool insecure_verbs;
    bool insecure_people;
    struct settings_tls tls;
    struct settings_authentication authentication;
    bool aggregated_api; /* serves /apis and /openapi to the API server */
    struct settings_scheduler scheduler;
    struct settings_kubernetes kubernetes;
    struct settings_election election;
    char *wake_object;     /* name of a CSIStorageCapacity; "": none */
    size_t decisions_kept; /* 0: none */
    struct settings_limits limits;
    struct policy policy;
    struct err warnings[SETTINGS_WARNINGS_MAX];
    size_t n_warnings;
};

void settings_init(struct settings *ret_settings);
/* Of a user's request. */
struct json_budget settings_request_budget(const struct settings_limits *limits);
void settings_fini(struct settings *settings);

/* Reads the file over the present values. On failure returns a negative errno with
 * `FILE:LINE:COLUMN: path.to.key: what is wrong and what would be right`; the settings may then
 * only be freed. */
int settings_read_file(struct settings *settings, const char *path, struct err *err);
/* The same for text; file is its name in messages. */
int settings_read_text(struct settings *settings, const char *file, const char *text, size_t len,
                       struct err *err);

/* The policy of settings with these values, which are as settings_json() writes them: policy_drop()
 * it. -EINVAL: `path.to.key: what is wrong and what would be right`. */
int settings_read_policy(const json_t *values, const struct policy **ret_policy, struct err *err);

/* New settings with the defaults, for a reload. The caller holds the policy in them: the last
 * policy_drop() frees the settings. */
struct settings *settings_new(void);
/* Reads over merged what would be in force with the wanted values: those that need a restart stay
 * as they are. -EINVAL: the two do not go together. */
int settings_merge(const struct settings *in_force, const struct settings *wanted,
                   struct settings *merged, struct err *err);

/* A key with two values, as JSON; "": it has none. Of maps and quotas each entry is a key. */
struct settings_difference {
    const char *key;
    const char *before, *after;
    bool needs_restart;
    bool needs_lists; /* objects must be listed again */
};
/* In the arena; a long value is cut off. */
size_t settings_differences(const struct settings *before, const struct settings *after,
                            struct arena *arena, struct settings_difference **ret_differences);
/* The values as a JSON object. */
void settings_json(const struct settings *settings, struct buf *out);
/* {"values": ...} in the arena, as struct api.policy() of settings that no service has loaded, so
 * there is no digest and no fault. context: a struct settings. */
char *settings_policy_text(void *context, struct arena *arena);

/* The i-th warning, with its position: a valid setting with a risk that this program cannot check.
 * NULL: no more. */
const char *settings_warning(const struct settings *settings, size_t i);

/* Writes the effective policy, as a policy file that reads back to the same settings. */
void settings_print(const struct settings *settings, struct buf *out);

/* Whether the list names the subject of a certificate. organizations ends with NULL. */
bool settings_names_client(const struct settings_clients *clients, const char *common_name,
                           const char *const *organizations);

#endif

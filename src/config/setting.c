/* setting: the table of all settings. See setting.h. */
#include "setting.h"

#include <string.h>

#define KI ((size_t)1024)
#define MI (1024 * KI)
#define GI (1024 * MI)

#define AT(member) .at = offsetof(struct settings, member)
#define N_AT(member) .n_at = offsetof(struct settings, member)
#define LIVE .change = SETTING_LIVE
#define LISTED .change = SETTING_LISTED
#define FROM_TO(from, to, default_) .least = (from), .most = (to), .number = (default_)
#define ANY_NAMES .least = 1, .most = SIZE_MAX

static const char *name_of_mode(size_t value)
{
    return policy_mode_name((enum policy_mode)value);
}

static const char *name_of_gangs_mode(size_t value)
{
    return gangs_mode_name((enum gangs_mode)value);
}

static const char *name_of_placement(size_t value)
{
    return placement_policy_name((enum placement_policy)value);
}

static const char *name_of_avoidance(size_t value)
{
    return avoidance_name((enum avoidance)value);
}

static const char *name_of_soft_preferences(size_t value)
{
    return soft_preferences_name((enum soft_preferences)value);
}

const struct setting SETTINGS[] = {
    {"apiVersion", SETTING_WORD, .text = "gpu-extender.io/v1alpha1"},
    {"kind", SETTING_WORD, .text = "SchedulerPolicy"},
    {"mode", SETTING_CHOICE, LIVE, AT(policy.mode), .choice = name_of_mode},
    {"enforceNamespaces", SETTING_CHOSEN, LIVE, AT(policy.enforce_namespaces)},
    {"listen.verbs", SETTING_TEXT, AT(listen_verbs), .check = syntax_address,
     .text = "127.0.0.1:8888"},
    {"listen.people", SETTING_TEXT, AT(listen_people), .check = syntax_address,
     .text = "127.0.0.1:8888"},
    {"listen.probes", SETTING_TEXT, AT(listen_probes), .check = syntax_address,
     .text = "127.0.0.1:8888"},
    {"listen.insecureVerbs", SETTING_SWITCH, AT(insecure_verbs)},
    {"listen.insecurePeople", SETTING_SWITCH, AT(insecure_people)},
    {"tls.certificateFile", SETTING_TEXT, AT(tls.certificate_file), .check = syntax_path,
     .text = ""},
    {"tls.privateKeyFile", SETTING_TEXT, AT(tls.private_key_file), .check = syntax_path,
     .text = ""},
    {"tls.clientCAFile", SETTING_TEXT, AT(tls.client_ca_file), .check = syntax_path, .text = ""},
    {"tls.clientCRLFile", SETTING_TEXT, AT(tls.client_crl_file), .check = syntax_path, .text = ""},
    {"tls.verbClients", SETTING_CLIENTS, AT(tls.verb_clients)},
    {"tls.peopleClients", SETTING_CLIENTS, AT(tls.people_clients)},
    {"authentication.cacheSeconds", SETTING_COUNT, AT(authentication.cache_s), FROM_TO(0, 300, 10)},
    {"aggregatedAPI.enabled", SETTING_SWITCH, AT(aggregated_api)},
    {"gpuResources", SETTING_NAMES, AT(policy.gpu_resources), N_AT(policy.n_gpu_resources),
     .check = syntax_resource, ANY_NAMES},
    {"models.labels", SETTING_NAMES, LISTED, AT(policy.model_labels), N_AT(policy.n_model_labels),
     .check = syntax_label_key, ANY_NAMES},
    {"models.aliases", SETTING_ALIASES, LISTED, AT(policy.aliases), N_AT(policy.n_aliases)},
    {"models.units", SETTING_UNITS, LISTED, AT(policy)},
    {"deviceDrivers", SETTING_DRIVERS, LISTED, AT(policy)},
    {"admission.extendedResourceToleration", SETTING_SWITCH, LISTED,
     AT(policy.extended_resource_toleration)},
    {"admission.defaultTolerationSeconds", SETTING_SWITCH, LIVE,
     AT(policy.default_toleration_seconds)},
    {"sharing.allow", SETTING_SWITCH, LIVE, AT(policy.allow_shared)},
    {"topology.levels", SETTING_NAMES, LIVE, AT(policy.topology_levels),
     N_AT(policy.n_topology_levels), .check = syntax_label_key, .most = TOPOLOGY_LEVELS_MAX},
    {"placement.policy", SETTING_CHOICE, LIVE, AT(policy.placement), .choice = name_of_placement},
    {"placement.softPreferences", SETTING_CHOICE, LIVE, AT(policy.soft_preferences),
     .choice = name_of_soft_preferences},
    {"placement.replicaSpread", SETTING_DECIMAL, LIVE, AT(policy.replica_spread_milli),
     .most = 1000000},
    {"slotPrice.pressureWeight", SETTING_DECIMAL, LIVE, AT(policy.slot_price.pressure_weight_milli),
     .most = 100000},
    {"slotPrice.drainWeight", SETTING_DECIMAL, LIVE, AT(policy.slot_price.drain_weight_milli),
     .most = 100000},
    {"slotPrice.priorGpus", SETTING_DECIMAL, LIVE, AT(policy.slot_price.prior_gpus_milli),
     .least = 1000, .most = 1000000000},
    {"slotPrice.priorConfined", SETTING_DECIMAL, LIVE, AT(policy.slot_price.prior_confined_milli),
     .most = 1000},
    {"quarantine.mode", SETTING_CHOICE, LIVE, AT(policy.quarantine.mode),
     .choice = name_of_avoidance},
    {"quarantine.owners", SETTING_COUNT, LIVE, AT(policy.quarantine.owners), FROM_TO(2, 16, 3)},
    {"quarantine.namespaces", SETTING_COUNT, LIVE, AT(policy.quarantine.namespaces),
     FROM_TO(1, 16, 2)},
    {"quarantine.windowSeconds", SETTING_COUNT, LIVE, AT(policy.quarantine.window_s),
     FROM_TO(60, 86400, 600)},
    {"quarantine.settleSeconds", SETTING_COUNT, LIVE, AT(policy.quarantine.settle_s),
     FROM_TO(0, 3600, 300)},
    {"quarantine.firstMinutes", SETTING_COUNT, LIVE, AT(policy.quarantine.first_min),
     FROM_TO(1, 1440, 10)},
    {"quarantine.longestMinutes", SETTING_COUNT, LIVE, AT(policy.quarantine.longest_min),
     FROM_TO(1, 1440, 60)},
    {"quarantine.capShare", SETTING_DECIMAL, LIVE, AT(policy.quarantine.cap.share_milli),
     .most = 1000},
    {"quarantine.capNodes", SETTING_COUNT, LIVE, AT(policy.quarantine.cap.nodes),
     FROM_TO(0, 1000, 1)},
    {"shapeTrap.mode", SETTING_CHOICE, LIVE, AT(policy.shape_trap.mode),
     .choice = name_of_avoidance},
    {"shapeTrap.capShare", SETTING_DECIMAL, LIVE, AT(policy.shape_trap.cap.share_milli),
     .most = 1000},
    {"shapeTrap.capNodes", SETTING_COUNT, LIVE, AT(policy.shape_trap.cap.nodes),
     FROM_TO(0, 1000, 1)},
    {"quotas", SETTING_QUOTAS, LIVE, AT(policy)},
    {"scheduler.weight", SETTING_COUNT, LIVE, AT(scheduler.weight),
     FROM_TO(1, 1000000, SCHEDULER_WEIGHT_THAT_DECIDES)},
    {"scheduler.httpTimeoutSeconds", SETTING_COUNT, LIVE, AT(scheduler.http_timeout_s),
     FROM_TO(1, 600, 3)},
    {"scheduler.otherExtenders", SETTING_SWITCH, LIVE, AT(scheduler.other_extenders)},
    {"scheduler.allPods", SETTING_SWITCH, LISTED, AT(policy.all_pods)},
    {"scheduler.names", SETTING_NAMES, LISTED, AT(policy.schedulers), N_AT(policy.n_schedulers),
     .check = syntax_object_name, ANY_NAMES},
    {"scheduler.beside", SETTING_SWITCH, AT(scheduler.beside)},
    {"scheduler.leaseDurationSeconds", SETTING_COUNT, AT(scheduler.lease_s), FROM_TO(2, 3600, 15)},
    {"scheduler.renewDeadlineSeconds", SETTING_COUNT, AT(scheduler.renew_s), FROM_TO(1, 3600, 10)},
    {"filter.quotaClaimSeconds", SETTING_COUNT, LIVE, AT(policy.quota_claim_s),
     FROM_TO(0, 3600, 60)},
    {"filter.shortlist", SETTING_COUNT, LIVE, AT(scheduler.shortlist), FROM_TO(0, 1000000, 100)},
    {"gangs.mode", SETTING_CHOICE, LISTED, AT(policy.gangs.mode), .choice = name_of_gangs_mode},
    {"gangs.domain", SETTING_TEXT, LIVE, AT(policy.gangs.domain), .check = syntax_domain_wish,
     .text = ""},
    {"gangs.maxSize", SETTING_COUNT, LISTED, AT(policy.gangs.max_size),
     FROM_TO(1, GANG_SIZE_MAX, 64)},
    {"gangs.conventions", SETTING_NAMES, LISTED, AT(policy.gangs.conventions),
     N_AT(policy.gangs.n_conventions), .check = syntax_gang_convention,
     .most = GANG_CONVENTIONS_MAX},
    {"gangs.maxKeptShare", SETTING_DECIMAL, LIVE, AT(policy.gangs.kept_share_milli), .most = 1000},
    {"gangs.formingSeconds", SETTING_COUNT, LIVE, AT(policy.gangs.forming_s),
     FROM_TO(10, 3600, 300)},
    {"kubernetes.watchSilenceSeconds", SETTING_COUNT, AT(kubernetes.watch_silence_s),
     FROM_TO(5, 3600, 120)},
    {"kubernetes.watchLagSeconds", SETTING_COUNT, AT(kubernetes.watch_lag_s), FROM_TO(2, 600, 10)},
    {"kubernetes.bindTimeoutSeconds", SETTING_COUNT, AT(kubernetes.bind_timeout_s),
     FROM_TO(2, 120, 2)},
    {"leaderElection.enabled", SETTING_SWITCH, AT(election.enabled)},
    {"leaderElection.namespace", SETTING_TEXT, AT(election.namespace_),
     .check = syntax_dns_label_or_none, .text = ""},
    {"leaderElection.leaseName", SETTING_TEXT, AT(election.lease_name), .check = syntax_dns_label,
     .text = "gpu-extender"},
    {"leaderElection.serviceName", SETTING_TEXT, AT(election.service_name),
     .check = syntax_dns_label_or_none, .text = "gpu-extender-verbs"},
    {"leaderElection.leaseDurationSeconds", SETTING_COUNT, AT(election.lease_s),
     FROM_TO(2, 3600, 6)},
    {"leaderElection.renewDeadlineSeconds", SETTING_COUNT, AT(election.renew_s),
     FROM_TO(1, 3600, 4)},
    {"leaderElection.retryPeriodSeconds", SETTING_COUNT, AT(election.retry_s), FROM_TO(1, 600, 1)},
    {"wake.objectName", SETTING_TEXT, AT(wake_object), .check = syntax_dns_label_or_none,
     .text = ""},
    {"decisions.keep", SETTING_COUNT, AT(decisions_kept), FROM_TO(0, 10000, 256)},
    {"limits.requestBytes", SETTING_BYTES, AT(limits.request_bytes), FROM_TO(KI, GI, 64 * MI)},
    {"limits.userRequestBytes", SETTING_BYTES, AT(limits.user_request_bytes),
     FROM_TO(KI, GI, 4 * MI)},
    {"limits.userRequestValues", SETTING_COUNT, AT(limits.user_request_values),
     FROM_TO(1000, 100000000, 200000)},
    {"limits.userRequestTreeBytes", SETTING_BYTES, AT(limits.user_request_tree_bytes),
     FROM_TO(MI, 64 * GI, 32 * MI)},
    {"limits.bodiesBytes", SETTING_BYTES, AT(limits.bodies_bytes),
     FROM_TO(2 * KI, 64 * GI, 256 * MI)},
    {"limits.requestSeconds", SETTING_COUNT, AT(limits.request_s), FROM_TO(1, 600, 30)},
    {"limits.connections", SETTING_COUNT, AT(limits.connections), FROM_TO(1, 65536, 1024)},
    {"limits.clusterFileBytes", SETTING_BYTES, AT(limits.file_bytes), FROM_TO(KI, 64 * GI, GI)},
    {"limits.objectBytes", SETTING_BYTES, AT(limits.object_bytes), FROM_TO(KI, 64 * MI, 16 * MI)},
    {"limits.objectValues", SETTING_COUNT, AT(policy.object_values),
     FROM_TO(1000, 10000000, 50000)},
    {"limits.nodes", SETTING_COUNT, AT(limits.nodes), FROM_TO(1, 1000000, 20000)},
    {"limits.pods", SETTING_COUNT, AT(limits.pods), FROM_TO(1, 10000000, 500000)},
    {"limits.podShapeBytes", SETTING_BYTES, AT(policy.pod_shape_bytes),
     FROM_TO(4 * KI, 16 * MI, 64 * KI)},
    {"limits.podShapesBytes", SETTING_BYTES, AT(policy.pod_shapes_bytes),
     FROM_TO(MI, 64 * GI, 128 * MI)},
    {"limits.nodeSlicesBytes", SETTING_BYTES, LISTED, AT(policy.node_slices_bytes),
     FROM_TO(4 * KI, 16 * GI, 2 * MI)},
    {"limits.driverSlicesBytes", SETTING_BYTES, LISTED, AT(policy.driver_slices_bytes),
     FROM_TO(4 * KI, 16 * GI, 176 * MI)},
    {"limits.slicesBytes", SETTING_BYTES, LISTED, AT(policy.slices_bytes),
     FROM_TO(4 * KI, 16 * GI, 192 * MI)},
    {"limits.dryRunReplicas", SETTING_COUNT, AT(limits.replicas), FROM_TO(1, 1000000, 1000)},
};
const size_t N_SETTINGS = sizeof SETTINGS / sizeof *SETTINGS;

size_t setting_section_len(const struct setting *setting)
{
    const char *dot = strchr(setting->path, '.');
    return dot ? (size_t)(dot - setting->path) : 0;
}

const char *setting_key(const struct setting *setting)
{
    size_t len = setting_section_len(setting);
    return len > 0 ? setting->path + len + 1 : setting->path;
}

void *setting_target(const struct setting *setting, struct settings *settings)
{
    return (char *)settings + setting->at;
}

size_t *setting_count(const struct setting *setting, struct settings *settings)
{
    return (void *)((char *)settings + setting->n_at);
}

/* settings: the table of everything that can be configured, and the walk over a policy file. How a
 * value is read stands in setting_read.c, how it is printed in settings_print.c. */
#include "config/settings.h"

#include "base/mem.h"
#include "base/small_file.h"
#include "beside_check.h"
#include "clients.h"
#include "election_check.h"
#include "formats/json_get.h"
#include "quota_read.h"
#include "setting.h"
#include "timeout_check.h"
#include "unknown_key.h"
#include "warnings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KI ((size_t)1024)
#define MI (1024 * KI)
#define GI (1024 * MI)

#define FILE_BYTES_MAX MI
#define PATH_TEXT_MAX 128

static const struct yaml_options YAML_LIMITS = {.max_depth = 16, .max_nodes = 10000};

#define AT(member) .at = offsetof(struct settings, member)
#define N_AT(member) .n_at = offsetof(struct settings, member)
#define FROM_TO(from, to, default_) .least = (from), .most = (to), .number = (default_)

static const char *name_of_placement(size_t value)
{
    return placement_policy_name((enum placement_policy)value);
}

static const char *name_of_soft_preferences(size_t value)
{
    return soft_preferences_name((enum soft_preferences)value);
}

const struct setting SETTINGS[] = {
    {"apiVersion", SETTING_WORD, .text = "gpu-extender.io/v1alpha1"},
    {"kind", SETTING_WORD, .text = "SchedulerPolicy"},
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
    {"gpuResources", SETTING_NAMES, AT(policy.gpu_resources), N_AT(policy.n_gpu_resources),
     .check = syntax_resource},
    {"models.labels", SETTING_NAMES, AT(policy.model_labels), N_AT(policy.n_model_labels),
     .check = syntax_label_key},
    {"models.aliases", SETTING_ALIASES, AT(policy.aliases), N_AT(policy.n_aliases)},
    {"admission.extendedResourceToleration", SETTING_SWITCH,
     AT(policy.extended_resource_toleration)},
    {"sharing.allow", SETTING_SWITCH, AT(policy.allow_shared)},
    {"placement.policy", SETTING_CHOICE, AT(policy.placement), .choice = name_of_placement},
    {"placement.softPreferences", SETTING_CHOICE, AT(policy.soft_preferences),
     .choice = name_of_soft_preferences},
    {"placement.replicaSpread", SETTING_DECIMAL, AT(policy.replica_spread_milli), .most = 1000000},
    {"slotPrice.pressureWeight", SETTING_DECIMAL, AT(policy.slot_price.pressure_weight_milli),
     .most = 100000},
    {"slotPrice.drainWeight", SETTING_DECIMAL, AT(policy.slot_price.drain_weight_milli),
     .most = 100000},
    {"slotPrice.priorGpus", SETTING_DECIMAL, AT(policy.slot_price.prior_gpus_milli), .least = 1000,
     .most = 1000000000},
    {"slotPrice.priorConfined", SETTING_DECIMAL, AT(policy.slot_price.prior_confined_milli),
     .most = 1000},
    {"quotas", SETTING_QUOTAS, AT(policy)},
    {"scheduler.weight", SETTING_COUNT, AT(scheduler.weight),
     FROM_TO(1, 1000000, SCHEDULER_WEIGHT_THAT_DECIDES)},
    {"scheduler.httpTimeoutSeconds", SETTING_COUNT, AT(scheduler.http_timeout_s),
     FROM_TO(1, 600, 3)},
    {"scheduler.otherExtenders", SETTING_SWITCH, AT(scheduler.other_extenders)},
    {"scheduler.allPods", SETTING_SWITCH, AT(scheduler.all_pods)},
    {"scheduler.beside", SETTING_SWITCH, AT(scheduler.beside)},
    {"scheduler.leaseDurationSeconds", SETTING_COUNT, AT(scheduler.lease_s), FROM_TO(2, 3600, 15)},
    {"scheduler.renewDeadlineSeconds", SETTING_COUNT, AT(scheduler.renew_s), FROM_TO(1, 3600, 10)},
    {"filter.quotaClaimSeconds", SETTING_COUNT, AT(scheduler.quota_claim_s), FROM_TO(0, 3600, 60)},
    {"filter.shortlist", SETTING_COUNT, AT(scheduler.shortlist), FROM_TO(0, 1000000, 100)},
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
    {"decisions.keep", SETTING_COUNT, AT(decisions_kept), FROM_TO(0, 10000, 256)},
    {"limits.requestBytes", SETTING_BYTES, AT(limits.request_bytes), FROM_TO(KI, GI, 64 * MI)},
    {"limits.bodiesBytes", SETTING_BYTES, AT(limits.bodies_bytes),
     FROM_TO(2 * KI, 64 * GI, 256 * MI)},
    {"limits.requestSeconds", SETTING_COUNT, AT(limits.request_s), FROM_TO(1, 600, 30)},
    {"limits.connections", SETTING_COUNT, AT(limits.connections), FROM_TO(1, 65536, 1024)},
    {"limits.clusterFileBytes", SETTING_BYTES, AT(limits.file_bytes), FROM_TO(KI, 64 * GI, GI)},
    {"limits.objectBytes", SETTING_BYTES, AT(limits.object_bytes), FROM_TO(KI, 64 * MI, 16 * MI)},
    {"limits.nodes", SETTING_COUNT, AT(limits.nodes), FROM_TO(1, 1000000, 20000)},
    {"limits.pods", SETTING_COUNT, AT(limits.pods), FROM_TO(1, 10000000, 500000)},
    {"limits.podShapeBytes", SETTING_BYTES, AT(policy.pod_shape_bytes),
     FROM_TO(4 * KI, 16 * MI, 64 * KI)},
    {"limits.podShapesBytes", SETTING_BYTES, AT(policy.pod_shapes_bytes),
     FROM_TO(MI, 64 * GI, 128 * MI)},
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

void settings_init(struct settings *ret_settings)
{
    *ret_settings = (struct settings){0};
    policy_init(&ret_settings->policy);
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind == SETTING_TEXT)
            *(char **)setting_target(row, ret_settings) = mem_strdup(row->text);
        else if (row->kind == SETTING_COUNT || row->kind == SETTING_BYTES)
            *(size_t *)setting_target(row, ret_settings) = row->number;
    }
}

void settings_fini(struct settings *settings)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind == SETTING_TEXT)
            mem_free_ptr(setting_target(row, settings));
        else if (row->kind == SETTING_CLIENTS)
            clients_fini(setting_target(row, settings));
    }
    policy_fini(&settings->policy);
    *settings = (struct settings){0};
}

static bool is_in_section(const struct setting *row, const char *section)
{
    size_t len = setting_section_len(row);
    return strlen(section) == len && strncmp(row->path, section, len) == 0;
}

static const struct setting *find_setting(const char *section, const char *key)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (is_in_section(row, section) && strcmp(setting_key(row), key) == 0)
            return row;
    }
    return NULL;
}

static bool is_section(const char *name)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (*name && is_in_section(row, name))
            return true;
    }
    return false;
}

static int read_settings(const struct yaml_file *file, const char *section, json_t *object,
                         struct settings *settings, struct err *err);

static int read_section(const struct yaml_file *file, const struct yaml_value *at,
                        struct settings *settings, struct err *err)
{
    if (!json_is_object(at->value)) {
        struct buf right;
        buf_init(&right, ERR_TEXT_MAX);
        buf_add_text(&right, "a mapping of ");
        unknown_key_list(at->key, &right);
        int r = yaml_wrong(file, at, buf_text(&right), err);
        buf_fini(&right);
        return r;
    }
    return read_settings(file, at->key, at->value, settings, err);
}

/* A key without a value is as if it were not there. */
static int read_member(const struct yaml_file *file, const char *section,
                       const struct yaml_value *at, struct settings *settings, struct err *err)
{
    const struct setting *setting = find_setting(section, at->key);
    bool outermost = *section == '\0';
    if (!setting && !(outermost && is_section(at->key)))
        return unknown_key(file, section, at, err);
    if (json_is_null(at->value))
        return 0;
    if (setting)
        return setting_read(setting, file, at, settings, err);
    return read_section(file, at, settings, err);
}

/* In the order of the file, so that the first fault in it is the one that is told. */
static int read_settings(const struct yaml_file *file, const char *section, json_t *object,
                         struct settings *settings, struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (object, key, value) {
        char path[PATH_TEXT_MAX];
        (void)snprintf(path, sizeof path, "%s%s%s", section, *section ? "." : "", key);
        const struct yaml_value at = {object, key, path, value};
        int r = read_member(file, section, &at, settings, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Before all else: in a file of another kind every other message would mislead. */
static int check_words(const struct yaml_file *file, json_t *root, struct err *err)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind != SETTING_WORD)
            continue;
        const struct yaml_value at = {root, row->path, row->path, json_member(root, row->path)};
        if (!at.value)
            return yaml_fault(file, &at, err, "is missing, should be %s", row->text);
        int r = setting_read(row, file, &at, NULL, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* They are checked against what may stand behind them in the file. */
static int read_quotas(const struct yaml_file *file, json_t *root, struct settings *settings,
                       struct err *err)
{
    const struct yaml_value at = {root, "quotas", "quotas", json_member(root, "quotas")};
    return at.value ? quotas_read(file, &at, &settings->policy, err) : 0;
}

/* Else there would be no room for a body that is as large as one may be. */
static int check_bodies(const struct yaml_file *file, json_t *root, const struct settings *settings,
                        struct err *err)
{
    const struct settings_limits *limits = &settings->limits;
    if (limits->bodies_bytes / 2 >= limits->request_bytes)
        return 0;
    json_t *object = json_member(root, "limits");
    json_t *bodies = json_member(object, "bodiesBytes");
    const bool is_given = bodies && !json_is_null(bodies);
    const struct yaml_value at = {object, is_given ? "bodiesBytes" : "requestBytes",
                                  is_given ? "limits.bodiesBytes" : "limits.requestBytes",
                                  is_given ? bodies : json_member(object, "requestBytes")};
    return yaml_fault(file, &at, err,
                      "bodiesBytes is %zu and requestBytes %zu, should be at least twice as much",
                      limits->bodies_bytes, limits->request_bytes);
}

static int read_root(const struct yaml_file *file, json_t *root, struct settings *settings,
                     struct err *err)
{
    const struct yaml_value whole = {.path = "policy", .value = root};
    if (root && !json_is_object(root))
        return yaml_wrong(file, &whole, "a mapping with apiVersion, kind and more", err);
    int r = check_words(file, root, err);
    if (r == 0)
        r = read_settings(file, "", root, settings, err);
    if (r == 0)
        r = timeout_check(file, root, settings, err);
    if (r == 0)
        r = election_check(file, root, settings, err);
    if (r == 0)
        r = beside_check(file, root, settings, err);
    if (r == 0)
        r = check_bodies(file, root, settings, err);
    if (r == 0)
        r = read_quotas(file, root, settings, err);
    if (r == 0)
        warnings_find(file, root, settings);
    return r;
}

int settings_read_text(struct settings *settings, const char *file, const char *text, size_t len,
                       struct err *err)
{
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    int r = yaml_read(text, len, &YAML_LIMITS, &root, &places, err);
    if (r < 0) {
        err_prefix(err, "%s:", file);
        return r;
    }
    r = read_root(&(struct yaml_file){file, places}, root, settings, err);
    json_decref(root);
    yaml_places_free(places);
    return r;
}

int settings_read_file(struct settings *settings, const char *path, struct err *err)
{
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    int r = small_file_read(path, true, &text, err);
    if (r == -EFBIG)
        r = err_set(err, EFBIG, "%s: is larger than 1Mi, so it can be no policy file", path);
    if (r == 0)
        r = settings_read_text(settings, path, buf_text(&text), text.len, err);
    buf_fini(&text);
    return r;
}

size_t settings_shortlist(const struct settings *settings)
{
    const struct settings_scheduler *scheduler = &settings->scheduler;
    const bool ours_wins =
        scheduler->weight >= SCHEDULER_WEIGHT_THAT_DECIDES && !scheduler->other_extenders;
    return ours_wins ? scheduler->shortlist : 0;
}

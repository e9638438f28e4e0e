/* settings: walks a policy file. setting.c lists the settings, setting_read.c reads a value,
 * settings_print.c prints it. */
#include "config/settings.h"
#include "base/file_watch.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "config/timing.h"
#include "formats/json_values.h"
#include "formats/yaml_json.h"
#include "setting.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of a policy file that depend on each other, or on the cluster ---- */

#define BIND "bindTimeoutSeconds"
#define HTTP "httpTimeoutSeconds"
#define LEASE "leaseDurationSeconds"
#define RENEW "renewDeadlineSeconds"
#define RETRY "retryPeriodSeconds"
#define ELECTION "leaderElection"
#define SCHEDULER "scheduler"

/* A binding that takes effect after kube-scheduler gave its call up counts as failed there: it runs
 * Unreserve and tries the pod again (PROTOCOL 3.6, 3.7). err names the key in the file, or its
 * section. */
static int check_timeouts(const struct yaml_file *file, json_t *root,
                          const struct settings *settings, struct err *err)
{
    const size_t bind_s = settings->kubernetes.bind_timeout_s;
    const size_t http_s = settings->scheduler.http_timeout_s;
    const struct yaml_value bind = setting_place(root, "kubernetes", BIND, "kubernetes." BIND);
    const struct yaml_value http = setting_place(root, "scheduler", HTTP, "scheduler." HTTP);
    if (bind_s < http_s)
        return 0;
    if (json_member(json_member(root, "kubernetes"), BIND))
        return yaml_fault(file, &bind, err, "is %zu, should be less than scheduler." HTTP " (%zu)",
                          bind_s, http_s);
    return yaml_fault(file, &http, err, "is %zu, should be more than kubernetes." BIND " (%zu)",
                      http_s, bind_s);
}

/* The times of leader election against each other. */
static int check_election(const struct yaml_file *file, json_t *root,
                          const struct settings *settings, struct err *err)
{
    const struct settings_election *election = &settings->election;
    const struct yaml_value lease = setting_place(root, ELECTION, LEASE, ELECTION "." LEASE);
    const struct yaml_value renew = setting_place(root, ELECTION, RENEW, ELECTION "." RENEW);
    if (!election->enabled)
        return 0;
    if (election->renew_s * 10 <= election->retry_s * 12)
        return yaml_fault(file, &renew, err,
                          "is %zu, should be more than 1.2 times " RETRY " (%zu)",
                          election->renew_s, election->retry_s);
    if (election->lease_s <= election->renew_s)
        return yaml_fault(file, &lease, err, "is %zu, should be more than " RENEW " (%zu)",
                          election->lease_s, election->renew_s);
    if (election->lease_s < timing_least_lease_s(settings))
        return yaml_fault(
            file, &lease, err,
            "is %zu, should be at least %zu: kubernetes.bindTimeoutSeconds (%zu), one "
            "second, and twice " RETRY " (%zu)",
            election->lease_s, timing_least_lease_s(settings), settings->kubernetes.bind_timeout_s,
            election->retry_s);
    return 0;
}

/* Checks the policy of an instance beside each kube-scheduler (scheduler.beside). */

/* Time for the API server to notice that a binding was abandoned. */
#define MARGIN_S ((size_t)1)
/* The shortest kubernetes.bindTimeoutSeconds (2), the margin, and one more second. */
#define LEAST_GAP_S ((size_t)4)

/* A kube-scheduler calls until renewDeadline after its last renewal; another may lead from
 * leaseDuration after it. The last calls must end in between. */
static int check_beside_times(const struct yaml_file *file, json_t *root,
                              const struct settings *settings, struct err *err)
{
    const size_t lease_s = settings->scheduler.lease_s;
    const size_t renew_s = settings->scheduler.renew_s;
    const size_t bind_s = settings->kubernetes.bind_timeout_s;
    const struct yaml_value lease = setting_place(root, SCHEDULER, LEASE, SCHEDULER "." LEASE);
    const struct yaml_value bind =
        setting_place(root, "kubernetes", "bindTimeoutSeconds", "kubernetes.bindTimeoutSeconds");
    if (lease_s < renew_s + LEAST_GAP_S)
        return yaml_fault(file, &lease, err, "is %zu, should be at least %zu: " RENEW " (%zu) + 4",
                          lease_s, renew_s + LEAST_GAP_S, renew_s);
    if (bind_s + MARGIN_S >= lease_s - renew_s)
        return yaml_fault(file, &bind, err,
                          "is %zu, should be at most %zu with scheduler.beside: a binding and one "
                          "second must be over before another kube-scheduler may lead "
                          "(" SCHEDULER "." LEASE " %zu - " RENEW " %zu)",
                          bind_s, lease_s - renew_s - MARGIN_S - 1, lease_s, renew_s);
    return 0;
}

/* 0 also if scheduler.beside is off. */
static int check_beside(const struct yaml_file *file, json_t *root, const struct settings *settings,
                        struct err *err)
{
    const struct yaml_value beside = setting_place(root, SCHEDULER, "beside", SCHEDULER ".beside");
    if (!settings->scheduler.beside)
        return 0;
    if (settings->election.enabled)
        return yaml_fault(file, &beside, err,
                          "excludes leaderElection.enabled: the instance beside the leading "
                          "kube-scheduler decides, and this service has no Lease of its own");
    return check_beside_times(file, root, settings, err);
}

/* Otherwise a request body of the allowed size would not fit. */
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
                      "bodiesBytes is %zu, should be at least twice requestBytes (%zu)",
                      limits->bodies_bytes, limits->request_bytes);
}

/* Otherwise an operator may believe that it limits who is enforced. */
static int check_enforced(const struct yaml_file *file, json_t *root,
                          const struct settings *settings, struct err *err)
{
    const struct policy *policy = &settings->policy;
    const struct yaml_value at = {root, "enforceNamespaces", "enforceNamespaces",
                                  json_member(root, "enforceNamespaces")};
    if (!policy->enforce_namespaces.is_set || policy->mode == MODE_OBSERVE)
        return 0;
    return yaml_fault(file, &at, err,
                      "needs mode: observe; with mode: enforce every namespace is enforced");
}

static int check_gangs(const struct yaml_file *file, json_t *root, const struct settings *settings,
                       struct err *err)
{
    const struct yaml_value at = setting_place(root, "gangs", "domain", "gangs.domain");
    struct domain_wish wish;
    if (!*settings->policy.gangs.domain ||
        policy_read_domain(&settings->policy, settings->policy.gangs.domain, &wish))
        return 0;
    return yaml_fault(file, &at, err,
                      "is %s, should be \"require LEVEL\" or \"prefer LEVEL\", of a level in "
                      "topology.levels",
                      settings->policy.gangs.domain);
}

/* -EINVAL: err names the wrong key, or its section if the file does not set the key. */
static int settings_check(const struct yaml_file *file, json_t *root,
                          const struct settings *settings, struct err *err)
{
    int r = check_timeouts(file, root, settings, err);
    if (r == 0)
        r = check_election(file, root, settings, err);
    if (r == 0)
        r = check_beside(file, root, settings, err);
    if (r == 0)
        r = check_bodies(file, root, settings, err);
    if (r == 0)
        r = check_gangs(file, root, settings, err);
    return r < 0 ? r : check_enforced(file, root, settings, err);
}

/* Warnings. */

static struct err *new_warning(struct settings *settings)
{
    assert(settings->n_warnings < SETTINGS_WARNINGS_MAX);
    return &settings->warnings[settings->n_warnings++];
}

static bool names_nobody(const struct settings_clients *clients)
{
    return clients->n_names == 0 && clients->n_organizations == 0;
}

static void warn_of_all_pods(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    const struct yaml_value at = setting_place(root, "scheduler", "allPods", "scheduler.allPods");
    if (settings->policy.all_pods)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "while this service is down, a kube-scheduler with ignorable: false "
                         "schedules nothing at all: this service's own pod and those of DNS and "
                         "the network plugin must be static pods, or another scheduler's");
}

/* Readers and kube-scheduler are different clients, but one authority signs the certificates of
 * both. */
static void warn_of_verb_clients(const struct yaml_file *file, json_t *root,
                                 struct settings *settings)
{
    const struct settings_tls *tls = &settings->tls;
    const struct yaml_value at = setting_place(root, "tls", "verbClients", "tls.verbClients");
    if (*tls->client_ca_file && names_nobody(&tls->verb_clients) &&
        !names_nobody(&tls->people_clients))
        (void)yaml_fault(
            file, &at, new_warning(settings),
            "is empty: every certificate signed by tls.clientCAFile may bind pods, also those of "
            "tls.peopleClients; should name kube-scheduler's certificate, such as {names: "
            "[gpu-extender-client]}");
}

/* The default weight until Kubernetes 1.34 gave DynamicResources a score. */
static void warn_of_old_weight(const struct yaml_file *file, json_t *root,
                               struct settings *settings)
{
    const size_t weight = settings->scheduler.weight;
    const struct yaml_value at = setting_place(root, "scheduler", "weight", "scheduler.weight");
    if (weight >= SCHEDULER_WEIGHT_BEFORE_DRA && weight < SCHEDULER_WEIGHT_THAT_DECIDES)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "is %zu, should be at least %d: from Kubernetes 1.34 on, the scores of "
                         "kube-scheduler's default plugins reach %d, so one point of this "
                         "extender no longer decides, and filter.shortlist is not applied; set "
                         "the same weight in KubeSchedulerConfiguration",
                         weight, SCHEDULER_WEIGHT_THAT_DECIDES, SCHEDULER_PLUGIN_WEIGHTS * 100);
}

static void warn_of_observing(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    const struct yaml_value at = {root, "mode", "mode", json_member(root, "mode")};
    if (settings->policy.mode == MODE_OBSERVE)
        (void)yaml_fault(file, &at, new_warning(settings),
                         settings->policy.enforce_namespaces.is_set
                             ? "is observe: outside enforceNamespaces kube-scheduler places every "
                               "pod by itself; decisions are recorded, and none takes effect"
                             : "is observe: kube-scheduler places every pod by itself; decisions "
                               "are recorded, and none takes effect");
}

static void warn_of_aggregated_api(const struct yaml_file *file, json_t *root,
                                   struct settings *settings)
{
    const struct yaml_value at =
        setting_place(root, "aggregatedAPI", "enabled", "aggregatedAPI.enabled");
    if (settings->aggregated_api && !*settings->tls.certificate_file)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "has no effect without TLS, should come with tls.certificateFile, "
                         "tls.privateKeyFile and tls.clientCAFile");
}

static void warn_of_gangs(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    const struct yaml_value at = setting_place(root, "gangs", "mode", "gangs.mode");
    const struct yaml_value others =
        setting_place(root, "gangs", "conventions", "gangs.conventions");
    if (settings->policy.gangs.mode == GANGS_OFF && settings->policy.gangs.n_conventions > 0)
        (void)yaml_fault(file, &others, new_warning(settings), "has no effect: gangs.mode is off");
    if (settings->policy.gangs.mode != GANGS_PLAN)
        return;
    if (settings->policy.mode == MODE_OBSERVE)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "is plan, and mode is observe: groups are only observed");
    else if (!*settings->wake_object)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "is plan, should come with wake.objectName: without it kube-scheduler "
                         "may ask about a waiting group only after minutes, and its plans end "
                         "unused");
}

/* Adds warnings of valid settings whose risk depends on the cluster. Call after reading the whole
 * file. */
static void settings_find_warnings(const struct yaml_file *file, json_t *root,
                                   struct settings *settings)
{
    settings->n_warnings = 0;
    warn_of_observing(file, root, settings);
    warn_of_all_pods(file, root, settings);
    warn_of_verb_clients(file, root, settings);
    warn_of_old_weight(file, root, settings);
    warn_of_aggregated_api(file, root, settings);
    warn_of_gangs(file, root, settings);
}

const char *settings_warning(const struct settings *settings, size_t i)
{
    return i < settings->n_warnings ? settings->warnings[i].text : NULL;
}

/* ---- settings ---- */

/* The error for an unknown key, with the nearest known one. */

#define WORD_MAX 48

/* A known key: a setting's, or a section's name (section ""). */
struct known_key {
    char section[WORD_MAX];
    char key[WORD_MAX];
};

static struct known_key key_of_setting(const struct setting *row)
{
    struct known_key known;
    (void)snprintf(known.section, sizeof known.section, "%.*s", (int)setting_section_len(row),
                   row->path);
    (void)snprintf(known.key, sizeof known.key, "%s", setting_key(row));
    return known;
}

/* The name of the row's section, or its key if it has none. */
static struct known_key outermost_key(const struct setting *row)
{
    struct known_key known = key_of_setting(row);
    if (known.section[0] == '\0')
        return known;
    struct known_key section = {.section = ""};
    memcpy(section.key, known.section, sizeof section.key);
    return section;
}

/* False: none is near. */
static bool find_nearest(const char *key, struct known_key *ret_nearest)
{
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        const struct known_key candidates[] = {key_of_setting(row), outermost_key(row)};
        for (size_t i = 0; i < 2; i++) {
            if (nearest_try(&nearest, candidates[i].key))
                *ret_nearest = candidates[i];
        }
    }
    return nearest.least < SIZE_MAX;
}

/* Writes the keys of a section: "verbs, people, probes". */
static void unknown_key_list(const char *section, struct buf *out)
{
    struct known_key last = {.key = ""};
    const char *separator = "";
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        struct known_key known = *section ? key_of_setting(row) : outermost_key(row);
        if (strcmp(known.section, section) != 0 || strcmp(known.key, last.key) == 0)
            continue;
        buf_printf(out, "%s%s", separator, known.key);
        separator = ", ";
        last = known;
    }
}

static void add_hint(const char *section, const char *key, struct buf *out)
{
    struct known_key nearest = {.section = "", .key = ""};
    const char *last_part = strrchr(key, '.') ? strrchr(key, '.') + 1 : key;
    if (!find_nearest(last_part, &nearest)) {
        buf_add_text(out, "known here: ");
        unknown_key_list(section, out);
    } else if (strcmp(nearest.section, section) == 0) {
        buf_printf(out, "did you mean %s?", nearest.key);
    } else if (nearest.section[0] == '\0') {
        buf_printf(out, "did you mean %s, outside of %s?", nearest.key, section);
    } else {
        buf_printf(out, "did you mean %s in %s?", nearest.key, nearest.section);
    }
}

/* section: "" at the top level. Returns -EINVAL with the key's position. */
static int unknown_key(const struct yaml_file *file, const char *section,
                       const struct yaml_value *at, struct err *err)
{
    struct buf hint;
    buf_init(&hint, ERR_TEXT_MAX);
    add_hint(section, at->key, &hint);
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    int r = yaml_fault(file, &key_only, err, "unknown key; %s", buf_text(&hint));
    buf_fini(&hint);
    return r;
}

#define PATH_TEXT_MAX 128

static const struct yaml_options YAML_LIMITS = {.max_depth = 16, .max_values = 10000};
/* Printed text may say at more length what a file says. */
static const struct yaml_options OWN_LIMITS = {.max_depth = 16, .max_values = 1000000};

/* filter returns all nodes that fit if our first choice may not win in kube-scheduler. */
static void derive(struct settings *settings)
{
    const struct settings_scheduler *scheduler = &settings->scheduler;
    const bool ours_wins =
        scheduler->weight >= SCHEDULER_WEIGHT_THAT_DECIDES && !scheduler->other_extenders;
    settings->policy.shortlist = ours_wins ? scheduler->shortlist : 0;
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
    derive(ret_settings);
}

/* A manifest may have 100 levels (manifest.c); a body has some around it. */
#define REQUEST_DEPTH_MAX ((size_t)110)

struct json_budget settings_request_budget(const struct settings_limits *limits)
{
    return (struct json_budget){.max_values = limits->user_request_values,
                                .max_tree_bytes = limits->user_request_tree_bytes,
                                .max_depth = REQUEST_DEPTH_MAX,
                                .values_key = "limits.userRequestValues",
                                .bytes_key = "limits.userRequestTreeBytes"};
}

void settings_fini(struct settings *settings)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind == SETTING_TEXT)
            mem_free_ptr(setting_target(row, settings));
        else if (row->kind == SETTING_CLIENTS)
            setting_fini_clients(setting_target(row, settings));
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

/* A key without a value counts as absent. */
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

/* In file order, so that the first fault in the file is reported. */
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

/* Checked first: in a file of another kind every other error would mislead. */
static int check_words(const struct yaml_file *file, json_t *root, struct settings *settings,
                       struct err *err)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind != SETTING_WORD)
            continue;
        const struct yaml_value at = {root, row->path, row->path, json_member(root, row->path)};
        if (!at.value)
            return yaml_fault(file, &at, err, "is missing, should be %s", row->text);
        int r = setting_read(row, file, &at, settings, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Last, because quotas are checked against values that may come later in the file. */
static int read_quotas(const struct yaml_file *file, json_t *root, struct settings *settings,
                       struct err *err)
{
    const struct yaml_value at = {root, "quotas", "quotas", json_member(root, "quotas")};
    return at.value ? quotas_read(file, &at, &settings->policy, err) : 0;
}

static int read_root(const struct yaml_file *file, json_t *root, struct settings *settings,
                     struct err *err)
{
    const struct yaml_value whole = {.path = "policy", .value = root};
    if (root && !json_is_object(root))
        return yaml_wrong(file, &whole, "a mapping with apiVersion, kind and more", err);
    int r = check_words(file, root, settings, err);
    if (r == 0)
        r = read_settings(file, "", root, settings, err);
    if (r == 0)
        r = settings_check(file, root, settings, err);
    if (r == 0)
        r = read_quotas(file, root, settings, err);
    if (r < 0)
        return r;
    derive(settings);
    settings_find_warnings(file, root, settings);
    return 0;
}

static int read_text(struct settings *settings, const char *file, const char *text, size_t len,
                     const struct yaml_options *limits, struct err *err)
{
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    int r = yaml_read(text, len, limits, &root, &places, err);
    if (r < 0) {
        err_prefix(err, "%s:", file);
        return r;
    }
    r = read_root(&(struct yaml_file){file, places}, root, settings, err);
    json_decref(root);
    yaml_places_free(places);
    return r;
}

int settings_read_policy(const json_t *values, const struct policy **ret_policy, struct err *err)
{
    struct settings *settings = settings_new();
    int r = read_root(&(struct yaml_file){0}, (json_t *)(uintptr_t)values, settings, err);
    if (r < 0)
        policy_drop(&settings->policy);
    else
        *ret_policy = &settings->policy;
    return r;
}

int settings_read_text(struct settings *settings, const char *file, const char *text, size_t len,
                       struct err *err)
{
    return read_text(settings, file, text, len, &YAML_LIMITS, err);
}

int settings_merge(const struct settings *in_force, const struct settings *wanted,
                   struct settings *merged, struct err *err)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* both are bounded */
    settings_print_mixed(wanted, in_force, &text);
    int r = read_text(merged, "with the values in force of keys that need a restart",
                      buf_text(&text), text.len, &OWN_LIMITS, err);
    buf_fini(&text);
    return r;
}

static void free_around(struct policy *policy)
{
    struct settings *settings = CONTAINER_OF(policy, struct settings, policy);
    settings_fini(settings);
    free(settings);
}

struct settings *settings_new(void)
{
    struct settings *settings = MEM_NEW(struct settings);
    settings_init(settings);
    settings->policy.unheld = free_around;
    (void)policy_hold(&settings->policy);
    return settings;
}

int settings_read_file(struct settings *settings, const char *path, struct err *err)
{
    struct buf text;
    buf_init(&text, SETTINGS_FILE_BYTES_MAX);
    int r = small_file_read(path, true, &text, err);
    if (r == -EFBIG)
        r = err_set(err, EFBIG, "%s: is larger than 1Mi, should be a policy file of at most 1Mi",
                    path);
    if (r == 0)
        r = settings_read_text(settings, path, buf_text(&text), text.len, err);
    buf_fini(&text);
    return r;
}

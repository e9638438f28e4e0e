/* rights_checks: see checks.h. The table, and the watched kinds, are those of
 * manifests/rbac/rbac.yaml, manifests/base/replica-rbac.yaml and the overlays control-plane and
 * aggregated-api; tests/control-plane/test_doctor.py compares them. */
#include "checks.h"
#include "formats/json_values.h"
#include "inventory/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIGHTS "rights"
#define REVIEWS "/apis/authorization.k8s.io/v1/"
#define VERBS_MAX 6
#define PREFIX "system:serviceaccount:"

enum right_when {
    ALWAYS,
    WITH_ELECTION,
    WITH_SERVICE,
    WITH_TLS,
    WITH_BESIDE,
    WITH_AGGREGATED,
    WITH_WAKE
};
enum right_name { ANY_NAME, LEASE_NAME, SERVICE_NAME, SCHEDULER_NAME, FRONT_NAME, WAKE_NAME };

static const struct right {
    const char *group, *resource, *subresource;
    const char *verbs[VERBS_MAX];
    enum right_when when;
    enum right_name name;
    enum finding_level missing;
    const char *without;
} TABLE[] = {
    {"",
     "pods",
     "",
     {"get"},
     ALWAYS,
     ANY_NAME,
     FINDING_FAIL,
     "bindings whose answer was lost end in an Error"},
    {"", "pods", "binding", {"create"}, ALWAYS, ANY_NAME, FINDING_FAIL, "no pod is bound"},
    {"coordination.k8s.io",
     "leases",
     "",
     {"create"},
     WITH_ELECTION,
     ANY_NAME,
     FINDING_FAIL,
     "no replica leads"},
    {"coordination.k8s.io",
     "leases",
     "",
     {"get", "list", "watch", "update"},
     WITH_ELECTION,
     LEASE_NAME,
     FINDING_FAIL,
     "no replica leads, or a change of the leader is seen late"},
    {"discovery.k8s.io",
     "endpointslices",
     "",
     {"create"},
     WITH_SERVICE,
     ANY_NAME,
     FINDING_FAIL,
     "kube-scheduler does not find the leader"},
    {"discovery.k8s.io",
     "endpointslices",
     "",
     {"get", "list", "watch", "update", "delete"},
     WITH_SERVICE,
     SERVICE_NAME,
     FINDING_FAIL,
     "kube-scheduler does not find the leader"},
    {"authentication.k8s.io",
     "tokenreviews",
     "",
     {"create"},
     WITH_TLS,
     ANY_NAME,
     FINDING_FAIL,
     "users' tokens are rejected"},
    {"authorization.k8s.io",
     "subjectaccessreviews",
     "",
     {"create"},
     WITH_TLS,
     ANY_NAME,
     FINDING_FAIL,
     "users' tokens are rejected"},
    {"coordination.k8s.io",
     "leases",
     "",
     {"get"},
     WITH_BESIDE,
     SCHEDULER_NAME,
     FINDING_WARN,
     "all pods are listed after each pause between calls"},
    {"",
     "configmaps",
     "",
     {"get", "list", "watch"},
     WITH_AGGREGATED,
     FRONT_NAME,
     FINDING_FAIL,
     "requests that the API server forwards get 401"},
    {"storage.k8s.io",
     "csistoragecapacities",
     "",
     {"patch"},
     WITH_WAKE,
     WAKE_NAME,
     FINDING_WARN,
     "kube-scheduler is not told to ask again"},
};

/* The user whose rights are checked. */
struct subject {
    char user[LIVE_NAME_MAX];
    char namespace_[LIVE_NAME_MAX]; /* of a ServiceAccount; "": a user */
    char home[LIVE_NAME_MAX];       /* of the Lease */
    bool asks_self;                 /* reviews of others are forbidden */
};

const char *live_checks_account(const struct settings *settings)
{
    if (settings->scheduler.beside)
        return "gpu-extender";
    return settings->election.enabled ? "gpu-extender/gpu-extender" : "kube-system/gpu-extender";
}

static struct subject subject_of(const struct live_checks *checks)
{
    struct subject subject = {.user = ""};
    const char *slash = strchr(checks->account, '/');
    const char *home = checks->settings->election.namespace_;
    if (slash) {
        const int len = (int)(slash - checks->account);
        (void)snprintf(subject.namespace_, sizeof subject.namespace_, "%.*s", len, checks->account);
        (void)snprintf(subject.user, sizeof subject.user, PREFIX "%.*s:%s", len, checks->account,
                       slash + 1);
    } else {
        (void)snprintf(subject.user, sizeof subject.user, "%s", checks->account);
    }
    (void)snprintf(subject.home, sizeof subject.home, "%s", *home ? home : subject.namespace_);
    return subject;
}

static bool is_needed(const struct right *right, const struct settings *settings)
{
    switch (right->when) {
    case ALWAYS:
        return true;
    case WITH_ELECTION:
        return settings->election.enabled;
    case WITH_SERVICE:
        return settings->election.enabled && *settings->election.service_name;
    case WITH_TLS:
        return *settings->tls.certificate_file;
    case WITH_BESIDE:
        return settings->scheduler.beside;
    case WITH_AGGREGATED:
        return settings->aggregated_api;
    case WITH_WAKE:
        return *settings->wake_object;
    }
    return true;
}

static const char *name_of(const struct right *right, const struct settings *settings)
{
    switch (right->name) {
    case LEASE_NAME:
        return settings->election.lease_name;
    case SERVICE_NAME:
        return settings->election.service_name;
    case SCHEDULER_NAME:
        return "kube-scheduler";
    case FRONT_NAME:
        return "extension-apiserver-authentication";
    case WAKE_NAME:
        return settings->wake_object;
    case ANY_NAME:
        break;
    }
    return "";
}

static const char *namespace_of(const struct right *right, const struct subject *subject)
{
    if (right->when == WITH_BESIDE || right->when == WITH_AGGREGATED)
        return "kube-system";
    const bool is_at_home =
        right->when == WITH_ELECTION || right->when == WITH_SERVICE || right->when == WITH_WAKE;
    return is_at_home ? subject->home : "";
}

/* As the API server's authenticator sets them: bindings may name these groups. */
static json_t *groups_of(const struct subject *subject)
{
    json_t *groups = json_pack("[s]", "system:authenticated");
    if (*subject->namespace_) {
        char group[LIVE_NAME_MAX + 32];
        (void)snprintf(group, sizeof group, "system:serviceaccounts:%s", subject->namespace_);
        (void)json_array_append_new(groups, json_string("system:serviceaccounts"));
        (void)json_array_append_new(groups, json_string(group));
    }
    return groups;
}

static json_t *review(const struct live_checks *checks, const struct subject *subject,
                      const struct right *right, const char *verb)
{
    json_t *spec = json_pack(
        "{s:{s:s, s:s, s:s, s:s, s:s, s:s}}", "resourceAttributes", "verb", verb, "group",
        right->group, "resource", right->resource, "subresource", right->subresource, "name",
        name_of(right, checks->settings), "namespace", namespace_of(right, subject));
    if (!subject->asks_self) {
        (void)json_object_set_new(spec, "user", json_string(subject->user));
        (void)json_object_set_new(spec, "groups", groups_of(subject));
    }
    json_t *body = json_pack("{s:s, s:s, s:o}", "apiVersion", "authorization.k8s.io/v1", "kind",
                             subject->asks_self ? "SelfSubjectAccessReview" : "SubjectAccessReview",
                             "spec", spec);
    if (!body)
        abort();
    return body;
}

static void ask(const struct live_checks *checks, const struct subject *subject,
                const struct right *right, const char *verb, struct api_reply *ret_reply)
{
    api_server_ask(checks->server,
                   subject->asks_self ? REVIEWS "selfsubjectaccessreviews"
                                      : REVIEWS "subjectaccessreviews",
                   review(checks, subject, right, verb), ret_reply);
}

/* -1: unknown, and why; 0: no; 1: yes. */
static int is_allowed(const struct live_checks *checks, struct subject *subject,
                      const struct right *right, const char *verb, char why[160])
{
    struct api_reply reply CLEANUP(api_reply_fini);
    ask(checks, subject, right, verb, &reply);
    if (reply.status == 403 && !subject->asks_self) {
        findings_not_checked(checks->findings, RIGHTS, "ask as a user who may create them",
                             "the caller may not create subjectaccessreviews, so the next lines "
                             "are about the caller %s, not about %s",
                             checks->caller, subject->user);
        subject->asks_self = true;
        api_reply_fini(&reply);
        ask(checks, subject, right, verb, &reply);
    }
    const json_t *allowed = json_member(json_member(reply.object, "status"), "allowed");
    const char *unread = reply.object ? "the answer has no status.allowed" : reply.why;
    (void)snprintf(why, 160, "%s", unread);
    return json_is_boolean(allowed) ? json_is_true(allowed) : -1;
}

static void add_word(char *text, size_t size, const char *word)
{
    const size_t len = strlen(text);
    (void)snprintf(text + len, size - len, "%s%s", len > 0 ? ", " : "", word);
}

static void check_right(const struct live_checks *checks, struct subject *subject,
                        const struct right *right)
{
    char verbs[64] = "";
    char missing[64] = "";
    char what[512];
    char why[160];
    for (size_t i = 0; i < VERBS_MAX && right->verbs[i]; i++) {
        const int allowed = is_allowed(checks, subject, right, right->verbs[i], why);
        if (allowed < 0) {
            findings_not_checked(checks->findings, RIGHTS, "", "%s %s: %s", right->verbs[i],
                                 right->resource, why);
            return;
        }
        add_word(verbs, sizeof verbs, right->verbs[i]);
        if (!allowed)
            add_word(missing, sizeof missing, right->verbs[i]);
    }
    const char *name = name_of(right, checks->settings);
    const bool is_other = subject->asks_self && strcmp(checks->caller, subject->user) != 0;
    const char *user = is_other ? checks->caller : subject->user;
    (void)snprintf(what, sizeof what, "%s%s%s%s%.64s%s%s", right->resource,
                   *right->subresource ? "/" : "", right->subresource, *name ? " " : "", name,
                   *right->group ? " of " : "", right->group);
    if (*missing)
        findings_add(checks->findings, is_other ? FINDING_WARN : right->missing, RIGHTS,
                     "apply manifests/rbac, or the base or overlay that you use",
                     "%s may not %s %s: %s", user, missing, what, right->without);
    else
        findings_add(checks->findings, FINDING_OK, RIGHTS, "", "%s may %s %s", user, verbs, what);
}

/* To list and watch a kind. Its path is /api/VERSION/RESOURCE or /apis/GROUP/VERSION/RESOURCE. */
static void check_kind(const struct live_checks *checks, struct subject *subject,
                       const struct kind_row *kind)
{
    static const char GROUPS[] = "/apis/";
    char group[LIVE_NAME_MAX] = "";
    const char *path = kind->listed.path;
    if (strncmp(path, GROUPS, sizeof GROUPS - 1) == 0)
        (void)snprintf(group, sizeof group, "%.*s", (int)strcspn(&path[sizeof GROUPS - 1], "/"),
                       &path[sizeof GROUPS - 1]);
    const struct right right = {.group = group,
                                .resource = kind->listed.name,
                                .subresource = "",
                                .verbs = {"list", "watch"},
                                .missing = kind->use->is_essential ? FINDING_FAIL : FINDING_WARN,
                                .without = kind->use->lost};
    check_right(checks, subject, &right);
}

void rights_checks_run(const struct live_checks *checks)
{
    struct subject subject = subject_of(checks);
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++)
        check_kind(checks, &subject, &INVENTORY_KINDS[i]);
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        if (is_needed(&TABLE[i], checks->settings))
            check_right(checks, &subject, &TABLE[i]);
    }
}

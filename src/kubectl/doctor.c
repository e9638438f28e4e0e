/* doctor: whether the user gets each answer, and whether the service has sound data. What the
 * service itself needs is checked by gpu-extender --doctor. */
#include "api/tables.h"
#include "base/mem.h"
#include "doctor/findings.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "source.h"
#include "verbs.h"

#define API_SERVICE "v1alpha1.visibility.gpu-extender.io"
#define API_SERVICE_PATH "/apis/apiregistration.k8s.io/v1/apiservices/" API_SERVICE

static bool is_through_kubectl(const struct session *session)
{
    return !session->arguments.url && !session->arguments.cluster_file;
}

/* ---- the way to the answers ---- */

static void read_condition(const json_t *service, struct findings *findings)
{
    size_t i = 0;
    json_t *condition = NULL;
    json_array_foreach (json_member(json_member(service, "status"), "conditions"), i, condition) {
        const char *type = "";
        const char *status = "";
        const char *message = "";
        (void)json_get_string(condition, "type", &type, NULL);
        (void)json_get_string(condition, "status", &status, NULL);
        (void)json_get_string(condition, "message", &message, NULL);
        if (strcmp(type, "Available") != 0)
            continue;
        if (strcmp(status, "True") == 0)
            findings_add(findings, FINDING_OK, "apiService", "", API_SERVICE " is available");
        else
            findings_add(findings, FINDING_FAIL, "apiService",
                         "look at the pods of gpu-extender and at docs/AGGREGATED-API.md",
                         API_SERVICE " is not available: %s", message);
        return;
    }
    findings_add(findings, FINDING_WARN, "apiService", "", API_SERVICE " has no state yet");
}

static void check_api_service(const struct session *session, struct findings *findings)
{
    struct reply reply = {0};
    struct err err = {.text = ""};
    json_t *service = NULL;
    buf_init(&reply.text, SOURCE_BYTES_MAX);
    const int r =
        source_get_kubectl(&session->arguments, API_SERVICE_PATH, session->arena, &reply, &err);
    if (r < 0)
        findings_add(findings, FINDING_FAIL, "apiServer", "", "%s", err.text);
    else if (reply.status == 404)
        findings_add(findings, FINDING_FAIL, "apiService",
                     "apply the overlay aggregated-api, or use --url",
                     "the API server has no " API_SERVICE);
    else if (reply.status != 200)
        findings_not_checked(findings, "apiService", "", "%s", buf_text(&reply.text));
    else if (json_parse(buf_text(&reply.text), reply.text.len, 0, &JSON_OWN, &service, &err) == 0)
        read_condition(service, findings);
    json_decref(service);
    buf_fini(&reply.text);
}

/* A user who may not see these pods learns why it is not known. */
static void check_schedulers(const struct session *session, struct findings *findings)
{
    json_t *pods = json_array();
    const char *fault = NULL;
    for (size_t i = 0; FINDINGS_SCHEDULER_PATHS[i]; i++) {
        struct reply reply = {0};
        struct err err = {.text = ""};
        json_t *list = NULL;
        buf_init(&reply.text, SOURCE_BYTES_MAX);
        const int r = source_get_kubectl(&session->arguments, FINDINGS_SCHEDULER_PATHS[i],
                                         session->arena, &reply, &err);
        if (r < 0 || reply.status != 200)
            fault = arena_strdup(session->arena, r < 0 ? err.text : buf_text(&reply.text));
        else if (json_parse(buf_text(&reply.text), reply.text.len, 0, &JSON_OWN, &list, &err) == 0)
            (void)json_array_extend(pods, json_member(list, "items"));
        json_decref(list);
        buf_fini(&reply.text);
    }
    if (fault && json_array_size(pods) == 0)
        findings_not_checked(findings, "scheduler.running", "", "%s", fault);
    else
        findings_add_schedulers(findings, pods);
    json_decref(pods);
}

/* Adds how the answer came, and returns it; NULL: it did not. */
static json_t *check_view(const struct session *session, const char *view,
                          struct findings *findings)
{
    const struct asked answer = session_ask(session, view, NULL);
    const char *check = arena_printf(session->arena, "views.%s", view);
    if (answer.status == EXIT_FINE)
        findings_add(findings, FINDING_OK, check, "", "answered");
    else if (answer.http == 503 && strcmp(view, "decisions") == 0)
        findings_add(findings, FINDING_WARN, check, "", "%s", answer.message);
    else
        findings_add(findings, FINDING_FAIL, check,
                     answer.http == 403 ? "ask for the ClusterRole gpu-extender-views, or "
                                          "gpu-extender-viewer with --url"
                                        : "",
                     "%s", answer.message);
    return answer.value;
}

/* ---- the data ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = "";
    (void)json_get_string(object, key, &text, NULL);
    return text;
}

/* The hint names the command that lists the objects that could not be used. */
static const char *hint_of_problems(const struct session *session)
{
    return arena_printf(session->arena, "%s nodes -o wide%s lists them", session->program,
                        is_through_kubectl(session) ? "" : " with the same options");
}

static void check_data(const struct session *session, const json_t *inventory,
                       struct findings *findings)
{
    int64_t n_problems = 0;
    const json_t *first = json_array_get(json_member(inventory, "problems"), 0);
    (void)json_get_integer(inventory, "problemCount", &n_problems, NULL);
    if (json_is_true(json_member(inventory, "usable")))
        findings_add(findings, FINDING_OK, "data", "", "as of %s, from %s",
                     text_of(inventory, "asOf"), text_of(inventory, "source"));
    else
        findings_add(findings, FINDING_FAIL, "data", "look at the service's log", "unusable: %s",
                     text_of(inventory, "unusableBecause"));
    if (*text_of(inventory, "claimsNotCountedBecause"))
        findings_add(findings, FINDING_WARN, "data.claims", "", "%s",
                     text_of(inventory, "claimsNotCountedBecause"));
    if (n_problems > 0)
        findings_add(findings, FINDING_WARN, "data.problems", hint_of_problems(session),
                     "%lld objects could not be used; the first: %s %s: %s", (long long)n_problems,
                     text_of(first, "kind"), text_of(first, "name"), text_of(first, "what"));
}

/* Checks nodes with GPUs only. */
static void check_nodes(const json_t *inventory, struct findings *findings)
{
    size_t n = 0;
    size_t n_ready = 0;
    size_t i = 0;
    json_t *row = NULL;
    json_array_foreach (json_member(inventory, "nodes"), i, row) {
        n++;
        n_ready += json_is_true(json_member(row, "ready"));
    }
    if (n == 0)
        findings_add(findings, FINDING_FAIL, "nodes", "", "there are none");
    else
        findings_add(findings, n_ready < n ? FINDING_WARN : FINDING_OK, "nodes", "",
                     "%zu of %zu are ready", n_ready, n);
    json_array_foreach (json_member(inventory, "models"), i, row) {
        int64_t n_nodes = 0;
        (void)json_get_integer(row, "nodes", &n_nodes, NULL);
        if (!*text_of(row, "model"))
            findings_add(findings, FINDING_WARN, "nodes.model",
                         "label them with their model (models.labels of the policy)",
                         "nodes whose %s have an unknown model: %lld", text_of(row, "resource"),
                         (long long)n_nodes);
    }
}

static bool is_exceeded(const json_t *limit, const json_t *amounts, const char *what,
                        const char *quota, struct findings *findings)
{
    int64_t used = 0;
    int64_t most = 0;
    const char *model = text_of(limit, "model");
    (void)json_get_integer(amounts, "used", &used, NULL);
    (void)json_get_integer(amounts, "limit", &most, NULL);
    if (!amounts || used <= most)
        return false;
    findings_add(findings, FINDING_WARN, "quotas.use",
                 "end pods (\"pods\" lists them), or let an administrator raise the limit: until "
                 "then new pods wait",
                 "quota %s: its pods %s %lld %s%s%s; the limit is %lld", quota, what,
                 (long long)used, text_of(limit, "resource"), *model ? " of model " : "", model,
                 (long long)most);
    return true;
}

static void check_quotas(const json_t *answer, struct findings *findings)
{
    const json_t *quotas = json_member(answer, "quotas");
    bool any = false;
    size_t i = 0;
    size_t j = 0;
    json_t *quota = NULL;
    json_t *limit = NULL;
    json_array_foreach (quotas, i, quota) {
        const char *name = text_of(quota, "name");
        json_array_foreach (json_member(quota, "limits"), j, limit) {
            any |= is_exceeded(limit, limit, "use", name, findings);
            any |= is_exceeded(limit, json_member(limit, "borrow"), "borrow", name, findings);
        }
    }
    if (!any && json_array_size(quotas) > 0)
        findings_add(findings, FINDING_OK, "quotas.use", "", "no limit of %zu quotas is exceeded",
                     json_array_size(quotas));
}

static void check_policy(const json_t *policy, struct findings *findings)
{
    const char *mode = text_of(json_member(policy, "values"), "mode");
    const size_t n_restart = json_array_size(json_member(policy, "needsRestart"));
    const char *fault = text_of(policy, "fault");
    if (*fault)
        findings_add(findings, FINDING_FAIL, "policy", "correct the file: the next start will fail",
                     "%s", fault);
    else if (n_restart > 0)
        findings_add(findings, FINDING_WARN, "policy", "restart the service",
                     "%zu keys of the file are not in force", n_restart);
    else if (strcmp(mode, "observe") == 0)
        findings_add(
            findings, FINDING_WARN, "policy",
            "set mode: enforce once you agree with what it would have rejected",
            "mode observe: kube-scheduler places pods by itself, without models and quotas");
    else
        findings_add(findings, FINDING_OK, "policy", "", "in force since %s, mode %s",
                     text_of(policy, "inForceSince"), mode);
}

static void check_all(const struct session *session, struct findings *findings)
{
    static const char *const OTHERS[] = {"pending", "quota", "fragmentation"};
    if (is_through_kubectl(session)) {
        check_api_service(session, findings);
        check_schedulers(session, findings);
    }
    json_t *inventory = check_view(session, "inventory", findings);
    for (size_t i = 0; inventory && i < sizeof OTHERS / sizeof *OTHERS; i++) {
        json_t *answer = check_view(session, OTHERS[i], findings);
        check_quotas(answer, findings);
        json_decref(answer);
    }
    if (!inventory)
        return;
    check_data(session, inventory, findings);
    check_nodes(inventory, findings);
    findings_add_sick(findings, inventory);
    json_decref(inventory);
    if (session->arguments.cluster_file)
        return; /* there is no service */
    json_decref(check_view(session, "decisions", findings));
    json_t *policy = check_view(session, "policy", findings);
    if (policy)
        check_policy(policy, findings);
    json_decref(policy);
}

static void write_text(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    (void)arena;
    tables_write_lines(json_string_value(json_member(answer, "text")), wide, out);
}

static void free_findings(struct findings **findings)
{
    findings_free(*findings);
}

int verbs_doctor(struct session *session)
{
    struct findings *findings CLEANUP(free_findings) = findings_new();
    const enum form form = session->arguments.form;
    struct buf text;
    struct err err;
    json_t *answer = NULL;
    check_all(session, findings);
    const int status = findings_has_fail(findings) ? EXIT_NOT : EXIT_FINE;
    buf_init(&text, BUF_UNBOUNDED); /* the findings are bounded */
    if (form == FORM_JSON || form == FORM_YAML) {
        findings_write_json(findings, &text);
        (void)json_parse(buf_text(&text), text.len, 0, &JSON_OWN, &answer, &err);
    } else {
        findings_write_text(findings, &text);
        answer = json_pack("{s:s}", "text", buf_text(&text));
    }
    buf_fini(&text);
    const int r = print_answer(session, answer, write_text, NULL, true, status);
    json_decref(answer);
    return r;
}

/* server_checks: the versions of the API server and of the nodes; the API server's clock, and whom
 * it takes us for. A SelfSubjectReview has both; its time is to the second. */
#include "base/clock.h"
#include "checks.h"
#include "formats/json_values.h"
#include "kube/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVER "versions.apiServer"
#define NODES "versions.nodes"
#define LEAST_MINOR 29
#define MOST_MINOR 37
/* kubelets may be three minor versions older than the API server, and none newer. Source:
 * Kubernetes, "Version Skew Policy". */
#define MOST_SKEW 3
#define PATH_BYTES 2048
#define PAGE "/api/v1/nodes?limit=100"
/* More than limits.nodes allows. */
#define PAGES_MAX 10100

static long check_server(const struct live_checks *checks, const struct api_reply *reply)
{
    const char *version = json_string_value(json_member(reply->object, "gitVersion"));
    const long minor = kube_minor_of(version);
    if (!reply->object)
        findings_not_checked(checks->findings, SERVER, "", "GET /version: %s", reply->why);
    else if (minor < 0)
        findings_not_checked(checks->findings, SERVER, "", "%.64s is not the version of a release",
                             version ? version : "no version");
    else if (minor < LEAST_MINOR || minor > MOST_MINOR)
        findings_add(checks->findings, FINDING_WARN, SERVER, "try it before you rely on it",
                     "is %.64s; gpu-extender works with 1.%d to 1.%d", version, LEAST_MINOR,
                     MOST_MINOR);
    else
        findings_add(checks->findings, FINDING_OK, SERVER, "", "is %.64s", version);
    return minor;
}

struct kubelets {
    long server_minor;
    size_t n;
    struct first_names newer, older;
};

static void take_nodes(struct kubelets *kubelets, const json_t *list)
{
    size_t i = 0;
    const json_t *node = NULL;
    json_array_foreach (json_object_get(list, "items"), i, node) {
        const json_t *info = json_object_get(json_object_get(node, "status"), "nodeInfo");
        const char *version = json_string_value(json_object_get(info, "kubeletVersion"));
        const char *name =
            json_string_value(json_object_get(json_object_get(node, "metadata"), "name"));
        const long minor = kube_minor_of(version);
        kubelets->n++;
        if (minor > kubelets->server_minor)
            first_names_add(&kubelets->newer, "%s (%s)", name ? name : "?", version);
        else if (minor >= 0 && minor < kubelets->server_minor - MOST_SKEW)
            first_names_add(&kubelets->older, "%s (%s)", name ? name : "?", version);
    }
}

/* "": there is no next page. */
static const char *continue_token(const json_t *list)
{
    const char *token =
        json_string_value(json_object_get(json_object_get(list, "metadata"), "continue"));
    return token ? token : "";
}

/* False: the token is not one of an API server, which are base64 for URLs. */
static bool next_path(const char *token, char path[PATH_BYTES])
{
    const size_t len = strlen(token);
    if (len > PATH_BYTES / 2 ||
        strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=") < len)
        return false;
    (void)snprintf(path, PATH_BYTES, PAGE "&continue=%s", token);
    return true;
}

/* False: a page is missing. */
static bool list_nodes(const struct live_checks *checks, struct kubelets *kubelets)
{
    char path[PATH_BYTES] = PAGE;
    bool more = true;
    for (size_t i = 0; more && i < PAGES_MAX; i++) {
        struct api_reply reply CLEANUP(api_reply_fini);
        api_server_ask(checks->server, path, NULL, &reply);
        if (!reply.object) {
            findings_not_checked(checks->findings, NODES, "", "list of nodes: %s", reply.why);
            return false;
        }
        take_nodes(kubelets, reply.object);
        const char *token = continue_token(reply.object);
        more = token[0] != '\0';
        if (more && !next_path(token, path)) {
            findings_not_checked(checks->findings, NODES, "",
                                 "list of nodes: the continue token is unusable");
            return false;
        }
    }
    return true;
}

static void check_kubelets(const struct live_checks *checks, long server_minor)
{
    struct kubelets kubelets = {.server_minor = server_minor};
    if (!list_nodes(checks, &kubelets))
        return;
    if (kubelets.newer.n > 0)
        findings_add(checks->findings, FINDING_WARN, NODES, "upgrade the API server first",
                     "%zu kubelets are newer than the API server: %s", kubelets.newer.n,
                     first_names_text(&kubelets.newer));
    if (kubelets.older.n > 0)
        findings_add(checks->findings, FINDING_WARN, NODES, "upgrade them",
                     "%zu kubelets are more than %d minor versions older than the API server: %s",
                     kubelets.older.n, MOST_SKEW, first_names_text(&kubelets.older));
    if (kubelets.newer.n + kubelets.older.n == 0)
        findings_add(checks->findings, FINDING_OK, NODES, "",
                     "the kubelets of all %zu nodes fit the API server", kubelets.n);
}

bool server_checks_versions(const struct live_checks *checks)
{
    struct api_reply reply CLEANUP(api_reply_fini);
    api_server_ask(checks->server, "/version", NULL, &reply);
    if (reply.status == 0 || reply.status == 401) {
        findings_add(checks->findings, FINDING_FAIL, "apiServer",
                     "correct the kubeconfig or the network; the other checks need an answer",
                     "%s%s", reply.why,
                     reply.status == 401 ? ": it does not accept the credential" : "");
        return false;
    }
    const long minor = check_server(checks, &reply);
    if (minor >= 0)
        check_kubelets(checks, minor);
    return true;
}

/* The clock. */

#define PATH "/apis/authentication.k8s.io/v1/selfsubjectreviews"
#define CLOCK "clock"
#define SECOND_MS 1000
#define MOST_MS (5 * (int64_t)SECOND_MS)

static json_t *review(void)
{
    json_t *body = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
                             "SelfSubjectReview");
    if (!body)
        abort();
    return body;
}

static void note_caller(struct live_checks *checks, const json_t *object)
{
    const json_t *info = json_object_get(json_object_get(object, "status"), "userInfo");
    const char *name = json_string_value(json_object_get(info, "username"));
    (void)snprintf(checks->caller, sizeof checks->caller, "%s", name ? name : "");
}

static void judge(const struct live_checks *checks)
{
    const int64_t ms = checks->behind_ms;
    if (ms > MOST_MS || ms < -MOST_MS)
        findings_add(checks->findings, FINDING_WARN, CLOCK,
                     "set the clock by NTP: ages and certificates are judged by it (the Lease is "
                     "not)",
                     "this machine's clock is %" PRId64 " s %s the API server's",
                     (ms > 0 ? ms : -ms) / SECOND_MS, ms > 0 ? "behind" : "ahead of");
    else
        findings_add(checks->findings, FINDING_OK, CLOCK, "",
                     "agrees with the API server's within %d s", (int)(MOST_MS / SECOND_MS));
}

void server_checks_clock(struct live_checks *checks)
{
    struct api_reply reply CLEANUP(api_reply_fini);
    int64_t server_s = 0;
    const int64_t before_ms = clock_wall_ms();
    api_server_ask(checks->server, PATH, review(), &reply);
    const int64_t middle_ms = before_ms + (clock_wall_ms() - before_ms) / 2;
    const json_t *metadata = json_object_get(reply.object, "metadata");
    const char *time = json_string_value(json_object_get(metadata, "creationTimestamp"));
    note_caller(checks, reply.object);
    if (!time || text_time_read(time, &server_s) < 0 ||
        llabs(server_s) > INT64_MAX / SECOND_MS / 2) {
        findings_not_checked(checks->findings, CLOCK, "", "SelfSubjectReview: %s",
                             reply.object ? "has no creationTimestamp" : reply.why);
        return;
    }
    checks->has_clock = true;
    checks->behind_ms = server_s * SECOND_MS + SECOND_MS / 2 - middle_ms;
    judge(checks);
}

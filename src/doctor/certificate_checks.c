/* certificate_checks: the certificates as the service itself judges them, at its start and in
 * calls. */
#include "certificate_checks.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/small_file.h"
#include "base/text_time.h"
#include "formats/json_get.h"
#include "http/tls.h"
#include "scheduler_url.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CERTIFICATES "certificates"
#define NAMES "certificates.names"
#define CLIENT "certificates.scheduler"
#define PEM_BYTES_MAX ((size_t)1024 * 1024)

/* The files are where the service runs, which may be another machine. */
static const char *find_absent(const struct tls_files *files)
{
    const char *const paths[] = {files->certificate, files->private_key, files->client_ca,
                                 files->client_crl};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (*paths[i] && access(paths[i], R_OK) < 0)
            return paths[i];
    }
    return NULL;
}

/* An expiry is near within 30 days, but not before two thirds of the lifetime are over: issuers
 * renew by then, also those of short-lived certificates. */
#define NEAR_S INT64_C(2592000)
#define DAY_S 86400

static bool expires_soon(const struct tls_facts *facts, int64_t now_s)
{
    const int64_t third_s = (facts->not_after - facts->not_before) / 3;
    return facts->not_after - now_s < (third_s < NEAR_S ? third_s : NEAR_S);
}

static void report_expiry(const struct tls_facts *facts, const char *file, const char *check,
                          const char *right, struct findings *findings)
{
    char when[TEXT_TIME_SIZE];
    const int64_t now_s = clock_wall_ms() / 1000;
    const bool is_soon = expires_soon(facts, now_s);
    findings_add(findings, is_soon ? FINDING_WARN : FINDING_OK, check,
                 is_soon ? "renew it before that: an expired one stops scheduling" : "",
                 "%s: %s%s %s, in %lld days", file, right,
                 is_soon ? ", and expires soon: it is valid until" : ", until",
                 text_time(facts->not_after, when),
                 (long long)((facts->not_after - now_s) / DAY_S));
}

/* The name that kube-scheduler expects; "": unknown. */
static const char *expected_host(const json_t *ours, struct scheduler_url *url)
{
    const char *name = json_string_value(json_member(json_member(ours, "tlsConfig"), "serverName"));
    const char *prefix = json_string_value(json_member(ours, "urlPrefix"));
    if (name && *name)
        return name;
    return prefix && scheduler_url_parse(prefix, url) && url->https ? url->host : "";
}

/* The certificate is usable. */
static void check_names(const struct tls_facts *facts, const char *host, const char *file,
                        struct findings *findings)
{
    if (!*host)
        return;
    if (!facts->has_names)
        findings_add(findings, FINDING_FAIL, NAMES, "issue it with a subject alternative name",
                     "%s: has no subject alternative names, and kube-scheduler does not accept "
                     "the common name; should have %s",
                     file, host);
    else if (!facts->is_for_host)
        findings_add(findings, FINDING_FAIL, NAMES,
                     "add the name to the certificate, or set tlsConfig.serverName",
                     "%s: has no subject alternative name for %s, which kube-scheduler expects "
                     "(urlPrefix or tlsConfig.serverName)",
                     file, host);
    else
        findings_add(findings, FINDING_OK, NAMES, "", "%s: is for %s", file, host);
}

/* Returns whether the files are usable. */
static bool check_server(const struct tls_files *files, const json_t *ours,
                         struct findings *findings)
{
    struct scheduler_url url;
    struct tls_facts facts = {0};
    struct err err;
    const char *host = expected_host(ours, &url);
    int r = tls_check(files, &err);
    if (r == 0)
        r = tls_look_at_server(files, host, &facts, &err);
    if (r < 0) {
        findings_add(findings, FINDING_FAIL, CERTIFICATES, "renew or correct the files of tls",
                     "%s", err.text);
        return false;
    }
    report_expiry(&facts, files->certificate, CERTIFICATES,
                  "is valid now, for servers, and belongs to its key", findings);
    check_names(&facts, host, files->certificate, findings);
    return true;
}

static bool admits(const struct settings_clients *clients, const struct exchange_peer *peer)
{
    return (clients->n_names == 0 && clients->n_organizations == 0) ||
           settings_names_client(clients, peer->common_name, peer->organizations);
}

static void judge_client(const struct settings_tls *tls, const struct tls_facts *facts,
                         const char *file, struct findings *findings)
{
    if (!facts->peer)
        findings_add(findings, FINDING_FAIL, CLIENT, "issue kube-scheduler another certificate",
                     "%s: %s", file, facts->fault);
    else if (!admits(&tls->verb_clients, facts->peer))
        findings_add(findings, FINDING_FAIL, CLIENT,
                     "add it to tls.verbClients of the policy, or issue another certificate",
                     "%s: its subject (common name %s) is not in tls.verbClients: its calls are "
                     "rejected",
                     file, *facts->peer->common_name ? facts->peer->common_name : "absent");
    else
        report_expiry(facts, file, CLIENT, "is valid now, for clients, and may call the verbs",
                      findings);
}

/* The file is where kube-scheduler runs, which may be another machine. */
static void check_client(const struct settings_tls *tls, const struct tls_files *files,
                         const json_t *ours, struct findings *findings)
{
    const char *file = json_string_value(json_member(json_member(ours, "tlsConfig"), "certFile"));
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct buf pem;
    struct tls_facts facts = {0};
    struct err err;
    if (!file || !*file)
        return;
    buf_init(&pem, PEM_BYTES_MAX);
    if (small_file_read(file, false, &pem, &err) < 0)
        findings_not_checked(findings, CLIENT, "run this where kube-scheduler runs", "%s",
                             err.text);
    else if (tls_look_at_client(files, &pem, arena, &facts, &err) < 0)
        findings_add(findings, FINDING_FAIL, CLIENT, "correct the file", "%s: %s", file, err.text);
    else
        judge_client(tls, &facts, file, findings);
    buf_fini(&pem);
}

void certificate_checks_run(const struct settings_tls *tls, const json_t *ours,
                            struct findings *findings)
{
    const struct tls_files files = {.certificate = tls->certificate_file,
                                    .private_key = tls->private_key_file,
                                    .client_ca = tls->client_ca_file,
                                    .client_crl = tls->client_crl_file};
    if (!*files.certificate)
        return;
    const char *absent = find_absent(&files);
    if (absent) {
        findings_not_checked(findings, CERTIFICATES, "run this where gpu-extender runs",
                             "%s cannot be read here: %s", absent, strerror(errno));
        return;
    }
    if (check_server(&files, ours, findings))
        check_client(tls, &files, ours, findings);
}

/* certificate_checks: the certificates as the service itself judges them, at its start and in
 * calls. */
#include "checks.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/file_watch.h"
#include "base/mem.h"
#include "formats/json_values.h"
#include "http/tls.h"
#include "scheduler_checks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CERTIFICATES "certificates"
#define NAMES "certificates.names"
#define CLIENT "certificates.scheduler"
#define CLIENT_KEY "certificates.schedulerKey"
#define TRUST "certificates.authority"
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

/* One PEM of tlsConfig. As for client-go, the data win over the file. */
struct scheduler_pem {
    const char *name; /* in messages: the path, or the key of the data */
    struct buf text;
    bool is_here; /* else it is not given, or was reported */
};

/* base64 of PEM, inline. scheduler_schema.c reports what is not base64. */
static void read_data(const char *data, struct scheduler_pem *pem)
{
    char *bytes CLEANUP(mem_free_ptr) = NULL;
    size_t len = 0;
    if (base64_decode(data, &bytes, &len) < 0)
        return;
    buf_add(&pem->text, bytes, len);
    pem->is_here = true;
}

/* The file is where kube-scheduler runs, which may be another machine. */
static void read_file(const char *check, struct scheduler_pem *pem, struct findings *findings)
{
    struct err err;
    if (small_file_read(pem->name, false, &pem->text, &err) < 0)
        findings_not_checked(findings, check, "run this where kube-scheduler runs", "%s", err.text);
    else
        pem->is_here = true;
}

static void read_pem(const json_t *ours, const char *const keys[2], const char *check,
                     struct scheduler_pem *pem, struct findings *findings)
{
    const json_t *tls = json_member(ours, "tlsConfig");
    const char *data = json_string_value(json_member(tls, keys[1]));
    const char *file = json_string_value(json_member(tls, keys[0]));
    *pem = (struct scheduler_pem){.name = ""};
    buf_init(&pem->text, PEM_BYTES_MAX);
    if (data && *data) {
        pem->name = keys[1];
        read_data(data, pem);
    } else if (file && *file) {
        pem->name = file;
        read_file(check, pem, findings);
    }
}

static void check_key(const json_t *ours, const struct scheduler_pem *certificate,
                      struct findings *findings)
{
    static const char *const KEYS[] = {"keyFile", "keyData"};
    struct scheduler_pem key;
    struct err err;
    read_pem(ours, KEYS, CLIENT_KEY, &key, findings);
    if (key.is_here && tls_check_pair(&certificate->text, &key.text, &err) < 0)
        findings_add(findings, FINDING_FAIL, CLIENT_KEY, "name the key of the certificate",
                     "%s, for the certificate %s: %s", key.name, certificate->name, err.text);
    else if (key.is_here)
        findings_add(findings, FINDING_OK, CLIENT_KEY, "", "%s: is the key of %s", key.name,
                     certificate->name);
    buf_fini(&key.text);
}

static void check_client(const struct settings_tls *tls, const struct tls_files *files,
                         const json_t *ours, struct findings *findings)
{
    static const char *const KEYS[] = {"certFile", "certData"};
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct scheduler_pem pem;
    struct tls_facts facts = {0};
    struct err err;
    read_pem(ours, KEYS, CLIENT, &pem, findings);
    if (pem.is_here && tls_look_at_client(files, &pem.text, arena, &facts, &err) < 0) {
        findings_add(findings, FINDING_FAIL, CLIENT, "correct it", "%s: %s", pem.name, err.text);
    } else if (pem.is_here) {
        judge_client(tls, &facts, pem.name, findings);
        check_key(ours, &pem, findings);
    }
    buf_fini(&pem.text);
}

/* Whether kube-scheduler accepts our certificate by its CA. */
static void check_trust(const struct tls_files *files, const json_t *ours,
                        struct findings *findings)
{
    static const char *const KEYS[] = {"caFile", "caData"};
    struct scheduler_pem pem;
    bool is_trusted = false;
    struct err err;
    read_pem(ours, KEYS, TRUST, &pem, findings);
    if (pem.is_here && tls_look_at_trust(files, &pem.text, &is_trusted, &err) < 0)
        findings_add(findings, FINDING_FAIL, TRUST, "correct it", "%s: %s", pem.name, err.text);
    else if (pem.is_here && !is_trusted)
        findings_add(findings, FINDING_FAIL, TRUST,
                     "name the CA that signed tls.certificateFile of the policy",
                     "%s: has no CA that signed %s: kube-scheduler rejects each connection",
                     pem.name, files->certificate);
    else if (pem.is_here)
        findings_add(findings, FINDING_OK, TRUST, "", "%s: has the CA that signed %s", pem.name,
                     files->certificate);
    buf_fini(&pem.text);
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
    if (!check_server(&files, ours, findings))
        return;
    check_client(tls, &files, ours, findings);
    check_trust(&files, ours, findings);
}

/* exec_credential: see exec_priv.h. */
#include "exec_priv.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/file_watch.h"
#include "base/mem.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "kube/config/config_priv.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define API_VERSION "client.authentication.k8s.io/v1"
#define KIND "ExecCredential"
#define CA_BYTES_MAX ((size_t)1024 * 1024)

void exec_credential_fini(struct exec_credential *credential)
{
    free(credential->token);
    free(credential->cert_pem);
    free(credential->key_pem);
    *credential = (struct exec_credential){0};
}

static int fault(struct err *err, const char *what)
{
    return err_set(err, EINVAL, "its answer %s", what);
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
    const char *is = json_string_value(json_member(object, key));
    return is && strcmp(is, text) == 0;
}

/* Reads a member of the status; NULL if absent or "". */
static int get_text(const json_t *status, const char *key, const char **ret_text, struct err *err)
{
    const json_t *value = json_member(status, key);
    if (value && !json_is_string(value))
        return err_set(err, EINVAL, "its answer has a status.%s that is not a string", key);
    *ret_text = json_string_length(value) > 0 ? json_string_value(value) : NULL;
    return 0;
}

static int read_token(const json_t *status, struct exec_credential *credential, struct err *err)
{
    const char *text = NULL;
    int r = get_text(status, "token", &text, err);
    if (r == 0 && text && token_from_text(text, &credential->token, err) < 0) {
        err_prefix(err, "its answer has a status.token that ");
        return -EINVAL;
    }
    return r;
}

static int read_pem(const json_t *status, const char *key, char **ret_pem, struct err *err)
{
    const char *text = NULL;
    int r = get_text(status, key, &text, err);
    if (r == 0 && text && !strstr(text, "-----BEGIN "))
        return err_set(err, EINVAL, "its answer has a status.%s that is not PEM", key);
    if (r == 0 && text)
        *ret_pem = mem_strdup(text);
    return r;
}

static int read_expiry(const json_t *status, struct exec_credential *credential, struct err *err)
{
    const char *text = NULL;
    int r = get_text(status, "expirationTimestamp", &text, err);
    credential->expires_s = INT64_MAX;
    if (r == 0 && text && text_time_read(text, &credential->expires_s) < 0)
        return fault(err, "has a status.expirationTimestamp that is not an RFC 3339 time");
    return r;
}

static int read_status(const json_t *status, struct exec_credential *credential, struct err *err)
{
    int r = read_token(status, credential, err);
    if (r == 0)
        r = read_pem(status, "clientCertificateData", &credential->cert_pem, err);
    if (r == 0)
        r = read_pem(status, "clientKeyData", &credential->key_pem, err);
    if (r == 0)
        r = read_expiry(status, credential, err);
    if (r < 0)
        return r;
    if (!credential->cert_pem != !credential->key_pem)
        return fault(err, "has one of clientCertificateData and clientKeyData, should have both");
    if (!credential->token && !credential->cert_pem)
        return fault(err, "has neither a token nor clientCertificateData in its status");
    return 0;
}

static int read_answer(const json_t *root, struct exec_credential *credential, struct err *err)
{
    if (!is_text(root, "kind", KIND))
        return fault(err, "is not an " KIND);
    if (!is_text(root, "apiVersion", API_VERSION))
        return fault(err, "has another apiVersion than " API_VERSION);
    const json_t *status = json_member(root, "status");
    if (!json_is_object(status))
        return fault(err, "has no status");
    return read_status(status, credential, err);
}

int exec_credential_parse(const char *text, size_t len, struct exec_credential *ret_credential,
                          struct err *err)
{
    json_t *root = NULL;
    if (json_parse(text, len, 0, &JSON_ANSWER, &root, NULL) < 0)
        return fault(err, len == 0 ? "is empty, should be an " KIND : "is not JSON");
    struct exec_credential credential = {0};
    int r = read_answer(root, &credential, err);
    json_decref(root);
    if (r < 0)
        exec_credential_fini(&credential);
    else
        *ret_credential = credential;
    return r;
}

/* ---- the request ---- */

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        (void)json_object_set_new(object, key, json_string(text));
}

static int set_ca(json_t *cluster, const struct kube_target *target, struct err *err)
{
    struct buf pem;
    buf_init(&pem, CA_BYTES_MAX);
    int r = 0;
    if (target->ca_pem)
        buf_add_text(&pem, target->ca_pem);
    else if (target->ca_file)
        r = small_file_read(target->ca_file, false, &pem, err);
    if (r == 0 && pem.len > 0) {
        char *text CLEANUP(mem_free_ptr) = base64_encode(buf_text(&pem), pem.len);
        set_text(cluster, "certificate-authority-data", text);
    }
    buf_fini(&pem);
    return r;
}

static int add_cluster(json_t *spec, const struct kube_target *target, struct err *err)
{
    json_t *cluster = json_object();
    (void)json_object_set_new(spec, "cluster", cluster);
    set_text(cluster, "server", target->server);
    set_text(cluster, "tls-server-name", target->tls_server_name);
    set_text(cluster, "proxy-url", target->proxy_url);
    if (target->insecure)
        (void)json_object_set_new(cluster, "insecure-skip-tls-verify", json_true());
    if (target->exec.cluster_config)
        (void)json_object_set_new(cluster, "config", json_parse_own(target->exec.cluster_config));
    return set_ca(cluster, target, err);
}

int exec_credential_ask(const struct kube_target *target, char **ret_text, struct err *err)
{
    json_t *root = json_pack("{s:s,s:s,s:{s:b}}", "apiVersion", API_VERSION, "kind", KIND, "spec",
                             "interactive", 0);
    int r = 0;
    if (target->exec.provide_cluster_info)
        r = add_cluster(json_object_get(root, "spec"), target, err);
    if (r < 0) {
        json_decref(root);
        return r;
    }
    size_t len = 0;
    *ret_text = json_take_text(root, JSON_COMPACT, &len);
    return 0;
}

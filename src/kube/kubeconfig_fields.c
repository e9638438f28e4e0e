/* kubeconfig_fields: see kubeconfig_fields.h. exec is read in kubeconfig_exec.c. */
#include "kubeconfig_fields.h"

#include "base/mem.h"
#include "base64.h"
#include "token.h"
#include "url_check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct field {
    const char *key;
    json_type type; /* JSON_TRUE: true or false */
    int (*read)(const struct field *field, const struct kubeconfig_value *value,
                struct kube_target *target, struct err *err);
    size_t at;        /* offsetof in struct kube_target */
    url_check *check; /* of a text */
    const char *instead;
};

static char **text_at(const struct field *field, struct kube_target *target)
{
    return (void *)((char *)target + field->at);
}

static int read_text(const struct field *field, const struct kubeconfig_value *value,
                     struct kube_target *target, struct err *err)
{
    const char *text = json_string_value(value->value);
    const char *right = field->check(text);
    if (right)
        return kubeconfig_fault(value, err, "cannot be used, should be %s", right);
    *text_at(field, target) = mem_strdup(text);
    return 0;
}

static int read_switch(const struct field *field, const struct kubeconfig_value *value,
                       struct kube_target *target, struct err *err)
{
    (void)err;
    *(bool *)((char *)target + field->at) = json_is_true(value->value);
    return 0;
}

char *kubeconfig_path(const struct kubeconfig_value *value)
{
    const char *text = json_string_value(value->value);
    struct buf path;
    buf_init(&path, (size_t)1 << 30);
    if (text[0] != '/')
        (void)buf_printf(&path, "%s/", value->file->folder);
    (void)buf_add_text(&path, text);
    return buf_take(&path);
}

static int read_path(const struct field *field, const struct kubeconfig_value *value,
                     struct kube_target *target, struct err *err)
{
    (void)err;
    *text_at(field, target) = kubeconfig_path(value);
    return 0;
}

static int read_pem(const struct field *field, const struct kubeconfig_value *value,
                    struct kube_target *target, struct err *err)
{
    char *pem = NULL;
    size_t len = 0;
    if (base64_decode(json_string_value(value->value), &pem, &len) < 0)
        return kubeconfig_fault(value, err, "is no base64, should be that of a PEM text");
    if (strlen(pem) < len || !strstr(pem, "-----BEGIN ")) {
        free(pem);
        return kubeconfig_fault(value, err, "is no PEM text in base64, should be one");
    }
    *text_at(field, target) = pem;
    return 0;
}

static int read_token(const struct field *field, const struct kubeconfig_value *value,
                      struct kube_target *target, struct err *err)
{
    struct err why;
    if (token_from_text(json_string_value(value->value), text_at(field, target), &why) < 0)
        return kubeconfig_fault(value, err, "%s", why.text);
    return 0;
}

static int refuse(const struct field *field, const struct kubeconfig_value *value,
                  struct kube_target *target, struct err *err)
{
    (void)target;
    return kubeconfig_fault(value, err, "is not supported, should be %s", field->instead);
}

#define AT(member) .at = offsetof(struct kube_target, member)

static const struct field CLUSTER_FIELDS[] = {
    {"server", JSON_STRING, read_text, AT(server), .check = url_check_server},
    {"tls-server-name", JSON_STRING, read_text, AT(tls_server_name), .check = url_check_host},
    {"proxy-url", JSON_STRING, read_text, AT(proxy_url), .check = url_check_proxy},
    {"insecure-skip-tls-verify", JSON_TRUE, read_switch, AT(insecure)},
    {"certificate-authority", JSON_STRING, read_path, AT(ca_file)},
    {"certificate-authority-data", JSON_STRING, read_pem, AT(ca_pem)},
};

#define ANOTHER_WAY "a token, tokenFile, client certificate or exec"
#define ITSELF "left out: the service asks as who it is"

static const struct field USER_FIELDS[] = {
    {"username", JSON_NULL, refuse, .instead = ANOTHER_WAY},
    {"password", JSON_NULL, refuse, .instead = ANOTHER_WAY},
    {"auth-provider", JSON_NULL, refuse, .instead = "exec with the provider's plugin"},
    {"as", JSON_NULL, refuse, .instead = ITSELF},
    {"as-uid", JSON_NULL, refuse, .instead = ITSELF},
    {"as-groups", JSON_NULL, refuse, .instead = ITSELF},
    {"as-user-extra", JSON_NULL, refuse, .instead = ITSELF},
    {"client-certificate", JSON_STRING, read_path, AT(cert_file)},
    {"client-certificate-data", JSON_STRING, read_pem, AT(cert_pem)},
    {"client-key", JSON_STRING, read_path, AT(key_file)},
    {"client-key-data", JSON_STRING, read_pem, AT(key_pem)},
    {"token", JSON_STRING, read_token, AT(token)},
    {"tokenFile", JSON_STRING, read_path, AT(token_file)},
};

#define N_FIELDS(fields) (sizeof(fields) / sizeof *(fields))

static int read_fields(const struct field *fields, size_t n_fields,
                       const struct kubeconfig_value *object, struct kube_target *target,
                       struct err *err)
{
    int r = 0;
    for (const struct field *field = fields; r == 0 && field < fields + n_fields; field++) {
        struct kubeconfig_value value = kubeconfig_member(object, field->key);
        if (field->type != JSON_NULL)
            r = kubeconfig_get(object, field->key, field->type, &value, err);
        if (r == 0 && value.value)
            r = field->read(field, &value, target, err);
    }
    return r;
}

/* Text wins over a path. */
static int check_file(const struct kubeconfig_value *object, const char *key, const char *pem,
                      const char *path, struct err *err)
{
    if (pem || !path || access(path, R_OK) == 0)
        return 0;
    const struct kubeconfig_value value = kubeconfig_member(object, key);
    return kubeconfig_fault(&value, err, "%s cannot be read: %s", path, strerror(errno));
}

int kubeconfig_read_cluster(const struct kubeconfig_value *cluster, struct kube_target *target,
                            struct err *err)
{
    int r = read_fields(CLUSTER_FIELDS, N_FIELDS(CLUSTER_FIELDS), cluster, target, err);
    if (r < 0)
        return r;
    const struct kubeconfig_value server = kubeconfig_member(cluster, "server");
    const struct kubeconfig_value insecure = kubeconfig_member(cluster, "insecure-skip-tls-verify");
    if (!target->server)
        return kubeconfig_wrong(&server, url_check_server(""), err);
    if (target->insecure && (target->ca_pem || target->ca_file))
        return kubeconfig_fault(&insecure, err,
                                "is true beside a certificate-authority, should be one of the two");
    size_t len = strlen(target->server);
    while (target->server[len - 1] == '/')
        target->server[--len] = '\0';
    r = check_file(cluster, "certificate-authority", target->ca_pem, target->ca_file, err);
    return r < 0 ? r : kubeconfig_read_exec_cluster(cluster, &target->exec, err);
}

static int check_certificate(const struct kubeconfig_value *user, const struct kube_target *target,
                             struct err *err)
{
    bool has_certificate = target->cert_pem || target->cert_file;
    bool has_key = target->key_pem || target->key_file;
    const struct kubeconfig_value key = kubeconfig_member(user, "client-key");
    const struct kubeconfig_value certificate = kubeconfig_member(user, "client-certificate");
    if (has_certificate && !has_key)
        return kubeconfig_wrong(&key, "the key of client-certificate", err);
    if (has_key && !has_certificate)
        return kubeconfig_wrong(&certificate, "the certificate of client-key", err);
    int r = check_file(user, "client-certificate", target->cert_pem, target->cert_file, err);
    return r < 0 ? r : check_file(user, "client-key", target->key_pem, target->key_file, err);
}

int kubeconfig_read_user(const struct kubeconfig_value *user, struct kube_target *target,
                         struct err *err)
{
    struct kubeconfig_value exec = {0};
    int r = read_fields(USER_FIELDS, N_FIELDS(USER_FIELDS), user, target, err);
    if (r == 0)
        r = check_certificate(user, target, err);
    if (r == 0)
        r = kubeconfig_get(user, "exec", JSON_OBJECT, &exec, err);
    if (r < 0 || !exec.value)
        return r;
    if (target->token || target->token_file)
        return kubeconfig_fault(&exec, err, "is there beside a token, should be one of the two");
    return kubeconfig_read_exec(&exec, &target->exec, err);
}

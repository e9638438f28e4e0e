/* kubeconfig_fields: see config_priv.h. */
#include "config_priv.h"

#include "base/base64.h"
#include "base/mem.h"
#include "formats/json_values.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API_VERSION "client.authentication.k8s.io/v1"
#define EXTENSION "client.authentication.k8s.io/exec"

/* Returns an absolute path, the caller's; relative ones start at the file's folder. */
static char *path_of(const struct kubeconfig_value *value)
{
    const char *text = json_string_value(value->value);
    struct buf path;
    buf_init(&path, BUF_UNBOUNDED);
    if (text[0] != '/')
        buf_printf(&path, "%s/", value->file->folder);
    buf_add_text(&path, text);
    return buf_take(&path);
}

/* ---- credential plugin ---- */

/* In older versions a missing field has another meaning; all current plugins support v1. */
static int check_version(const struct kubeconfig_value *exec, struct err *err)
{
    struct kubeconfig_value version;
    int r = kubeconfig_get(exec, "apiVersion", JSON_STRING, &version, err);
    if (r < 0)
        return r;
    if (!version.value)
        return kubeconfig_wrong(&version, API_VERSION, err);
    const char *text = json_string_value(version.value);
    if (strcmp(text, API_VERSION) != 0)
        return kubeconfig_fault(&version, err, "is %.60s, should be %s", text, API_VERSION);
    return 0;
}

static int check_mode(const struct kubeconfig_value *exec, struct err *err)
{
    struct kubeconfig_value mode;
    int r = kubeconfig_get(exec, "interactiveMode", JSON_STRING, &mode, err);
    if (r < 0 || !mode.value)
        return r;
    const char *text = json_string_value(mode.value);
    if (strcmp(text, "Never") == 0 || strcmp(text, "IfAvailable") == 0)
        return 0;
    return kubeconfig_fault(
        &mode, err, "is %.60s, should be Never or IfAvailable: no user can answer a prompt", text);
}

static int read_command(const struct kubeconfig_value *exec, char **ret_command, struct err *err)
{
    struct kubeconfig_value command;
    int r = kubeconfig_get(exec, "command", JSON_STRING, &command, err);
    if (r < 0)
        return r;
    if (!command.value)
        return kubeconfig_wrong(&command, "a program's path, or its name in PATH", err);
    const char *text = json_string_value(command.value);
    *ret_command = strchr(text, '/') ? path_of(&command) : mem_strdup(text);
    return 0;
}

static int read_args(const struct kubeconfig_value *exec, char ***ret_args, struct err *err)
{
    struct kubeconfig_value list;
    int r = kubeconfig_get(exec, "args", JSON_ARRAY, &list, err);
    if (r < 0)
        return r;
    size_t n = json_array_size(list.value);
    for (size_t i = 0; i < n; i++) {
        const struct kubeconfig_value item = kubeconfig_item(&list, i);
        if (!json_is_string(item.value))
            return kubeconfig_wrong(&item, "a string, in quotes", err);
    }
    *ret_args = MEM_ARRAY(char *, n + 1);
    for (size_t i = 0; i < n; i++)
        (*ret_args)[i] = mem_strdup(json_string_value(json_array_get(list.value, i)));
    return 0;
}

static int read_variable(const struct kubeconfig_value *item, struct kube_exec *exec,
                         struct err *err)
{
    struct kubeconfig_value name = {0};
    struct kubeconfig_value value = {0};
    if (!json_is_object(item->value))
        return kubeconfig_wrong(item, "a mapping of name and value", err);
    int r = kubeconfig_get(item, "name", JSON_STRING, &name, err);
    if (r == 0)
        r = kubeconfig_get(item, "value", JSON_STRING, &value, err);
    if (r < 0)
        return r;
    if (!name.value || strchr(json_string_value(name.value), '='))
        return kubeconfig_wrong(&name, "the name of an environment variable", err);
    exec->env[exec->n_env++] = (struct kube_env_var){
        mem_strdup(json_string_value(name.value)),
        mem_strdup(value.value ? json_string_value(value.value) : ""),
    };
    return 0;
}

static int read_env(const struct kubeconfig_value *object, struct kube_exec *exec, struct err *err)
{
    struct kubeconfig_value list;
    int r = kubeconfig_get(object, "env", JSON_ARRAY, &list, err);
    if (r < 0 || !list.value)
        return r;
    size_t n = json_array_size(list.value);
    exec->env = MEM_ARRAY(struct kube_env_var, n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct kubeconfig_value item = kubeconfig_item(&list, i);
        r = read_variable(&item, exec, err);
    }
    return r;
}

static int read_exec(const struct kubeconfig_value *exec, struct kube_exec *ret_exec,
                     struct err *err)
{
    struct kubeconfig_value hint = {0};
    struct kubeconfig_value with_cluster = {0};
    int r = check_version(exec, err);
    if (r == 0)
        r = check_mode(exec, err);
    if (r == 0)
        r = read_command(exec, &ret_exec->command, err);
    if (r == 0)
        r = read_args(exec, &ret_exec->args, err);
    if (r == 0)
        r = read_env(exec, ret_exec, err);
    if (r == 0)
        r = kubeconfig_get(exec, "installHint", JSON_STRING, &hint, err);
    if (r == 0)
        r = kubeconfig_get(exec, "provideClusterInfo", JSON_TRUE, &with_cluster, err);
    if (r < 0)
        return r;
    if (hint.value)
        ret_exec->install_hint = mem_strdup(json_string_value(hint.value));
    ret_exec->provide_cluster_info = json_is_true(with_cluster.value);
    return 0;
}

static int read_exec_cluster(const struct kubeconfig_value *cluster, struct kube_exec *ret_exec,
                             struct err *err)
{
    struct kubeconfig_value list;
    int r = kubeconfig_get(cluster, "extensions", JSON_ARRAY, &list, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const json_t *item = json_array_get(list.value, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        json_t *extension = json_object_get(item, "extension");
        size_t len = 0;
        if (!name || strcmp(name, EXTENSION) != 0 || !extension || ret_exec->cluster_config)
            continue;
        ret_exec->cluster_config = json_take_text(json_incref(extension), JSON_COMPACT, &len);
    }
    return 0;
}

/* ---- clusters and users ---- */

struct field {
    const char *key;
    json_type type; /* JSON_TRUE: true or false */
    int (*read)(const struct field *field, const struct kubeconfig_value *value,
                struct kube_target *target, struct err *err);
    size_t at;        /* offsetof in struct kube_target */
    url_check *check; /* of a string */
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

static int read_path(const struct field *field, const struct kubeconfig_value *value,
                     struct kube_target *target, struct err *err)
{
    (void)err;
    *text_at(field, target) = path_of(value);
    return 0;
}

static int read_pem(const struct field *field, const struct kubeconfig_value *value,
                    struct kube_target *target, struct err *err)
{
    char *pem = NULL;
    size_t len = 0;
    if (base64_decode(json_string_value(value->value), &pem, &len) < 0)
        return kubeconfig_fault(value, err, "is not base64, should be the base64 of a PEM text");
    if (strlen(pem) < len || !strstr(pem, "-----BEGIN ")) {
        free(pem);
        return kubeconfig_fault(value, err, "is not PEM, should be the base64 of a PEM text");
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
#define ITSELF "left out: this service does not impersonate users"

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

/* PEM text wins over a path. */
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
    return r < 0 ? r : read_exec_cluster(cluster, &target->exec, err);
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
    return read_exec(&exec, &target->exec, err);
}

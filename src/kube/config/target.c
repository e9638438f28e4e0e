/* target: see include/kube/target.h. kubeconfig.c reads the files. */
#include "kube/target.h"

#include "base/buf.h"
#include "base/mem.h"
#include "config_priv.h"
#include "kubeconfig.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

void kube_lookup_from_env(struct kube_lookup *ret_lookup)
{
    *ret_lookup = (struct kube_lookup){
        .kubeconfig_env = getenv("KUBECONFIG"),
        .service_host = getenv("KUBERNETES_SERVICE_HOST"),
        .service_port = getenv("KUBERNETES_SERVICE_PORT"),
        .service_account = SERVICE_ACCOUNT,
        .home = getenv("HOME"),
    };
}

static bool is_given(const char *text)
{
    return text && *text;
}

static char *path_in(const char *folder, const char *name)
{
    struct buf path;
    buf_init(&path, BUF_UNBOUNDED);
    buf_printf(&path, "%s/%s", folder, name);
    return buf_take(&path);
}

/* Every pod has the variables; only a mounted token gives access. */
static bool is_in_cluster(const struct kube_lookup *lookup)
{
    if (!is_given(lookup->service_host) || !is_given(lookup->service_port) ||
        !is_given(lookup->service_account))
        return false;
    char *token CLEANUP(mem_free_ptr) = path_in(lookup->service_account, "token");
    return access(token, F_OK) == 0;
}

static char *in_cluster_server(const struct kube_lookup *lookup)
{
    bool needs_brackets = strchr(lookup->service_host, ':') && lookup->service_host[0] != '[';
    struct buf server;
    buf_init(&server, BUF_UNBOUNDED);
    buf_printf(&server, "https://%s%s%s:%s", needs_brackets ? "[" : "", lookup->service_host,
               needs_brackets ? "]" : "", lookup->service_port);
    return buf_take(&server);
}

static int use_service_account(const struct kube_lookup *lookup, struct kube_target *ret_target,
                               struct err *err)
{
    if (is_given(lookup->context))
        return err_set(err, EINVAL,
                       "--context %s: a pod's ServiceAccount has no contexts, should be used with "
                       "--kubeconfig or KUBECONFIG",
                       lookup->context);
    char *server CLEANUP(mem_free_ptr) = in_cluster_server(lookup);
    char *ca CLEANUP(mem_free_ptr) = path_in(lookup->service_account, "ca.crt");
    if (url_check_server(server))
        return err_set(err, EINVAL,
                       "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT: give %s, should give %s",
                       server, url_check_server(server));
    if (access(ca, R_OK) < 0)
        return err_set(err, errno, "%s: cannot be read: %s", ca, strerror(errno));
    *ret_target = (struct kube_target){
        .server = mem_strdup(server),
        .ca_file = mem_strdup(ca),
        .token_file = path_in(lookup->service_account, "token"),
        .source = mem_strdup("in-cluster"),
    };
    return 0;
}

int kube_target_find(const struct kube_lookup *lookup, struct kube_target *ret_target,
                     struct err *err)
{
    const char *context = is_given(lookup->context) ? lookup->context : NULL;
    if (is_given(lookup->kubeconfig))
        return kubeconfig_read_one(lookup->kubeconfig, context, ret_target, err);
    if (is_given(lookup->kubeconfig_env))
        return kubeconfig_read_list(lookup->kubeconfig_env, context, ret_target, err);
    if (is_in_cluster(lookup))
        return use_service_account(lookup, ret_target, err);
    char *path CLEANUP(mem_free_ptr) =
        path_in(is_given(lookup->home) ? lookup->home : "", ".kube/config");
    if (is_given(lookup->home) && access(path, F_OK) == 0)
        return kubeconfig_read_one(path, context, ret_target, err);
    return err_set(err, ENOENT,
                   "no API server is configured: no --kubeconfig, no KUBECONFIG, no ServiceAccount "
                   "of a pod, and no ~/.kube/config");
}

static void exec_fini(struct kube_exec *exec)
{
    for (char **arg = exec->args; arg && *arg; arg++)
        free(*arg);
    for (size_t i = 0; i < exec->n_env; i++) {
        free(exec->env[i].name);
        free(exec->env[i].value);
    }
    free(exec->command);
    free(exec->args);
    free(exec->env);
    free(exec->install_hint);
    free(exec->cluster_config);
}

void kube_target_fini(struct kube_target *target)
{
    char *const texts[] = {
        target->server,   target->tls_server_name, target->proxy_url, target->ca_pem,
        target->ca_file,  target->cert_pem,        target->cert_file, target->key_pem,
        target->key_file, target->token,           target->source,    target->token_file,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    exec_fini(&target->exec);
    *target = (struct kube_target){0};
}

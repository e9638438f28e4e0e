/*
 * target: the API server and the identity to use, read from a kubeconfig file or from a pod's
 * ServiceAccount.
 *
 * Sources: Kubernetes, "Organizing Cluster Access Using kubeconfig Files" and the v1 Config type of
 * client-go; "Accessing the Kubernetes API from a Pod". Unsupported fields (username and password,
 * auth-provider, as ...) are rejected by name: ignoring them would use another identity than the
 * file says.
 */
#ifndef KUBE_TARGET_H
#define KUBE_TARGET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct kube_env_var {
    char *name;
    char *value;
};

/* A credential plugin (client.authentication.k8s.io/v1). command NULL: none. */
struct kube_exec {
    char *command; /* a path, or a name that is looked up in PATH */
    char **args;   /* NULL-terminated */
    struct kube_env_var *env;
    size_t n_env;
    char *install_hint; /* for the message if the command is missing; NULL: none */
    bool provide_cluster_info;
    char *cluster_config; /* the cluster's extension for the plugin, as JSON; NULL: none */
};

/* All strings are owned; NULL where there is none. Paths are absolute. */
struct kube_target {
    char *server;          /* "https://10.0.0.1:6443", without a trailing '/' */
    char *tls_server_name; /* the name to expect in the server's certificate, instead of the
                              server's host */
    char *proxy_url;
    bool insecure; /* insecure-skip-tls-verify */
    /* PEM text wins over a path; a path is read again for every connection (rotation). */
    char *ca_pem, *ca_file;
    char *cert_pem, *cert_file;
    char *key_pem, *key_file;
    char *token;
    char *token_file; /* wins over token, and is read again: see credentials.h */
    struct kube_exec exec;
    char *source; /* for logs: "kubeconfig FILE, context prod", "in-cluster" */
};

/* The places to look in. Strings may be NULL. */
struct kube_lookup {
    const char *kubeconfig; /* --kubeconfig */
    const char *context;    /* --context; NULL: the file's current-context */
    const char *
        kubeconfig_env; /* $KUBECONFIG: a list of files, ':' between them, merged as kubectl does */
    const char *service_host;    /* $KUBERNETES_SERVICE_HOST */
    const char *service_port;    /* $KUBERNETES_SERVICE_PORT */
    const char *service_account; /* folder: /var/run/secrets/kubernetes.io/serviceaccount */
    const char *home;            /* $HOME, for .kube/config */
};

/* Fills all from the environment; strings are borrowed from it. */
void kube_lookup_from_env(struct kube_lookup *ret_lookup);

/* Reads the first that exists of: --kubeconfig, $KUBECONFIG, in-cluster, ~/.kube/config. -ENOENT:
 * none exists; the message lists them. -EINVAL: `FILE:LINE:COLUMN: path: what is wrong`. The caller
 * owns the target: kube_target_fini(). */
int kube_target_find(const struct kube_lookup *lookup, struct kube_target *ret_target,
                     struct err *err);
void kube_target_fini(struct kube_target *target);

#endif

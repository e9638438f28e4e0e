/*
 * target: which API server, and as whom. Read from a kubeconfig file or from a pod's
 * ServiceAccount.
 *
 * Sources: Kubernetes, "Organizing Cluster Access Using kubeconfig Files" and the v1 Config type of
 * client-go; "Accessing the Kubernetes API from a Pod". Fields that are not supported (username and
 * password, auth-provider, as ...) are refused by name: who relies on them must not get in as
 * somebody else.
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
    char *command; /* a path, or a name to be found in PATH */
    char **args;   /* ended by NULL */
    struct kube_env_var *env;
    size_t n_env;
    char *install_hint; /* for the message when it is not there; NULL: none */
    bool provide_cluster_info;
    char *cluster_config; /* the cluster's extension for the plugin, as JSON; NULL: none */
};

/* All strings are owned; NULL where there is none. Paths are absolute. */
struct kube_target {
    char *server;          /* "https://10.0.0.1:6443", without a '/' at the end */
    char *tls_server_name; /* to be vouched for instead of the server's host */
    char *proxy_url;
    bool insecure; /* insecure-skip-tls-verify */
    /* PEM text wins over a path; a path is read again for every connection (rotation). */
    char *ca_pem, *ca_file;
    char *cert_pem, *cert_file;
    char *key_pem, *key_file;
    char *token;
    char *token_file; /* wins over token, and is read again: see credentials.h */
    struct kube_exec exec;
    char *source; /* for people: "kubeconfig FILE, context prod", "in-cluster" */
};

/* Where to look. Strings may be NULL. */
struct kube_lookup {
    const char *kubeconfig; /* --kubeconfig */
    const char *context;    /* --context; NULL: the file's current-context */
    const char
        *kubeconfig_env; /* $KUBECONFIG: a list of files with ':' between, merged as kubectl does */
    const char *service_host;    /* $KUBERNETES_SERVICE_HOST */
    const char *service_port;    /* $KUBERNETES_SERVICE_PORT */
    const char *service_account; /* folder: /var/run/secrets/kubernetes.io/serviceaccount */
    const char *home;            /* $HOME, for .kube/config */
};

/* From the environment, for kube_target_find(). */
void kube_lookup_from_env(struct kube_lookup *ret_lookup);

/* The first there is of: --kubeconfig, $KUBECONFIG, in-cluster, ~/.kube/config. -ENOENT: none is
 * there; the message says what was looked for. -EINVAL: `FILE:LINE:COLUMN: path: what is wrong`. */
int kube_target_find(const struct kube_lookup *lookup, struct kube_target *ret_target,
                     struct err *err);
void kube_target_fini(struct kube_target *target);

#endif

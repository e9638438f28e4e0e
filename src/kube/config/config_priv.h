/*
 * config_priv: what the readers of a kubeconfig share.
 */
#ifndef KUBE_CONFIG_CONFIG_PRIV_H
#define KUBE_CONFIG_CONFIG_PRIV_H

#include "base/err.h"
#include "kube/target.h"
#include "kubeconfig.h"

/* ---- the fields of a cluster, a user and a user's exec, one table row each ---- */

/* Adds fields to the target, which must have none of them; on failure some are set, and the caller
 * frees the target. */
int kubeconfig_read_cluster(const struct kubeconfig_value *cluster, struct kube_target *target,
                            struct err *err);
int kubeconfig_read_user(const struct kubeconfig_value *user, struct kube_target *target,
                         struct err *err);

/* ---- A bearer token that is safe in a header line ---- */

/* Trims white space. -EINVAL: empty, or a character that no token has (a line break would start
 * another header). The caller owns the token; no message shows it. */
int token_from_text(const char *text, char **ret_token, struct err *err);
/* The same for a regular file. The message begins with its path. */
int token_from_file(const char *path, char **ret_token, struct err *err);

/* ---- syntax of the addresses in a kubeconfig ---- */

/* Returns NULL if the text is valid, else a description of a valid one. */
typedef const char *url_check(const char *text);

/* https://HOST[:PORT][/PATH], or http. No user name: messages would show it. */
url_check url_check_server;
/* http, https or socks5, with optional user name and password. */
url_check url_check_proxy;
/* A host name or address, without a port. */
url_check url_check_host;

#endif

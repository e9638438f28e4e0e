/*
 * kubeconfig_fields: what stands in a cluster, a user and a user's exec, a table row a field.
 */
#ifndef KUBE_KUBECONFIG_FIELDS_H
#define KUBE_KUBECONFIG_FIELDS_H

#include "kube/target.h"
#include "kubeconfig_file.h"

/* Fields are added to the target, which has none of them yet; after a failure, some are there. */
int kubeconfig_read_cluster(const struct kubeconfig_value *cluster, struct kube_target *target,
                            struct err *err);
int kubeconfig_read_user(const struct kubeconfig_value *user, struct kube_target *target,
                         struct err *err);
/* kubeconfig_exec.c */
int kubeconfig_read_exec(const struct kubeconfig_value *exec, struct kube_exec *ret_exec,
                         struct err *err);
/* The extension of the cluster that is meant for plugins. */
int kubeconfig_read_exec_cluster(const struct kubeconfig_value *cluster, struct kube_exec *ret_exec,
                                 struct err *err);

/* The text as an absolute path; it may be relative to the file. The caller's. */
char *kubeconfig_path(const struct kubeconfig_value *value);

#endif

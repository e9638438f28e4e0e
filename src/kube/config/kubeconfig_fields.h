/*
 * kubeconfig_fields: the fields of a cluster, a user and a user's exec, one table row each.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_FIELDS_H
#define KUBE_CONFIG_KUBECONFIG_FIELDS_H

#include "kube/target.h"
#include "kubeconfig.h"

/* Adds fields to the target, which must have none of them; on failure some are set, and the caller
 * frees the target. */
int kubeconfig_read_cluster(const struct kubeconfig_value *cluster, struct kube_target *target,
                            struct err *err);
int kubeconfig_read_user(const struct kubeconfig_value *user, struct kube_target *target,
                         struct err *err);

#endif

/*
 * kubeconfig_fields: what stands in a cluster, a user and a user's exec, a table row a field.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_FIELDS_H
#define KUBE_CONFIG_KUBECONFIG_FIELDS_H

#include "kube/target.h"
#include "kubeconfig.h"

/* Fields are added to the target, which has none of them yet; after a failure, some are there. */
int kubeconfig_read_cluster(const struct kubeconfig_value *cluster, struct kube_target *target,
                            struct err *err);
int kubeconfig_read_user(const struct kubeconfig_value *user, struct kube_target *target,
                         struct err *err);

#endif

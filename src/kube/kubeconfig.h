/*
 * kubeconfig: the target that a list of kubeconfig files names.
 */
#ifndef KUBE_KUBECONFIG_H
#define KUBE_KUBECONFIG_H

#include "kube/target.h"
#include "kubeconfig_file.h"

/* Merged as kubectl does: the first file that has a cluster, user or context of a name, or a
 * current-context, is the one that counts. context NULL: the current one. -EINVAL. */
int kubeconfig_choose(const struct kubeconfig_file *files, size_t n_files, const char *context,
                      struct kube_target *ret_target, struct err *err);

/* paths has ':' between; files that are not there are skipped. -ENOENT: none is there. */
int kubeconfig_read_list(const char *paths, const char *context, struct kube_target *ret_target,
                         struct err *err);
/* One file. */
int kubeconfig_read_one(const char *path, const char *context, struct kube_target *ret_target,
                        struct err *err);

#endif

/*
 * exec_credential: what a credential plugin is told, and what it answers.
 *
 * Source: Kubernetes, "client-go credential plugins"; the type ExecCredential of
 * client.authentication.k8s.io/v1.
 */
#ifndef KUBE_CREDENTIALS_EXEC_CREDENTIAL_H
#define KUBE_CREDENTIALS_EXEC_CREDENTIAL_H

#include "kube/target.h"

#include <stdint.h>

/* Strings are owned; NULL where the plugin gave none. */
struct exec_credential {
    char *token;
    char *cert_pem, *key_pem;
    int64_t expires_s; /* since 1970; INT64_MAX: the plugin did not say */
};

void exec_credential_fini(struct exec_credential *credential);

/* -EINVAL: "its answer ...", without anything out of the answer. */
int exec_credential_parse(const char *text, size_t len, struct exec_credential *ret_credential,
                          struct err *err);

/* The value of KUBERNETES_EXEC_INFO; free() it. The CA's file is read where the plugin wants to be
 * told of the cluster. */
int exec_credential_ask(const struct kube_target *target, char **ret_text, struct err *err);

#endif

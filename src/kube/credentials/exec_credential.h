/*
 * exec_credential: the input and the output of a credential plugin.
 *
 * Source: Kubernetes, "client-go credential plugins"; the type ExecCredential of
 * client.authentication.k8s.io/v1.
 */
#ifndef KUBE_CREDENTIALS_EXEC_CREDENTIAL_H
#define KUBE_CREDENTIALS_EXEC_CREDENTIAL_H

#include "kube/target.h"

#include <stdint.h>

/* Strings are owned; NULL if the plugin gave none. */
struct exec_credential {
    char *token;
    char *cert_pem, *key_pem;
    int64_t expires_s; /* since 1970; INT64_MAX: no expiry given */
};

void exec_credential_fini(struct exec_credential *credential);

/* -EINVAL: "its answer ...", never quoting the answer. */
int exec_credential_parse(const char *text, size_t len, struct exec_credential *ret_credential,
                          struct err *err);

/* Returns the value of KUBERNETES_EXEC_INFO; the caller frees it. Reads the CA file if
 * provideClusterInfo is set. */
int exec_credential_ask(const struct kube_target *target, char **ret_text, struct err *err);

#endif

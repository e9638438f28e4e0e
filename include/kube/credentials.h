/*
 * credentials: the token or client certificate of every request to the API server, kept fresh.
 *
 * A token file is read again once a minute, and at once after a 401 (by path, as kubelet swaps
 * links; PROTOCOL 10.1). If that fails the old token stays. A credential plugin runs at the start,
 * before its credential expires and after a 401. Later runs are on a thread of their own with a
 * time limit, so no request waits for them. No part of a credential is ever logged.
 */
#ifndef KUBE_CREDENTIALS_H
#define KUBE_CREDENTIALS_H

#include "base/err.h"
#include "kube/target.h"

#include <stdint.h>

struct kube_credentials;

/* Borrows target until kube_credentials_free(). Runs a plugin once and waits for it. The error
 * names the file, or the plugin's command with the end of its standard error. */
int kube_credentials_new(const struct kube_target *target,
                         struct kube_credentials **ret_credentials, struct err *err);
/* Reports the errors of kube_credentials_new() that show without running a plugin. */
int kube_credentials_check(const struct kube_target *target, struct err *err);
void kube_credentials_free(struct kube_credentials *credentials);

/* Names the credential in messages: "the token of /etc/token", "the token of the kubeconfig".
 * Borrowed until kube_credentials_free(). */
const char *kube_credentials_name(const struct kube_credentials *credentials);

/* The credential to send now. The caller owns the strings: kube_identity_fini(). */
struct kube_identity {
    char *authorization;      /* "Bearer ..."; NULL: none */
    char *cert_pem, *key_pem; /* of a client certificate, as text or by path; NULL: none */
    char *cert_file, *key_file;
    uint64_t version; /* grows with every change */
};

/* From any thread; never blocks on a plugin, but may read the token file. */
void kube_credentials_get(struct kube_credentials *credentials, int64_t now_ms,
                          struct kube_identity *ret_identity);
void kube_identity_fini(struct kube_identity *identity);
/* changed() is called after each change, on any thread, without a lock. Set it before the first
 * loop starts. */
void kube_credentials_on_change(struct kube_credentials *credentials,
                                void (*changed)(void *context), void *context);
/* The API server answered 401 to the credential of that version: get a newer one. Any thread. */
void kube_credentials_refused(struct kube_credentials *credentials, uint64_t version,
                              int64_t now_ms);

#endif

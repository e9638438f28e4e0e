/*
 * credentials: what every request to the API server carries to say who asks, kept fresh.
 *
 * A token file is read again once a minute, and at once after a 401 (by path: kubelet swaps links);
 * if that fails the old token stays. A credential plugin runs at the start, before its credential
 * expires and after a 401, in a thread of its own with a time limit, so that nobody waits for it.
 * Nothing of a credential is ever logged.
 */
#ifndef KUBE_CREDENTIALS_H
#define KUBE_CREDENTIALS_H

#include "base/err.h"
#include "kube/target.h"

#include <stdint.h>

struct kube_credentials;

/* target is borrowed for its life. A plugin is run once, and waited for. The error names the file
 * or the plugin's command, and the end of what it said. */
int kube_credentials_new(const struct kube_target *target,
                         struct kube_credentials **ret_credentials, struct err *err);
/* What kube_credentials_new() would refuse, with its messages, as far as that can be seen without
 * running a plugin. */
int kube_credentials_check(const struct kube_target *target, struct err *err);
void kube_credentials_free(struct kube_credentials *credentials);

/* For people, who is refused: "the token of /etc/token", "the token of the kubeconfig". Borrowed
 * for its life. */
const char *kube_credentials_name(const struct kube_credentials *credentials);

/* What to send now. Strings are the caller's copy: kube_identity_fini(). */
struct kube_identity {
    char *authorization;      /* "Bearer ..."; NULL: none */
    char *cert_pem, *key_pem; /* of a client certificate: either as text, or by path; NULL: none */
    char *cert_file, *key_file;
    uint64_t version; /* grows with every change */
};

/* From any thread; never waits. */
void kube_credentials_get(struct kube_credentials *credentials, int64_t now_ms,
                          struct kube_identity *ret_identity);
void kube_identity_fini(struct kube_identity *identity);
/* Called, on any thread, whenever there is something newer. Set before the first loop starts. */
void kube_credentials_on_change(struct kube_credentials *credentials,
                                void (*changed)(void *context), void *context);
/* The server answered 401 to what was sent under that version: find something newer. */
void kube_credentials_refused(struct kube_credentials *credentials, uint64_t version,
                              int64_t now_ms);

#endif

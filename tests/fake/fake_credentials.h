/* fake_credentials: an identity that the test changes; linked before the kube library, which then
 * gives none of its own. Counts what is refused. */
#ifndef FAKE_CREDENTIALS_H
#define FAKE_CREDENTIALS_H

#include "kube/credentials.h"

struct kube_credentials *fake_credentials_new(const char *authorization);
void fake_credentials_free(struct kube_credentials *credentials);
void fake_credentials_renew(struct kube_credentials *credentials, const char *authorization);
/* When the next one is refused, this one is there at once. */
void fake_credentials_renew_on_refusal(struct kube_credentials *credentials,
                                       const char *authorization);
/* Waits until n were. */
void fake_credentials_wait_refused(struct kube_credentials *credentials, int n);
int fake_credentials_n_refused(struct kube_credentials *credentials);

#endif

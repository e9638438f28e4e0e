/* fake_credentials: an identity that the test changes. Linked before the kube library, it replaces
 * that one's. Counts rejections. */
#ifndef FAKE_CREDENTIALS_H
#define FAKE_CREDENTIALS_H

#include "kube/credentials.h"

struct kube_credentials *fake_credentials_new(const char *authorization);
void fake_credentials_free(struct kube_credentials *credentials);
void fake_credentials_renew(struct kube_credentials *credentials, const char *authorization);
/* On the next rejection this one is available at once. */
void fake_credentials_renew_on_refusal(struct kube_credentials *credentials,
                                       const char *authorization);
/* Waits for n rejections. */
void fake_credentials_wait_refused(struct kube_credentials *credentials, int n);
int fake_credentials_n_refused(struct kube_credentials *credentials);

#endif

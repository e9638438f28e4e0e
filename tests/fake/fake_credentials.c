/* fake_credentials: see fake_credentials.h. */
#include "fake_credentials.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct kube_credentials {
    pthread_mutex_t lock;
    pthread_cond_t refused;
    const char *authorization, *next; /* owned by the test */
    uint64_t version;
    int n_refused;
};

struct kube_credentials *fake_credentials_new(const char *authorization)
{
    struct kube_credentials *credentials = MEM_NEW(struct kube_credentials);
    (void)pthread_mutex_init(&credentials->lock, NULL);
    (void)pthread_cond_init(&credentials->refused, NULL);
    credentials->authorization = authorization;
    credentials->version = 1;
    return credentials;
}

void fake_credentials_free(struct kube_credentials *credentials)
{
    (void)pthread_mutex_destroy(&credentials->lock);
    (void)pthread_cond_destroy(&credentials->refused);
    free(credentials);
}

static void renew(struct kube_credentials *credentials, const char *authorization)
{
    credentials->authorization = authorization;
    credentials->version++;
}

void fake_credentials_renew(struct kube_credentials *credentials, const char *authorization)
{
    (void)pthread_mutex_lock(&credentials->lock);
    renew(credentials, authorization);
    (void)pthread_mutex_unlock(&credentials->lock);
}

void fake_credentials_renew_on_refusal(struct kube_credentials *credentials,
                                       const char *authorization)
{
    (void)pthread_mutex_lock(&credentials->lock);
    credentials->next = authorization;
    (void)pthread_mutex_unlock(&credentials->lock);
}

void fake_credentials_wait_refused(struct kube_credentials *credentials, int n)
{
    (void)pthread_mutex_lock(&credentials->lock);
    while (credentials->n_refused < n)
        (void)pthread_cond_wait(&credentials->refused, &credentials->lock);
    (void)pthread_mutex_unlock(&credentials->lock);
}

int fake_credentials_n_refused(struct kube_credentials *credentials)
{
    (void)pthread_mutex_lock(&credentials->lock);
    int n = credentials->n_refused;
    (void)pthread_mutex_unlock(&credentials->lock);
    return n;
}

const char *kube_credentials_name(const struct kube_credentials *credentials)
{
    (void)credentials;
    return "the token of a test";
}

void kube_credentials_get(struct kube_credentials *credentials, int64_t now_ms,
                          struct kube_identity *ret_identity)
{
    (void)now_ms;
    (void)pthread_mutex_lock(&credentials->lock);
    *ret_identity = (struct kube_identity){.version = credentials->version};
    if (credentials->authorization)
        ret_identity->authorization = mem_strdup(credentials->authorization);
    (void)pthread_mutex_unlock(&credentials->lock);
}

void kube_identity_fini(struct kube_identity *identity)
{
    free(identity->authorization);
}

void kube_credentials_refused(struct kube_credentials *credentials, uint64_t version,
                              int64_t now_ms)
{
    (void)now_ms;
    (void)pthread_mutex_lock(&credentials->lock);
    credentials->n_refused++;
    (void)pthread_cond_broadcast(&credentials->refused);
    if (credentials->next && version == credentials->version)
        renew(credentials, credentials->next);
    (void)pthread_mutex_unlock(&credentials->lock);
}

/* key: see key.h; the only user of GnuTLS's hashes. */
#include "key.h"

#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>

#define N_PARTS 2

struct part {
    const void *bytes;
    size_t len;
};

/* The library can only run out of memory here. */
static void digest(const struct key_secret *secret, const struct part *parts, unsigned char *ret)
{
    gnutls_hmac_hd_t hmac = NULL;
    if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, secret->bytes, sizeof secret->bytes) < 0)
        abort();
    for (size_t i = 0; i < N_PARTS; i++) {
        if (gnutls_hmac(hmac, parts[i].bytes, parts[i].len) < 0)
            abort();
    }
    gnutls_hmac_deinit(hmac, ret);
}

void key_secret_init(struct key_secret *secret)
{
    if (gnutls_rnd(GNUTLS_RND_KEY, secret->bytes, sizeof secret->bytes) < 0)
        abort();
}

void key_make(const struct key_secret *secret, const struct bearer *bearer, const char *verb,
              const char *path, struct answer_key *ret_key)
{
    const struct part token[N_PARTS] = {{bearer->token, bearer->len}, {"", 0}};
    /* The NUL after the verb separates it from the path. */
    const struct part asked[N_PARTS] = {{verb, strlen(verb) + 1}, {path, strlen(path)}};
    digest(secret, token, ret_key->token);
    digest(secret, asked, ret_key->asked);
}

/* Neither a token nor a verb begins with NUL. */
void key_make_of_user(const struct key_secret *secret, const char *user, const char *attributes,
                      struct answer_key *ret_key)
{
    const struct part of_user[N_PARTS] = {{"", 1}, {user, strlen(user)}};
    const struct part asked[N_PARTS] = {{"", 1}, {attributes, strlen(attributes)}};
    digest(secret, of_user, ret_key->token);
    digest(secret, asked, ret_key->asked);
}

/*
 * key: digests instead of tokens: HMAC-SHA-256 with a secret of this process. A stored digest is
 * useless to anybody who reads it, and cannot be chosen. (client-go's token cache does so.)
 */
#ifndef AUTH_KEY_H
#define AUTH_KEY_H

#include "answers.h"
#include "bearer.h"

struct key_secret {
    unsigned char bytes[ANSWER_DIGEST_BYTES];
};

void key_secret_init(struct key_secret *secret);
void key_make(const struct key_secret *secret, const struct bearer *bearer, const char *verb,
              const char *path, struct answer_key *ret_key);
/* The key of a user and resource attributes; it equals none of key_make(). */
void key_make_of_user(const struct key_secret *secret, const char *user, const char *attributes,
                      struct answer_key *ret_key);

#endif

/*
 * answers: recent answers of the API server for a token, a verb and a path. No clock, no lock, no
 * tokens: only digests.
 *
 * "Allowed" and "refused" are stored apart, each up to ANSWERS_MAX; a new answer replaces the
 * oldest. So unknown tokens never displace an allowed answer. A token has at most
 * ANSWERS_PER_TOKEN_MAX in each, so a client with a thousand paths displaces only its own.
 */
#ifndef AUTH_ANSWERS_H
#define AUTH_ANSWERS_H

#include "review.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWERS_MAX 1024
#define ANSWERS_PER_TOKEN_MAX 64
#define ANSWERS_USER_SIZE 128
#define ANSWER_DIGEST_BYTES 32

struct answer_key {
    unsigned char token[ANSWER_DIGEST_BYTES];
    unsigned char asked[ANSWER_DIGEST_BYTES]; /* of verb and path */
};

enum answer_kind {
    ANSWER_NONE,
    ANSWER_ALLOWED,
    ANSWER_FORBIDDEN, /* the user is known, but not allowed */
    ANSWER_STRANGER,  /* the token is invalid */
};

struct auth_answer {
    enum answer_kind kind;
    uint64_t caller;              /* of ANSWER_ALLOWED about a token: auth_caller_of() */
    char user[ANSWERS_USER_SIZE]; /* of ANSWER_FORBIDDEN; cut if too long */
};

struct kept_answer;
struct answers {
    struct kept_answer *allowed;
    struct kept_answer *refused;
};

void answers_fini(struct answers *answers);

/* ANSWER_NONE: unknown or expired. */
struct auth_answer answers_find(const struct answers *answers, const struct answer_key *key,
                                int64_t now_ms);
/* Whether an allowed answer of the token is stored, even an expired one. */
bool answers_know_token(const struct answers *answers, const struct answer_key *key);
/* Replaces the answer for the key. answer: any but ANSWER_NONE. */
void answers_keep(struct answers *answers, const struct answer_key *key,
                  const struct auth_answer *answer, int64_t until_ms);

/* Digests instead of tokens: HMAC-SHA-256 with a secret of this process. A stored digest is
 * useless to anybody who reads it, and cannot be chosen. (client-go's token cache does so.) */
struct key_secret {
    unsigned char bytes[ANSWER_DIGEST_BYTES];
};

void key_secret_init(struct key_secret *secret);
void answer_key_make(const struct key_secret *secret, const struct bearer *bearer, const char *verb,
                     const char *path, struct answer_key *ret_key);
/* The key of a user and resource attributes; it equals none of answer_key_make(). */
void answer_key_make_of_user(const struct key_secret *secret, const char *user,
                             const char *attributes, struct answer_key *ret_key);

#endif

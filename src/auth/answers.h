/*
 * answers: what the API server said lately of a token, a verb and a path. No clock, no lock, no
 * token: only digests.
 *
 * "May" and "no" are kept apart, each up to ANSWERS_MAX; the oldest goes where there is no room. So
 * tokens that nobody knows push out no good answer. Of one token each keeps ANSWERS_PER_TOKEN_MAX
 * at the most: who asks about a thousand paths pushes out his own.
 */
#ifndef AUTH_ANSWERS_H
#define AUTH_ANSWERS_H

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
    ANSWER_FORBIDDEN, /* the user is known, and may not */
    ANSWER_STRANGER,  /* the token is nobody's */
};

struct auth_answer {
    enum answer_kind kind;
    char user[ANSWERS_USER_SIZE]; /* of ANSWER_FORBIDDEN, cut where it is long */
};

struct kept_answer;
struct answers {
    struct kept_answer *allowed;
    struct kept_answer *refused;
};

void answers_fini(struct answers *answers);

/* ANSWER_NONE: none is known, or its time is over. */
struct auth_answer answers_find(const struct answers *answers, const struct answer_key *key,
                                int64_t now_ms);
/* Whether the token was allowed anything not long ago, though that may be over. */
bool answers_know_token(const struct answers *answers, const struct answer_key *key);
/* In the place of what was kept of the key. answer: one of the three. */
void answers_keep(struct answers *answers, const struct answer_key *key,
                  const struct auth_answer *answer, int64_t until_ms);

#endif

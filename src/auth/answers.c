/* answers: see answers.h. */
#include "answers.h"
#include "base/mem.h"
#include "base/table.h"

#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>

/* Tables keep insertion order: the head is the oldest. */
struct kept_answer {
    struct answer_key key;
    struct auth_answer answer;
    int64_t until_ms;
    UT_hash_handle hh;
};

static struct kept_answer *find_in(struct kept_answer *table, const struct answer_key *key)
{
    struct kept_answer *found = NULL;
    HASH_FIND(hh, table, key, sizeof *key, found);
    return found;
}

static void remove_from(struct kept_answer **table, struct kept_answer *kept)
{
    HASH_DEL(*table, kept);
    free(kept);
}

static void clear(struct kept_answer **table)
{
    struct kept_answer *kept = NULL;
    struct kept_answer *next = NULL;
    HASH_ITER (hh, *table, kept, next)
        remove_from(table, kept);
}

void answers_fini(struct answers *answers)
{
    clear(&answers->allowed);
    clear(&answers->refused);
}

struct auth_answer answers_find(const struct answers *answers, const struct answer_key *key,
                                int64_t now_ms)
{
    const struct kept_answer *kept = find_in(answers->allowed, key);
    if (!kept)
        kept = find_in(answers->refused, key);
    return kept && now_ms < kept->until_ms ? kept->answer
                                           : (struct auth_answer){.kind = ANSWER_NONE};
}

static bool is_of_token(const struct kept_answer *kept, const struct answer_key *key)
{
    return memcmp(kept->key.token, key->token, sizeof key->token) == 0;
}

/* Returns the token's oldest answer, and their number. */
static struct kept_answer *oldest_of_token(struct kept_answer *table, const struct answer_key *key,
                                           size_t *ret_n)
{
    struct kept_answer *oldest = NULL;
    struct kept_answer *kept = NULL;
    struct kept_answer *next = NULL;
    size_t n = 0;
    HASH_ITER (hh, table, kept, next) {
        if (is_of_token(kept, key) && n++ == 0)
            oldest = kept;
    }
    *ret_n = n;
    return oldest;
}

bool answers_know_token(const struct answers *answers, const struct answer_key *key)
{
    size_t n = 0;
    return oldest_of_token(answers->allowed, key, &n) != NULL;
}

static void make_room(struct kept_answer **table, const struct answer_key *key)
{
    size_t n = 0;
    struct kept_answer *oldest = oldest_of_token(*table, key, &n);
    if (n >= ANSWERS_PER_TOKEN_MAX)
        remove_from(table, oldest);
    else if (HASH_COUNT(*table) >= ANSWERS_MAX)
        remove_from(table, *table);
}

static void forget(struct kept_answer **table, const struct answer_key *key)
{
    struct kept_answer *kept = find_in(*table, key);
    if (kept)
        remove_from(table, kept);
}

void answers_keep(struct answers *answers, const struct answer_key *key,
                  const struct auth_answer *answer, int64_t until_ms)
{
    struct kept_answer **table =
        answer->kind == ANSWER_ALLOWED ? &answers->allowed : &answers->refused;
    struct kept_answer *kept = MEM_NEW(struct kept_answer);
    forget(&answers->allowed, key);
    forget(&answers->refused, key);
    make_room(table, key);
    kept->key = *key;
    kept->answer = *answer;
    kept->until_ms = until_ms;
    HASH_ADD(hh, *table, key, sizeof kept->key, kept);
}

/* ; the only user of GnuTLS's hashes. */

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

void answer_key_make(const struct key_secret *secret, const struct bearer *bearer, const char *verb,
                     const char *path, struct answer_key *ret_key)
{
    const struct part token[N_PARTS] = {{bearer->token, bearer->len}, {"", 0}};
    /* The NUL after the verb separates it from the path. */
    const struct part asked[N_PARTS] = {{verb, strlen(verb) + 1}, {path, strlen(path)}};
    digest(secret, token, ret_key->token);
    digest(secret, asked, ret_key->asked);
}

/* Neither a token nor a verb begins with NUL. */
void answer_key_make_of_user(const struct key_secret *secret, const char *user,
                             const char *attributes, struct answer_key *ret_key)
{
    const struct part of_user[N_PARTS] = {{"", 1}, {user, strlen(user)}};
    const struct part asked[N_PARTS] = {{"", 1}, {attributes, strlen(attributes)}};
    digest(secret, of_user, ret_key->token);
    digest(secret, asked, ret_key->asked);
}

/*
 * hash: the one hash function of every table in the program: SipHash-1-3 with a secret key.
 *
 * Whoever may create objects chooses the keys of our tables. Without the key nobody can choose
 * keys that collide. main() sets the key before any table exists; tests and the simulator keep the
 * constant one. No answer may depend on a hash value, or it would differ from run to run.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/siphash.h"

/* c and d of SipHash-c-d (siphash.h). */
#define HASH_ROUNDS 1
#define HASH_LAST_ROUNDS 3

/* Before the first table and the first thread; never again. */
void hash_set_key(struct siphash_key key);
struct siphash_key hash_key(void);

static inline uint64_t hash_keyed(struct siphash_key key, const void *data, size_t len)
{
    struct siphash hash = siphash_begin(key, false);
    siphash_add(&hash, data, len, HASH_ROUNDS);
    return siphash_end(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

/* By the process's key. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_text(const char *text);

#endif

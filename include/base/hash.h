/*
 * hash: the hash function of every table in the program: SipHash-1-3 with a secret key.
 *
 * Tenants choose the keys of our tables. Without the secret key they cannot construct collisions.
 * main() sets the key before any table exists; tests and the simulator keep the constant one. No
 * result may depend on a hash value, as it would differ between runs.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/siphash.h"

/* c and d of SipHash-c-d (siphash.h). */
#define HASH_ROUNDS 1
#define HASH_LAST_ROUNDS 3

/* Call once, before the first table and the first thread. */
void hash_set_key(struct siphash_key key);
struct siphash_key hash_key(void);

/* Like siphash_add() and siphash_end() for one contiguous piece: filter hashes the names of all
 * nodes in every call. */
static inline uint64_t hash_keyed(struct siphash_key key, const void *data, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)data;
    const size_t n_tail = len % 8;
    struct siphash hash = siphash_begin(key, false);
    for (size_t i = 0; i + 8 <= len; i += 8)
        siphash_word(&hash, siphash_bytes(bytes + i, 8), HASH_ROUNDS);
    if (n_tail > 0 && len >= 8) /* the last word again, without the bytes already hashed */
        hash.tail = siphash_bytes(bytes + len - 8, 8) >> (8 * (8 - n_tail));
    else
        hash.tail = siphash_bytes(bytes, n_tail);
    hash.len = len;
    return siphash_end(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

/* With the process's key. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_text(const char *text);

#endif

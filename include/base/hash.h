/*
 * hash: the hash function of every table in the program: SipHash-1-3 with a secret key.
 *
 * Tenants choose the keys of our tables. Without the secret key they cannot construct collisions.
 * main() sets the key before any table exists; tests and the simulator keep the constant one. No
 * result may depend on a hash value, as it would differ between runs.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* SipHash-c-d with 64 or 128 bits of result, streamed.
 *
 * Source: J.-P. Aumasson, D. J. Bernstein: SipHash: a fast short-input PRF (INDOCRYPT 2012); the
 * 128-bit variant is that of the authors' reference code. The rounds are arguments, so the
 * published vectors for 2-4 test the code that runs with 1-3. Callers pass constants, and all is
 * inline. */

struct siphash_key {
    uint64_t k0, k1; /* the key's bytes, little-endian */
};

struct siphash {
    uint64_t v0, v1, v2, v3;
    uint64_t tail; /* the last len % 8 bytes, the first in the lowest byte */
    size_t len;    /* bytes so far */
    bool is_wide;
};

struct siphash128 {
    uint64_t low, high;
};

static inline uint64_t siphash_rotated(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void siphash_rounds(struct siphash *hash, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        hash->v0 += hash->v1;
        hash->v2 += hash->v3;
        hash->v1 = siphash_rotated(hash->v1, 13) ^ hash->v0;
        hash->v3 = siphash_rotated(hash->v3, 16) ^ hash->v2;
        hash->v0 = siphash_rotated(hash->v0, 32) + hash->v3;
        hash->v2 += hash->v1;
        hash->v3 = siphash_rotated(hash->v3, 21) ^ hash->v0;
        hash->v1 = siphash_rotated(hash->v1, 17) ^ hash->v2;
        hash->v2 = siphash_rotated(hash->v2, 32);
    }
}

/* is_wide: for siphash_end128(); else for siphash_end(). */
static inline struct siphash siphash_begin(struct siphash_key key, bool is_wide)
{
    return (struct siphash){
        .v0 = key.k0 ^ UINT64_C(0x736f6d6570736575),
        .v1 = key.k1 ^ UINT64_C(0x646f72616e646f6d) ^ (is_wide ? 0xee : 0),
        .v2 = key.k0 ^ UINT64_C(0x6c7967656e657261),
        .v3 = key.k1 ^ UINT64_C(0x7465646279746573),
        .is_wide = is_wide,
    };
}

static inline void siphash_word(struct siphash *hash, uint64_t word, unsigned c)
{
    hash->v3 ^= word;
    siphash_rounds(hash, c);
    hash->v0 ^= word;
}

/* The first n (0 to 8) bytes as a little-endian number. */
static inline uint64_t siphash_bytes(const unsigned char *bytes, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, bytes, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline void siphash_add(struct siphash *hash, const void *data, size_t len, unsigned c)
{
    const unsigned char *bytes = (const unsigned char *)data;
    const size_t n_tail = hash->len % 8;
    hash->len += len;
    if (n_tail > 0) {
        const size_t n = len < 8 - n_tail ? len : 8 - n_tail;
        hash->tail |= siphash_bytes(bytes, n) << (8 * n_tail);
        if (n_tail + n < 8)
            return;
        siphash_word(hash, hash->tail, c);
        bytes += n;
        len -= n;
    }
    for (; len >= 8; bytes += 8, len -= 8)
        siphash_word(hash, siphash_bytes(bytes, 8), c);
    hash->tail = siphash_bytes(bytes, len);
}

static inline uint64_t siphash_folded(const struct siphash *hash)
{
    return hash->v0 ^ hash->v1 ^ hash->v2 ^ hash->v3;
}

/* Call once, after all input. */
static inline uint64_t siphash_end(struct siphash *hash, unsigned c, unsigned d)
{
    siphash_word(hash, hash->tail | (uint64_t)hash->len << 56, c);
    hash->v2 ^= hash->is_wide ? 0xee : 0xff;
    siphash_rounds(hash, d);
    return siphash_folded(hash);
}

static inline struct siphash128 siphash_end128(struct siphash *hash, unsigned c, unsigned d)
{
    const uint64_t low = siphash_end(hash, c, d);
    hash->v1 ^= 0xdd;
    siphash_rounds(hash, d);
    return (struct siphash128){low, siphash_folded(hash)};
}

/* c and d of SipHash-c-d . */
#define HASH_ROUNDS 1
#define HASH_LAST_ROUNDS 3

/* Call once, before the first table and the first thread. */
void hash_set_key(struct siphash_key key);
struct siphash_key hash_key(void);

/* Like siphash_add() and siphash_end() for one contiguous piece. */
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

/* ---- names of nodes, of which a request has thousands ----
 *
 * Folded multiplication, as in wyhash: one for each eight bytes, and two for the rest with the
 * length. Both factors depend on the secret key. */

static inline uint64_t hash_name_word(struct siphash_key key, uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 product_type;
    const product_type product = (product_type)(hash ^ word) * (key.k1 | 1);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* hash: k0 of the key, or that of the words before. tail: the last len % 8 bytes. */
static inline uint64_t hash_name_end(struct siphash_key key, uint64_t hash, uint64_t tail,
                                     size_t len)
{
    hash = hash_name_word(key, hash, tail ^ (uint64_t)len << 56);
    return hash_name_word(key, hash, key.k0);
}

/* With the process's key. */
uint64_t hash_name(const char *name, size_t len);
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_text(const char *text);

/* A name with its length and hash_name(), which whoever scans it has anyway. */
struct hashed_text {
    const char *text;
    size_t len;
    uint64_t hash;
};
struct hashed_text hash_of_text(const char *text);

#endif

/* hash: see include/base/hash.h. */
#include "base/hash.h"

/* Not secret: for tests and the simulator. The service sets its own key. */
static struct siphash_key process_key = {UINT64_C(0x0706050403020100),
                                         UINT64_C(0x0f0e0d0c0b0a0908)};

void hash_set_key(struct siphash_key key)
{
    process_key = key;
}

struct siphash_key hash_key(void)
{
    return process_key;
}

uint64_t hash_bytes(const void *data, size_t len)
{
    return hash_keyed(process_key, data, len);
}

uint64_t hash_name(const char *name, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)name;
    uint64_t hash = process_key.k0;
    const size_t n_tail = len % 8;
    for (const unsigned char *end = bytes + len - n_tail; bytes < end; bytes += 8)
        hash = hash_name_word(process_key, hash, siphash_bytes(bytes, 8));
    return hash_name_end(process_key, hash, siphash_bytes(bytes, n_tail), len);
}

uint64_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text));
}

struct hashed_text hash_of_text(const char *text)
{
    return (struct hashed_text){text, strlen(text), hash_name(text, strlen(text))};
}

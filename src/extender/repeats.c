/* repeats: see include/extender/repeats.h. Pods are known by 64 bits of hashes; where two have the
 * same, a pod is asked for once too often. */
#include "extender/repeats.h"
#include "base/hash.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct refused {
    uint64_t pod; /* its UID and its resourceVersion, half of it each */
    uint64_t ledger_version;
    int64_t gap_ms; /* the next; 0: no pod is here */
    int64_t gap_ends_ms;
};

struct repeats {
    pthread_mutex_t lock;
    struct refused refused[REPEATS_MAX]; /* by the hash of the UID; what was there gives way */
};

struct repeats *repeats_new(void)
{
    struct repeats *repeats = MEM_NEW(struct repeats);
    (void)pthread_mutex_init(&repeats->lock, NULL);
    return repeats;
}

void repeats_free(struct repeats *repeats)
{
    if (!repeats)
        return;
    (void)pthread_mutex_destroy(&repeats->lock);
    free(repeats);
}

static uint32_t hash_of(const char *text)
{
    return (uint32_t)hash_text(text);
}

static bool is_of_one_pod(uint64_t pod, uint64_t other)
{
    return pod >> 32 == other >> 32;
}

static bool is_repeat(struct refused *refused, uint64_t pod, uint64_t ledger_version,
                      int64_t now_ms)
{
    if (refused->gap_ms == 0 || !is_of_one_pod(refused->pod, pod))
        *refused = (struct refused){.gap_ms = REPEATS_GAP_MS};
    const bool is_same = refused->pod == pod && refused->ledger_version == ledger_version;
    refused->pod = pod;
    refused->ledger_version = ledger_version;
    if (!is_same || now_ms < refused->gap_ends_ms)
        return false;
    refused->gap_ends_ms = now_ms + refused->gap_ms;
    refused->gap_ms *= 2;
    if (refused->gap_ms > REPEATS_GAP_MAX_MS)
        refused->gap_ms = REPEATS_GAP_MAX_MS;
    return true;
}

bool repeats_is_one(struct repeats *repeats, const char *uid, const char *resource_version,
                    uint64_t ledger_version, int64_t now_ms)
{
    if (!uid[0] || !resource_version[0])
        return false;
    const uint32_t hash = hash_of(uid);
    const uint64_t pod = (uint64_t)hash << 32 | hash_of(resource_version);
    (void)pthread_mutex_lock(&repeats->lock);
    const bool is_one =
        is_repeat(&repeats->refused[hash % REPEATS_MAX], pod, ledger_version, now_ms);
    (void)pthread_mutex_unlock(&repeats->lock);
    return is_one;
}

/* pod_names: see pod_names.h. */
#include "pod_names.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_BUCKETS 64

static struct pod_entry **bucket_of(const struct pod_names *names, const char *namespace_,
                                    const char *name)
{
    /* Includes the terminator, so that "a", "bc" differs from "ab", "c". */
    struct siphash hash = siphash_begin(hash_key(), false);
    siphash_add(&hash, namespace_, strlen(namespace_) + 1, HASH_ROUNDS);
    siphash_add(&hash, name, strlen(name), HASH_ROUNDS);
    return &names->buckets[siphash_end(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS) &
                           (names->n_buckets - 1)];
}

static void put(struct pod_names *names, struct pod_entry *pod)
{
    struct pod_entry **bucket = bucket_of(names, pod->pod.namespace_, pod->pod.name);
    pod->next_named = *bucket;
    *bucket = pod;
}

static void grow(struct pod_names *names)
{
    const struct pod_names old = *names;
    names->n_buckets = old.n_buckets ? 2 * old.n_buckets : LEAST_BUCKETS;
    names->buckets = MEM_ARRAY(struct pod_entry *, names->n_buckets);
    for (size_t i = 0; i < old.n_buckets; i++) {
        struct pod_entry *next = NULL;
        for (struct pod_entry *pod = old.buckets[i]; pod; pod = next) {
            next = pod->next_named;
            put(names, pod);
        }
    }
    free(old.buckets);
}

void pod_names_reserve(struct pod_names *names, size_t n_buckets)
{
    names->n_buckets = n_buckets;
    names->buckets = MEM_ARRAY(struct pod_entry *, n_buckets);
}

void pod_names_free(struct pod_names *names)
{
    free(names->buckets);
    *names = (struct pod_names){NULL, 0, 0};
}

void pod_names_add(struct pod_names *names, struct pod_entry *pod)
{
    if (names->n == names->n_buckets)
        grow(names);
    put(names, pod);
    names->n++;
}

void pod_names_remove(struct pod_names *names, struct pod_entry *pod)
{
    struct pod_entry **at = bucket_of(names, pod->pod.namespace_, pod->pod.name);
    while (*at != pod)
        at = &(*at)->next_named;
    *at = pod->next_named;
    names->n--;
}

struct pod_entry *pod_names_find(const struct pod_names *names, const char *namespace_,
                                 const char *name)
{
    if (names->n_buckets == 0)
        return NULL;
    struct pod_entry *pod = *bucket_of(names, namespace_, name);
    while (pod &&
           (strcmp(pod->pod.name, name) != 0 || strcmp(pod->pod.namespace_, namespace_) != 0))
        pod = pod->next_named;
    return pod;
}
